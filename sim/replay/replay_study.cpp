#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/run_size.hpp"

#include "../run/replications.hpp"
#include "../run/shared_progress.hpp"
#include "../run/shared_tasks.hpp"

namespace slicewise::sim {
namespace {

void find_jobs_that_never_fit(ReplayStudy& study, const scenarios::JobTrace& trace,
                              const ReplayCluster& cluster) {
  const auto found = std::ranges::find_if(
      study.outcomes, [](const ReplayOutcome& outcome) { return outcome.result.never_fit > 0; });
  if (found == study.outcomes.end()) return;
  const ReplayResult& result = found->result;
  const std::size_t row = *result.first_never_fit;
  const bool by_model = study.on_nodes && !cluster.only_gpus && !cluster.any_gpu_model;
  const std::string_view models = by_model ? trace.name(trace.gpu_models, row) : "";
  std::string asked = counted(trace.gpus[row], "GPU");
  if (!trace.gang.empty() && trace.gang[row] != 0) {
    const auto rows = std::ranges::count(trace.gang.values(), trace.gang[row]);
    asked += fmt::format(" in a gang of {} rows", rows);
  }
  if (!models.empty()) asked += fmt::format(" of model {} (--any-gpu takes any)", models);
  if (study.on_nodes && !cluster.only_gpus) {
    if (!trace.cpu_milli.empty() && trace.cpu_milli[row] >= 0) {
      asked += fmt::format(", {}m CPU", trace.cpu_milli[row]);
    }
    if (!trace.memory.empty() && trace.memory[row].count >= 0) {
      asked += fmt::format(", {}Mi memory", trace.memory[row].count >> 20);
    }
  }
  add_diagnostic(study.findings, Code::JobNeverFits, {},
                 fmt::format("{} of {} jobs ask for more than the empty cluster has and were "
                             "dropped; the first is {}: {}",
                             result.never_fit, result.jobs, trace.row_place(row).text(), asked),
                 "add nodes that hold them");
}

void find_parts_of_several(ReplayStudy& study, const scenarios::JobTrace& trace) {
  if (!study.on_nodes) return;
  std::int64_t jobs = 0;
  std::size_t first = 0;
  for (std::size_t row = trace.size(); row-- > 0;) {
    if (!trace.asks_for_parts_of_several(row)) continue;
    ++jobs;
    first = row;
  }
  if (jobs == 0) return;
  add_diagnostic(study.findings, Code::ExtendedResourceInteger, {},
                 fmt::format("{} of {} jobs ask for a part of each of several GPUs and get whole "
                             "ones; the first is {}: {:g} of each of {}",
                             jobs, trace.size(), trace.row_place(first).text(),
                             trace.milli_of_each(first) / 1000.0, trace.gpus[first]),
                 "a pool of GPUs (--gpus) hands out such parts");
  study.findings.back().severity = Severity::Warning;
}

// One wrong date makes the nodes of a month those of a decade.
void find_gap(ReplayStudy& study, const scenarios::JobTrace& trace) {
  constexpr Duration kOfNoInterest = hours(48);  // a weekend
  std::size_t after = 0;
  Duration longest;
  for (std::size_t row = 1; row < trace.size(); ++row) {
    const Duration gap = trace.arrival[row] - trace.arrival[row - 1];
    if (gap > longest) {
      longest = gap;
      after = row;
    }
  }
  if (longest <= kOfNoInterest) return;
  const Duration all = trace.arrival[trace.size() - 1] - trace.arrival[0];
  if (longest.ns <= all.ns / 2) return;
  add_diagnostic(study.findings, Code::TraceRow, {},
                 fmt::format("nothing arrives for {} between {} and {}: more than half of the time "
                             "that is replayed, and paid for",
                             clock_text(longest), trace.row_place(after - 1).text(),
                             trace.row_place(after).text()),
                 "is one of the two dates wrong?");
  study.findings.back().severity = Severity::Warning;
}

// Each once, however many ways of sharing say it.
void add_notes_of_sharing(ReplayStudy& study) {
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (!outcome.scheduling.sharing) continue;
    for (const Diagnostic& note : outcome.scheduling.sharing->notes) {
      const bool known = contains(study.findings, note.message, &Diagnostic::message);
      if (!known) study.findings.push_back(note);
    }
  }
}

// Of GPU_UTIL, what is replayed as busy time: the usual part first.
std::vector<double> shares_of_util(const scenarios::JobTrace& trace, const ReplaySettings& settings,
                                   std::span<const Scheduling> schedulings) {
  const bool shares =
      std::ranges::any_of(schedulings, [](const Scheduling& s) { return s.sharing != nullptr; });
  const bool has_util = !trace.gpu_permille.empty() &&
                        std::ranges::any_of(trace.gpu_permille.values(),
                                            [](std::int32_t permille) { return permille >= 0; });
  if (!settings.sampled_inputs || !shares || !has_util) return {scenarios::kBusyOfGpuUtil};
  return {scenarios::kBusyOfGpuUtil, kLeastBusyOfGpuUtil, kMostBusyOfGpuUtil};
}

Scheduling with_share(Scheduling scheduling, double share) {
  if (scheduling.sharing == nullptr || scheduling.sharing->busy_of_util == share) return scheduling;
  GpuSharing sharing = *scheduling.sharing;
  sharing.busy_of_util = share;
  scheduling.sharing = std::make_shared<const GpuSharing>(std::move(sharing));
  return scheduling;
}

std::optional<double> mean_seconds(const Histogram& times) {
  if (times.count() == 0) return std::nullopt;
  return to_seconds(times.mean());
}

std::optional<double> mean_slowdown(const ReplayResult& result) {
  const RatioHistogram& slowdown = result.sharing->slowdown;
  return slowdown.count() == 0 ? std::nullopt : std::optional(slowdown.mean());
}

// A figure of the replay with each share of GPU_UTIL; nullopt: some have none.
template <class Figure>
void add_range(const char* name, scenarios::AmountUnit unit,
               const std::vector<const ReplayResult*>& results, const Figure& figure,
               ReplayOutcome& outcome) {
  std::vector<double> values;
  for (const ReplayResult* result : results) {
    const std::optional<double> value = figure(*result);
    if (!value) return;
    values.push_back(*value);
  }
  const auto [least, most] = std::ranges::minmax(values);
  outcome.ranges.push_back({"", name, unit, values.front(), least, most});
}

// `all`: results of each scheduling with each of the shares. Where it leaves jobs behind it is not
// asked.
void add_fastest(const std::vector<std::vector<const ReplayResult*>>& all,
                 const std::vector<double>& shares, ReplayStudy& study) {
  if (all.size() < 2) return;
  for (std::size_t share = 0; share < shares.size(); ++share) {
    std::optional<std::size_t> fastest;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t way = 0; way < all.size(); ++way) {
      const auto mean = mean_seconds(all[way][share]->completion);
      if (!study.outcomes[way].verdict.stands() || !mean || *mean >= least) continue;
      fastest = way;
      least = *mean;
    }
    if (fastest) study.fastest.push_back({shares[share], *fastest});
  }
}

