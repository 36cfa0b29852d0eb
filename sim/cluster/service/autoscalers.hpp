#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "slicewise/sim/serving/replica_controller.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "../nodes/gpu_access.hpp"
#include "../run_state.hpp"
#include "../state.hpp"
#include "request.hpp"

namespace slicewise::sim {

// The mean of the last samples of a gauge. Allocates in the constructor only.
class SlidingMean {
 public:
  // REQUIRES: samples > 0.
  explicit SlidingMean(std::size_t samples) : ring_(samples, 0.0) {}

  void add(double sample) {
    ring_[next_] = sample;
    next_ = next_ + 1 < ring_.size() ? next_ + 1 : 0;
    taken_ = taken_ < ring_.size() ? taken_ + 1 : taken_;
  }

  // Of those taken so far while they are fewer; 0 before the first. O(samples).
  double mean() const {
    if (taken_ == 0) return 0;
    return std::accumulate(ring_.begin(), ring_.end(), 0.0) / static_cast<double>(taken_);
  }

 private:
  std::vector<double> ring_;
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
};

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
  // What the schedule asks for now; 0: no window is open. Time never goes back.
  int scheduled(TimePoint now);

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
  std::int64_t asked_before = 0;  // requests, at the last sample
  bool active = false;            // since the last look
  std::vector<scenarios::ReplicaStep> schedule;
  std::size_t next_step = 0;
  std::vector<Duration> busy_before;  // GPU time at the last sample, by domain; GpuUtilization only

  ReplicaController controller;
  TimePoint wish_since;  // the integral of the wish is accounted for up to here
  int wish = 0;
};

class PodLife;
class Replicas;
class Services;

// The autoscalers of Services (HPA, KEDA), the ReplicaSets that they scale, and requests that wait
// at the front for the first replica. Not modelled: the time that the endpoints of a Service take
// to follow its pods, and new pods beside those that are leaving when all places are taken (a place
// becomes free when its pod has gone).
class Autoscalers {
 public:
  Autoscalers(RunState& run, GpuAccess& gpus, Services& services, const Replicas& replicas,
              PodLife& pods);

  // An autoscaler's timer.
  void on_timer(std::size_t scaler);

  // Whether requests that find no replica wait at the front.
  bool holds(std::size_t service) const {
    return scaler_of_[service] != kNoScaler &&
           scalers_[scaler_of_[service]].settings().holds_requests();
  }
  void hold(std::size_t service, Request request);

  // The pod serves: its start-up is over, and what waited at the front goes in.
  void replica_ready(std::size_t service, std::uint32_t pod);
  // Not wanted any more: it takes no requests and ends when it has none.
  bool is_leaving(std::uint32_t pod) const { return replicas_of_[pod].leaving; }
  // Of one that goes: whether a window of a schedule wanted it since it was queued.
  bool a_window_wanted(std::uint32_t pod);
  // The pod has no requests inside: it goes if somebody waits for that.
  void replica_idle(std::uint32_t pod);
  // A pod that was leaving has gone: its place may be wanted again.
  void replica_gone(std::uint32_t pod);

  // For samples: adds the requests at the front to `waiting`, by workload.
  template <class Add>
  void for_each_held(Add add) const {
    for (const Scaler& scaler : scalers_) add(index(scaler.workload), scaler.held.size());
  }
  // At the end of the run.
  void record_wishes();

 private:
  // What its ReplicaSet wants of a pod.
  struct Replica {
    TimePoint wanted_at = kNever;  // kNever: it is not
    bool was_ready = false;        // since then
    bool leaving = false;
  };

  Scaler& scaler_of(std::uint32_t pod);
  void arm(const Scaler& scaler);
  void sample(Scaler& scaler);
  double sample_gpus(Scaler& scaler);
  void look(Scaler& scaler);
  void scale(Scaler& scaler);
  void account_wish(Scaler& scaler);
  void dismiss(Scaler& scaler);
  void remove_replica(std::uint32_t pod);

  RunState& run_;
  GpuAccess& gpus_;
  Services& services_;
  const Replicas& servers_;
  PodLife& pods_;
  std::vector<Scaler> scalers_;
  std::vector<std::uint32_t> scaler_of_;  // by service; kNoScaler
  std::vector<Replica> replicas_of_;      // by pod
};

}  // namespace slicewise::sim
