#include <algorithm>
#include <cmath>

#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using Records = std::span<const RequestRecord* const>;

double mean_count(Records records, std::int64_t RequestRecord::*count) {
  double sum = 0;
  for (const RequestRecord* record : records) sum += static_cast<double>(record->*count);
  return sum / static_cast<double>(records.size());
}

// Of those whose fate is known: what is still in the system at the end of the run was not lost.
double answered_share(const RequestCounts& counts) {
  const double decided = counts.answered + counts.refused + counts.dropped + counts.timed_out;
  if (decided > 0) return counts.answered / decided;
  return counts.arrived > 0 ? 0 : 1;
}

RequestCounts request_counts(Records records) {
  RequestCounts counts;
  counts.arrived = mean_count(records, &RequestRecord::arrived);
  counts.answered = mean_count(records, &RequestRecord::answered);
  counts.in_objectives = mean_count(records, &RequestRecord::in_objectives);
  counts.refused = mean_count(records, &RequestRecord::refused);
  counts.too_long = mean_count(records, &RequestRecord::too_long);
  counts.dropped = mean_count(records, &RequestRecord::dropped);
  counts.timed_out = mean_count(records, &RequestRecord::timed_out);
  counts.retried = mean_count(records, &RequestRecord::retried);
  const double batches = mean_count(records, &RequestRecord::batches);
  if (batches > 0) counts.mean_batch = mean_count(records, &RequestRecord::batched) / batches;
  counts.availability = answered_share(counts);
  return counts;
}

// Requests that were lost or still wait, but for as many as are in a system that keeps up.
double left_over(const RequestRecord& record, double mean_in_system) {
  const std::int64_t lost = record.refused + record.dropped + record.timed_out;
  const std::int64_t open = record.arrived - record.answered - lost;
  return static_cast<double>(lost) + std::max(0.0, static_cast<double>(open) - mean_in_system);
}

// Of those that came, the lower end of the 95 % interval over the replications.
double left_over_share(Records records, std::span<const double> in_system) {
  constexpr double kSigmas = 3;  // of a Poisson count, where there is one run only
  std::vector<double> shares;
  double arrived = 0;
  for (std::size_t r = 0; r < records.size(); ++r) {
    const auto came = static_cast<double>(records[r]->arrived);
    shares.push_back(came > 0 ? left_over(*records[r], in_system[r]) / came : 0);
    arrived += came;
  }
  if (arrived <= 0) return 0;
  double mean = 0;
  for (const double share : shares) mean += share / static_cast<double>(shares.size());
  return std::max(0.0, mean - half_width_95(shares).value_or(kSigmas / std::sqrt(arrived)));
}

std::optional<TimeSummary> times_of(Records records, Histogram RequestRecord::*times) {
  std::vector<Histogram> histograms;
  for (const RequestRecord* record : records) histograms.push_back(record->*times);
  return summarize(histograms);
}

}  // namespace

void add_requests(const World& world, std::span<const Replication> replications, Records records,
                  WorkloadResult& result) {
  result.requests = request_counts(records);
  std::vector<double> in_system(records.size());
  for (std::size_t r = 0; r < records.size(); ++r) {
    const Duration observed = replications[r].length - world.warmup;
    if (observed.ns <= 0) continue;
    const auto runs = static_cast<double>(records.size());
    in_system[r] = records[r]->in_system_ns / static_cast<double>(observed.ns);
    result.requests->mean_in_system += in_system[r] / runs;
    result.requests->arrived_per_second += per_second(records[r]->arrived, observed) / runs;
  }
  result.requests->left_over = left_over_share(records, in_system);
  result.latency = times_of(records, &RequestRecord::latency);
  result.queueing = times_of(records, &RequestRecord::queueing);
}

namespace {

// The time that a request spends between stages alone, where that is most of its time.
std::string_view bound_of_flow(const PipelineModel& model, const WorkloadResult& result) {
  if (!result.latency) return {};
  std::vector<Duration> until(model.stages.size());  // in the order of the file, not of the flow
  Duration longest;
  for (std::size_t round = 0; round < model.stages.size(); ++round) {
    for (std::size_t s = 0; s < model.stages.size(); ++s) {
      const Duration here = until[s] + model.stages[s].network;
      longest = std::max(longest, here);
      for (const std::uint32_t next : model.stages[s].next)
        until[next] = std::max(until[next], here);
    }
  }
  return longest + longest > result.latency->mean ? "network" : "";
}

}  // namespace

WorkloadResult pipeline_result(const World& world, std::size_t p,
                               std::span<const Replication> replications) {
  const PipelineModel& model = world.pipelines[p];
  WorkloadResult result;
  result.name = model.name;
  result.kind = "Pipeline";
  result.unit_name = "request";
  std::vector<const RequestRecord*> records;
  for (const Replication& r : replications) records.push_back(&r.pipelines[p].requests);
  add_requests(world, replications, records, result);
  const auto per_second_of = [&](std::int64_t PipelineRecord::*units) {
    return mean_over(replications, [&](const Replication& r) {
      return per_second(r.pipelines[p].*units, r.length - world.warmup);
    });
  };
  result.completed =
      mean_over(replications, [&](const Replication& r) { return r.pipelines[p].units_done; });
  result.throughput_per_second = per_second_of(&PipelineRecord::units_done);
  result.goodput_per_second = per_second_of(&PipelineRecord::units_in_objective);
  result.bound_by = bound_of_flow(model, result);
  result.objectives = judge_objectives(model, p, replications, result);
  add_scatter(result.objectives, replications,
              [&](auto one) { return pipeline_result(world, p, one).objectives; });
  return result;
}

}  // namespace slicewise::sim
