#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/portable_math.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/sim/figure_text.hpp"

#include "capacity_block.hpp"
#include "parts.hpp"

namespace slicewise::sim {
namespace {

// What GPU Feature Discovery says of how the node's devices are shared.
struct SharingLabels {
  std::string strategy = "none";
  int replicas = 1;
  bool renamed = false;
  bool mps = false;
};

SharingLabels sharing_labels(const NodePool& pool, const PoolModel& model) {
  SharingLabels labels;
  for (const ResourceOffer& offer : model.offers) {
    const auto entry = plugin_entry(pool, std::string(scenarios::device_name(offer.name)));
    if (!entry) continue;
    labels.strategy = entry->mps ? "mps" : "time-slicing";
    labels.replicas = entry->resource->replicas;
    labels.renamed = entry->sharing->rename_by_default;
    labels.mps = entry->mps;
  }
  return labels;
}

// The MIG profile of a node whose strategy is `single`, "" otherwise.
std::string single_profile(const NodePool& pool, const PoolModel& model) {
  const bool single = pool.mig && pool.mig->strategy == MigStrategy::Single;
  return single && !model.kinds.empty() ? model.kinds.front().partition : "";
}

models::PurchaseOption purchase_option(CapacityType type) {
  switch (type) {
    case CapacityType::OnDemand:
      return models::PurchaseOption::OnDemand;
    case CapacityType::Spot:
      return models::PurchaseOption::Spot;
    case CapacityType::Reserved:
      return models::PurchaseOption::Reserved;
    case CapacityType::CapacityBlock:
      return models::PurchaseOption::CapacityBlock;
  }
  return models::PurchaseOption::OnDemand;
}

std::string_view capacity_label(CapacityType type) {
  return is_reserved(type) ? "reserved" : models::name_of(purchase_option(type));
}

std::string_view managed_capacity_label(CapacityType type) {
  if (type == CapacityType::CapacityBlock) return "CAPACITY_BLOCK";
  return type == CapacityType::Spot ? "SPOT" : "ON_DEMAND";
}

// Whether nodes of the pool have such a label: of a pool whose nodes stay nobody says who made
// them.
bool has_label(const Scenario& scenario, const NodePool& pool, std::string_view label) {
  return !pool.most_nodes || scenarios::label_by(maker_of(scenario.provisioner.kind), label);
}

}  // namespace

std::map<std::string, std::string> pool_labels(const Scenario& scenario, const NodePool& pool) {
  std::map<std::string, std::string> made{
      {"kubernetes.io/os", "linux"},
      {"topology.kubernetes.io/region", scenario.region},
      {std::string(scenarios::kNodePoolLabel), pool.name.value},
      {std::string(scenarios::kCapacityTypeLabel), std::string(capacity_label(pool.capacity_type))},
      {std::string(scenarios::kManagedGroupLabel), pool.name.value},
      {std::string(scenarios::kManagedCapacityLabel),
       std::string(managed_capacity_label(pool.capacity_type))},
      {"nvidia.com/gpu.present", "true"}};
  std::erase_if(made, [&](const auto& label) { return !has_label(scenario, pool, label.first); });
  std::map<std::string, std::string> labels = pool.labels;
  labels.merge(std::move(made));
  return labels;
}

// Source: aws/karpenter-provider-aws @1d927085, pkg/providers/instancetype/types.go
// (computeRequirements).
scenarios::NodeLabels type_labels(const InstanceType& type) {
  scenarios::NodeLabels labels = scenarios::labels_of_type(type.name);
  labels[std::string(scenarios::kArchitectureLabel)] = type.architecture;
  const auto set = [&](std::string_view name, std::optional<std::string> value) {
    labels[fmt::format("karpenter.k8s.aws/instance-{}", name)] = std::move(value);
  };
  set("cpu", std::to_string(type.vcpus));
  set("memory", std::to_string(type.memory.count >> 20U));
  if (type.local_nvme_gb > 0) {
    set("local-nvme", std::to_string(type.local_nvme_gb));
  } else {
    set("local-nvme", std::nullopt);
  }
  set("gpu-name", type.ec2_gpu_name);
  set("gpu-manufacturer", "nvidia");
  set("gpu-count", type.gpu_fraction < 1 ? "0" : std::to_string(type.gpu_count));
  set("gpu-memory", std::to_string(type.ec2_gpu_memory.count >> 20U));
  for (const char* none : {"accelerator-name", "accelerator-manufacturer", "accelerator-count"}) {
    set(none, std::nullopt);
  }
  return labels;
}

std::map<std::string, std::string> node_labels(const Scenario& scenario, const NodePool& pool,
                                               const InstanceType& type, const PoolModel& model) {
  const SharingLabels sharing = sharing_labels(pool, model);
  std::map<std::string, std::string> labels = pool.labels;
  for (const auto& [key, value] : type_labels(type)) {
    if (value && has_label(scenario, pool, key)) labels.try_emplace(key, *value);
  }
  labels.merge(pool_labels(scenario, pool));
  labels.merge(std::map<std::string, std::string>{
      {"nvidia.com/gpu.count", std::to_string(type.gpu_count)},
      {std::string(scenarios::kReplicasLabel), std::to_string(sharing.replicas)},
      {std::string(scenarios::kSharingStrategyLabel), sharing.strategy},
      {"nvidia.com/mig.capable", model.gpu->supports_mig ? "true" : "false"},
      {"nvidia.com/mps.capable", sharing.mps ? "true" : "false"}});
  if (pool.mig) labels.try_emplace(std::string(scenarios::kMigLabel), pool.mig->config.value);
  if (pool.virtual_gpu) labels.try_emplace(std::string(scenarios::kAcceleratorLabel), "vgpu");
  if (pool.hami) labels.try_emplace("gpu", "on");  // HAMi's DaemonSet selects it
  if (pool.nos) labels.try_emplace("nos.nebuly.com/gpu-partitioning", "mps");
  if (!model.gpu->kubernetes_product.empty()) {
    std::string product = model.gpu->kubernetes_product;
    const std::string profile = single_profile(pool, model);
    if (!profile.empty()) product += "-MIG-" + profile;
    if (sharing.strategy != "none" && !sharing.renamed) product += "-SHARED";
    labels.try_emplace(std::string(scenarios::kProductLabel), product);
  }
  return labels;
}

namespace {

// Of the nodes in the Spot Advisor's last bucket (">20%"), and where it says nothing: Assumed.
constexpr double kMostTakenBack = 0.25;

// The constant rate at which this share of nodes is gone after a month.
Rate per_month(double share) {
  constexpr double kMonthSeconds = 730.0 * 3600;
  return {-portable_log(1 - share) / kMonthSeconds};
}

const InstanceType* find_instance(const NodePool& pool, const Catalogue& catalogue,
                                  Diagnostics& found) {
  const auto& wanted = pool.instance_type;
  const InstanceType* type = catalogue.find_instance(wanted.value);
  if (type == nullptr) {
    found.push_back(unknown_instance(wanted, catalogue));
    return nullptr;
  }
  if (!type->retired_on.empty()) {
    add_diagnostic(found, Code::InstanceRetired, wanted.where,
                   fmt::format("{} was retired by AWS on {}: for replays and comparisons only",
                               type->name, type->retired_on));
  }
  return type;
}

// The scenario's plan for what the pool buys by the hour; null: it has none.
const scenarios::PricePlan* plan_of(const Scenario& scenario, const NodePool& pool) {
  if (pool.capacity_type != CapacityType::OnDemand) return nullptr;
  for (const scenarios::PricePlan& plan : scenario.price_plans) {
    if (plan.instance_type.value == pool.instance_type.value) return &plan;
  }
  return nullptr;
}

// The on-demand price, or less where the scenario has a plan for the type.
models::Price agreed_price(const scenarios::PricePlan* plan, models::Price price) {
  if (plan == nullptr) return price;
  price.usd.per_hour = from_dollars(to_dollars(price.usd.per_hour) * (1 - plan->discount));
  price.source.text = fmt::format("on-demand less {:.4g} % ({}): {}", 100 * plan->discount,
                                  plan->name, price.source.text);
  return price;
}

// A block is paid for whole: says what that is. False: such a block is not sold.
bool is_sold_as_block(const Scenario& scenario, const NodePool& pool, const models::Price& price,
                      Diagnostics& found) {
  if (pool.most_nodes) {
    add_diagnostic(found, Code::SettingConflict, pool.name.where,
                   "nodes of a Capacity Block that come and go",
                   "all of a block's nodes are paid for until it ends: write one number of nodes");
    return false;
  }
  // Until the jobs are done: nobody knows how long that is.
  const std::int64_t days = days_of_block(scenario.duration.value_or(Duration{}));
  if (days > kDaysOfLongestBlock) {
    add_diagnostic(
        found, Code::ValueRange, pool.instance_type.where,
        fmt::format("a run of {} on a Capacity Block, which is sold for 182 days at most",
                    clock_text(*scenario.duration)),
        "another capacityType, or a shorter run");
    return false;
  }
  const Usd each = cost_of(price.usd, hours(24) * days);
  add_diagnostic(found, Code::PriceDerived, pool.instance_type.where,
                 fmt::format("nodes of {} are a Capacity Block of {}, the shortest{}: "
                             "{}${:.2f}, paid at once{}",
                             pool.name.value, days == 1 ? "1 day" : fmt::format("{} days", days),
                             scenario.duration ? " for the run" : "",
                             scenario.duration ? "" : "at least ", to_dollars(each) * pool.nodes,
                             scenario.duration
                                 ? "; costs are those of the time of the run"
                                 : "; in the bill until the jobs are done, of 182 days at most"));
  return true;
}

std::optional<models::Price> find_price(const Scenario& scenario, const NodePool& pool,
                                        const Catalogue& catalogue, Diagnostics& found) {
  auto price = catalogue.prices.find(pool.instance_type.value, scenario.region,
                                     purchase_option(pool.capacity_type));
  if (price) {
    if (price->source.derived) {
      add_diagnostic(found, Code::PriceDerived, pool.instance_type.where,
                     fmt::format("the price of {} in {} is {}", pool.instance_type.value,
                                 scenario.region, price->source.text));
    }
    const bool block = pool.capacity_type == CapacityType::CapacityBlock;
    if (block && !is_sold_as_block(scenario, pool, *price, found)) return std::nullopt;
    return agreed_price(plan_of(scenario, pool), std::move(*price));
  }
  for (Diagnostic& problem : price.error()) {
    if (problem.where.line == 0) {
      problem.where =
          problem.code == Code::RegionUnknown ? scenario.region_where : pool.instance_type.where;
    }
    found.push_back(std::move(problem));
  }
  return std::nullopt;
}

// How often EC2 takes one node back, from the middle of the Spot Advisor's bucket of nodes that it
// took back within a month.
void take_advice(const Catalogue& catalogue, const std::string& instance, const std::string& region,
                 SpotModel& spot) {
  constexpr std::pair<std::string_view, double> kFrequencies[] = {{"<5%", 0.025},
                                                                  {"5-10%", 0.075},
                                                                  {"10-15%", 0.125},
                                                                  {"15-20%", 0.175},
                                                                  {">20%", kMostTakenBack}};
  for (const models::SpotMarket& market : catalogue.spot) {
    if (market.instance != instance || market.region != region) continue;
    for (const auto& [name, share] : kFrequencies) {
      if (name != market.interruption_bucket) continue;
      spot.advised = true;
      spot.interruptions = per_month(share);
      spot.source =
          fmt::format("Spot Advisor {}: {} of the nodes in a month", market.advisor_date, name);
      return;
    }
  }
  spot.interruptions = per_month(kMostTakenBack);
  spot.source = fmt::format("assumed, the Spot Advisor does not know it: {:.0f}% in a month",
                            100 * kMostTakenBack);
}

std::optional<SpotModel> model_spot(const Scenario& scenario, const NodePool& pool,
                                    const Catalogue& catalogue, Diagnostics& found) {
  if (pool.capacity_type != CapacityType::Spot) return std::nullopt;
  const scenarios::Spot stated = pool.spot.value_or(scenarios::Spot{});
  SpotModel spot;
  spot.notice = stated.notice;
  if (stated.interruptions) {
    spot.interruptions = *stated.interruptions;
    spot.stated = true;
    spot.source = "stated";
  } else {
    take_advice(catalogue, pool.instance_type.value, scenario.region, spot);
  }
  if (!stated.falls_back_to_on_demand) return spot;
  auto price = catalogue.prices.find(pool.instance_type.value, scenario.region,
                                     models::PurchaseOption::OnDemand);
  if (price) {
    spot.fallback = *price;
    return spot;
  }
  for (Diagnostic& problem : price.error()) {
    if (problem.where.line == 0) problem.where = stated.where;
    found.push_back(std::move(problem));
  }
  return std::nullopt;
}

// What a node has for the scenario's pods beside those of its DaemonSets. False: nothing.
bool leave_to_pods(const NodePool& pool, const InstanceType& type, PoolModel& model,
                   Diagnostics& found) {
  model.daemon_sets = pool.daemon_sets;
  const Millicores cpu = pool.allocatable.cpu.value_or(type.allocatable_cpu);
  const Bytes memory = pool.allocatable.memory.value_or(type.allocatable_memory);
  const int places = pool.allocatable.pods.value_or(type.max_pods);
  model.allocatable_cpu = cpu;
  model.allocatable_memory = memory;
  model.max_pods = std::max(0, places - static_cast<int>(pool.daemon_sets.size()));
  // Nodes of a cluster are as they are: their pods stay Pending.
  const bool is_told = pool.allocatable.is_told();
  const auto refuse = [&](std::string what, std::string help) {
    add_diagnostic(found, Code::SettingConflict, pool.daemon_sets_where, std::move(what),
                   std::move(help));
    if (is_told) found.back().severity = Severity::Warning;
    return is_told;
  };
  for (const scenarios::DaemonSet& daemon : pool.daemon_sets) {
    model.allocatable_cpu = model.allocatable_cpu - daemon.cpu_request;
    model.allocatable_memory = model.allocatable_memory - daemon.memory_request;
    if (model.allocatable_cpu.count > 0 && model.allocatable_memory.count > 0) continue;
    model.allocatable_cpu = std::max(Millicores{}, model.allocatable_cpu);
    model.allocatable_memory = std::max(Bytes{}, model.allocatable_memory);
    return refuse(
        fmt::format(
            "DaemonSets leave nothing of {}: with {} they ask for all of its {} CPUs or {:.1f} GiB",
            type.name, daemon.name, static_cast<double>(cpu.count) / 1000, in_gibibytes(memory)),
        "smaller requests, or a larger instance type");
  }
  if (model.max_pods > 0) return true;
  return refuse(fmt::format("{} DaemonSets leave no place for a pod: {} holds {} pods",
                            pool.daemon_sets.size(), type.name, places),
                "fewer DaemonSets, or a larger instance type");
}

// From the instance type, autoscalers know nvidia.com/gpu as the number of whole GPUs; EC2 says 0
// of a fraction. They know no other GPU resource.
void set_expectations(const scenarios::Provisioner& provisioner, const InstanceType& type,
                      PoolModel& pool) {
  const bool told = provisioner.kind == scenarios::Provisioner::Kind::Karpenter
                        ? provisioner.node_overlay
                        : provisioner.resource_tags;
  const int whole_gpus = type.gpu_fraction < 1 ? 0 : type.gpu_count;
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    const std::int64_t known = pool.offers[offer].name == kGpuResource ? whole_gpus : 0;
    // Karpenter knows the devices of its instance types (IGNORE_DRA_REQUESTS: false).
    const bool is_known = told || pool.offers[offer].claim != ResourceOffer::Claim::None;
    pool.offers[offer].expected_per_node = is_known ? pool.tickets_per_node(offer, 0) : known;
  }
}

// Leaves the GPUs that the device plugin offers: it counts no unhealthy ones. False: there are not
// so many.
bool keep_healthy(const NodePool& pool, PoolModel& model, Diagnostics& found) {
  if (!pool.allocatable.gpus) return true;
  const int healthy = *pool.allocatable.gpus;
  for (NodeLayout& layout : model.layouts) {
    std::erase_if(layout.domains, [&](const auto& domain) { return domain.gpu >= healthy; });
  }
  model.unhealthy_gpus = model.gpus_per_node - healthy;
  if (model.unhealthy_gpus >= 0) return true;
  found.push_back(make_diagnostic(
      Code::ValueRange, pool.allocatable.where,
      fmt::format("allocatable.gpus is {}, {} has {}", healthy, model.instance_type,
                  model.gpus_per_node),
      "gpus is how many of a node's GPUs the device plugin offers, before they are shared"));
  return false;
}

}  // namespace

