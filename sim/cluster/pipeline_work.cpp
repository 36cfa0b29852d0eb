#include "cluster_run.hpp"

namespace slicewise::sim {

void ClusterRun::arm_pipeline(std::size_t pipeline) {
  timers_.set(first_pipeline_timer_ + static_cast<std::uint32_t>(pipeline),
              pipelines_[pipeline].source.next());
}

void ClusterRun::on_pipeline_timer(std::size_t pipeline) {
  PipelineState& state = pipelines_[pipeline];
  const Request request = state.source.take();
  RequestRecord& record = record_.pipelines[pipeline].requests;
  if (is_counted(request)) ++record.arrived;
  if (recorder_ != nullptr) recorder_->arrived(world_.workloads.size() + pipeline);
  state.population.change(now_, 1);
  const std::uint32_t flow = state.flows.begin(request.arrived);
  const auto& stages = world_.pipelines[pipeline].stages;
  // All first stages are out before one of them can come back.
  for (const PipelineModel::Stage& stage : stages) {
    if (stage.inputs == 0) state.flows.sent(flow);
  }
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (stages[stage].inputs == 0) send_stage(pipeline, flow, stage, request);
  }
  arm_pipeline(pipeline);
}

// `of`: the request that brought the stage about; its tokens go on.
void ClusterRun::send_stage(std::size_t pipeline, std::uint32_t flow, std::size_t stage,
                            const Request& of) {
  Request request;
  request.arrived = now_;
  request.flow = flow;
  request.pipeline = static_cast<std::uint16_t>(pipeline);
  request.stage = static_cast<std::uint16_t>(stage);
  request.input_tokens = of.input_tokens;
  request.output_tokens = of.output_tokens;
  arrive(service_of_[index(world_.pipelines[pipeline].stages[stage].workload)], request);
}

void ClusterRun::stage_over(const Request& request, std::optional<Loss> loss) {
  PipelineState& state = pipelines_[request.pipeline];
  if (loss) {
    state.flows.lost(request.flow, *loss);
  } else {
    std::vector<std::uint32_t> next = std::move(next_stages_);
    next.clear();
    state.flows.answered(request.flow, request.stage, next);
    for (std::size_t n = 0; n < next.size(); ++n) state.flows.sent(request.flow);
    for (const std::uint32_t stage : next) {
      send_stage(request.pipeline, request.flow, stage, request);
    }
    next_stages_ = std::move(next);
    // The last of the new stages may have been lost at once, and the request be over by now.
    if (!next_stages_.empty()) return;
  }
  if (state.flows.is_over(request.flow)) end_flow(request.pipeline, request.flow);
}

void ClusterRun::record_flow(std::size_t pipeline, std::uint32_t flow) {
  using Outcome = RecordedRequest::Outcome;
  const PipelineFlows& flows = pipelines_[pipeline].flows;
  RecordedRequest request;
  request.workload = static_cast<std::uint32_t>(world_.workloads.size() + pipeline);
  request.arrived = flows.arrived(flow);
  request.over = now_;
  const auto& limit = world_.pipelines[pipeline].limits.latency;
  const bool late = limit && request.over - request.arrived > *limit;
  request.outcome = flows.is_lost(flow) ? outcome_of(flows.cause(flow))
                    : late              ? Outcome::Late
                                        : Outcome::InTime;
  recorder_->request_over(request);
}

void ClusterRun::end_flow(std::size_t pipeline, std::uint32_t flow) {
  PipelineState& state = pipelines_[pipeline];
  RequestRecord& record = record_.pipelines[pipeline].requests;
  const TimePoint arrived = state.flows.arrived(flow);
  state.population.change(now_, -1);
  if (recorder_ != nullptr) record_flow(pipeline, flow);
  if (arrived - TimePoint{} >= world_.warmup) {
    if (state.flows.is_lost(flow)) {
      const Loss cause = state.flows.cause(flow);
      std::int64_t& count = cause == Loss::Refused   ? record.refused
                            : cause == Loss::Dropped ? record.dropped
                                                     : record.timed_out;
      ++count;
    } else {
      const Duration latency = now_ - arrived;
      const auto& limit = world_.pipelines[pipeline].limits.latency;
      ++record.answered;
      record.in_objectives += limit && latency > *limit ? 0 : 1;
      record.latency.add(latency);
    }
  }
  state.flows.end(flow);
  if (state.source.over(now_)) arm_pipeline(pipeline);
}

}  // namespace slicewise::sim
