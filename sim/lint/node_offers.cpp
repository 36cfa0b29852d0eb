#include "node_offers.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "slicewise/lookup.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/price_book.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/lint.hpp"

#include "../world/admission.hpp"
#include "../world/parts.hpp"

namespace slicewise::sim::lint {
namespace {

using scenarios::ClusterFiles;
using scenarios::FileSharing;
using scenarios::NodeGroupFile;
using scenarios::NodeRequirement;
using scenarios::PluginConfigFile;

constexpr std::string_view kSystemLabel = "kubernetes.io/os";

bool is_gpu_amount(const scenarios::ResourceAmount& amount) {
  return amount.amount > 0 && scenarios::gpu_resource(amount.resource).has_value();
}

// Whether the nodes have GPUs, by anything that says so.
bool is_gpu_group(const NodeGroupFile& group, const std::vector<const InstanceType*>& types) {
  if (!types.empty() || group.bottlerocket) return true;
  if (group.allocatable && std::ranges::any_of(*group.allocatable, is_gpu_amount)) return true;
  const auto of_nvidia = [](const auto& pair) { return pair.key.starts_with("nvidia.com/"); };
  return std::ranges::any_of(group.labels, of_nvidia) ||
         std::ranges::any_of(group.taints, of_nvidia);
}

std::vector<const InstanceType*> named_types(const NodeGroupFile& group,
                                             const Catalogue& catalogue) {
  std::vector<const InstanceType*> types;
  for (const auto& name : group.types) {
    if (const auto* type = catalogue.find_instance(name.value)) types.push_back(type);
  }
  if (!group.types.empty() || !std::ranges::any_of(group.requirements, names_gpus)) return types;
  for (const InstanceType& type : catalogue.instances) {
    if (fulfils(type, group.requirements)) types.push_back(&type);
  }
  return types;
}

// Nodes that Karpenter never starts for pods with GPUs stand for none, where there are others.
std::vector<const InstanceType*> types_of(const NodeGroupFile& group, const ClusterFiles& files,
                                          const Catalogue& catalogue) {
  std::vector<const InstanceType*> types = named_types(group, catalogue);
  const auto counts = [&](const auto* type) { return counts_gpus(*type, group, files); };
  if (group.kind == NodeGroupFile::Kind::NodePool && std::ranges::any_of(types, counts)) {
    std::erase_if(types, std::not_fn(counts));
  }
  return types;
}

// What is known of the labels of its nodes, of each type: the catalogue's, or by its name.
std::vector<scenarios::NodeLabels> labels_of(const NodeGroupFile& group,
                                             const std::vector<const InstanceType*>& types,
                                             const Catalogue& catalogue) {
  std::vector<scenarios::NodeLabels> all;
  all.reserve(types.size() + group.types.size());
  for (const InstanceType* type : types) all.push_back(type_labels(*type));
  for (const auto& name : group.types) {
    if (catalogue.find_instance(name.value) != nullptr) continue;
    all.push_back(scenarios::labels_of_type(name.value));
  }
  if (all.empty()) all.emplace_back();
  const bool is_pool = group.kind == NodeGroupFile::Kind::NodePool;
  const bool says_system = contains(group.requirements, kSystemLabel, &NodeRequirement::key);
  for (scenarios::NodeLabels& labels : all) {
    if (is_pool && !says_system) labels.emplace(kSystemLabel, "linux");
    for (const scenarios::KeyValue& own : group.labels) labels[own.key] = own.value;
  }
  return all;
}

class OfferBuilder {
 public:
  OfferBuilder(const ClusterFiles& files, const Catalogue& catalogue)
      : files_(files), catalogue_(catalogue) {}

  std::vector<NodeOffer> all() {
    std::vector<NodeOffer> offers;
    for (const NodeGroupFile& group : files_.groups) {
      NodeOffer offer;
      offer.group = &group;
      offer.types = types_of(group, files_, catalogue_);
      if (!is_gpu_group(group, offer.types)) continue;
      offer.labels = labels_of(group, offer.types, catalogue_);
      offer.mig_label = label_of(group, kMigLabel);
      choose_config(offer);
      choose_layouts(offer);
      list_resources(offer);
      if (group.allocatable) take_allocatable(offer);
      offers.push_back(std::move(offer));
    }
    if (offers.empty()) add_undescribed(offers);
    return offers;
  }