bool has_prices(const Catalogue& catalogue, const std::string& region) {
  return std::ranges::binary_search(catalogue.prices.regions(), region);
}

Diagnostic unknown_instance(const Located<std::string>& wanted, const Catalogue& catalogue) {
  return unknown_name(Code::InstanceUnknown, wanted,
                      fmt::format("instance type \"{}\" is not in the catalogue", wanted.value),
                      catalogue.instances, "slicewise get instances");
}

Diagnostic unknown_region(const std::string& region, const SourceLocation& where,
                          const Catalogue& catalogue) {
  const std::vector<std::string>& regions = catalogue.prices.regions();
  const auto near = nearest_name(region, regions);
  return make_diagnostic(
      Code::RegionUnknown, where, fmt::format("the price book has no region \"{}\"", region),
      near ? fmt::format("did you mean {}?", *near)
           : fmt::format("it has {}; --prices can add one", fmt::join(regions, ", ")));
}

Millicores PoolModel::node_cpu() const {
  Millicores all = allocatable_cpu;
  for (const scenarios::DaemonSet& daemon : daemon_sets) all = all + daemon.cpu_request;
  return all;
}

Bytes PoolModel::node_memory() const {
  Bytes all = allocatable_memory;
  for (const scenarios::DaemonSet& daemon : daemon_sets) all += daemon.memory_request;
  return all;
}

