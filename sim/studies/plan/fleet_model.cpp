#include "fleet_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../../result/merge.hpp"
#include "../probe/mig_layouts.hpp"
#include "../probe/pool_homes.hpp"
#include "../probe/probe.hpp"
#include "../probe/some_workloads.hpp"

namespace slicewise::sim {
namespace {

// Pods on a GPU beyond which no price falls any more.
constexpr std::size_t kMostMeet = 64;

double ratio(std::int64_t part, std::int64_t whole) {
  if (part == 0) return 0;
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                   : std::numeric_limits<double>::infinity();
}

double whole_nodes(double nodes) { return std::ceil(nodes - 1e-9); }

// What its pods take in instances that hold them; nullopt: none does.
std::optional<MigSlices> mig_slices(const MigGeometry& geometry, const World& world,
                                    const WorkloadModel& workload) {
  std::optional<MigSlices> least;
  for (const MigProfile& profile : geometry.profiles) {
    const bool holds = profile.memory && !profile.media_extensions && profile.max_count > 0 &&
                       *profile.memory >= pod_memory(world, workload);
    if (!holds) continue;
    const MigSlices one{ratio(profile.memory_slices, geometry.memory_slices),
                        ratio(profile.compute_slices, geometry.compute_slices)};
    if (!least) least = one;
    least = {std::min(least->memory, one.memory), std::min(least->compute, one.compute)};
  }
  if (!least) return std::nullopt;
  const int pods = workload.spec.pods_at_once();
  return MigSlices{least->memory * pods, least->compute * pods};
}

bool may_be(const PlanSpace& space, Strategy strategy) {
  return contains(space.strategies, strategy);
}

}  // namespace

std::map<std::string, std::string> labels_of(const Scenario& base,
                                             const std::vector<std::string>& names) {
  std::map<std::string, std::string> labels;
  for (const Workload& workload : base.workloads) {
    if (!contains(names, workload.name.value)) continue;
    for (const auto& label : workload.pod.node_selector) {
      if (!names_the_node(label.first)) labels.insert(label);
    }
  }
  return labels;
}

void Room::add(const Room& more) {
  for (std::size_t t = 0; t < on.size(); ++t) {
    RoomOnType& sum = on[t];
    const RoomOnType& other = more.on[t];
    sum.possible = sum.possible && other.possible;
    sum.several_gpus = sum.several_gpus || other.several_gpus;
    sum.pods += other.pods;
    sum.cpu += other.cpu;
    sum.memory += other.memory;
    sum.slots += other.slots;
    sum.tickets += other.tickets;
    for (std::size_t k = 0; k < kPackings.size(); ++k) sum.packed[k] += other.packed[k];
    sum.least_nodes = std::max(sum.least_nodes, other.least_nodes);
    sum.mig.memory += other.mig.memory;
    sum.mig.compute += other.mig.compute;
    sum.company += other.company;
    sum.bears = std::min(sum.bears, other.bears);
    sum.largest_process = std::max(sum.largest_process, other.largest_process);
    std::vector<Bytes> merged(sum.largest_pods.size() + other.largest_pods.size());
    std::ranges::merge(sum.largest_pods, other.largest_pods, merged.begin(), std::greater<>());
    if (merged.size() > kMostMeet) merged.resize(kMostMeet);
    sum.largest_pods = std::move(merged);
  }
  for (const auto& [key, value] : more.labels) {
    possible = possible && labels.try_emplace(key, value).first->second == value;
  }
}

FleetModel::FleetModel(const BlockSearch& search, std::vector<std::vector<std::string>> groups)
    : search_(search), groups_(std::move(groups)), types_(search.space.types.size()) {
  const SomeWorkloads parts(search.base);
  for (const auto& names : groups_) {
    labels_.push_back(labels_of(search.base, names));
    const Scenario own = parts.with(names);
    BlockSearch one{own, search.catalogue, search.space, search.probes};
    one.input = search.input;
    one.factor = search.factor;
    std::vector<std::optional<Need>>& needs = needs_.emplace_back();
    for (std::size_t t = 0; t < types_.size(); ++t) {
      needs.push_back(least_need(one, names, t));
    }
  }
}

// Of the ways to serve the first, which has the fewest GPUs; of what packing and work take, the
// least that any of them does.
std::optional<FleetModel::Need> FleetModel::least_need(const BlockSearch& search,
                                                       const std::vector<std::string>& names,
                                                       std::size_t t) {
  const InstanceType& type = *search.space.types[t];
  std::optional<Need> least;
  for (std::vector<ServingChoice>& serving :
       serving_ways(search.base, names, type, search.space.serving)) {
    PoolChoice whole = unshared(type, names);
    whole.serving = std::move(serving);
    const auto world = world_on_one_node(search, whole);
    if (refusal_of(world) || too_large_for_a_node(*world)) continue;
    if (!node_bound(*world).refused.empty()) continue;
    if (types_[t].monthly == 0) note_type(t, *world);
    const Need need = need_on(t, *world);
    if (!least) {
      least = need;
    } else {
      least->take_less(need);
    }
  }
  return least;
}

void FleetModel::Need::take_less(const Need& other) {
  for (std::size_t k = 0; k < kPackings.size(); ++k) {
    room.packed[k] = std::min(room.packed[k], other.room.packed[k]);
  }
  room.least_nodes = std::min(room.least_nodes, other.room.least_nodes);
  room.company = std::min(room.company, other.room.company);
  room.bears = std::max(room.bears, other.room.bears);
  own = std::min(own, other.own);
  busy = std::min(busy, other.busy);
  sm_busy = std::min(sm_busy, other.sm_busy);
  for (std::size_t r = 0; r < kResources; ++r) least[r] = std::min(least[r], other.least[r]);
}

void FleetModel::note_type(std::size_t t, const World& world) {
  const InstanceType& type = *search_.space.types[t];
  const PlanSpace& space = search_.space;
  const PoolModel& pool = world.pools.front();
  Type& facts = types_[t];
  facts.gpus = pool.gpus_per_node;
  facts.memory = pool.kinds.front().memory;
  facts.memory_total = pool.gpu->memory_total;
  const bool fraction = type.gpu_fraction < 1;
  facts.alone = may_be(space, fraction ? Strategy::Vgpu : Strategy::Exclusive);
  facts.turns = !fraction && may_be(space, Strategy::TimeSlicing);
  facts.mps = !fraction && (may_be(space, Strategy::Mps) || may_be(space, Strategy::MpsUncapped));
  const MigGeometry* geometry = search_.catalogue.find_mig(pool.gpu->name);
  const bool cut = !fraction && geometry != nullptr;
  facts.mig = cut && may_be(space, Strategy::Mig);
  facts.shares_cut =
      cut && (may_be(space, Strategy::MigTimeSlicing) || may_be(space, Strategy::MigMps));
  facts.overlaps = facts.mps || facts.mig || facts.shares_cut;
  const double slices = cut ? geometry->compute_slices : 1;
  const double shared =
      space.replicas.empty() ? std::numeric_limits<double>::infinity() : space.replicas.back();
  if (facts.turns || facts.mps) facts.most_meet = std::max(facts.most_meet, shared);
  if (facts.mig) facts.most_meet = std::max(facts.most_meet, slices);
  if (facts.shares_cut) facts.most_meet = std::max(facts.most_meet, slices * shared);
  for (const std::string& purchase : space.purchases) {
    if (!is_sold(search_.base, type.name, purchase)) continue;
    PoolChoice bought = unshared(type, {});
    for (const auto& workload : world.workloads) bought.workloads.push_back(workload.name);
    bought.purchase = purchase;
    const auto priced = world_on_one_node(search_, bought);
    if (!priced) continue;
    const double monthly = to_dollars(cost_of(priced->pools.front().price.usd, kMonth));
    if (facts.monthly == 0) facts.monthly = facts.cheapest = monthly;
    facts.cheapest = std::min(facts.cheapest, monthly);
  }
}

FleetModel::Need FleetModel::need_on(std::size_t t, const World& world) const {
  const Type& type = types_[t];
  const PoolModel& pool = world.pools.front();
  const MigGeometry* geometry = search_.catalogue.find_mig(pool.gpu->name);
  const Bytes most_memory = std::max(type.memory, type.memory_total);
  Need need;
  RoomOnType& room = need.room;
  double gpu_memory = 0;
  for (const WorkloadModel& workload : world.workloads) {
    const int running = at_once(workload);
    const Bytes pod = pod_memory(world, workload);
    const bool several = has_several_gpus(workload.spec);
    room.several_gpus = room.several_gpus || several;
    room.pods += running;
    room.cpu += running * ratio(workload.spec.pod.cpu_request.count, pool.allocatable_cpu.count);
    room.memory +=
        running * ratio(workload.spec.pod.memory_request.count, pool.allocatable_memory.count);
    room.slots += running * ratio(1, pool.max_pods);
    room.tickets += static_cast<double>(running * workload.tickets);
    for (std::size_t k = 0; k < kPackings.size(); ++k) {
      room.packed[k] += running * ratio(packed_parts(kPackings[k], workload.tickets, type.gpus),
                                        kPackings[k] * type.gpus);
    }
    room.least_nodes = std::max(room.least_nodes, least_nodes_alone(workload, type.gpus));
    constexpr MigSlices kNone{std::numeric_limits<double>::infinity(), 0};
    const MigSlices mig =
        geometry == nullptr ? kNone : mig_slices(*geometry, world, workload).value_or(kNone);
    room.mig.memory += mig.memory;
    room.mig.compute += mig.compute;
    const GpuNeed gpu = gpu_need(world, workload);
    room.company += gpu.company;
    room.bears = std::min(room.bears, gpu.bears);
    const int pods = std::max(1, workload.spec.pods_at_once());
    need.own = std::max(need.own, gpu.company / pods);
    room.largest_process =
        std::max(room.largest_process, workload.gpu_memory + pool.context_memory);
    room.largest_pods.insert(room.largest_pods.end(),
                             std::min(kMostMeet, static_cast<std::size_t>(pods)), pod);
    // Nodes of others may come and go, so that there are fewer than its work takes at times.
    if (search_.space.survive != Outage::None || !workload.spec.comes_and_goes()) {
      need.busy += gpu.busy;
      need.sm_busy += gpu.sm_busy;
    }
    gpu_memory += running * (several ? static_cast<double>(workload.tickets)
                                     : ratio(pod.count, most_memory.count));
  }
  std::ranges::sort(room.largest_pods, std::greater<>());
  if (room.largest_pods.size() > kMostMeet) room.largest_pods.resize(kMostMeet);
  const double gpus = type.gpus;
  need.least = {room.cpu,
                room.memory,
                room.slots,
                gpu_memory / gpus,
                room.several_gpus ? 0 : room.pods / type.most_meet / gpus,
                (type.overlaps ? need.sm_busy : need.busy) / gpus};
  return need;
}

Room FleetModel::room(const Members& members) const {
  Room sum;
  sum.on.resize(types_.size());
  for (const std::size_t g : members) {
    Room one;
    one.labels = labels_[g];
    for (const auto& need : needs_[g]) {
      one.on.push_back(need ? need->room : RoomOnType{});
      one.on.back().possible = need.has_value();
    }
    sum.add(one);
  }
  return sum;
}

// As many as hold any of the pods together. 1: they do not share.
int FleetModel::pods_per_gpu(const Type& type, const RoomOnType& room, bool mps) const {
  std::int64_t fit = 0;
  if (mps) {
    fit = room.largest_process.count > 0 ? type.memory_total.count / room.largest_process.count
                                         : static_cast<std::int64_t>(kMostMeet);
  } else {
    Bytes used;
    for (const Bytes pod : room.largest_pods) {
      used += pod;
      if (used > type.memory) break;
      ++fit;
    }
  }
  const auto& asked = search_.space.replicas;
  if (asked.empty()) return static_cast<int>(std::max<std::int64_t>(1, fit));
  const auto above = std::ranges::upper_bound(asked, fit);
  return above == asked.begin() ? 1 : *std::prev(above);
}

std::optional<FleetModel::Way> FleetModel::best_way(const Room& room) const {
  if (!room.possible) return std::nullopt;
  std::optional<Way> best;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const Type& type = types_[t];
    const RoomOnType& need = room.on[t];
    if (!need.possible || type.monthly == 0) continue;
    const double gpus = type.gpus;
    const double host = std::max({need.cpu, need.memory, need.slots, 1.0});
    const auto consider = [&](double nodes, bool shared) {
      nodes = whole_nodes(nodes);
      if (!(nodes <= search_.space.max_nodes)) return;
      nodes = with_spares(search_.space.survive, static_cast<int>(nodes));
      if (nodes > search_.space.max_nodes) return;
      const double monthly = nodes * type.monthly;
      if (!best || monthly < best->monthly) best = Way{monthly, shared};
    };
    if (type.alone) {
      const double nodes = std::max<double>(need.tickets / gpus, need.least_nodes);
      consider(std::max({host, nodes, std::ranges::max(need.packed)}), false);
    }
    if (need.several_gpus) continue;
    if (type.mig) consider(std::max(host, need.mig.gpus() / gpus), false);
    const double calm = std::max(host, need.company / gpus / std::max(need.bears, 1e-6));
    for (const bool mps : {false, true}) {
      if (!(mps ? type.mps : type.turns)) continue;
      const int meet = pods_per_gpu(type, need, mps);
      if (meet > 1) consider(std::max(calm, need.pods / meet / gpus), true);
    }
  }
  return best;
}

std::optional<double> FleetModel::price(const Room& room) const {
  const auto way = best_way(room);
  return way ? std::optional(way->monthly) : std::nullopt;
}

std::optional<double> FleetModel::price_alone(Room room) const {
  for (RoomOnType& on : room.on) on.bears = GpuNeed::kAny;
  return price(room);
}

bool FleetModel::is_unshared(const Room& room) const {
  const auto way = best_way(room);
  return way && !way->shared;
}

void FleetModel::correct(std::size_t group, double factor) {
  for (auto& need : needs_[group]) {
    if (!need || need->room.bears >= GpuNeed::kAny) continue;
    const double others = std::max(0.0, need->room.bears - need->own);
    need->room.bears = need->own + others * factor;
  }
}

}  // namespace slicewise::sim
