#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/timer_heap.hpp"
#include "slicewise/sim/placement/placement.hpp"
#include "slicewise/sim/replay/replay.hpp"

#include "job_stream.hpp"

// What jobs are given. Both kinds have the same members, so that the event loop is compiled for
// each.
namespace slicewise::sim {

// What a running job holds.
using Holding = std::uint32_t;

// One pool of GPUs: any job may take any of them, in thousandths.
class GpuPool {
 public:
  GpuPool(const JobStream& jobs, std::int64_t gpus)
      : jobs_(jobs), total_milli_(gpus * 1000), free_milli_(total_milli_) {}

  std::optional<Holding> take(JobNumber job) {
    const std::int64_t wanted = jobs_.gpu_milli(job);
    if (wanted > free_milli_) return std::nullopt;
    free_milli_ -= wanted;
    return Holding{0};
  }
  // Gives it back, but remembers it under the number that is returned, up to forget().
  std::size_t set_aside(JobNumber job, Holding held) {
    give_back(job, held);
    return 0;
  }
  // What was set aside; nullopt when some of it is gone.
  std::optional<Holding> take_again(JobNumber job, std::size_t /*aside*/) { return take(job); }
  void forget() {}
  void give_back(JobNumber job, Holding /*held*/) { free_milli_ += jobs_.gpu_milli(job); }
  bool fits_empty(JobNumber job) const { return jobs_.gpu_milli(job) <= total_milli_; }
  std::int64_t free_milli() const { return free_milli_; }
  std::int64_t total_milli() const { return total_milli_; }

 private:
  const JobStream& jobs_;
  std::int64_t total_milli_;
  std::int64_t free_milli_;
};

// Nodes with their own CPUs, memory and GPUs.
class NodeResources {
 public:
  // `guests`: for placements that know sharing.
  NodeResources(const JobStream& jobs, const TraceShapes& shapes, const ReplaySettings& settings,
                const GuestTable* guests = nullptr)
      : jobs_(jobs),
        shapes_(shapes),
        placement_(empty_cluster(shapes, settings, guests)),
        fits_(shapes.shapes.size(), Fits::NotAsked) {
    if (jobs.trace().gang.empty()) return;
    empty_ = empty_cluster(shapes, settings, guests);
    // As much as fits, whatever the rule would rather have.
    ReplaySettings by_room = settings;
    by_room.placement = guests != nullptr && knows_sharing(settings.placement)
                            ? NodePolicy::MemoryBinpack
                            : NodePolicy::BestFit;
    roomy_ = empty_cluster(shapes, by_room, guests);
    gang_fits_.resize(jobs.trace().size(), Fits::NotAsked);
  }

  std::optional<Holding> take(JobNumber job);
  std::size_t set_aside(JobNumber job, Holding held);
  std::optional<Holding> take_again(JobNumber job, std::size_t aside);
  void forget() { aside_.clear(); }
  void give_back(JobNumber job, Holding held);
  bool fits_empty(JobNumber job) const;
  std::int64_t free_milli() const { return placement_.free().gpu_milli; }
  std::int64_t total_milli() const { return placement_.total_gpu_milli(); }

  // Each row of the job with each part of what it holds.
  template <class Visit>
  void visit_parts(JobNumber job, Holding held, Visit visit) const {
    const std::span<const std::uint32_t> rows = jobs_.rows_of(job);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const AllocationId allocation = held < kFirstGang ? held : gangs_[held - kFirstGang][at];
      for (const AllocatedPart& part : placement_.parts(allocation)) visit(rows[at], part);
    }
  }

 private:
  static constexpr Holding kFirstGang = 1U << 31U;

  // Who spreads jobs over nodes spreads tickets over GPUs, too: kube-scheduler and the device
  // plugin as EKS has them.
  static GpuOrder gpu_order(const ReplaySettings& settings) {
    const bool spreads = settings.sharing && settings.placement == NodePolicy::LeastAllocated;
    return spreads ? GpuOrder::Emptiest : GpuOrder::Fullest;
  }

