#include "sharing_aware.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "slicewise/split_mix.hpp"

namespace slicewise::sim {
namespace {

constexpr double kLeastGainOfGavel = 1.5;
constexpr int kMostScoreOfLucid = 2;
constexpr std::size_t kKnownTogether = 1U << 13U;  // a power of two
constexpr std::size_t kMostNeighbours = 64;        // that a score of Lucid is the mean of

// The share of [0, 1] of the ratings from `least` to `most`.
std::uint8_t rating_at(double share, int least = 1, int most = 255) {
  const double above = std::clamp(share, 0.0, 1.0) * (most - least);
  return static_cast<std::uint8_t>(least + static_cast<int>(above));
}

}  // namespace

SharingAware::SharingAware(NodePolicy rule, const GuestTable& table, std::size_t nodes)
    : rule_(rule),
      table_(&table),
      gpus_(nodes * kMostGpusOfNode),
      guests_(gpus_.size() * table.most),
      known_(kKnownTogether) {
  present_.reserve(table.most + std::size_t{1});
  if (rule == NodePolicy::LucidPacking && !table.isolated) find_scores();
}

// In the artefact a score comes from all pairs that were measured; here the pairs are those of the
// trace, spread evenly over what its jobs do.
void SharingAware::find_scores() {
  scores_.resize(table_->guests.size());
  const std::size_t step = table_->kinds / kMostNeighbours + 1;
  for (std::uint32_t host = 0; host < table_->hosts.size(); ++host) {
    for (std::uint32_t guest = 0; guest < table_->kinds; ++guest) {
      double speeds = 0;
      int neighbours = 0;
      for (std::size_t other = 0; other < table_->kinds; other += step) {
        found(host, std::array{guest, static_cast<std::uint32_t>(other)});
        speeds += 1 / members_.front().slowdown;
        ++neighbours;
      }
      const double mean = speeds / neighbours;
      scores_[host * table_->kinds + guest] = mean < 0.85 ? 2 : mean < 0.95 ? 1 : 0;
    }
  }
}

SharingAware::Together SharingAware::found(std::uint32_t host,
                                           std::span<const std::uint32_t> guests) {
  const GuestHost& on = table_->hosts[host];
  members_.clear();
  for (const std::uint32_t guest : guests) members_.push_back(table_->guest(host, guest).member);
  law_.find_slowdowns(on.sharing, on.driver, std::span(members_), [] { return 1; });
  Together sums;
  for (const CompanyMember& member : members_) {
    sums.slowdowns += member.slowdown;
    sums.speeds += 1 / member.slowdown;
  }
  return sums;
}

SharingAware::Together SharingAware::together(std::uint32_t host, std::size_t gpu,
                                              std::uint32_t newcomer) {
  const auto first = guests_.begin() + static_cast<std::ptrdiff_t>(gpu * table_->most);
  const Gpu& there = gpus_[gpu];
  const std::uint32_t all = there.guests + (newcomer == kNobody ? 0 : 1);
  if (all < 2) return {0, static_cast<double>(all), static_cast<double>(all)};
  const std::uint64_t own = newcomer == kNobody ? 0 : split_mix(newcomer);
  const std::uint64_t key = split_mix(there.key + own + host) | 1U;
  Together& known = known_[(key >> 1U) & (kKnownTogether - 1)];
  if (known.key != key) {
    present_.assign(first, first + there.guests);
    if (newcomer != kNobody) present_.push_back(newcomer);
    // In one order, so that the sums are those of the company, not of how it came about.
    std::ranges::sort(present_);
    known = found(host, present_);
    known.key = key;
  }
  return known;
}

bool SharingAware::has_memory(std::uint32_t host, std::size_t gpu, std::uint32_t number) const {
  const Gpu& there = gpus_[gpu];
  const Bytes room = table_->hosts[host].memory;
  const Bytes memory = there.memory + table_->guest(host, number).memory;
  return table_->isolated || memory <= (there.guests == 0 ? room + kGuestMemoryStep : room);
}

std::uint8_t SharingAware::rating_of(std::uint32_t host, std::size_t gpu, std::uint32_t number) {
  if (table_->isolated) return 1;
  if (!has_memory(host, gpu, number)) return 0;
  const Gpu& there = gpus_[gpu];
  const GpuGuest& guest = table_->guest(host, number);
  const Bytes room = table_->hosts[host].memory;
  const Bytes memory = there.memory + guest.memory;
  switch (rule_) {
    case NodePolicy::MemoryBinpack:
      return rating_at(static_cast<double>(memory.count) / static_cast<double>(room.count));
    case NodePolicy::UtilizationBinpack: {
      const double busy = there.sm_active + guest.sm_active;
      return busy <= 1 || there.guests == 0 ? rating_at(busy, 128, 255)
                                            : rating_at(1 / busy, 1, 127);
    }
    case NodePolicy::GavelPacking: {
      if (there.guests == 0) return 255;
      const double speeds = there.guests == 1 ? together(host, gpu, number).speeds : 0;
      if (speeds <= kLeastGainOfGavel) return 0;
      return rating_at((speeds - kLeastGainOfGavel) / (2 - kLeastGainOfGavel), 1, 254);
    }
    case NodePolicy::LucidPacking: {
      if (there.guests == 0) return 1;
      const std::size_t row = host * table_->kinds;
      const bool goes =
          there.guests == 1 &&
          scores_[row + number] + scores_[row + guests_[gpu * table_->most]] <= kMostScoreOfLucid;
      return goes ? 255 : 0;
    }
    default:
      return rating_at(
          1 / (together(host, gpu, number).slowdowns - together(host, gpu, kNobody).slowdowns));
  }
}

SharingAware::Best SharingAware::best_on(const NodeTable& nodes, const NodeDemand& demand,
                                         std::uint32_t node) {
  Best best;
  if (!demand.shares_gpu()) {
    best.rating = static_cast<std::uint8_t>(1 + kMostGpusOfNode - nodes.free(node).whole_gpus);
    return best;
  }
  const std::uint32_t host = table_->host_of_node[node];
  const GpuMilli& free = nodes.gpus(node);
  bool knows_free_gpu = false;
  for (std::uint32_t gpu = 0; gpu < free.size(); ++gpu) {
    const bool is_free = free[gpu] == kWholeGpu;
    if (free[gpu] < demand.gpu_milli || (is_free && knows_free_gpu)) continue;
    knows_free_gpu = knows_free_gpu || is_free;
    const std::uint8_t rating =
        rating_of(host, std::size_t{node} * kMostGpusOfNode + gpu, demand.guest);
    if (rating > best.rating) best = {rating, gpu};
  }
  // A free GPU for one job: of the node that has the fewest left, as Lucid's placer has it.
  if (rule_ == NodePolicy::LucidPacking && best.rating == 1 && !table_->isolated) {
    best.rating = static_cast<std::uint8_t>(1 + kMostGpusOfNode - nodes.free(node).whole_gpus);
  }
  return best;
}

bool SharingAware::admits(const NodeDemand& demand, const AllocatedPart& part, bool by_rule) {
  if (!demand.shares_gpu()) return true;
  const std::size_t gpu = std::size_t{part.node} * kMostGpusOfNode +
                          static_cast<std::size_t>(std::countr_zero(part.gpus));
  const std::uint32_t host = table_->host_of_node[part.node];
  return by_rule ? rating_of(host, gpu, demand.guest) > 0 : has_memory(host, gpu, demand.guest);
}

void SharingAware::taken(const NodeDemand& demand, const AllocatedPart& part) {
  if (!demand.shares_gpu()) return;
  const std::size_t gpu = std::size_t{part.node} * kMostGpusOfNode +
                          static_cast<std::size_t>(std::countr_zero(part.gpus));
  guests_[gpu * table_->most + gpus_[gpu].guests++] = demand.guest;
  sum_up(table_->host_of_node[part.node], gpu);
}

void SharingAware::given(const NodeDemand& demand, const AllocatedPart& part) {
  if (!demand.shares_gpu()) return;
  const std::size_t gpu = std::size_t{part.node} * kMostGpusOfNode +
                          static_cast<std::size_t>(std::countr_zero(part.gpus));
  const std::span<std::uint32_t> there(&guests_[gpu * table_->most], gpus_[gpu].guests--);
  *std::ranges::find(there, demand.guest) = there.back();
  sum_up(table_->host_of_node[part.node], gpu);
}

void SharingAware::sum_up(std::uint32_t host, std::size_t number) {
  Gpu& gpu = gpus_[number];
  gpu.memory = {};
  gpu.sm_active = 0;
  gpu.key = 0;
  for (std::uint32_t at = 0; at < gpu.guests; ++at) {
    const std::uint32_t guest = guests_[number * table_->most + at];
    gpu.memory += table_->guest(host, guest).memory;
    gpu.sm_active += table_->guest(host, guest).sm_active;
    gpu.key += split_mix(guest);
  }
}

}  // namespace slicewise::sim