 private:
  void choose_config(NodeOffer& offer) const {
    const NodeGroupFile& group = *offer.group;
    if (has_own_image(group)) {
      offer.config = group.bottlerocket ? &*group.bottlerocket : nullptr;
      // What the settings of a Bottlerocket node are, it does not say.
      offer.config_is_known = group.kind != NodeGroupFile::Kind::Node || !group.is_bottlerocket;
      return;
    }
    const scenarios::ChosenConfig chosen =
        scenarios::chosen_config(files_, label_of(group, kConfigLabel));
    offer.config = chosen.config;
    offer.config_is_known = chosen.is_known;
  }

  // A chart gives its own to the plugin as a variable, which beats the config file
  // (api/config/v1/config.go). Of images that bring a plugin only the latter is there.
  std::string strategy_of(const NodeOffer& offer) const {
    const bool has_own = offer.group != nullptr && has_own_image(*offer.group);
    const scenarios::ChartValues* chart = has_own ? nullptr : scenarios::plugin_chart(files_);
    if (chart != nullptr && !chart->strategy.empty()) return chart->strategy;
    if (offer.config != nullptr && !offer.config->strategy.empty()) return offer.config->strategy;
    return offer.config_is_known ? "none" : "";
  }

  void choose_layouts(NodeOffer& offer) const {
    offer.strategy = strategy_of(offer);
    const bool partitions = offer.group->bottlerocket_partitions || offer.mig_label != nullptr;
    if (!partitions || offer.group->bottlerocket_partitions) return;
    std::vector<std::string_view> seen;
    for (const InstanceType* type : offer.types) {
      if (contains(seen, type->gpu_model)) continue;
      seen.push_back(type->gpu_model);
      const MigGeometry* geometry = catalogue_.find_mig(type->gpu_model);
      if (geometry != nullptr) add_layout(*geometry, offer);
    }
  }

  void add_layout(const MigGeometry& geometry, NodeOffer& offer) const {
    ChosenLayout layout{&geometry, {}, false};
    const auto own = std::ranges::find(files_.mig_configs, offer.mig_label->value,
                                       &scenarios::MigConfigFile::name);
    if (own == files_.mig_configs.end()) {
      const auto shipped = models::shipped_mig_config(offer.mig_label->value, geometry);
      if (!shipped || !shipped->enabled) return;
      for (const MigCount& count : shipped->counts) {
        layout.counts.emplace_back(count.profile, count.count);
      }
    } else {
      for (const scenarios::MigPartFile& part : own->parts) {
        const bool is_for_it = part.filters.empty() ||
                               std::ranges::any_of(part.filters, [&](const std::string& filter) {
                                 return geometry_of_filter(catalogue_, filter) == &geometry;
                               });
        if (!is_for_it) continue;
        layout.is_partial = layout.is_partial || !part.enabled;
        if (!part.enabled) continue;
        for (const scenarios::ResourceAmount& count : part.counts) {
          if (count.amount > 0) layout.counts.emplace_back(count.resource, count.amount);
        }
      }
    }
    if (!layout.counts.empty()) offer.layouts.push_back(std::move(layout));
  }

  static void add_resource(NodeOffer& offer, const std::string& name, std::int64_t devices) {
    OfferedResource resource{name, 1, devices};
    const PluginConfigFile* config = offer.config;
    if (config != nullptr && config->sharing != FileSharing::None) {
      for (const scenarios::ReplicatedResource& shared : config->resources) {
        if (shared.name != name) continue;
        resource.replicas = shared.replicas;
        resource.name = scenarios::advertised_name(name, config->renames);
      }
    }
    offer.resources.push_back(std::move(resource));
  }

