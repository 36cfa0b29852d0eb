#pragma once

#include <cstdint>
#include <vector>

#include "../nodes/gpu_access.hpp"
#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "engine_turns.hpp"
#include "host_cpus.hpp"
#include "service_state.hpp"

namespace slicewise::sim {

class Autoscalers;
class PodLife;
class Services;

// The requests inside the pods of Services: workers, host CPU, batches on the GPU, and the steps of
// language models (llm_steps.cpp). What leaves a pod goes back to `services`; a pod that has
// nothing left is told to `scalers`.
class Replicas {
 public:
  Replicas(RunState& run, GpuAccess& gpus, Usage& usage, HostCpus& hosts, Services& services,
           Autoscalers& scalers, PodLife& pods);

  const std::vector<PodServer>& all() const { return servers_; }
  const PodServer& of_pod(std::uint32_t pod) const { return servers_[pod]; }

  // The container begins to serve.
  void begin(std::uint32_t pod);
  // It is gone: takes all its requests out, those that came first first.
  std::vector<Request> take_all(std::uint32_t pod);

  // The request has reached a pod that lets it in.
  void admit(std::uint32_t pod, const Request& request);

  // Language models that sleep; what waited in front of one that is awake goes in.
  EngineTurns& engines() { return engines_; }
  void woke_up(std::uint32_t pod);

  // The pod's timer: a batch has waited long enough, or requests have waited too long.
  void on_timer(std::uint32_t pod);
  void gpu_done(std::uint32_t pod) { servers_[pod].llm ? piece_done(pod) : burst_done(pod); }
  void host_done(NodeId node);

 private:
  using When = HostCpus::Task::When;

  void begin_request(std::uint32_t pod, const Request& request);
  void ready_for_gpu(std::uint32_t pod, Request request);
  void fill_batch(std::uint32_t pod);
  void begin_burst(std::uint32_t pod);
  void burst_done(std::uint32_t pod);
  void batch_done(std::uint32_t pod);
  void leave_gpu(std::uint32_t pod, const Request& request, Duration work);
  void leave_pod(std::uint32_t pod, const Request& request, Duration work);
  void leave_if_finished(std::uint32_t pod);
  void arm(std::uint32_t pod);

  void join_steps(std::uint32_t pod, const Request& request);
  void begin_piece(std::uint32_t pod);
  void piece_done(std::uint32_t pod);
  void time_out_llm(std::uint32_t pod, Duration timeout);

  RunState& run_;
  GpuAccess& gpus_;
  Usage& usage_;
  HostCpus& hosts_;
  Services& services_;
  Autoscalers& scalers_;
  std::vector<PodServer> servers_;  // by pod; unused for pods that serve nothing
  EngineTurns engines_;
  std::vector<Request> finished_;  // scratch of batch_done
};

}  // namespace slicewise::sim