// `ends`: with each of the shares but the first, of all schedulings one after the other.
void add_ranges(const std::vector<std::optional<ReplayResult>>& ends,
                const std::vector<double>& shares, ReplayStudy& study) {
  using scenarios::AmountUnit;
  const std::size_t ways = study.outcomes.size();
  if (study.interrupted || ends.empty() ||
      !std::ranges::all_of(ends, [](const auto& end) { return end.has_value(); })) {
    return;
  }
  std::vector<std::vector<const ReplayResult*>> all(ways);
  for (std::size_t way = 0; way < ways; ++way) {
    all[way].push_back(&study.outcomes[way].result);
    for (std::size_t at = way; at < ends.size(); at += ways) all[way].push_back(&*ends[at]);
  }
  for (std::size_t way = 0; way < ways; ++way) {
    ReplayOutcome& outcome = study.outcomes[way];
    add_range(
        "waitMean", AmountUnit::Seconds, all[way],
        [](const ReplayResult& r) { return mean_seconds(r.wait); }, outcome);
    add_range(
        "completionMean", AmountUnit::Seconds, all[way],
        [](const ReplayResult& r) { return mean_seconds(r.completion); }, outcome);
    add_range("slowdownMean", AmountUnit::Count, all[way], mean_slowdown, outcome);
    if (outcome.cost) {
      add_range(
          "costUsd", AmountUnit::Dollars, all[way],
          [&](const ReplayResult& r) {
            return std::optional(to_dollars(cost_of(*study.origin.price, r.makespan())));
          },
          outcome);
    }
  }
  add_fastest(all, shares, study);
}

