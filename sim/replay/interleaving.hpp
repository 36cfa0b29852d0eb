#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "slicewise/sim/replay/replay.hpp"

#include "job_stream.hpp"

// Jobs that share all of their GPUs and take turns at what an iteration needs: the host, which
// loads data, the GPU, and the network.
namespace slicewise::sim {

// Seconds of an iteration alone, and of its three stages.
struct Stages {
  double iteration = 0;
  std::array<double, 3> each{};

  friend auto operator<=>(const Stages&, const Stages&) = default;
};

class StageLaw {
 public:
  static constexpr std::size_t kMostInGroup = 4;          // as Muri has it
  using Kinds = std::array<std::uint32_t, kMostInGroup>;  // of the members, in order

  explicit StageLaw(const JobStream& jobs);

  Kinds kinds_of(std::span<const JobNumber> group) const;
  const Stages& of(JobNumber job) const { return stages_[kind_of_row_[jobs_.row(job)]]; }
  // Seconds of an iteration of every member, in the best order of stages, with what Muri measured
  // that interleaving costs, and never less than one alone. Source: Zhao et al., "Multi-resource
  // interleaving for deep learning training", SIGCOMM'22; Rivendile/Muri, simulator/matching.py and
  // jobs.py.
  double period(std::span<const JobNumber> group);
  // Seconds of an iteration of a job that takes what another leaves of each stage, infinite where
  // that is nothing. Source: AntMan in the form of Rivendile/Muri, simulator/run_sim.py.
  static double left_over(const Stages& guest, const Stages& owner);

 private:
  double best_order(const Kinds& group, std::size_t members) const;

  const JobStream& jobs_;
  std::vector<Stages> stages_;  // by kind
  std::vector<std::uint32_t> kind_of_row_;
  // What was reckoned last for each place, so that it stays small.
  struct Known {
    Kinds kinds{};
    double period = 0;
  };
  std::vector<Known> known_;
};

// A job between its arrival and its end.
struct InterleavedJob {
  JobNumber job = 0;
  std::int64_t gpus = 0;
  Duration left;        // of its run time, at `since`
  TimePoint since;      // it goes at this pace
  double pace = 0;      // time per recorded time; 0: it waits
  double served_s = 0;  // so far, whatever it got done
  bool has_started = false;
  std::uint32_t slot = 0;         // among those that run
  std::vector<std::uint32_t> on;  // GPUs, of AntMan
};

// Muri-L: who got the least GPU time goes first, and up to four jobs with as many GPUs take turns
// where there are not enough for all. At each event groups whose members all go on are kept, and
// the others matched anew, the most efficient pair first, where the artefact matches all by
// Blossom: what stopping and starting costs is left out.
class MuriGroups {
 public:
  MuriGroups(const JobStream& jobs, std::vector<int> nodes)
      : law_(jobs),
        nodes_(std::move(nodes)),
        total_(std::accumulate(nodes_.begin(), nodes_.end(), std::int64_t{0})) {}
  void plan(std::vector<InterleavedJob>& jobs);
  void ended(const InterleavedJob& /*job*/) {}
  std::int64_t gpus_in_use() const {
    return total_ - std::accumulate(free_.begin(), free_.end(), std::int64_t{0});
  }

 private:
  using Group = std::vector<std::uint32_t>;  // into the jobs

  bool take(std::int64_t gpus);
  void choose(const std::vector<InterleavedJob>& jobs);
  void keep_groups(const std::vector<InterleavedJob>& jobs);
  void take_apart(const std::vector<InterleavedJob>& jobs);
  void pair_up(std::vector<Group>& groups, std::int64_t gpus,
               const std::vector<InterleavedJob>& jobs);
  void name_members(const std::vector<InterleavedJob>& jobs, const Group& group);
  double period(const std::vector<InterleavedJob>& jobs, const Group& group);
  double efficiency(const std::vector<InterleavedJob>& jobs, const Group& group);

  StageLaw law_;
  std::vector<int> nodes_;  // GPUs of each
  std::int64_t total_;
  std::vector<int> free_;
  std::vector<std::uint32_t> order_;
  std::vector<char> is_chosen_;  // by job in the plan
  std::map<std::int64_t, std::vector<Group>> by_gpus_;
  std::int64_t wanted_ = 0;
  std::vector<std::vector<JobNumber>> kept_;  // groups of the plan before
  std::vector<JobNumber> members_;
};

// AntMan: jobs of priority 0 own their GPUs and keep what they got while they wait for the rest;
// one of a higher number runs beside the owner of each GPU with what that leaves. Source: Xiao et
// al., "AntMan", OSDI'20, in the form of Rivendile/Muri, simulator/switch.py.
class AntMan {
 public:
  AntMan(const JobStream& jobs, std::vector<int> nodes);
  void plan(std::vector<InterleavedJob>& jobs);
  void ended(const InterleavedJob& job);
  std::int64_t gpus_in_use() const;

 private:
  static constexpr JobNumber kNobody = UINT32_MAX;

  // Of GPUs: who owns each, or is the guest there. Nobody, beyond the last that ever had one.
  class Holders {
   public:
    JobNumber operator[](std::uint32_t gpu) const {
      return gpu < jobs_.size() ? jobs_[gpu] : kNobody;
    }
    void give(std::uint32_t gpu, JobNumber job) {
      if (gpu >= jobs_.size()) jobs_.resize(gpu + 1, kNobody);
      jobs_[gpu] = job;
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(jobs_.size()); }
    // Of `most` GPUs from this one on.
    std::uint32_t free_from(std::uint32_t gpu, std::uint32_t most) const;

   private:
    std::vector<JobNumber> jobs_;
  };

  std::uint32_t free_on(std::size_t node) const;
  std::size_t roomiest(std::int64_t gpus) const;
  void place_owner(InterleavedJob& job);
  void place_guest(InterleavedJob& job);
  void own(InterleavedJob& job, std::size_t node, std::int64_t most);

  const JobStream& jobs_;
  StageLaw law_;
  std::vector<int> nodes_;
  std::vector<std::uint32_t> first_gpu_;  // by node
  std::uint32_t gpus_ = 0;
  Holders owner_;
  Holders guest_;
  std::unordered_set<JobNumber> whole_;  // owners that have all of their GPUs
};

// The trace under the queue policies Muri and AntMan. Errors: a trace that does not say of each job
// what its iterations do, or says what these policies do not reckon with: gangs, jobs without a GPU
// or with a part of one, and where the nodes would limit them host CPU, memory and GPU models.
Expected<ReplayResult> replay_interleaved(const scenarios::JobTrace& trace,
                                          const ReplaySettings& settings);

}  // namespace slicewise::sim
