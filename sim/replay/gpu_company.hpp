#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job_uses.hpp"
#include "resources.hpp"

// Who slows whom down. Both kinds go with the event loop, which is compiled for each.
namespace slicewise::sim {

// Nobody anybody: a job runs for the time that the trace says.
struct NoCompany {
  static constexpr bool kMeets = false;
};

// Jobs that meet on GPUs. When the members of a GPU change, those that stay are settled, that is,
// their work up to now is counted, and get a new end; jobs on other GPUs are left alone.
class GpuCompany {
 public:
  static constexpr bool kMeets = true;

  // How a job fared since it was last started.
  struct Stretch {
    Duration on_gpu;
    Duration work;        // of its recorded run time
    double whole = 1;     // its time with a whole GPU / as recorded
    bool killed = false;  // at once: its GPU had no memory left
  };

  GpuCompany(const JobStream& jobs, const JobUses& uses, std::span<const NodeShape> nodes);

  // The job starts, with `left` of its run time to go, and gets a timer for its end.
  void join(std::uint32_t slot, const RunningJob& job, Duration left,
            const NodeResources& resources, RunningJobs& running);
  Stretch leave(std::uint32_t slot, const RunningJob& job, TimePoint now, RunningJobs& running);

  // Time of all GPUs.
  double busy_ns() const { return busy_ns_; }
  double sm_ns() const { return sm_ns_; }
  double switching_ns() const { return switching_ns_; }
  std::int64_t gpus_in_use() const { return gpus_in_use_; }
  std::int64_t most_gpus() const { return most_gpus_; }  // in use at once

 private:
  // What a row of a job holds: a ticket of one GPU, or whole GPUs of one node.
  struct Seat {
    std::uint32_t gpu = 0;  // the first
    std::uint32_t row = 0;
    std::uint32_t whole_gpus = 0;  // 0: a ticket
  };
  struct Member {
    std::uint32_t slot = 0;
    std::uint32_t use = 0;
    double pace = 1;
  };
  // Rates hold from `since` on.
  struct Gpu {
    std::uint32_t members = 0;
    std::uint32_t pool = 0;
    Bytes memory;        // that members hold
    CompanyState state;  // of two and more
    TimePoint since;
    double busy = 0;
    double sm = 0;
    double switching = 0;
  };
  struct Running {
    Duration begun_with;
    Duration left;  // as of `settled`
    TimePoint settled;
    double pace = 0;  // time per recorded time; 0: not known yet
    double whole = 1;
    bool killed = false;
    bool in_step = false;  // several seats: see more_
    Seat seat;             // the only one; whole_gpus 0 and no GPU: none
    bool has_seat = false;
  };

  std::span<const Seat> seats_of(std::uint32_t slot) const {
    const Running& running = running_[slot];
    if (running.in_step) return more_[slot];
    return {&running.seat, running.has_seat ? 1U : 0U};
  }
  std::span<Member> members_of(std::uint32_t gpu) {
    return {&members_[std::size_t{gpu} * tickets_], gpus_[gpu].members};
  }
  const GpuUse& use_of(const Seat& seat) const;
  void find_seats(std::uint32_t slot, const RunningJob& job, const NodeResources& resources);
  bool has_memory(std::span<const Seat> seats, std::size_t at) const;
  void sit_down(std::uint32_t slot, const Seat& seat, TimePoint now);
  void stand_up(std::uint32_t slot, const Seat& seat, Duration on_gpu, TimePoint now);
  void members_changed(std::uint32_t gpu, TimePoint now, RunningJobs& running);
  void find_paces(std::uint32_t gpu);
  void find_rates(std::uint32_t gpu);
  double pace_of(std::uint32_t slot);
  void set_pace(std::uint32_t slot, double pace, TimePoint now, RunningJobs& running);
  static void settle(Running& job, TimePoint now);
  void account(Gpu& gpu, TimePoint now);
  void use_gpus(std::int64_t more);

  const JobStream& jobs_;
  const JobUses& uses_;
  std::uint32_t tickets_;
  bool isolated_;
  std::vector<std::uint32_t> first_gpu_;  // by node
  std::vector<Gpu> gpus_;
  std::vector<Member> members_;   // tickets_ places for each GPU
  std::vector<Running> running_;  // by slot
  std::vector<std::vector<Seat>> more_;
  CompanyLaw law_;
  std::vector<CompanyMember> present_;
  double busy_ns_ = 0;
  double sm_ns_ = 0;
  double switching_ns_ = 0;
  std::int64_t gpus_in_use_ = 0;
  std::int64_t most_gpus_ = 0;
};

}  // namespace slicewise::sim