bool World::changes_nodes() const { return std::ranges::any_of(pools, &PoolModel::changes_nodes); }

const std::string& PoolModel::node_pool() const {
  const auto label = labels.find(std::string(scenarios::kNodePoolLabel));
  return label == labels.end() ? name : label->second;
}

bool PoolModel::takes_turns() const {
  return std::ranges::all_of(kinds, [](const DomainKind& kind) {
    return kind.partition.empty() && (std::holds_alternative<models::Exclusive>(kind.sharing) ||
                                      std::holds_alternative<models::TimeSlicing>(kind.sharing));
  });
}

int PoolModel::node_slots() const {
  if (most_nodes) return *most_nodes;
  // A node that EC2 takes back is still there when the one in its place starts.
  return spot ? 2 * nodes : nodes;
}

bool PoolModel::has_common_device(std::size_t offer, std::size_t other) const {
  const auto gives = [](const DomainKind& kind, std::size_t to) {
    return std::ranges::find(kind.tickets, to, &Tickets::offer) != kind.tickets.end();
  };
  return std::ranges::any_of(
      kinds, [&](const DomainKind& kind) { return gives(kind, offer) && gives(kind, other); });
}

std::int64_t PoolModel::tickets_per_node(std::size_t offer, std::size_t layout) const {
  std::int64_t count = 0;
  TakenParts taken;
  for (const NodeLayout::Domain& domain : layouts[layout].domains) {
    for (const Tickets& tickets : kinds[domain.kind].tickets) {
      if (tickets.offer != offer || !taken.take(domain)) continue;
      // One of the devices is the claim's, whichever.
      if (offers[offer].claim == ResourceOffer::Claim::Shared) return tickets.count;
      count += tickets.count;
    }
  }
  return count;
}