  static Placement empty_cluster(const TraceShapes& shapes, const ReplaySettings& settings,
                                 const GuestTable* guests) {
    return {
        settings.cluster.nodes, shapes.shapes, settings.placement, settings.seed, shapes.typical,
        gpu_order(settings),    guests};
  }
  bool gang_fits_empty(std::span<const std::uint32_t> rows) const;
  bool gang_has_room(std::span<const std::uint32_t> rows) const;

  // All rows by place(row), or none.
  template <class Place>
  std::optional<Holding> take_rows(std::span<const std::uint32_t> rows, Place place) {
    if (rows.size() == 1) return place(rows.front());
    if (free_gangs_.empty()) {
      free_gangs_.push_back(static_cast<Holding>(gangs_.size()));
      gangs_.emplace_back();
    }
    std::vector<AllocationId>& members = gangs_[free_gangs_.back()];
    members.clear();
    for (const std::uint32_t row : rows) {
      const std::optional<AllocationId> member = place(row);
      if (!member) break;
      members.push_back(*member);
    }
    if (members.size() < rows.size()) {
      for (const AllocationId member : members) placement_.release(member);
      return std::nullopt;
    }
    const Holding held = kFirstGang + free_gangs_.back();
    free_gangs_.pop_back();
    return held;
  }

  const JobStream& jobs_;
  enum class Fits : std::uint8_t { NotAsked, Yes, No };

  const TraceShapes& shapes_;
  Placement placement_;
  mutable std::vector<Fits> fits_;  // by shape, the empty cluster
  // When the trace has gangs: a cluster that stays empty, and by the last row of a gang.
  mutable std::optional<Placement> empty_;
  mutable std::optional<Placement> roomy_;
  mutable std::vector<Fits> gang_fits_;
  // Where there is room for the rows of gangs that the rule alone would never place, by last row.
  mutable std::map<std::uint32_t, std::vector<std::vector<AllocatedPart>>> room_of_gang_;
  // Of gangs; a Holding of a gang counts from kFirstGang.
  std::vector<std::vector<AllocationId>> gangs_;
  std::vector<Holding> free_gangs_;
  std::vector<std::vector<std::vector<AllocatedPart>>> aside_;  // by number, then row of the job
};

struct RunningJob {
  JobNumber job = 0;
  Holding held = 0;
  TimePoint since;  // of this stretch
};

// The jobs that run, each with a timer at its end. Slots are used again, the latest first: there
// are as many as ever ran at once.
class RunningJobs {
 public:
  bool empty() const { return ends_.empty(); }
  std::size_t size() const { return ends_.size(); }
  TimePoint next_end() const { return ends_.empty() ? kNever : ends_.top_time(); }
  std::uint32_t next_to_end() const { return ends_.top(); }
  TimePoint end_of(std::uint32_t slot) const { return ends_.time_of(slot); }
  const RunningJob& operator[](std::uint32_t slot) const { return slots_[slot]; }
  RunningJob& operator[](std::uint32_t slot) { return slots_[slot]; }

  std::uint32_t add(const RunningJob& job, TimePoint end) {
    auto slot = static_cast<std::uint32_t>(slots_.size());
    if (free_.empty()) {
      slots_.emplace_back();
      is_used_.push_back(0);
      ends_.grow(slots_.size());
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    slots_[slot] = job;
    is_used_[slot] = 1;
    ends_.set(slot, end);
    return slot;
  }

  void move_end(std::uint32_t slot, TimePoint end) { ends_.set(slot, end); }

  void remove(std::uint32_t slot) {
    ends_.clear(slot);
    is_used_[slot] = 0;
    free_.push_back(slot);
  }

  // Slots of all that run, in order.
  void list(std::vector<std::uint32_t>& out) const {
    out.clear();
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
      if (is_used_[slot] != 0) out.push_back(slot);
    }
  }

 private:
  TimerHeap ends_{0};
  std::vector<RunningJob> slots_;
  std::vector<char> is_used_;
  std::vector<std::uint32_t> free_;
};

}  // namespace slicewise::sim
