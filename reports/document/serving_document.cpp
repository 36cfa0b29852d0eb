#include "serving_document.hpp"

#include <nlohmann/json.hpp>

#include "document_values.hpp"

namespace slicewise::reports::document {

using nlohmann::json;

namespace {

json number_summary(const std::optional<sim::NumberSummary>& n) {
  if (!n || n->count == 0) return nullptr;
  return {{"count", n->count},
          {"mean", number(n->mean)},
          {"p50", number(n->p50)},
          {"p95", number(n->p95)},
          {"p99", number(n->p99)}};
}

}  // namespace

json requests(const sim::RequestCounts& r) {
  return present({{"arrived", number(r.arrived)},
                  {"answered", number(r.answered)},
                  {"inObjectives", number(r.in_objectives)},
                  {"refused", number(r.refused)},
                  {"dropped", number(r.dropped)},
                  {"timedOut", number(r.timed_out)},
                  {"retried", number(r.retried)},
                  {"meanInSystem", number(r.mean_in_system)},
                  {"meanBatch", r.mean_batch > 0 ? number(r.mean_batch) : json(nullptr)},
                  {"availability", number(r.availability)}});
}

json tokens(const sim::TokenFigures& t) {
  return present({{"input", number(t.input_tokens)},
                  {"output", number(t.output_tokens)},
                  {"outputPerSecond", number(t.output_per_second)},
                  {"firstTokenSeconds", time_summary(t.first_token)},
                  {"perTokenSeconds", time_summary(t.per_token)},
                  {"kvCachePeakRatio", number(t.kv_cache_peak)},
                  {"kvCacheBytes", t.kv_cache.count},
                  {"preemptions", number(t.preemptions)},
                  {"perMillionOutputUsd", in_dollars(t.per_million_output)}});
}

json scaling(const sim::ScalingFigures& s) {
  return present({{"replicasMean", number(s.mean_replicas)},
                  {"replicasMax", s.max_replicas},
                  {"scaleUps", number(s.scale_ups)},
                  {"scaleDowns", number(s.scale_downs)},
                  {"startUpSeconds", time_summary(s.start_up)}});
}

json gang(const sim::GangFigures& g) {
  const auto gpu_set = [](const sim::GpuSetFigures& s) {
    return present(
        {{"pool", s.pool},
         {"gpus", s.gpus},
         {"pods", number(s.pods)},
         {"allLinked", s.all_linked},
         {"allReduceSeconds", s.all_reduce.ns > 0 ? in_seconds(s.all_reduce) : json(nullptr)}});
  };
  return {{"gpusPerPod", g.gpus},
          {"allReduceRatio", number(g.all_reduce_share)},
          {"gpuSets", list(g.sets, gpu_set)}};
}

json notebooks(const sim::NotebookFigures& n) {
  return present({{"users", n.users},
                  {"sessions", number(n.sessions)},
                  {"cells", number(n.cells)},
                  {"culled", number(n.culled)},
                  {"gaveUp", number(n.gave_up)},
                  {"sessionStartSeconds", time_summary(n.session_start)},
                  {"cellSlowdown", number_summary(n.cell_slowdown)},
                  {"oomPerUserMonth", number(n.oom_per_user_month)},
                  {"waitingPerUserMonthSeconds", number(n.waiting_per_user_month_s)},
                  {"perActiveUserMonthUsd", in_dollars(n.per_active_user_month)}});
}

}  // namespace slicewise::reports::document