tl::unexpected<Diagnostics> too_dear() {
  return tl::unexpected(Diagnostics{
      make_diagnostic(Code::ValueRange, {}, "the replay costs more than 9 billion dollars",
                      "fewer nodes, or a shorter window of the trace")});
}

}  // namespace

ReplaySettings under(const Scheduling& scheduling, ReplaySettings settings) {
  settings.queue = scheduling.queue;
  settings.placement = scheduling.placement;
  settings.sharing = scheduling.sharing;
  return settings;
}

Expected<ReplayStudy> replay_each(const scenarios::JobTrace& trace, const ReplaySettings& settings,
                                  std::span<const Scheduling> schedulings,
                                  const ReplayOrigin& origin, const RunOptions& options) {
  ReplayStudy study{.origin = origin,
                    .on_nodes = !settings.cluster.nodes.empty(),
                    .repeat = settings.repeat,
                    .shift = settings.shift,
                    .restart_preempted = settings.restart_preempted,
                    .backoff_limit = settings.backoff_limit,
                    .run_under_sharing = trace.run_under_sharing,
                    .company_taken_out = trace.company_taken_out,
                    .group_by = settings.group_by,
                    .outcomes = {},
                    .fastest = {},
                    .interrupted = false,
                    .findings = {}};
  study.origin.stamp.seed = settings.seed;
  study.origin.stamp.replications = 1;
  const std::vector<double> shares = shares_of_util(trace, settings, schedulings);
  const std::size_t ways = schedulings.size();
  const auto jobs = static_cast<std::int64_t>(trace.size()) * settings.repeat;
  SharedProgress progress(settings.progress, std::vector(ways * shares.size(), jobs));
  RunOptions quiet = options;
  quiet.progress = {};
  std::vector<std::optional<ReplayResult>> results;
  try {
    results = results_of<ReplayResult>(
        ways * shares.size(), quiet, [&](std::size_t at) -> std::optional<ReplayResult> {
          ReplaySettings own =
              under(with_share(schedulings[at % ways], shares[at / ways]), settings);
          own.keep_jobs = settings.keep_jobs && at == 0;
          own.interrupted = options.interrupted;
          own.progress = [&](std::int64_t done, std::int64_t /*total*/, TimePoint now) {
            progress.update(at, done, now);
          };
          auto result = replay(trace, own);
          if (!result) throw RefusedTask{std::move(result.error())};
          return std::move(*result);
        });
  } catch (RefusedTask& refused) {
    return tl::unexpected(std::move(refused.why));
  }
  const std::vector<std::optional<ReplayResult>> ends(
      results.begin() + static_cast<std::ptrdiff_t>(ways), results.end());
  results.resize(ways);
  for (std::size_t at = 0; at < results.size(); ++at) {
    if (!results[at]) {
      study.interrupted = true;
      continue;
    }
    ReplayResult& result = *results[at];
    study.interrupted = study.interrupted || result.interrupted;
    std::optional<Usd> cost;
    if (origin.price) {
      const double hours = to_seconds(result.makespan()) / 3'600;
      if (to_dollars(origin.price->per_hour) * hours > kMostBill) return too_dear();
      cost = cost_of(*origin.price, result.makespan());
    }
    Verdict verdict = judge(result, origin.stamp.allow_pending);
    study.outcomes.push_back({schedulings[at], std::move(result), cost, std::move(verdict)});
  }
  add_ranges(ends, shares, study);
  if (!study.outcomes.empty()) find_jobs_that_never_fit(study, trace, settings.cluster);
  find_parts_of_several(study, trace);
  find_gap(study, trace);
  add_notes_of_sharing(study);
  return study;
}

