#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "slicewise/sim/device/company.hpp"

#include "node_table.hpp"

// Who shares GPUs with whom, and the policies that decide it.
namespace slicewise::sim {

// A job with a part of a GPU, as those beside it feel it on one kind of GPU.
struct GpuGuest {
  CompanyMember member;
  double sm_active = 0;  // share of all SMs while alone
  Bytes memory;          // rounded up, see kGuestMemoryStep
};

// Guests whose memory differs by less are one kind. Alone on a GPU nobody is turned away for what
// was rounded.
inline constexpr Bytes kGuestMemoryStep = mebibytes(256);

// A kind of GPU that is shared.
struct GuestHost {
  models::Sharing sharing;
  models::TimeSlice driver;  // turns where nothing was set up
  Bytes memory;              // of all guests together
};

struct GuestTable {
  std::vector<GuestHost> hosts;
  std::vector<std::uint32_t> host_of_node;
  std::vector<GpuGuest> guests;  // by host, then JobShape::guest
  std::size_t kinds = 0;         // of guests
  std::uint32_t most = 1;        // on a GPU at once
  bool isolated = false;         // on instances of their own: nobody feels anybody

  const GpuGuest& guest(std::uint32_t host, std::uint32_t number) const {
    return guests[host * kinds + number];
  }
};

// Five rules, each a rating of the GPUs of a node for a guest. Nobody lands where memory is short.
// Among equals the first node and its first GPU are taken; who asks for whole GPUs gets the node
// that has the fewest left.
//
// MemoryBinpack: the GPU with the least memory left over. Source: AliyunContainerService/
// gpushare-scheduler-extender, pkg/cache/nodeinfo.go, allocateGPUID.
// UtilizationBinpack: of the GPUs whose SM activity adds up to 1 at most the busiest, else the
// least busy one. Source: Yeung et al., "Horus", TPDS 33(1), 2022: utilisation tells interference.
// GavelPacking: a free GPU, else the single guest with which the sum of both speeds, as shares of
// those alone, is highest and above 1.5. Source: Narayanan et al., OSDI'20; stanford-futuredata/
// gavel, scheduler/policies/fifo.py, FIFOPolicy._pack.
// LucidPacking: a single guest first, where both sharing scores add up to 2 at most, else a free
// GPU. A score is 2 where the mean speed beside others is below 0.85, 1 below 0.95, else 0. Source:
// Hu et al., ASPLOS'23; S-Lab-System-Group/Lucid, simulation/policy/lucid.py and analyzer.py. Not
// modelled: its estimate of run times.
// LeastInterference: where the slowdowns of all on the GPU grow least by the newcomer, by the law
// that the jobs then run by.
class SharingAware {
 public:
  SharingAware(NodePolicy rule, const GuestTable& table, std::size_t nodes);

  // 0: not there. Else the higher the better. REQUIRES: the node fits the demand.
  std::uint8_t rating(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    return best_on(nodes, demand, node).rating;
  }
  std::uint32_t gpus(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    if (!demand.shares_gpu()) return first_whole_gpus(nodes.gpus(node), demand.gpus);
    return 1U << best_on(nodes, demand, node).gpu;
  }

  // Whether the rule, or without it the memory, lets it go to this GPU.
  bool admits(const NodeDemand& demand, const AllocatedPart& part, bool by_rule);
  void taken(const NodeDemand& demand, const AllocatedPart& part);
  void given(const NodeDemand& demand, const AllocatedPart& part);

 private:
  struct Best {
    std::uint8_t rating = 0;
    std::uint32_t gpu = 0;
  };
  struct Gpu {
    std::uint32_t guests = 0;
    Bytes memory;
    double sm_active = 0;
    std::uint64_t key = 0;  // of all guests, whatever their order
  };
  // Sums over those who share a GPU.
  struct Together {
    std::uint64_t key = 0;
    double slowdowns = 0;
    double speeds = 0;
  };

  Best best_on(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node);
  bool has_memory(std::uint32_t host, std::size_t gpu, std::uint32_t number) const;
  std::uint8_t rating_of(std::uint32_t host, std::size_t gpu, std::uint32_t guest);
  // Of the guests of the GPU, and the newcomer unless it is kNobody.
  Together together(std::uint32_t host, std::size_t gpu, std::uint32_t newcomer);
  Together found(std::uint32_t host, std::span<const std::uint32_t> guests);
  void find_scores();
  void sum_up(std::uint32_t host, std::size_t gpu);

  static constexpr std::uint32_t kNobody = UINT32_MAX;

  NodePolicy rule_;
  const GuestTable* table_;
  std::vector<Gpu> gpus_;              // kMostGpusOfNode for each node
  std::vector<std::uint32_t> guests_;  // table_->most for each GPU
  std::vector<std::uint8_t> scores_;   // Lucid's, as GuestTable::guests
  std::vector<Together> known_;        // by key, the last of each place
  std::vector<std::uint32_t> present_;
  std::vector<CompanyMember> members_;
  CompanyLaw law_;
};

}  // namespace slicewise::sim
