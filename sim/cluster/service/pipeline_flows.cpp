#include "pipeline_flows.hpp"

namespace slicewise::sim {

std::uint32_t PipelineFlows::begin(TimePoint arrived) {
  const std::size_t stages = model_->stages.size();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
    missing_.resize(missing_.size() + stages);
  }
  const std::uint32_t flow = free_.back();
  free_.pop_back();
  flows_[flow] = {};
  flows_[flow].arrived = arrived;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    missing_[flow * stages + stage] = model_->stages[stage].inputs;
  }
  return flow;
}

void PipelineFlows::answered(std::uint32_t flow, std::uint32_t stage,
                             std::vector<std::uint32_t>& next) {
  --flows_[flow].outstanding;
  if (flows_[flow].is_lost) return;
  for (const std::uint32_t successor : model_->stages[stage].next) {
    if (--missing_[flow * model_->stages.size() + successor] == 0) next.push_back(successor);
  }
}

void PipelineFlows::lost(std::uint32_t flow, Loss cause) {
  --flows_[flow].outstanding;
  if (!flows_[flow].is_lost) flows_[flow].cause = cause;
  flows_[flow].is_lost = true;
}

}  // namespace slicewise::sim
