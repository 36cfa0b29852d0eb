#pragma once

#include <cstdint>
#include <vector>

#include "../nodes/gpu_access.hpp"
#include "../run_state.hpp"
#include "scaler.hpp"

namespace slicewise::sim {

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
    return scaler_of_[service] != kNoScaler && scalers_[scaler_of_[service]].holds();
  }
  void hold(std::size_t service, Request request);

  // The pod serves: its start-up is over, and what waited at the front goes in.
  void replica_ready(std::size_t service, std::uint32_t pod);
  // Not wanted any more: it takes no requests and ends when it has none.
  bool is_leaving(std::uint32_t pod) const { return replicas_of_[pod].leaving; }
  // The pod has no requests inside.
  void replica_idle(std::uint32_t pod) {
    if (is_leaving(pod)) replica_gone(pod);
  }
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
