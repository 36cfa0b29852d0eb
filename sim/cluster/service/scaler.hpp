#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "slicewise/sim/serving/replica_controller.hpp"
#include "slicewise/sim/serving/sliding_mean.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "../state.hpp"
#include "request.hpp"

namespace slicewise::sim {

inline constexpr std::uint32_t kNoScaler = std::numeric_limits<std::uint32_t>::max();

// The autoscaler of one Service: what it has seen of its metric, and which pods it wants.
struct Scaler {
  // A pod that is not wanted any more and finishes what it has.
  struct Leaving {
    std::uint32_t pod = 0;
    TimePoint killed_at;
  };

  Scaler(const ClusterState& cluster, WorkloadId workload, std::uint32_t service);

  const scenarios::Autoscaling& settings() const { return *model->spec.autoscaling; }
  // Requests that find no ready pod wait at the front (KEDA's HTTP add-on) instead of being
  // refused.
  bool holds() const { return settings().min_replicas == 0; }

  WorkloadId workload{};
  std::uint32_t service = 0;
  const WorkloadModel* model = nullptr;
  std::vector<std::uint32_t> pods;    // of the Service: places for as many as it may have
  std::vector<std::uint32_t> wanted;  // of these, in order of submission
  std::vector<Leaving> leaving;       // the one to be killed first, first
  RequestQueue held;

  Duration sample_period;  // of the gauges
  int samples_per_look = 1;
  int samples_taken = 0;  // since the last look
  TimePoint next_sample;
  SlidingMean metric;
  std::int64_t asked_before = 0;      // requests, at the last sample
  bool active = false;                // since the last look
  std::vector<Duration> busy_before;  // GPU time at the last sample, by domain; GpuUtilization only

  ReplicaController controller;
  TimePoint wish_since;  // the integral of the wish is accounted for up to here
  int wish = 0;
};

}  // namespace slicewise::sim