  void list_resources(NodeOffer& offer) const {
    std::int64_t most = 0;
    for (const InstanceType* type : offer.types) {
      most = std::max<std::int64_t>(most, type->gpu_count);
    }
    const bool partitioned = !offer.layouts.empty();
    if (offer.group->bottlerocket_partitions) {
      constexpr std::int64_t kMostInstances = 7;
      return add_resource(offer, std::string(kGpuResource), most * kMostInstances);
    }
    if (!partitioned || offer.strategy != "mixed") {
      std::int64_t instances = 1;
      for (const ChosenLayout& layout : offer.layouts) {
        std::int64_t sum = 0;
        for (const auto& count : layout.counts) sum += count.second;
        instances = std::max(instances, sum);
      }
      const bool counted = partitioned && offer.strategy == "single";
      add_resource(offer, std::string(kGpuResource), counted ? most * instances : most);
    }
    // Partitions by a label that the files do not show, or in a layout of which little is known.
    offer.may_have_mig = !partitioned && offer.strategy != "none" && offer.strategy != "single";
    if (offer.mig_label != nullptr && offer.types.empty()) offer.may_have_mig = true;
    if (!partitioned || offer.strategy != "mixed") return;
    bool is_partial = false;
    for (const ChosenLayout& layout : offer.layouts) {
      is_partial = is_partial || layout.is_partial;
      for (const auto& [profile, count] : layout.counts) {
        add_resource(offer, scenarios::mig_resource(profile), most * count);
      }
    }
    if (is_partial) add_resource(offer, std::string(kGpuResource), most);
  }

  // How often a node hands out a device: by the files, else by how many GPUs its type has.
  static std::int64_t replicas_of(const NodeOffer& offer, const scenarios::ResourceAmount& amount) {
    const OfferedResource* planned = offer.find(amount.resource);
    if (planned != nullptr && planned->replicas > 1) return planned->replicas;
    const bool is_of_gpus =
        amount.resource == kGpuResource || amount.resource == scenarios::kSharedGpuResource;
    if (!is_of_gpus || !offer.layouts.empty() || offer.types.empty()) return 1;
    return std::max<std::int64_t>(1, amount.amount / std::max(1, offer.types.front()->gpu_count));
  }

  // What a node says of itself holds, whatever files of the plugin say.
  static void take_allocatable(NodeOffer& offer) {
    std::vector<OfferedResource> there;
    for (const scenarios::ResourceAmount& amount : *offer.group->allocatable) {
      if (!is_gpu_amount(amount)) continue;
      const std::int64_t replicas = replicas_of(offer, amount);
      there.push_back({amount.resource, replicas, (amount.amount + replicas - 1) / replicas});
    }
    offer.resources = std::move(there);
    offer.config_is_known = true;
    offer.may_have_mig = false;
  }

  // No group with GPUs was read: nodes as the configs would make them.
  void add_undescribed(std::vector<NodeOffer>& offers) const {
    for (const PluginConfigFile& config : files_.configs) {
      NodeOffer offer;
      offer.config = &config;
      offer.config_is_known = true;
      offer.strategy = strategy_of(offer);
      offer.may_have_mig = offer.strategy == "mixed";
      add_resource(offer, std::string(kGpuResource), 0);
      if (offer.may_have_mig) {
        for (const scenarios::ReplicatedResource& shared : config.resources) {
          if (shared.name != kGpuResource) add_resource(offer, shared.name, 0);
        }
      }
      offers.push_back(std::move(offer));
    }
  }

