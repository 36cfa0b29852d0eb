#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../run_state.hpp"
#include "service_state.hpp"

namespace slicewise::sim {

class Services;

// Requests that pass through several Services.
class Pipelines {
 public:
  Pipelines(RunState& run, Services& services);

  std::size_t count() const { return pipelines_.size(); }
  std::int64_t inside(std::size_t pipeline) const {
    return pipelines_[pipeline].population.inside();
  }

  // A pipeline's timer: its next request.
  void on_timer(std::size_t pipeline);
  // A stage has left its Service; `loss`: without an answer.
  // Before it is over: an objective of the stage's Service was missed.
  void stage_late(const Request& request);
  void stage_over(const Request& request, std::optional<Loss> loss);

  // At the end of the run.
  void record_populations();

 private:
  void arm(std::size_t pipeline);
  void send_stage(std::size_t pipeline, std::uint32_t flow, std::size_t stage, const Request& of);
  bool is_late(std::size_t pipeline, std::uint32_t flow) const;
  void record_flow(std::size_t pipeline, std::uint32_t flow);
  void end_flow(std::size_t pipeline, std::uint32_t flow);

  RunState& run_;
  Services& services_;
  std::vector<PipelineState> pipelines_;
  std::vector<std::uint32_t> next_stages_;  // scratch of stage_over
};

}  // namespace slicewise::sim
