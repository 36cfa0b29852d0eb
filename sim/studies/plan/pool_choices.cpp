#include "pool_choices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../probe/mig_layouts.hpp"
#include "../probe/pool_homes.hpp"
#include "../probe/probe.hpp"

namespace slicewise::sim {
namespace {

using Stage = RejectedChoice::Stage;

// Pods per GPU that are tried where nobody says which; the most that fit is always among them.
constexpr int kUsualReplicas[] = {2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48};
// Of thousands of recorded jobs: each number takes the simulation of the whole trace.
constexpr int kRecordedReplicas[] = {2, 4, 8};

// The workloads with the largest pods in classes, of each of which a node has one pod at a time.
struct Apart {
  std::vector<ApartClass> classes;
  std::vector<Bytes> largest;    // pod of each class
  GpuMemoryNeeds small;          // of the other workloads
  std::int64_t least_nodes = 0;  // pods of the class that has most
  std::size_t workloads = 0;     // in the classes
};
// Of so many workloads and fewer each way to put them into classes is looked at.
constexpr std::size_t kMostDivided = 4;

// What is known of the workloads on the instance type.
struct TypeView {
  const InstanceType& type;
  const PlanSpace& space;
  const World& exclusive;
  const MigGeometry* geometry;  // nullptr: no MIG
  GpuMemoryNeeds needs;
  int pods = 0;
  std::vector<std::string> workloads;
  std::vector<ServingChoice> serving;  // see PoolChoice::serving
  std::vector<Apart> apart = {};       // the easiest first; empty: that is no choice
};

PoolChoice choice_of(const TypeView& view, Strategy strategy, int replicas) {
  PoolChoice choice;
  choice.instance_type = view.type.name;
  choice.strategy = strategy;
  choice.replicas = replicas;
  choice.workloads = view.workloads;
  choice.serving = view.serving;
  choice.nodes = 0;
  return choice;
}

void refuse(PoolChoice choice, std::optional<Code> code, Reason why, PoolChoices& found) {
  found.refused.push_back(
      {Stage::Feasibility, std::move(choice), code, std::move(why), std::nullopt});
}

std::int64_t mebibytes_in(Bytes memory) { return memory.count >> 20; }

// How many pods fit whichever of them meet, as far as they may.
int pods_in(const TypeView& view, Bytes memory) {
  int most = view.needs.pods_in(memory);
  for (const Apart& apart : view.apart) {
    most = std::max(most, apart.small.pods_in_beside(apart.largest, memory));
  }
  return most;
}

// Who has to be kept apart so that so many fit; empty: nobody.
std::vector<ApartClass> apart_for(const TypeView& view, int pods, Bytes memory) {
  if (view.needs.pods_in(memory) >= pods) return {};
  for (const Apart& apart : view.apart) {
    if (apart.small.pods_in_beside(apart.largest, memory) >= pods) return apart.classes;
  }
  return {};
}

// Each way to put so many things into classes: the class of each of them, from 0 on.
std::vector<std::vector<std::size_t>> divisions_of(std::size_t things) {
  std::vector<std::vector<std::size_t>> all = {{}};
  for (std::size_t thing = 0; thing < things; ++thing) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& known : all) {
      const std::size_t classes = known.empty() ? 0 : std::ranges::max(known) + 1;
      for (std::size_t c = 0; c <= classes; ++c) {
        longer.push_back(known);
        longer.back().push_back(c);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// `large`: with the largest pods first; `class_of` each of them.
Apart kept_apart(const World& world, std::span<const WorkloadModel* const> large,
                 const std::vector<std::size_t>& class_of) {
  Apart apart;
  apart.workloads = large.size();
  std::vector<std::int64_t> pods;
  for (std::size_t w = 0; w < large.size(); ++w) {
    const std::size_t c = class_of[w];
    if (c == apart.classes.size()) {
      apart.classes.emplace_back();
      apart.largest.push_back(pod_memory(world, *large[w]));
      pods.push_back(0);
    }
    apart.classes[c].push_back(large[w]->name);
    pods[c] += large[w]->spec.pods_at_once();
  }
  apart.least_nodes = std::ranges::max(pods);
  apart.small = gpu_memory_needs(
      world, [&](const WorkloadModel& workload) { return !contains(large, &workload); });
  return apart;
}

// Classes of each number of workloads with the largest pods: what needs the fewest nodes first,
// and of that what says something of the fewest workloads.
std::vector<Apart> ways_apart(const World& world) {
  std::vector<const WorkloadModel*> by_size;
  for (const WorkloadModel& workload : world.workloads) {
    if (workload.spec.count > 0) by_size.push_back(&workload);
  }
  std::ranges::stable_sort(by_size, std::greater<>(), [&](const WorkloadModel* workload) {
    return pod_memory(world, *workload);
  });
  std::vector<Apart> ways;
  for (std::size_t n = 1; n <= by_size.size(); ++n) {
    std::vector<std::size_t> each_its_own(n);
    std::iota(each_its_own.begin(), each_its_own.end(), std::size_t{0});
    const auto divisions = n <= kMostDivided
                               ? divisions_of(n)
                               : std::vector{std::vector<std::size_t>(n), each_its_own};
    for (const auto& classes : divisions) {
      ways.push_back(kept_apart(world, std::span(by_size).first(n), classes));
    }
  }
  std::ranges::stable_sort(
      ways, {}, [](const Apart& apart) { return std::pair(apart.least_nodes, apart.workloads); });
  return ways;
}

// The numbers of pods on one device that are worth a try: no more than there are pods or fit.
std::vector<int> replicas_up_to(const TypeView& view, int most) {
  std::set<int> numbers;
  if (!view.space.replicas.empty()) {
    for (const int r : view.space.replicas) {
      if (r >= 2 && r <= most) numbers.insert(r);
    }
    return {numbers.begin(), numbers.end()};
  }
  const int useful = std::min(most, std::max(2, view.pods));
  if (!view.exclusive.traces.empty()) {
    for (const int r : kRecordedReplicas) {
      if (r <= useful) numbers.insert(r);
    }
    return {numbers.begin(), numbers.end()};
  }
  for (const int r : kUsualReplicas) {
    if (r <= useful) numbers.insert(r);
  }
  if (useful >= 2) numbers.insert(useful);
  return {numbers.begin(), numbers.end()};
}

// Says which numbers that somebody asked for do not fit.
void refuse_beyond(const TypeView& view, Strategy strategy, int most, const std::string& what,
                   PoolChoices& found) {
  if (view.space.replicas.empty()) return;
  for (const int r : view.space.replicas) {
    if (r > most && r >= 2) {
      refuse(
          choice_of(view, strategy, r), Code::GpuOom,
          reason(fmt::format("GPU memory: {} holds {{}} of these pods, not {{}}", what), most, r),
          found);
    }
  }
}

// Up to `most` pods on a GPU, who meet in that much of its memory.
void add_shared_gpus(const TypeView& view, Strategy strategy, Bytes memory, int most,
                     PoolChoices& found) {
  for (const int r : replicas_up_to(view, most)) {
    PoolChoice choice = choice_of(view, strategy, r);
    choice.apart = apart_for(view, r, memory);
    found.choices.push_back(std::move(choice));
  }
}

// What MPS leaves to its clients.
Bytes beside_server(Bytes memory) { return memory - scenarios::MpsSettings{}.server_memory; }

void add_time_slicing(const TypeView& view, PoolChoices& found) {
  const Bytes memory = view.exclusive.pools.front().kinds.front().memory;
  const int fit = pods_in(view, memory);
  if (fit < 2) {
    refuse(choice_of(view, Strategy::TimeSlicing, 2), Code::GpuOom,
           reason("GPU memory: two pods do not fit {} MiB; one needs {} MiB", mebibytes_in(memory),
                  mebibytes_in(view.needs.pods.front())),
           found);
    return;
  }
  refuse_beyond(view, Strategy::TimeSlicing, fit, "a GPU", found);
  add_shared_gpus(view, Strategy::TimeSlicing, memory, fit, found);
}

void add_mps(const TypeView& view, Strategy strategy, PoolChoices& found) {
  const int shares = equal_shares(view.exclusive.pools.front(), view.needs);
  if (shares < 2) {
    refuse(choice_of(view, strategy, 2), Code::GpuOom,
           reason("GPU memory: MPS gives each of two processes half, one needs {} MiB",
                  mebibytes_in(view.needs.largest_process)),
           found);
    return;
  }
  // Shares are of what nvidia-smi prints, more than the clients have together.
  const Bytes memory = beside_server(view.exclusive.pools.front().kinds.front().memory);
  const int fit = std::min(shares, pods_in(view, memory));
  if (fit < 2) {
    refuse(
        choice_of(view, strategy, 2), Code::GpuOom,
        reason("GPU memory: two pods do not fit the {} MiB beside the MPS server; one needs {} MiB",
               mebibytes_in(memory), mebibytes_in(view.needs.pods.front())),
        found);
    return;
  }
  refuse_beyond(view, strategy, fit,
                fit < shares ? "a GPU beside the MPS server" : "an equal share", found);
  add_shared_gpus(view, strategy, memory, fit, found);
}

// A profile for each workload, every combination; the exact layout of each.
void add_mig(const TypeView& view, PoolChoices& found) {
  const FittedLayouts fitted = fitted_layouts(*view.geometry, view.exclusive, view.type.gpu_count);
  if (fitted.too_large) {
    refuse(choice_of(view, Strategy::Mig, 1), Code::GpuOom,
           reason(fmt::format(
                      "a pod of \"{}\" needs {{}} MiB of GPU memory, more than any instance has",
                      fitted.too_large->name),
                  mebibytes_in(pod_memory(view.exclusive, *fitted.too_large))),
           found);
    return;
  }
  for (const FittedLayout& layout : fitted.layouts) {
    PoolChoice choice = choice_of(view, Strategy::Mig, 1);
    choice.mig = layout.mig;
    choice.other_cuts = layout.other_cuts;
    choice.mig_profiles = layout.profiles;
    if (choice.mig.empty()) {
      refuse(std::move(choice), Code::MigLayoutImpossible,
             {"no GPU has room for one instance of each profile"}, found);
    } else {
      found.choices.push_back(std::move(choice));
    }
  }
}

// Several pods in each of equal instances; under MPS each process has an equal share of its memory.
void add_shared_mig(const TypeView& view, Strategy strategy, PoolChoices& found) {
  bool any = false;
  const Bytes process = view.needs.largest_process;
  const bool in_shares = strategy == Strategy::MigMps && process.count > 0;
  for (const MigProfile& profile : view.geometry->profiles) {
    if (!profile.memory || profile.media_extensions || profile.max_count < 2) continue;
    const Bytes memory = in_shares ? beside_server(*profile.memory) : *profile.memory;
    int holds = pods_in(view, memory);
    if (in_shares) {
      holds = std::min(holds, static_cast<int>(profile.memory->count / process.count));
    }
    for (const int r : replicas_up_to(view, holds)) {
      PoolChoice choice = choice_of(view, strategy, r);
      choice.mig = {{profile.name, profile.max_count}};
      choice.apart = apart_for(view, r, memory);
      found.choices.push_back(std::move(choice));
      any = true;
    }
  }
  if (any) return;
  refuse(choice_of(view, strategy, 2), Code::GpuOom,
         reason("no profile with two or more instances holds two pods, of which one needs {} MiB",
                mebibytes_in(view.needs.pods.front())),
         found);
}

// A workload that is not shared; nullptr: none.
const WorkloadModel* with_several_gpus(const World& world) {
  return find_if_or_null(world.workloads,
                         [](const WorkloadModel& w) { return has_several_gpus(w.spec); });
}

void add_strategy(const TypeView& view, Strategy strategy, PoolChoices& found) {
  const bool fraction = view.type.gpu_fraction < 1;
  if (fraction != (strategy == Strategy::Vgpu)) {
    refuse(choice_of(view, strategy, 1), Code::VgpuNotOnEks,
           {fraction ? "EC2 sells a fraction of a GPU here, which NVIDIA vGPU schedules"
                     : "EC2 offers vGPU as g6f and gr6f only"},
           found);
    return;
  }
  const WorkloadModel* several = with_several_gpus(view.exclusive);
  if (several != nullptr && strategy != Strategy::Exclusive) {
    refuse(choice_of(view, strategy, 1), std::nullopt,
           reason(fmt::format("pods of \"{}\" ask for {{}} GPUs each: they have them whole, and "
                              "parts of GPUs do not work together",
                              several->name),
                  several->tickets),
           found);
    return;
  }
  if (is_mig(strategy) && view.geometry == nullptr) {
    refuse(choice_of(view, strategy, 1), Code::MigUnsupported,
           reason("no MIG on the {}", view.type.gpu_model), found);
    return;
  }
  switch (strategy) {
    case Strategy::Exclusive:
    case Strategy::Vgpu:
      found.choices.push_back(choice_of(view, strategy, 1));
      return;
    case Strategy::TimeSlicing:
      return add_time_slicing(view, found);
    case Strategy::Mps:
    case Strategy::MpsUncapped:
      return add_mps(view, strategy, found);
    case Strategy::Mig:
      return add_mig(view, found);
    case Strategy::MigTimeSlicing:
    case Strategy::MigMps:
      return add_shared_mig(view, strategy, found);
    case Strategy::Hami:
      refuse(choice_of(view, strategy, 2), Code::StrategyNotModelled,
             {"a plan does not choose parts for HAMi: compare does"}, found);
      return;
    case Strategy::Kai:
    case Strategy::Nos:
    case Strategy::AwsVirtualGpu:
      return;  // not planned
  }
}

// Bought in a way that has a price, if there is one.
Expected<World> world_of(const Scenario& base, PoolChoice& alone, const PlanSpace& space,
                         const Catalogue& catalogue) {
  Expected<World> world = probe_world(base, {.pools = {alone}}, catalogue);
  if (world || contains(space.purchases, alone.purchase) ||
      !contains(world.error(), Code::PriceUnknown, &Diagnostic::code)) {
    return world;
  }
  for (const std::string& purchase : space.purchases) {
    alone.purchase = purchase;
    world = probe_world(base, {.pools = {alone}}, catalogue);
    if (world) break;
  }
  return world;
}

void add_choices(const Scenario& base, PoolChoice alone, const InstanceType& type,
                 const PlanSpace& space, const Catalogue& catalogue, PoolChoices& found) {
  const Expected<World> world = world_of(base, alone, space, catalogue);
  alone.nodes = 0;
  if (auto refusal = refusal_of(world)) {
    return refuse(std::move(alone), refusal->code, std::move(refusal->reason), found);
  }
  if (auto why = why_homeless(base, alone.workloads)) {
    return refuse(std::move(alone), Code::PodPending, std::move(*why), found);
  }
  if (auto why = too_large_for_a_node(*world)) {
    return refuse(std::move(alone), Code::PodPending, std::move(*why), found);
  }
  TypeView view{type,
                space,
                *world,
                catalogue.find_mig(world->pools.front().gpu->name),
                gpu_memory_needs(*world),
                0,
                std::move(alone.workloads),
                std::move(alone.serving)};
  if (space.keeps_apart && world->traces.empty()) view.apart = ways_apart(*world);
  for (const WorkloadModel& workload : world->workloads) view.pods += workload.spec.pods_at_once();
  for (const Strategy strategy : space.strategies) {
    add_strategy(view, strategy, found);
  }
}

// Claims say which devices the pods need: those of other types, or too small parts, are no choice.
void keep_to_claims(const Scenario& base, const Catalogue& catalogue, PoolChoices& found) {
  if (base.claims.empty()) return;
  std::vector<PoolChoice> all = std::exchange(found.choices, {});
  for (PoolChoice& choice : all) {
    PoolChoice one = choice;
    one.nodes = 1;
    const Expected<World> world = probe_world(base, {.pools = {std::move(one)}}, catalogue);
    auto why = world ? why_unclaimed(base, *world, catalogue) : std::nullopt;
    if (why) {
      refuse(std::move(choice), Code::ResourceNameMismatch, std::move(*why), found);
    } else {
      found.choices.push_back(std::move(choice));
    }
  }
}

}  // namespace

PoolChoices pool_choices(const Scenario& base, const std::vector<std::string>& workloads,
                         const InstanceType& type, const PlanSpace& space,
                         const Catalogue& catalogue) {
  PoolChoices found;
  for (std::vector<ServingChoice>& serving : serving_ways(base, workloads, type, space.serving)) {
    PoolChoice alone = unshared(type, workloads);
    alone.serving = std::move(serving);
    add_choices(base, std::move(alone), type, space, catalogue, found);
  }
  keep_to_claims(base, catalogue, found);
  return found;
}

}  // namespace slicewise::sim
