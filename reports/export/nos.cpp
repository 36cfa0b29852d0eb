#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "plugin_config.hpp"
#include "pod_objects.hpp"
#include "pod_owner.hpp"
#include "pool_targets.hpp"

// nos partitions GPUs by what pods ask for. Source: github.com/nebuly-ai/nos
// docs/en/docs/dynamic-gpu-partitioning, last changed in 2024.
namespace slicewise::reports {
namespace {

using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::Workload;

constexpr std::string_view kPartitioningLabel = "nos.nebuly.com/gpu-partitioning";

// "mps", "mig", or "" where nos can do nothing for the pool.
std::string_view partitioning_of(const NodePool& pool) {
  if (pool.nos) return "mps";
  const bool shares = sharing_of(pool) != nullptr;
  return mig_strategy_of(pool) == MigStrategy::Mixed && !shares ? "mig" : "";
}

void check_nos_pool(const PoolTarget& target, Diagnostics& found) {
  const NodePool& pool = *target.pool;
  const auto unfit = [&](const SourceLocation& where, std::string what, std::string help) {
    found.push_back(make_diagnostic(
        Code::ExportUnfit, where,
        fmt::format("nos cannot do it for node pool \"{}\": {}", pool.name.value, what),
        std::move(help)));
  };
  if (pool.virtual_gpu) return unfit(pool.virtual_gpu->where, "virtualGpu is another plugin", "");
  if (pool.hami) return unfit(pool.hami->where, "HAMi is another plugin", "");
  if (pool.kai) return unfit(pool.where, "KAI scheduler shares its GPUs", "");
  if (pool.dra) return unfit(pool.where, "dra is NVIDIA's DRA driver", "");
  if (!partitioning_of(pool).empty()) return;
  if (mig_strategy_of(pool) != MigStrategy::None) {
    return unfit(pool.where,
                 "its nodes offer MIG devices by profile (mig.strategy mixed), unshared",
                 "use mig.strategy: mixed without devicePlugin.sharing");
  }
  if (sharing_of(pool) != nullptr) {
    unfit(pool.where, "it shares by slices of memory under MPS, not by replicas",
          "write `nos: {slices: [10gb, 10gb]}` in place of devicePlugin");
  }
}

// What the pods of a workload ask nos for by memory.
bool asks_for_slice(const Workload& workload) {
  return std::ranges::any_of(workload.pod.extended, [](const auto& request) {
    return request.name.value.starts_with("nvidia.com/gpu-");
  });
}

std::string nos_title(const scenarios::Scenario& scenario) {
  std::string out = head(head_files::nos_txt(), {{"variant", yaml_scalar(scenario.name)}});
  for (const NodePool& pool : scenario.node_pools) {
    const std::string_view partitioning = partitioning_of(pool);
    if (partitioning.empty()) {
      out += comment(fmt::format("  {}: whole GPUs, no label", pool.name.value));
      continue;
    }
    const std::string nodes = "-l " + label_of_nodes(pool);
    out +=
        commented(fmt::format("  kubectl label nodes {0} {1}={2} --overwrite\n"
                              "  kubectl label nodes {0} {1}-\n",
                              nodes, kPartitioningLabel, partitioning));
    if (!pool.mig || !pool.mig->nos) continue;
    out += commented(fmt::format(
        "  helm upgrade nos ... --set gpuPartitioner."
        "batchWindowTimeoutSeconds={},gpuPartitioner."
        "batchWindowIdleSeconds={}\n",
        whole_seconds(pool.mig->nos->window_timeout), whole_seconds(pool.mig->nos->window_idle)));
  }
  return out;
}

nlohmann::json mps_pod(const Workload& workload) {
  nlohmann::json spec;
  nlohmann::json& job = workload.schedule ? spec["jobTemplate"]["spec"] : spec;
  job["template"]["spec"] = {{"hostIPC", true}, {"securityContext", {{"runAsUser", 1000}}}};
  return patch_of_owner(workload, std::move(spec));
}

// Of what no patch merges, as a comment.
std::string mps_pod_text(const scenarios::Scenario& scenario, const Workload& workload) {
  const std::string text = for_each_object(object_names(scenario, workload), mps_pod(workload));
  return owner_of(workload).api_version.empty() ? commented(text) : text;
}

}  // namespace

Expected<ExportFiles> render_nos(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 const ExportOptions& /*options*/) {
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  Diagnostics found;
  for (const PoolTarget& target : *targets) check_nos_pool(target, found);
  const bool any = std::ranges::any_of(
      scenario.node_pools, [](const NodePool& pool) { return !partitioning_of(pool).empty(); });
  if (!any && found.empty()) {
    found.push_back(make_diagnostic(Code::ExportUnfit, scenario.where,
                                    "no node pool of this variant is partitioned",
                                    "write `nos: {slices: [10gb, 10gb]}`, or a MIG layout"));
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  std::string text = nos_title(scenario);
  for (const Workload& workload : scenario.workloads) {
    text += "---\n" + pod_patch(scenario, workload);
    if (!asks_for_slice(workload)) continue;
    text += "---\n" +
            comment(
                "nos' MPS server serves one user, and reaches pods by the IPC namespace of the "
                "node.") +
            mps_pod_text(scenario, workload);
  }
  return ExportFiles{{"nos.yaml", std::move(text)}};
}

}  // namespace slicewise::reports
