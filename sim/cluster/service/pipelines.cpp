#include "pipelines.hpp"

#include "../entity_streams.hpp"
#include "../record/recorder.hpp"
#include "services.hpp"

namespace slicewise::sim {

Pipelines::Pipelines(RunState& run, Services& services) : run_(run), services_(services) {
  for (std::size_t pipeline = 0; pipeline < run.world.pipelines.size(); ++pipeline) {
    pipelines_.emplace_back(run.world, pipeline, run.replication,
                            entity_of(run.world.pipelines[pipeline].name));
    arm(pipeline);
  }
}

void Pipelines::record_populations() {
  for (std::size_t pipeline = 0; pipeline < pipelines_.size(); ++pipeline) {
    run_.record.pipelines[pipeline].requests.in_system_ns =
        pipelines_[pipeline].population.integral_ns(run_.now);
  }
}

void Pipelines::arm(std::size_t pipeline) {
  run_.timers.set(TimerKind::Pipeline, pipeline, pipelines_[pipeline].source.next());
}

void Pipelines::on_timer(std::size_t pipeline) {
  PipelineState& state = pipelines_[pipeline];
  const Request request = state.source.take();
  RequestRecord& record = run_.record.pipelines[pipeline].requests;
  if (run_.is_observed(request.arrived)) ++record.arrived;
  if (run_.recorder != nullptr) run_.recorder->arrived(run_.world.workloads.size() + pipeline);
  state.population.change(run_.now, 1);
  const std::uint32_t flow = state.flows.begin(request.arrived);
  const auto& stages = run_.world.pipelines[pipeline].stages;
  // All first stages are out before one of them can come back.
  for (const PipelineModel::Stage& stage : stages) {
    if (stage.inputs == 0) state.flows.sent(flow);
  }
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (stages[stage].inputs == 0) send_stage(pipeline, flow, stage, request);
  }
  arm(pipeline);
}

// `of`: the request that brought the stage about; its tokens go on.
void Pipelines::send_stage(std::size_t pipeline, std::uint32_t flow, std::size_t stage,
                           const Request& of) {
  const PipelineModel& model = run_.world.pipelines[pipeline];
  const Duration network =
      model.stages[stage].network +
      from_seconds(model.stages[stage].kv_s_per_token * static_cast<double>(of.input_tokens));
  Request request;
  request.arrived = run_.now + network;
  request.flow = flow;
  request.pipeline = static_cast<std::uint16_t>(pipeline);
  request.stage = static_cast<std::uint16_t>(stage);
  request.input_tokens = of.input_tokens;
  request.output_tokens = of.output_tokens;
  request.prompt = of.prompt;
  request.first_token = of.first_token;
  const std::size_t service = services_.of_workload(model.stages[stage].workload);
  if (network.ns > 0) return services_.arrive_later(service, request);
  services_.arrive(service, request);
}

void Pipelines::stage_late(const Request& request) {
  pipelines_[request.pipeline].flows.late(request.flow);
}

// Whether what is over now met the pipeline's own objective and those of its stages.
bool Pipelines::is_late(std::size_t pipeline, std::uint32_t flow) const {
  const PipelineFlows& flows = pipelines_[pipeline].flows;
  const auto& limit = run_.world.pipelines[pipeline].limits.latency;
  return flows.is_late(flow) || (limit && run_.now - flows.arrived(flow) > *limit);
}

void Pipelines::stage_over(const Request& request, std::optional<Loss> loss) {
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

void Pipelines::record_flow(std::size_t pipeline, std::uint32_t flow) {
  using Outcome = RecordedRequest::Outcome;
  const PipelineFlows& flows = pipelines_[pipeline].flows;
  RecordedRequest request;
  request.workload = static_cast<std::uint32_t>(run_.world.workloads.size() + pipeline);
  request.arrived = flows.arrived(flow);
  request.over = run_.now;
  request.outcome = flows.is_lost(flow)       ? outcome_of(flows.cause(flow))
                    : is_late(pipeline, flow) ? Outcome::Late
                                              : Outcome::InTime;
  run_.recorder->request_over(request);
}

void Pipelines::end_flow(std::size_t pipeline, std::uint32_t flow) {
  PipelineState& state = pipelines_[pipeline];
  PipelineRecord& figures = run_.record.pipelines[pipeline];
  RequestRecord& record = figures.requests;
  const TimePoint arrived = state.flows.arrived(flow);
  const bool lost = state.flows.is_lost(flow);
  const bool in_time = !lost && !is_late(pipeline, flow);
  state.population.change(run_.now, -1);
  if (run_.recorder != nullptr) record_flow(pipeline, flow);
  if (run_.is_observed(arrived)) {
    if (lost) {
      count_loss(record, state.flows.cause(flow));
    } else {
      ++record.answered;
      record.in_objectives += in_time ? 1 : 0;
      record.latency.add(run_.now - arrived);
    }
  }
  if (!lost && run_.is_observed(run_.now)) {
    ++figures.units_done;
    figures.units_in_objective += in_time ? 1 : 0;
  }
  state.flows.end(flow);
  if (state.source.over(run_.now, lost)) arm(pipeline);
}

}  // namespace slicewise::sim
