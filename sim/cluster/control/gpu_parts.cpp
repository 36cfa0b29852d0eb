#include "gpu_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace slicewise::sim {
namespace {

using Keeper = GpuBooks::Keeper;
using Packing = GpuBooks::Packing;

// In the order in which HAMi looks.
RejectCause cause_of(const GpuBooks& books, const Domain& domain, const GpuPart& part) {
  if (books.keeper == Keeper::Kai) return RejectCause::PartOfKai;
  if (domain.allocated >= books.pods) return RejectCause::PartSlots;
  if (part.memory_mib > books.memory_mib - domain.booked.memory_mib) return RejectCause::PartMemory;
  if (part.cores > books.cores - domain.booked.cores) return RejectCause::PartCores;
  return part.alone ? RejectCause::PartAlone : RejectCause::PartCoresGone;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// How full the books of so many GPUs are.
double fullness(const GpuBooks& books, int pods, const GpuPart& booked, int gpus) {
  if (books.keeper == Keeper::Kai) return share(booked.memory_mib, books.memory_mib * gpus);
  return share(pods, std::int64_t{books.pods} * gpus) +
         share(booked.cores, std::int64_t{books.cores} * gpus) +
         share(booked.memory_mib, books.memory_mib * gpus);
}

}  // namespace

std::optional<RejectCause> GpuParts::reject(std::uint32_t n, std::size_t w) const {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  const Node& node = cluster_.nodes[n];
  const PoolModel& pool = cluster_.pool(node);
  const auto offer = workload.on_pool[index(node.pool)].offer;
  if (offer && node.tickets_free[*offer] >= workload.tickets) return std::nullopt;
  // No GPU of the pool ever has such a part.
  if (!offer) {
    return pool.books->keeper == Keeper::Kai ? RejectCause::PartOfKai : RejectCause::PartMemory;
  }
  std::array<int, kResourceCause> gpus{};
  bool any = false;
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster_.domains[index(id)];
    const GpuPart& part = *pool.offers[*offer].part;
    if (pool.books->room_for(part, domain.booked, domain.allocated) > 0) continue;
    ++gpus[static_cast<std::size_t>(cause_of(*pool.books, domain, part))];
    any = true;
  }
  if (!any) {  // each has room, but they are too few
    return pool.books->keeper == Keeper::Kai
               ? RejectCause::PartOfKai
               : static_cast<RejectCause>(kResourceCause + index(*workload.resource));
  }
  return static_cast<RejectCause>(std::ranges::max_element(gpus) - gpus.begin());
}

std::int64_t GpuParts::score(std::uint32_t n, std::size_t w) const {
  constexpr double kFine = 1e9;
  constexpr std::int64_t kShared = std::int64_t{1} << 50;  // more than any number of free GPUs
  const Node& node = cluster_.nodes[n];
  const PoolModel& pool = cluster_.pool(node);
  const GpuBooks& books = *pool.books;
  const GpuPart& part =
      *pool.offers[*cluster_.world->workloads[w].on_pool[index(node.pool)].offer].part;
  GpuPart booked;
  int pods = 0;
  bool shares = false;
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster_.domains[index(id)];
    booked.memory_mib += domain.booked.memory_mib;
    booked.cores += domain.booked.cores;
    pods += domain.allocated;
    shares = shares ||
             (domain.allocated > 0 && books.room_for(part, domain.booked, domain.allocated) > 0);
  }
  const auto gpus = static_cast<int>(node.domains().size());
  if (books.keeper == Keeper::Kai) {
    const double free = gpus - share(booked.memory_mib, books.memory_mib);
    return (shares ? kShared : 0) - std::llround(kFine * free);
  }
  const std::int64_t full = std::llround(kFine * fullness(books, pods, booked, gpus));
  return books.nodes == Packing::Binpack ? full : -full;
}

// Of equals HAMi takes the last, KAI the first.
DomainId GpuParts::choose(const Node& node, const GpuPart& part) const {
  const GpuBooks& books = *cluster_.pool(node).books;
  DomainId best{};
  double best_score = 0;
  bool any = false;
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster_.domains[index(id)];
    if (books.room_for(part, domain.booked, domain.allocated) == 0) continue;
    const double full = fullness(books, domain.allocated, domain.booked, 1);
    const double score = books.gpus == Packing::Binpack ? full : -full;
    const bool is_better =
        !any || (books.keeper == Keeper::Hami ? score >= best_score : score > best_score);
    if (!is_better) continue;
    best = id;
    best_score = score;
    any = true;
  }
  return best;
}

const GpuPart& GpuParts::part_of(const Pod& pod) const {
  const Node& node = cluster_.nodes[index(pod.node)];
  const auto offer = cluster_.model(pod).on_pool[index(node.pool)].offer;
  return *cluster_.pool(node).offers[*offer].part;
}

void GpuParts::take(Pod& pod) {
  const GpuPart& part = part_of(pod);
  Node& node = cluster_.nodes[index(pod.node)];
  for (std::int64_t n = 0; n < cluster_.model(pod).tickets; ++n) {
    const DomainId id = choose(node, part);
    Domain& domain = cluster_.domains[index(id)];
    domain.booked.memory_mib += part.memory_mib;
    domain.booked.cores += part.cores;
    ++domain.allocated;
    pod.tickets.push_back(id);
  }
  count(node);
}

void GpuParts::give_back(const Pod& pod) {
  const GpuPart& part = part_of(pod);
  for (const DomainId id : pod.tickets) {
    Domain& domain = cluster_.domains[index(id)];
    domain.booked.memory_mib -= part.memory_mib;
    domain.booked.cores -= part.cores;
    --domain.allocated;
  }
  count(cluster_.nodes[index(pod.node)]);
}

void GpuParts::count(Node& node) {
  const PoolModel& pool = cluster_.pool(node);
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    std::int64_t room = 0;
    for (const DomainId id : node.domains()) {
      const Domain& domain = cluster_.domains[index(id)];
      room += pool.books->room_for(*pool.offers[offer].part, domain.booked, domain.allocated);
    }
    node.tickets_free[offer] = room;
  }
}

}  // namespace slicewise::sim
