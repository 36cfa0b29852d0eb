#pragma once

#include <utility>
#include <vector>

#include "../demo.hpp"

// Services of a language model on an A10G.
namespace slicewise::sim {

inline constexpr int kReady = 60;  // seconds, by when the pods serve

inline scenarios::RandomAmount exactly(double tokens) {
  return {scenarios::RandomAmount::Law::Constant, tokens, 0, {}, {}};
}

inline scenarios::Workload chat(double per_second) {
  scenarios::Workload w;
  w.name.value = "chat";
  w.kind = scenarios::WorkloadKind::Service;
  w.restart_policy = scenarios::RestartPolicy::Always;
  w.pod.cpu_request = {100};
  w.pod.extended.push_back({{"nvidia.com/gpu", {}}, 1, {}});
  w.traffic.emplace().mean = {per_second};
  w.llm.emplace().model.value = "llama-3-8b-fp16/a10g";
  w.llm->input = exactly(600);
  w.llm->output = exactly(100);
  return w;
}

inline scenarios::Scenario on_g5(std::vector<scenarios::Workload> workloads, int seconds_long) {
  scenarios::Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
  s.node_pools[0].instance_type.value = "g5.2xlarge";
  s.warmup = seconds(kReady);
  s.duration = seconds(kReady + seconds_long);
  return s;
}

inline scenarios::Workload replaying(const std::vector<scenarios::RequestTrace::Row>& rows) {
  scenarios::Workload w = chat(1);
  scenarios::RequestTrace trace;
  trace.has_tokens = true;
  trace.rows = rows;
  w.traffic->shape = trace;
  w.llm->input.reset();
  w.llm->output.reset();
  return w;
}

inline models::LlmStep step_of(const World& world) {
  return world.workloads[0].on_pool[0].llm[0].step;
}

}  // namespace slicewise::sim