  const ClusterFiles& files_;
  const Catalogue& catalogue_;
};

}  // namespace

bool names_gpus(const NodeRequirement& requirement) {
  return requirement.key.find("instance-gpu") != std::string::npos ||
         requirement.key.find("instance-category") != std::string::npos ||
         requirement.key == scenarios::kFamilyLabel;
}

bool fulfils(const InstanceType& type, std::span<const NodeRequirement> requirements) {
  const scenarios::NodeLabels labels = type_labels(type);
  return std::ranges::all_of(requirements, [&](const NodeRequirement& requirement) {
    return scenarios::fulfils(labels, requirement);
  });
}

bool counts_gpus(const InstanceType& type, const NodeGroupFile& group, const ClusterFiles& files) {
  return type.gpu_fraction == 1 || scenarios::overlay_gives_gpus(files, group, type_labels(type));
}

bool NodeOffer::has_mps() const { return config != nullptr && config->sharing == FileSharing::Mps; }

bool NodeOffer::offers(std::string_view resource) const { return find(resource) != nullptr; }

const OfferedResource* NodeOffer::find(std::string_view resource) const {
  return find_or_null(resources, resource, &OfferedResource::name);
}

const MigGeometry* geometry_of_filter(const Catalogue& catalogue, std::string_view filter) {
  return find_if_or_null(catalogue.mig, [&](const auto& geometry) {
    return !filter.empty() && same_name(geometry.device_filter, filter);
  });
}

std::vector<NodeOffer> node_offers(const ClusterFiles& files, const Catalogue& catalogue) {
  std::vector<NodeOffer> offers = OfferBuilder(files, catalogue).all();
  for (NodeOffer& offer : offers) {
    if (offer.group == nullptr) continue;
    const auto runs_there = [&](const scenarios::PodFile& pod) {
      return !scenarios::asks_for_gpu(pod) && may_run_on(pod, offer);
    };
    for (const scenarios::DaemonSet& daemon : scenarios::daemon_sets_of(files, runs_there)) {
      offer.daemon_cpu_milli += daemon.cpu_request.count;
      offer.daemon_memory_bytes += daemon.memory_request.count;
    }
  }
  return offers;
}

const scenarios::Taint* untolerated(const scenarios::PodFile& pod, const NodeGroupFile& group) {
  std::vector<scenarios::Toleration> tolerations = pod.tolerations;
  for (const scenarios::ContainerFile& container : pod.containers) {
    for (const scenarios::ResourceAmount& amount : container.amounts) {
      const bool is_extended = amount.resource.find('/') != std::string::npos;
      if (is_extended) tolerations.push_back(toleration_of_resource(amount.resource));
    }
  }
  return scenarios::untolerated(group.taints, tolerations);
}

namespace {

// Whether nodes of one type fulfil all of some requirements.
template <class AreMet>
bool any_type(const NodeOffer& offer, const AreMet& are_met) {
  return std::ranges::any_of(offer.labels, [&](const scenarios::NodeLabels& labels) {
    return are_met([&](const NodeRequirement& one) {
      return scenarios::may_fulfil(labels, offer.group->requirements, one, offer.group->maker);
    });
  });
}

template <class IsMet>
bool meets_any_term(const scenarios::PodFile& pod, const IsMet& is_met) {
  return pod.affinity.empty() ||
         std::ranges::any_of(pod.affinity, [&](const std::vector<NodeRequirement>& term) {
           return !term.empty() && std::ranges::all_of(term, is_met);
         });
}

}  // namespace

bool meets(const NodeOffer& offer, const NodeRequirement& requirement) {
  return any_type(offer, [&](const auto& is_met) { return is_met(requirement); });
}

bool meets_affinity(const scenarios::PodFile& pod, const NodeOffer& offer) {
  return any_type(offer, [&](const auto& is_met) { return meets_any_term(pod, is_met); });
}

namespace {

// As far as its files say: of types without GPUs, by their names, or by requirements that none with
// GPUs meets.
bool has_no_gpus(const NodeGroupFile& group, const Catalogue& catalogue) {
  const auto is_gpu = [](const auto& type) { return scenarios::is_gpu_type(type.value); };
  if (!group.types.empty()) return std::ranges::none_of(group.types, is_gpu);
  const auto may_have_some = [&](const NodeRequirement& one) {
    return one.key == scenarios::kFamilyLabel && one.op == "In" &&
           std::ranges::any_of(one.values, &scenarios::is_gpu_type);
  };
  return std::ranges::any_of(group.requirements, names_gpus) &&
         std::ranges::none_of(group.requirements, may_have_some) &&
         std::ranges::none_of(catalogue.instances, [&](const InstanceType& type) {
           return fulfils(type, group.requirements);
         });
}

// Of nodes of which nothing is known but what the group says.
NodeOffer unknown_offer(const NodeGroupFile& group) {
  NodeOffer unknown;
  unknown.group = &group;
  scenarios::NodeLabels& labels = unknown.labels.emplace_back();
  for (const scenarios::KeyValue& own : group.labels) labels[own.key] = own.value;
  return unknown;
}

}  // namespace

bool may_be_among_others(const scenarios::PodFile& pod, const ClusterFiles& files,
                         const Catalogue& catalogue, std::span<const NodeOffer> offers) {
  return std::ranges::any_of(files.groups, [&](const NodeGroupFile& group) {
    const bool is_offered = contains(offers, &group, &NodeOffer::group);
    return !is_offered && !has_no_gpus(group, catalogue) && may_select(pod, unknown_offer(group));
  });
}

bool selects_nodes_without_gpus(const scenarios::PodFile& pod, const ClusterFiles& files,
                                const Catalogue& catalogue) {
  const auto names_group = [](const auto& one) { return scenarios::names_group(one.key); };
  const bool names_one = std::ranges::any_of(pod.node_selector, names_group) ||
                         std::ranges::any_of(pod.affinity, [&](const auto& term) {
                           return std::ranges::any_of(term, names_group);
                         });
  return names_one && std::ranges::any_of(files.groups, [&](const NodeGroupFile& group) {
           return has_no_gpus(group, catalogue) && may_select(pod, unknown_offer(group));
         });
}

bool may_select(const scenarios::PodFile& pod, const NodeOffer& offer) {
  return any_type(offer, [&](const auto& is_met) {
    return meets_any_term(pod, is_met) &&
           std::ranges::all_of(pod.node_selector, [&](const scenarios::KeyValue& wanted) {
             return is_met(NodeRequirement{wanted.key, "In", {wanted.value}, {}});
           });
  });
}

bool may_run_on(const scenarios::PodFile& pod, const NodeOffer& offer) {
  return may_select(pod, offer) && untolerated(pod, *offer.group) == nullptr;
}

}  // namespace slicewise::sim::lint