std::optional<Usd> ReplayOutcome::cost_per_job() const {
  if (!cost || result.finished == 0) return std::nullopt;
  return Usd{cost->nano / result.finished};
}

std::optional<double> ReplayOutcome::gpu_hours_per_usd() const {
  if (!cost || cost->nano <= 0) return std::nullopt;
  return result.gpu_hours / to_dollars(*cost);
}

double InflationOutcome::mean_allocated_percent() const {
  double sum = 0;
  for (const InflationResult& result : by_seed) sum += result.allocated_percent;
  return by_seed.empty() ? 0 : sum / static_cast<double>(by_seed.size());
}

std::optional<double> InflationOutcome::standard_deviation() const {
  if (by_seed.size() < 2) return std::nullopt;
  const double mean = mean_allocated_percent();
  double squares = 0;
  for (const InflationResult& result : by_seed) {
    squares += (result.allocated_percent - mean) * (result.allocated_percent - mean);
  }
  return std::sqrt(squares / static_cast<double>(by_seed.size() - 1));
}

Expected<InflationStudy> inflate_each(const scenarios::JobTrace& trace,
                                      const ReplayCluster& cluster,
                                      std::span<const NodePolicy> placements, int target_percent,
                                      std::uint64_t seed, int seeds, const ReplayOrigin& origin,
                                      const RunOptions& options) {
  const auto asks_for_gpu = [](std::int32_t gpus) { return gpus > 0; };
  const auto has_gpu = [](const NodeShape& node) { return node.gpus > 0; };
  if (std::ranges::none_of(trace.gpus.values(), asks_for_gpu) ||
      std::ranges::none_of(cluster.nodes, has_gpu)) {
    return tl::unexpected(Diagnostics{
        make_diagnostic(Code::ValueRange, {}, "inflation needs jobs and nodes with GPUs")});
  }
  TraceShapes shapes = shapes_of(trace, cluster);
  InflationInput input{cluster.nodes, std::move(shapes.shapes), {}};
  input.jobs.reserve(trace.size());
  for (std::size_t row = 0; row < trace.size(); ++row) {
    input.jobs.push_back(
        {trace.id.empty() ? fmt::format("{:09}", row) : std::string(trace.name(trace.id, row)),
         shapes.of_row[row]});
  }
  InflationStudy study{origin, target_percent, {}, false};
  study.origin.stamp.seed = seed;
  study.origin.stamp.replications = seeds;
  const auto count = static_cast<std::size_t>(seeds);
  const auto results = results_of<InflationResult>(
      placements.size() * count, options, [&](std::size_t at) -> std::optional<InflationResult> {
        return inflate(input, placements[at / count], seed + at % count, target_percent);
      });
  for (std::size_t at = 0; at < placements.size(); ++at) {
    InflationOutcome outcome{placements[at], {}};
    for (std::size_t n = 0; n < count; ++n) {
      if (results[at * count + n]) outcome.by_seed.push_back(*results[at * count + n]);
    }
    study.interrupted = study.interrupted || outcome.by_seed.size() < count;
    if (!outcome.by_seed.empty()) study.outcomes.push_back(std::move(outcome));
  }
  return study;
}

}  // namespace slicewise::sim
