
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "pool_targets.hpp"

// HAMi shares GPUs by what pods ask for. Source: Project-HAMi/HAMi 2.10, charts/hami/values.yaml.
namespace slicewise::reports {
namespace {

using scenarios::Hami;
using scenarios::NodePool;
using scenarios::Scenario;

std::string_view word_for(Hami::Packing packing) {
  return packing == Hami::Packing::Binpack ? "binpack" : "spread";
}

std::string_view word_for(Hami::CorePolicy policy) {
  switch (policy) {
    case Hami::CorePolicy::Default:
      return "default";
    case Hami::CorePolicy::Force:
      return "force";
    case Hami::CorePolicy::Disable:
      return "disable";
  }
  return "default";
}

std::string values_of(const Hami& hami,
                      const std::vector<scenarios::Toleration>& tolerations = {}) {
  std::string tolerated;
  if (!tolerations.empty()) {
    const nlohmann::json block = {{"tolerations", toleration_list(tolerations)}};
    tolerated = indented(yaml_text(block), 2);
  }
  return fmt::format(
      "devicePlugin:\n"
      "  deviceSplitCount: {}\n"
      "  deviceMemoryScaling: {}\n"
      "  deviceCoreScaling: {}\n"
      "{}"
      "scheduler:\n"
      "  defaultSchedulerPolicy:\n"
      "    nodeSchedulerPolicy: {}\n"
      "    gpuSchedulerPolicy: {}\n"
      "devices:\n"
      "  nvidia:\n"
      "    gpuCorePolicy: {}\n",
      hami.split_count, hami.memory_scaling, hami.core_scaling, tolerated, word_for(hami.nodes),
      word_for(hami.gpus), word_for(hami.core_policy));
}

std::string title(const Scenario& scenario) {
  std::string labels;
  for (const NodePool& pool : scenario.node_pools) {
    labels += fmt::format("  kubectl label nodes -l {} gpu=on\n", label_of_nodes(pool));
  }
  return head(head_files::hami_txt(),
              {{"variant", yaml_scalar(scenario.name)}, {"labels", labels}});
}

}  // namespace

Expected<ExportFiles> render_hami(const Scenario& scenario, const models::Catalogue& catalogue,
                                  const ExportOptions& /*options*/) {
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  Diagnostics found;
  const auto unfit = [&](const NodePool& pool, std::string_view what, std::string help) {
    found.push_back(make_diagnostic(
        Code::ExportUnfit, pool.where,
        fmt::format("HAMi cannot do it for node pool \"{}\": {}", pool.name.value, what),
        std::move(help)));
  };
  for (const NodePool& pool : scenario.node_pools) {
    if (!pool.hami) {
      unfit(pool, "it is shared in another way", "write `hami: {}` in place of devicePlugin");
    } else if (values_of(*pool.hami) !=
               values_of(scenario.node_pools.front().hami.value_or(*pool.hami))) {
      unfit(pool, "its settings are others than those of the first pool; the chart has one set",
            "give all pools the same");
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  std::vector<scenarios::Toleration> tolerations;
  for (const NodePool& pool : scenario.node_pools) {
    tolerations = tolerating(std::move(tolerations), pool);
  }
  const std::string values = values_of(*scenario.node_pools.front().hami, tolerations);
  ExportFiles files{{"values.yaml", title(scenario) + values}};
  files.push_back({"pods.yaml", pod_patches(scenario)});
  return files;
}

}  // namespace slicewise::reports
