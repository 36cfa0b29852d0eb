#include "slicewise/sim/pool_choice.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/sim/figure_text.hpp"

#include "../../world/parts.hpp"
#include "pool_homes.hpp"
#include "probe.hpp"

namespace slicewise::sim {
namespace {

Diagnostic unknown_word(const Located<std::string>& word, const std::string& what,
                        const std::vector<std::string_view>& known) {
  const auto near = nearest_name(word.value, known);
  return make_diagnostic(
      Code::EnumUnknown, word.where, fmt::format("\"{}\" is no {}", word.value, what),
      fmt::format("{}known: {}", near ? fmt::format("did you mean {}? ", *near) : "",
                  fmt::join(known, ", ")));
}

}  // namespace

Names as_names(const std::vector<std::string>& flags) {
  Names names;
  for (const std::string& flag : flags) names.push_back({flag, {}});
  return names;
}

void add_type(const InstanceType* type, std::vector<const InstanceType*>& types) {
  if (type != nullptr && !contains(types, type)) types.push_back(type);
}

std::vector<const InstanceType*> types_named(const Names& names, const Catalogue& catalogue,
                                             Diagnostics& found) {
  std::vector<const InstanceType*> types;
  for (const auto& name : names) {
    if (const InstanceType* type = catalogue.find_instance(name.value)) {
      add_type(type, types);
      continue;
    }
    bool any = false;
    for (const InstanceType& type : catalogue.instances) {
      if (type.family != name.value || !type.retired_on.empty()) continue;
      add_type(&type, types);
      any = true;
    }
    if (any) continue;
    const auto retired = std::ranges::find(catalogue.instances, name.value, &InstanceType::family);
    if (retired != catalogue.instances.end()) {
      add_diagnostic(
          found, Code::InstanceUnknown, name.where,
          fmt::format("all types of {} were retired by AWS ({} on {}): no node of them starts",
                      name.value, retired->name, retired->retired_on),
          fmt::format("name a type, {}, to reckon with it all the same", retired->name));
      continue;
    }
    found.push_back(unknown_name(
        Code::InstanceUnknown, name,
        fmt::format("\"{}\" is neither an instance type nor a family of the catalogue", name.value),
        catalogue.instances, "slicewise get instances"));
  }
  return types;
}

std::vector<Strategy> strategies_named(const Names& names, Diagnostics& found) {
  std::vector<std::string_view> known;
  known.reserve(kStrategies.size());
  for (const Strategy strategy : kStrategies) known.push_back(strategy_name(strategy));
  std::vector<Strategy> strategies;
  for (const auto& name : names) {
    const auto strategy = std::ranges::find_if(kStrategies, [&](Strategy each) {
      return is_spelling_of(name.value, strategy_name(each));
    });
    if (strategy != kStrategies.end()) {
      strategies.push_back(*strategy);
    } else {
      found.push_back(unknown_word(name, "sharing strategy", known));
    }
  }
  return strategies;
}

std::vector<std::string> purchases_named(const Names& names, const Scenario& scenario,
                                         Diagnostics& found) {
  std::vector<std::string_view> known = {"on-demand", "spot", kSpotFallback, "reserved",
                                         "capacity-block"};
  for (const auto& plan : scenario.price_plans) known.emplace_back(plan.name);
  std::vector<std::string> purchases;
  for (const auto& name : names) {
    if (!contains(known, std::string_view(name.value))) {
      found.push_back(unknown_word(name, "purchase option", known));
    } else {
      purchases.push_back(name.value);
    }
  }
  return purchases;
}

bool is_sold(const Scenario& scenario, const std::string& type, const std::string& purchase) {
  const auto plans = [&](const auto& plan) { return plan.name == purchase; };
  if (std::ranges::none_of(scenario.price_plans, plans)) return true;
  return std::ranges::any_of(scenario.price_plans, [&](const auto& plan) {
    return plan.name == purchase && plan.instance_type.value == type;
  });
}

namespace {

// What HAMi is asked for of a GPU, and not for another one.
bool is_part(const scenarios::ExtendedRequest& request) {
  const std::string& name = request.name.value;
  return name == scenarios::kHamiMemory || name == scenarios::kHamiPercentage ||
         name == scenarios::kHamiCores;
}

// What a pod gets in the pool of nvidia.com/gpu: replicas of shared GPUs, or instances of cut ones.
bool offers_parts(const NodePool& pool) {
  const auto entry = plugin_entry(pool, kGpuResource);
  return (entry && !entry->sharing->rename_by_default) ||
         (pool.mig && pool.mig->strategy == MigStrategy::Single);
}

// Several of something that a process uses one of.
bool asks_for_several_parts(const Scenario& scenario, const Workload& workload) {
  if (!has_several_gpus(workload) || workload.trace) return false;
  const auto resource = scenarios::gpu_resource(workload.pod.extended.front().name.value);
  if (!resource || resource->kind != scenarios::GpuResource::Kind::Whole) return true;
  bool any = false;
  for (const NodePool& pool : scenario.node_pools) {
    if (!is_home(scenario, pool, workload)) continue;
    if (!offers_parts(pool)) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::int64_t gpus_asked_for(const Workload& workload) {
  const auto gpu = std::ranges::find_if_not(workload.pod.extended, is_part);
  return gpu == workload.pod.extended.end() ? 1 : gpu->count;
}

void check_pods(const Scenario& scenario, std::string_view what, Diagnostics& found) {
  std::int64_t pods = 0;
  for (const Workload& workload : scenario.workloads) {
    pods += workload.count;
    const Located<std::string>& claim = workload.pod.claim;
    const bool claims_several = std::ranges::any_of(scenario.claims, [&](const auto& one) {
      return one.name.value == claim.value && one.count > 1;
    });
    if (claims_several && workload.count > 0) {
      add_diagnostic(found, Code::StrategyNotModelled, claim.where,
                     fmt::format("the pods of \"{}\" claim several devices: {} for pods with one",
                                 workload.name.value, what),
                     "claim one");
    }
    if (workload.count == 0) continue;
    if (std::ranges::count_if(workload.pod.extended, std::not_fn(is_part)) > 1) {
      add_diagnostic(
          found, Code::StrategyNotModelled, workload.pod.extended.back().count_where,
          fmt::format("the pods of \"{}\" ask for several GPU resources: {} for pods with one",
                      workload.name.value, what),
          "ask for one");
    } else if (asks_for_several_parts(scenario, workload)) {
      const scenarios::ExtendedRequest& request = workload.pod.extended.front();
      add_diagnostic(
          found, Code::StrategyNotModelled, request.count_where,
          fmt::format(
              "the pods of \"{}\" ask for {} of {}, which are parts of GPUs: of how many differs "
              "with how they are shared; {} for pods with one part, or with whole GPUs",
              workload.name.value, request.count, request.name.value, what),
          "ask for 1, or give them a node pool that shares no GPU; run simulates them as they are");
    }
  }
  if (pods > 0 && std::ranges::none_of(scenario.workloads, &Workload::uses_gpu)) {
    add_diagnostic(found, Code::ValueRange, scenario.where,
                   fmt::format("no pod of \"{}\" uses a GPU", scenario.name),
                   "processesPerPod: 1 of those that do; run simulates them as they are");
  }
  if (pods > 0) return;
  add_diagnostic(found, Code::ValueRange, scenario.where,
                 fmt::format("\"{}\" has no pods to run", scenario.name),
                 "set the count of a workload, and schedule.suspend: false");
}

Diagnostics late_starts(const Scenario& scenario) {
  constexpr Duration kUntilReady = seconds(10);  // beyond that: scheduler, kubelet, CUDA context
  Diagnostics notes;
  for (const Workload& workload : scenario.workloads) {
    const Duration start = workload.startup.image_pull + workload.startup.model_load;
    const bool serves = workload.kind == WorkloadKind::Service && workload.count > 0;
    const bool is_cold = serves && workload.startup.cold && !workload.autoscaling;
    if (!is_cold || start <= scenario.warmup) continue;
    add_note(notes, Code::RequestsRefused, workload.name.where,
             fmt::format("the pods of \"{}\" take {} to start (image, model), the warm-up is {}: "
                         "requests between the two count as lost; --set warmup={}s leaves them out",
                         workload.name.value, figure_text(start), figure_text(scenario.warmup),
                         (start + kUntilReady).ns / seconds(1).ns));
  }
  return notes;
}

Diagnostics errors_everywhere(std::span<const Expected<World>> worlds) {
  Diagnostics everywhere;
  if (std::ranges::any_of(worlds, [](const auto& world) { return world.has_value(); })) return {};
  for (const Diagnostic& d : worlds.front().error()) {
    const bool in_all = std::ranges::all_of(
        worlds, [&](const Expected<World>& other) { return holds(other.error(), d); });
    if (in_all && d.severity == Severity::Error) everywhere.push_back(d);
  }
  return everywhere;
}

namespace {

std::string layout_text(const std::vector<MigCount>& layout) {
  std::vector<std::string> parts;
  parts.reserve(layout.size());
  for (const MigCount& count : layout) {
    parts.push_back(fmt::format("{}x{}", count.count, count.profile));
  }
  return fmt::format("{}", fmt::join(parts, "+"));
}

}  // namespace

std::string layout_text(const PoolChoice& choice) {
  std::string text = layout_text(choice.mig);
  for (const MigCut& cut : choice.other_cuts) {
    text +=
        fmt::format(" but {} on {} of each node", layout_text(cut.mig), counted(cut.gpus, "GPU"));
  }
  return text;
}

std::string sharing_text(const PoolChoice& choice, const std::string& layout) {
  constexpr std::string_view kMig = "MIG";
  std::string text(described(choice.strategy).title);
  if (text.starts_with(kMig) && !layout.empty()) text.insert(kMig.size(), " " + layout);
  const bool whole = choice.strategy == Strategy::Exclusive || choice.strategy == Strategy::Mig ||
                     (choice.strategy == Strategy::Vgpu && choice.replicas == 1);
  if (whole) return text;
  const std::string times = fmt::format(" x{}", choice.replicas);
  if (choice.strategy == Strategy::MpsUncapped) return text.insert(text.rfind(' '), times);
  return text + times;
}

std::string node_count(const PoolChoice& choice) {
  return choice.elastic ? fmt::format("{} to {}", choice.least_nodes, choice.nodes)
                        : fmt::format("{}", choice.nodes);
}

namespace {

// How nodes are had, and how their GPUs are shared.
std::string nodes_text(const PoolChoice& choice) {
  std::string text = choice.nodes > 0
                         ? fmt::format("{} x {}", node_count(choice), choice.instance_type)
                         : choice.instance_type;
  if (choice.purchase == kSpotFallback) {
    text += " spot, on-demand when there is none";
  } else if (!choice.purchase.empty() && choice.purchase != "on-demand") {
    text += " " + choice.purchase;
  }
  if (choice.unshared > 0) text += fmt::format(" and {} unshared", choice.unshared);
  if (choice.on_demand > 0) text += fmt::format(" but {} on-demand", choice.on_demand);
  return text + ", " + sharing_text(choice);
}

// "06:30" of what is due once every day; else the cron as it is.
std::string clock_text(const std::string& text) {
  const auto cron = scenarios::parse_cron(text);
  const Duration day = hours(24);
  const auto times = cron ? scenarios::cron_times(*cron, {}, day * 7, 8) : std::vector<Duration>{};
  for (std::size_t n = 0; n < times.size(); ++n) {
    if (times.size() != 7 || times[n] - times[0] != day * static_cast<std::int64_t>(n)) return text;
  }
  if (times.empty()) return text;
  const std::int64_t minute = times[0].ns / minutes(1).ns;
  return fmt::format("{:02}:{:02}", minute / 60, minute % 60);
}

}  // namespace

std::string describe(const PodSchedule& schedule) {
  return fmt::format("{} of {} from {} to {} {}, else {}", counted(schedule.replicas, "pod"),
                     schedule.workload, clock_text(schedule.start), clock_text(schedule.end),
                     schedule.time_zone.empty() ? "UTC" : schedule.time_zone, schedule.otherwise);
}

std::string describe(const PodScaling& scaling) {
  return fmt::format("{} to {} pods of {} at {:.3g} requests/s each", scaling.least, scaling.most,
                     scaling.workload, scaling.per_second);
}

std::string describe(const PoolChoice& choice) {
  std::string text = nodes_text(choice);
  text += serving_text(choice);
  for (const PodSchedule& schedule : choice.schedules) text += ", " + describe(schedule);
  for (const PodScaling& scaling : choice.scalings) text += ", " + describe(scaling);
  if (!choice.apart.empty()) {
    std::vector<std::string> classes;
    for (const ApartClass& each : choice.apart) {
      classes.push_back(fmt::format("one of {}", fmt::join(each, "/")));
    }
    text += fmt::format(", {} a node", fmt::join(classes, " and "));
  }
  const bool all_alike = choice.pods.size() > 1 && choice.pods.front() > 0 &&
                         std::ranges::count(choice.pods, choice.pods.front()) ==
                             static_cast<std::ptrdiff_t>(choice.pods.size());
  if (all_alike) {
    return text + ", " + counted(choice.pods.front(), "pod") + " each";
  }
  for (std::size_t w = 0; w < choice.pods.size(); ++w) {
    if (choice.pods[w] == 0) continue;
    text += fmt::format(", {} of {}", counted(choice.pods[w], "pod"), choice.workloads[w]);
  }
  return text;
}

}  // namespace slicewise::sim