namespace slicewise::sim {
namespace {

scenarios::MigLayouts layouts_of(const MigGeometry& geometry) {
  scenarios::MigLayouts layouts;
  for (const std::string& name : models::shipped_mig_config_names(geometry)) {
    std::map<std::string, int>& layout = layouts[name];
    const auto shipped = models::shipped_mig_config(name, geometry);
    for (const MigCount& count : shipped->counts) {
      const auto profile = std::ranges::find(geometry.profiles, count.profile, &MigProfile::name);
      layout[profile->resource_mixed] = count.count;
    }
  }
  return layouts;
}

}  // namespace

void take_catalogue(const Catalogue& catalogue, scenarios::ImportOptions& options) {
  Millicores cpu_of_daemons;
  Bytes memory_of_daemons;
  for (const scenarios::DaemonSet& daemon : scenarios::usual_daemon_sets()) {
    cpu_of_daemons.count += daemon.cpu_request.count;
    memory_of_daemons.count += daemon.memory_request.count;
  }
  const Scenario usual;
  for (const InstanceType& type : catalogue.instances) {
    const GpuModel* gpu = catalogue.find_gpu(type.gpu_model);
    const bool is_part = type.gpu_fraction < 1;
    const Bytes memory = gpu == nullptr ? type.gpu_memory : models::usable_memory(type, *gpu);
    scenarios::InstanceGpus& known =
        (is_part ? options.fractions : options.instances)
            .emplace_back(scenarios::InstanceGpus{
                type.name,
                lower_case(type.gpu_model.substr(0, type.gpu_model.find('-'))),
                type.gpu_count,
                {type.allocatable_cpu.count - cpu_of_daemons.count},
                {type.allocatable_memory.count - memory_of_daemons.count},
                memory,
                gpu == nullptr ? Bytes{} : models::context_memory(*gpu).bytes,
                type_labels(type)});
    known.allocatable = {type.allocatable_cpu, type.allocatable_memory, type.max_pods};
    if (const MigGeometry* geometry = catalogue.find_mig(type.gpu_model)) {
      options.mig_layouts[type.name] = layouts_of(*geometry);
      for (const MigProfile& profile : geometry->profiles) {
        if (!profile.memory) continue;
        options.mig_memory[type.name][profile.resource_mixed] =
            Bytes{profile.memory->count - known.gpu_context.count};
      }
    }
    if (!type.retired_on.empty()) continue;
    constexpr models::PurchaseOption kOption = models::PurchaseOption::OnDemand;
    for (const std::string& region : catalogue.prices.regions_with(type.name, kOption)) {
      const auto price = catalogue.prices.find(type.name, region, kOption);
      if (price) known.prices.emplace(region, price->usd);
    }
    const auto price = known.prices.find(usual.region);
    if (price != known.prices.end()) known.price = price->second;
  }
  for (const models::LlmModel& model : catalogue.llm_models) {
    if (model.unusable.empty()) options.llm_models.push_back(model.name);
  }
}

}  // namespace slicewise::sim
