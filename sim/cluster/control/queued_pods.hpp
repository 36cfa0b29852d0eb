#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "../run_state.hpp"

namespace slicewise::sim {

// What the queues of Kueue hold and have admitted: Jobs, or all pods of one object
// (Workload::part_of), by the first of their pods. Who is admitted says QuotaAdmission.
class QueuedPods {
 public:
  // Those pods of a workload that are admitted together.
  struct Set {
    std::size_t workload = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    std::uint32_t next = 0;  // the first that may be suspended
    int left = 0;            // that have not ended
    int held = 0;            // that there is quota for
    int there = 0;           // of them, that are there
    QuotaAmounts each;       // of a pod
  };
  struct Job {
    bool is_admitted = false;
    int ending = 0;  // Jobs of it that were stopped and have not gone
    std::vector<Set> sets;

    bool is_over() const;
  };

  explicit QueuedPods(RunState& run);

  // The first pod of what the pod is admitted with.
  std::uint32_t job_of(std::uint32_t pod) const;
  Job* find(std::uint32_t job);
  Job& at(std::uint32_t job) { return jobs_.at(job); }
  void add(std::uint32_t job);
  void remove(std::uint32_t job) { jobs_.erase(job); }
  // REQUIRES: its job is here.
  Set& set_of(std::uint32_t pod);
  // Whether there is quota for the pod, which is about to be there and has it from then on.
  bool take_quota(std::uint32_t pod);
  // Calls `use` with the first pod of each Job of the set.
  template <class Use>
  void for_each_job(const Set& set, Use&& use) const {
    const auto pods = static_cast<std::uint32_t>(run_.world.workloads[set.workload].pods_per_job);
    for (std::uint32_t p = set.first; p < set.end; p += pods) use(p);
  }

 private:
  static constexpr std::size_t kNeverAdmitted = static_cast<std::size_t>(-1);

  void begin(std::uint32_t pod, Set& set);

  RunState& run_;
  std::vector<std::uint32_t> first_of_;  // by workload: its first pod
  std::vector<std::size_t> wait_of_;     // by the first pod of a Job: its place in quota_wait
  std::map<std::uint32_t, Job> jobs_;
};

}  // namespace slicewise::sim
