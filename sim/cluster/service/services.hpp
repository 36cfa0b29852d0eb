#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/recording.hpp"

#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "service_state.hpp"

namespace slicewise::sim {

class Autoscalers;
class Pipelines;
class Replicas;

// The requests of Services outside of pods: they arrive, are sent to a ready replica, and are
// answered, or lost and perhaps sent again.
class Services {
 public:
  Services(RunState& run, Usage& usage, Replicas& replicas, Pipelines& pipelines,
           Autoscalers& scalers);

  std::size_t count() const { return services_.size(); }
  std::size_t of_pod(std::uint32_t pod) const {
    return service_of_[index(run_.cluster.pods[pod].workload)];
  }
  std::size_t of_workload(WorkloadId workload) const { return service_of_[index(workload)]; }
  ServiceState& operator[](std::size_t service) { return services_[service]; }

  // A service's timer: a new request of the open or closed loop, or one that comes back.
  void on_timer(std::size_t service);
  void arm(std::size_t service);

  // The first attempt of a request.
  void arrive(std::size_t service, Request request);
  // The same, when it is there: at `request.arrived`.
  void arrive_later(std::size_t service, const Request& request);
  // Any attempt: to a ready replica, or to the front of a service that has none.
  void enter(std::size_t service, Request request);
  // From a pod. Unless its client tries again, the request is over without an answer.
  void lose(std::size_t service, Request request, Loss cause);
  void answer(std::uint32_t pod, const Request& request, Duration work);

  void start_serving(std::uint32_t pod);
  // Requests inside a replica go down with it.
  void stop_serving(std::uint32_t pod);

  // At the end of the run.
  void record_populations();

 private:
  RequestRecord& record_of(std::size_t service);
  void record(WorkloadId workload, const Request& request, RecordedRequest::Outcome outcome,
              std::optional<std::uint32_t> pod);
  void draw_tokens(ServiceState& service, Request& request);
  void over(std::size_t service, const Request& request, std::optional<Loss> loss);

  RunState& run_;
  Usage& usage_;
  Replicas& replicas_;
  Pipelines& pipelines_;
  Autoscalers& scalers_;
  std::vector<ServiceState> services_;
  std::vector<std::uint32_t> service_of_;  // by workload
};

}  // namespace slicewise::sim
