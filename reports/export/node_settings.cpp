#include "node_settings.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/world.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"

namespace slicewise::reports {

std::vector<PoolNodes> nodes_of(const PluginPlan& plan, const scenarios::Scenario& scenario) {
  std::vector<PoolNodes> out;
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    for (const NamedConfig& config : plan.configs) {
      for (const PoolTarget& target : config.pools) {
        if (target.pool == &pool) out.push_back({target, config.key});
      }
    }
  }
  return out;
}

bool is_reserved_label(std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  if (domain.size() == key.size()) return false;
  constexpr std::array<std::string_view, 5> kDomains = {"kubernetes.io", "k8s.io", "karpenter.sh",
                                                        "karpenter.k8s.aws", "amazonaws.com"};
  return std::ranges::any_of(kDomains, [&](std::string_view reserved) {
    return domain == reserved ||
           (domain.ends_with(reserved) && domain[domain.size() - reserved.size() - 1] == '.');
  });
}

std::string reserved_labels(const scenarios::NodePool& pool, std::string_view who_sets_them,
                            std::string_view said) {
  std::string out;
  for (const auto& [key, value] : pool.labels) {
    if (!is_reserved_label(key) || key == said) continue;
    out += comment(fmt::format("Left out: label {}={}, which {} sets.", key, value, who_sets_them));
  }
  return out;
}

const std::string* zone_of(const scenarios::NodePool& pool) {
  const auto label = pool.labels.find(std::string(scenarios::kZoneLabel));
  return label == pool.labels.end() ? nullptr : &label->second;
}

namespace {

bool has_other_plugin(const scenarios::NodePool& pool) {
  return pool.nos || pool.hami || pool.virtual_gpu || (pool.mig && pool.mig->nos);
}

// By which plugins that are not NVIDIA's find their nodes. Sources: values.yaml of HAMi's chart
// (devicePlugin.nvidiaNodeSelector); awslabs/aws-virtual-gpu-device-plugin,
// manifests/device-plugin.yml; nebuly-ai/nos,
// docs/en/docs/dynamic-gpu-partitioning/getting-started-mps.md and -mig.md.
std::pair<std::string, std::string> label_for_plugin(const scenarios::NodePool& pool) {
  if (pool.hami) return {"gpu", "on"};
  if (pool.virtual_gpu) return {std::string(scenarios::kAcceleratorLabel), "vgpu"};
  return {"nos.nebuly.com/gpu-partitioning", pool.mig ? "mig" : "mps"};
}

}  // namespace

std::map<std::string, std::string> node_labels(const PoolNodes& nodes) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : nodes.target.pool->labels) {
    if (!is_reserved_label(key)) out[key] = value;
  }
  if (has_other_plugin(*nodes.target.pool)) {
    out.insert(label_for_plugin(*nodes.target.pool));
    return out;
  }
  const bool has_driver = nodes.target.pool->dra;
  if (nodes.config.empty() && !has_driver) return out;
  out[std::string(kGpuPresentLabel)] = "true";
  if (!has_driver) out[std::string(kConfigLabel)] = nodes.config;
  if (nodes.target.pool->mig) {
    out[std::string(kMigLabel)] = nodes.target.pool->mig->config.value;
  }
  return out;
}

