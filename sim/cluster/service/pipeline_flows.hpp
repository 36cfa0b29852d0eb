#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "request.hpp"

namespace slicewise::sim {

// The requests under way through one pipeline: which stages of each still wait for answers. Memory
// grows to the most that were ever under way at once.
class PipelineFlows {
 public:
  explicit PipelineFlows(const PipelineModel& model) : model_(&model) {}

  // A request begins. Its first stages are those without inputs.
  std::uint32_t begin(TimePoint arrived);

  // A stage was sent to its Service.
  void sent(std::uint32_t flow) { ++flows_[flow].outstanding; }

  // A stage was answered. Appends the stages that have now all their inputs to `next`; none when
  // some stage was lost before.
  void answered(std::uint32_t flow, std::uint32_t stage, std::vector<std::uint32_t>& next);

  // A stage was lost for good: so is the request.
  void lost(std::uint32_t flow, Loss cause);

  // What became of it. Under way until no stage is out.
  bool is_over(std::uint32_t flow) const { return flows_[flow].outstanding == 0; }
  bool is_lost(std::uint32_t flow) const { return flows_[flow].is_lost; }
  Loss cause(std::uint32_t flow) const { return flows_[flow].cause; }
  TimePoint arrived(std::uint32_t flow) const { return flows_[flow].arrived; }

  // REQUIRES: is_over(flow). Its number may be used again.
  void end(std::uint32_t flow) { free_.push_back(flow); }

 private:
  struct Flow {
    TimePoint arrived;
    std::uint32_t outstanding = 0;
    bool is_lost = false;
    Loss cause = Loss::Refused;
  };

  const PipelineModel* model_;
  std::vector<Flow> flows_;
  std::vector<std::int32_t> missing_;  // inputs, by flow and stage
  std::vector<std::uint32_t> free_;
};

}  // namespace slicewise::sim
