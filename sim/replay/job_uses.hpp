#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/device/company.hpp"
#include "slicewise/sim/replay/replay.hpp"

#include "../placement/sharing_aware.hpp"

// What the jobs of a trace do with the GPUs of a cluster that is shared in some way.
namespace slicewise::sim {

// A job on one kind of GPU. Times are multiples of the recorded run time.
struct GpuUse {
  CompanyMember member;  // beside others
  double pace = 1;       // its time without company there: a slice, a limit, another GPU model
  double whole = 1;      // its time with the whole GPU
  double sm_active = 0;  // SM time per unit of its time without company, of all SMs of the GPU
};

// The MIG instance that a job had: more it cannot have needed.
struct RecordedSlice {
  int compute = 0;  // slices; 0: it had none
  Bytes memory;     // 0: nobody has published it
};

// What each job of a trace uses, each different use once.
class JobUses {
 public:
  JobUses(const scenarios::JobTrace& trace, const GpuSharing& sharing);

  // Of the row on GPUs of the pool: with a ticket, or with whole GPUs.
  const GpuUse& with_ticket(std::size_t pool, std::uint32_t use) const {
    return table_[2 * (pool * uses_ + use)];
  }
  const GpuUse& with_whole(std::size_t pool, std::uint32_t use) const {
    return table_[2 * (pool * uses_ + use) + 1];
  }
  std::uint32_t use_of(std::size_t row) const { return use_of_row_[row]; }

  // Peak of the process on each GPU, its CUDA context included.
  Bytes memory(std::size_t pool, std::size_t row) const;
  // What a job with a ticket may have at most, and all on a domain together.
  Bytes ticket_memory(std::size_t pool) const { return memory_[pool].ticket; }
  Bytes domain_memory(std::size_t pool) const { return memory_[pool].domain; }
  Bytes whole_memory(std::size_t pool) const { return memory_[pool].whole; }

  // Whether a GPU of the pool, or what a job may have of it, is enough for the row.
  bool has_room(std::size_t pool, std::size_t row) const {
    return memory(pool, row) <= (trace_.gpus[row] == 1 ? ticket_memory(pool) : whole_memory(pool));
  }
  // nullopt: the row can run somewhere, as far as its GPU memory and the way of sharing go.
  std::optional<TurnedAway> turned_away(std::size_t row) const;
  // Whether jobs may run out of memory beside each other.
  bool may_run_out_of_memory() const {
    return !trace_.gpu_memory.empty() || memory_by_profile_ || !slices_.empty();
  }
  // Profiles that the catalogue lacks.
  const Diagnostics& problems() const { return problems_; }

  const GpuSharing& sharing() const { return sharing_; }
  const JobFigures& known() const { return known_; }

 private:
  bool says_memory(std::size_t row) const {
    return !trace_.gpu_memory.empty() && trace_.gpu_memory[row].count >= 0;
  }
  // Measured, or of a profile.
  bool says_own_memory(std::size_t row) const {
    return says_memory(row) || profile_memory_[use_of_row_[row]].count > 0;
  }
  RecordedSlice slice_of(std::size_t row) const;
  bool offers_slice(std::size_t row) const;

  struct Memory {
    Bytes ticket;
    Bytes domain;
    Bytes whole;
  };

  const scenarios::JobTrace& trace_;
  const GpuSharing& sharing_;
  std::vector<std::uint32_t> use_of_row_;
  std::vector<RecordedSlice> slices_;  // by name; none without a column of resources
  std::size_t uses_ = 0;
  std::vector<GpuUse> table_;          // by pool, use, then with a ticket and with a whole GPU
  std::vector<Memory> memory_;         // by pool
  std::vector<Bytes> profile_memory_;  // by use; 0: no profile says
  bool memory_by_profile_ = false;
  Diagnostics problems_;
  JobFigures known_;
};

// Keeps jobs off the GPU models of a mixed cluster that have too little memory for them alone, as
// their users would with a node selector. Shapes are split by it.
void keep_to_gpus_with_room(const scenarios::JobTrace& trace, const JobUses& uses,
                            std::span<const NodeShape> nodes, TraceShapes& shapes);

// What the jobs with a ticket are to each other, for policies that look at it. Shapes are split by
// it: JobShape::guest.
GuestTable guests_of(const scenarios::JobTrace& trace, const JobUses& uses,
                     std::span<const NodeShape> nodes, TraceShapes& shapes);

}  // namespace slicewise::sim