std::int64_t PoolModel::most_tickets_per_node(std::size_t offer) const {
  std::int64_t most = 0;
  for (std::size_t layout = 0; layout < layouts.size(); ++layout) {
    most = std::max(most, tickets_per_node(offer, layout));
  }
  return most;
}

std::vector<std::vector<Tickets>> PoolModel::companies(std::size_t kind) const {
  const std::vector<Tickets>& all = kinds[kind].tickets;
  if (!dra) return {all};
  std::vector<std::vector<Tickets>> out;
  out.reserve(all.size());
  for (const Tickets& tickets : all) out.push_back({tickets});
  return out;
}

std::optional<PoolModel> model_pool(const Scenario& scenario, const NodePool& pool,
                                    const Catalogue& catalogue, Diagnostics& found) {
  const InstanceType* type = find_instance(pool, catalogue, found);
  if (type == nullptr) return std::nullopt;
  const std::optional<models::Price> price = find_price(scenario, pool, catalogue, found);
  const GpuModel* gpu = catalogue.find_gpu(type->gpu_model);
  if (gpu == nullptr) {
    add_diagnostic(found, Code::GpuUnknown, pool.instance_type.where,
                   fmt::format("the catalogue has no figures for {}, the GPU of {}",
                               type->gpu_model, type->name));
    return std::nullopt;
  }

  PoolModel model;
  model.name = pool.name.value;
  model.instance_type = type->name;
  model.architecture = type->architecture;
  model.region = scenario.region;
  model.purchase_option = models::name_of(purchase_option(pool.capacity_type));
  if (const scenarios::PricePlan* plan = plan_of(scenario, pool)) model.price_plan = plan->name;
  model.where = pool.nodes_where.line > 0 ? pool.nodes_where : pool.name.where;
  model.nodes = pool.nodes;
  model.most_nodes = pool.most_nodes;
  model.paid_by_block =
      pool.capacity_type == CapacityType::CapacityBlock && !scenario.duration.has_value();
  model.weight = pool.weight;
  model.consolidation = pool.consolidation.value_or(scenario.provisioner.consolidation);
  model.consolidate_after = pool.consolidate_after.value_or(scenario.provisioner.consolidate_after);
  model.expire_after = pool.expire_after;
  model.gpus_per_node = type->gpu_count;
  model.gpu = gpu;
  model.interconnect = catalogue.find_interconnect(type->interconnect);
  model.context_memory = pool.gpu.context_memory.value_or(models::context_memory(*gpu).bytes);
  model.vcpus = type->vcpus;
  if (!leave_to_pods(pool, *type, model, found)) return std::nullopt;
  model.taints = pool.taints;
  if (pool.device_plugin) model.allocation = pool.device_plugin->allocation_policy;
  model.dynamic_mig = pool.dynamic_mig;
  if (pool.mig) model.change_times = pool.mig->change_times;
  const std::size_t known = found.size();
  const std::vector<CutNode> cuts = cut_nodes(pool, *type, *gpu, catalogue, found);
  const bool cut_failed =
      has_errors({found.begin() + static_cast<std::ptrdiff_t>(known), found.end()});
  if (cut_failed) return std::nullopt;
  model_sharing(scenario, pool, *type, cuts, model, found);
  if (pool.mig && pool.mig->nos) {
    model.nos = {*pool.mig->nos, nos_geometries(*catalogue.find_mig(gpu->name), model.kinds)};
  }
  if (!keep_healthy(pool, model, found)) return std::nullopt;
  for (std::size_t change = 0; pool.mig && change < pool.mig->changes.size(); ++change) {
    model.layout_changes.push_back({TimePoint{} + pool.mig->changes[change].at, change + 1});
  }
  set_expectations(scenario.provisioner, *type, model);
  model.spot = model_spot(scenario, pool, catalogue, found);
  model.labels = node_labels(scenario, pool, *type, model);
  for (const auto& [key, value] : model.labels) {  // of GPU Feature Discovery, on the node itself
    if (scenarios::is_late_label(key) && !pool.labels.contains(key))
      model.late_labels.push_back(key);
  }
  if (!price) return std::nullopt;
  model.price = *price;
  return model;
}

}  // namespace slicewise::sim
