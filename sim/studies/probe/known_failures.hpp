#pragma once

#include <map>
#include <optional>
#include <string>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/plan.hpp"

namespace slicewise::sim {

// Pools that were seen to fail. They fail with more of an input, too: more requests or longer work
// only make it worse. And what is too slow is so with less GPU memory. Nobody simulates that.
class KnownFailures {
 public:
  // Of which inputs that is so hangs on the scenario: with autoscalers, CronJobs and clients that
  // wait for their answers more of one thing is less of another, more requests fill batches sooner,
  // and language models make use of memory.
  explicit KnownFailures(const Scenario& base);

  // The answer to another probe, where that says no to this one; nullopt: nobody knows.
  std::optional<PlanAnswer> find(const PlanProbe& probe) const;
  void note(const PlanProbe& probe, const PlanAnswer& answer);

 private:
  struct Failure {
    double factor = 1;
    int replications = 1;
    PlanAnswer answer;
  };

  bool is_worse(const PlanProbe& probe) const;
  bool is_as_slow(const PlanProbe& probe) const;

  bool more_is_worse_ = true;
  bool more_traffic_is_worse_ = true;
  bool memory_is_room_ = true;
  std::map<std::string, Failure> failures_;  // by pools and input, at the least factor
};

}  // namespace slicewise::sim