nlohmann::json taints_of(std::span<const scenarios::Taint> taints) {
  nlohmann::json out = nlohmann::json::array();
  for (const scenarios::Taint& taint : taints) {
    nlohmann::json entry = {{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) entry["value"] = taint.value;
    out.push_back(std::move(entry));
  }
  return out;
}

// Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/README.md.
nlohmann::json autoscaler_tags(const PoolNodes& nodes, const std::string& cluster,
                               bool tells_resources) {
  const std::string prefix = "k8s.io/cluster-autoscaler/";
  nlohmann::json tags = {{prefix + "enabled", "true"}, {prefix + cluster, "owned"}};
  if (!tells_resources) return tags;
  for (const AdvertisedResource& resource : advertised(nodes.target)) {
    if (!resource.count) continue;
    tags[prefix + "node-template/resources/" + resource.name] = std::to_string(*resource.count);
  }
  return tags;
}

std::string accelerator_of(const PoolTarget& target) {
  return "nvidia-" + lower_case(target.gpu->name.substr(0, target.gpu->name.find('-')));
}

Diagnostics unknown_counts(const std::vector<PoolNodes>& nodes) {
  Diagnostics found;
  for (const PoolNodes& one : nodes) {
    for (const AdvertisedResource& resource : advertised(one.target)) {
      if (resource.count) continue;
      found.push_back(make_diagnostic(
          Code::ExportUnfit, one.target.pool->where,
          fmt::format("how many {} a node of \"{}\" offers is not known: Karpenter must be told",
                      resource.name, one.target.pool->name.value),
          "give the pool its MIG layout: mig.config"));
    }
  }
  return found;
}

// What keeps the nodes of a pool off EKS Auto Mode, whose device plugin is no DaemonSet and takes
// no settings, and whose nodes nobody reaches to cut GPUs; "": nothing does. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-accelerated.html (the plugin),
// https://docs.aws.amazon.com/eks/latest/userguide/automode-learn-instances.html (the nodes),
// https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-dra-device-plugin.html
std::string off_auto_mode(const scenarios::NodePool& pool) {
  if (pool.dra) return "NVIDIA's DRA driver is not supported there";
  if (pool.mig) return "its nodes cut no GPU: mig-manager and nvidia-mig-parted do not reach them";
  if (sharing_of(pool) != nullptr) return "nobody configures its device plugin: it shares no GPU";
  const bool other = has_other_plugin(pool) || pool.kai;
  return other ? "its nodes bring a device plugin, beside which no other one runs" : "";
}

Diagnostics check_auto_mode(const PoolTarget& target) {
  const std::string why = off_auto_mode(*target.pool);
  if (why.empty()) return {};
  return {make_diagnostic(Code::ExportUnfit, target.pool->where,
                          fmt::format("EKS Auto Mode has no nodes as pool \"{}\" asks for: {}",
                                      target.pool->name.value, why),
                          "--image al2023: a node group or Karpenter's own NodePool beside it")};
}

tl::unexpected<Diagnostics> no_groups_of_auto_mode(const scenarios::Scenario& scenario) {
  return failure(Code::ExportUnfit, scenario.where,
                 "EKS Auto Mode has NodePools, and no node groups",
                 "--to karpenter, or --image al2023 for node groups beside it");
}

Expected<std::vector<PoolNodes>> image_nodes(const scenarios::Scenario& scenario,
                                             const models::Catalogue& catalogue,
                                             const ExportOptions& options) {
  // KAI shares what NVIDIA's plugin offers as whole GPUs.
  const bool needs_no_config = std::ranges::all_of(scenario.node_pools, [](const auto& pool) {
    return pool.dra || pool.kai || has_other_plugin(pool);
  });
  const bool is_al2023 = options.image == NodeImage::Al2023;
  if (is_al2023 && !needs_no_config) {
    const Expected<PluginPlan> plan = plan_plugin(scenario, catalogue, options.chart_version);
    if (!plan) return tl::unexpected(plan.error());
    return nodes_of(*plan, scenario);
  }
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  std::vector<PoolNodes> nodes;
  Diagnostics found;
  for (const PoolTarget& target : *targets) {
    if (!is_al2023) {
      Diagnostics unfit = options.image == NodeImage::Bottlerocket ? check_bottlerocket(target)
                                                                   : check_auto_mode(target);
      found.insert(found.end(), unfit.begin(), unfit.end());
    }
    nodes.push_back({target, ""});
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return nodes;
}

namespace {

using nlohmann::json;
using scenarios::ChartValues;
using scenarios::Scenario;
using scenarios::Toleration;

// The lists that are to be others than the chart's.
std::vector<scenarios::TolerationList> needed_lists(const Scenario& scenario,
                                                    ChartValues::Chart chart) {
  std::vector<scenarios::TolerationList> lists = scenarios::usual_tolerations(chart);
  std::erase_if(lists, [&](scenarios::TolerationList& one) {
    const std::size_t usual = one.list.size();
    for (const scenarios::NodePool& pool : scenario.node_pools) {
      one.list = tolerating(std::move(one.list), pool);
    }
    return one.list.size() == usual;
  });
  return lists;
}

}  // namespace

json toleration_list(std::span<const Toleration> tolerations) {
  json out = json::array();
  for (const Toleration& toleration : tolerations) {
    json entry = {{"operator", toleration.op}};
    if (!toleration.key.empty()) entry["key"] = toleration.key;
    if (!toleration.value.empty()) entry["value"] = toleration.value;
    if (!toleration.effect.empty()) entry["effect"] = toleration.effect;
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<Toleration> tolerating(std::vector<Toleration> tolerations,
                                   const scenarios::NodePool& pool) {
  while (const scenarios::Taint* taint = scenarios::untolerated(pool.taints, tolerations)) {
    tolerations.push_back({taint->key, "Exists", "", taint->effect});
  }
  return tolerations;
}

std::string toleration_values(const Scenario& scenario, ChartValues::Chart chart) {
  json values;
  for (const scenarios::TolerationList& one : needed_lists(scenario, chart)) {
    std::string path = fmt::format("/{}", one.path);
    std::ranges::replace(path, '.', '/');
    values[json::json_pointer(path)] = toleration_list(one.list);
  }
  if (values.empty()) return {};
  return comment("What the chart tolerates by itself, and the taints of the node pools.") +
         yaml_text(values);
}

std::string toleration_flags(const Scenario& scenario, ChartValues::Chart chart) {
  std::string out;
  for (const scenarios::TolerationList& one : needed_lists(scenario, chart)) {
    out += fmt::format(" \\\n    --set-json '{}={}'", one.path, toleration_list(one.list).dump());
  }
  return out;
}

}  // namespace slicewise::reports
