#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/result_record.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Figure;
using scenarios::FigureValue;
using scenarios::Share;

// The quantile of a histogram of the request records that a figure is.
struct QuantileFigure {
  Figure figure;
  std::string_view name;
  double quantile;
  Histogram RequestRecord::*of_request;
  Histogram TokenRecord::*of_tokens;
};

constexpr QuantileFigure kQuantiles[] = {
    {Figure::LatencyP50, "latencyP50", 0.5, &RequestRecord::latency, nullptr},
    {Figure::LatencyP90, "latencyP90", 0.9, &RequestRecord::latency, nullptr},
    {Figure::LatencyP95, "latencyP95", 0.95, &RequestRecord::latency, nullptr},
    {Figure::LatencyP99, "latencyP99", 0.99, &RequestRecord::latency, nullptr},
    {Figure::LatencyP999, "latencyP999", 0.999, &RequestRecord::latency, nullptr},
    {Figure::TtftP50, "ttftP50", 0.5, nullptr, &TokenRecord::first_token},
    {Figure::TtftP95, "ttftP95", 0.95, nullptr, &TokenRecord::first_token},
    {Figure::TtftP99, "ttftP99", 0.99, nullptr, &TokenRecord::first_token},
    {Figure::TpotP50, "tpotP50", 0.5, nullptr, &TokenRecord::per_token},
    {Figure::TpotP95, "tpotP95", 0.95, nullptr, &TokenRecord::per_token},
    {Figure::TpotP99, "tpotP99", 0.99, nullptr, &TokenRecord::per_token},
};

const QuantileFigure* quantile_figure(Figure figure) {
  const auto* found = std::ranges::find(kQuantiles, figure, &QuantileFigure::figure);
  return found == std::end(kQuantiles) ? nullptr : found;
}

std::string_view objective_name(Figure figure) {
  if (const QuantileFigure* quantile = quantile_figure(figure)) return quantile->name;
  switch (figure) {
    case Figure::Availability:
      return "availability";
    case Figure::Throughput:
      return "throughput";
    case Figure::CompletionP95:
      return "completionP95";
    case Figure::WaitP95:
      return "waitP95";
    case Figure::Deadline:
      return "deadline";
    case Figure::SessionStartP95:
      return "sessionStartP95";
    case Figure::CellSlowdownP95:
      return "cellSlowdownP95";
    case Figure::SlowdownP95:
      return "slowdownP95";
    case Figure::DeadlinesMet:
      return "deadlinesMet";
    default:
      return "oomPerUserMonth";
  }
}

bool is_at_least(Figure figure) {
  return figure == Figure::Availability || figure == Figure::Throughput ||
         figure == Figure::DeadlinesMet;
}

// One record of each replication that the objective is about.
struct Observed {
  std::vector<const RequestRecord*> requests;
  std::vector<const TokenRecord*> tokens;  // empty for a pipeline
};

const Histogram& histogram_of(const QuantileFigure& figure, const Observed& observed,
                              std::size_t replication) {
  return figure.of_request != nullptr ? observed.requests[replication]->*figure.of_request
                                      : observed.tokens[replication]->*figure.of_tokens;
}

// What was found of a figure.
struct Found {
  std::optional<FigureValue> value;
  std::optional<FigureValue> ci95 = {};  // half width
};

template <class Value>
std::optional<FigureValue> as_figure(const std::optional<Value>& value) {
  return value ? std::optional(FigureValue(*value)) : std::nullopt;
}

Found quantile_of(const QuantileFigure& figure, const Observed& observed) {
  Histogram pooled;
  std::vector<const Histogram*> histograms;
  for (std::size_t r = 0; r < observed.requests.size(); ++r) {
    histograms.push_back(&histogram_of(figure, observed, r));
    pooled.merge(*histograms.back());
  }
  if (pooled.count() == 0) return {};
  return {pooled.quantile(figure.quantile),
          as_figure(quantile_half_width(figure.quantile, histograms))};
}

// Requests that went unanswered have met no limit: no more of them than the quantile leaves out.
std::optional<LostShare> lost_share(const QuantileFigure& figure, const Observed& observed) {
  LostShare lost;
  lost.most = 1 - figure.quantile;
  std::vector<double> shares;
  std::int64_t all_lost = 0;
  std::int64_t all = 0;
  for (const RequestRecord* r : observed.requests) {
    const std::int64_t own = r->refused + r->dropped + r->timed_out;
    const std::int64_t known = own + r->answered;
    if (known > 0) shares.push_back(static_cast<double>(own) / static_cast<double>(known));
    all_lost += own;
    all += known;
  }
  if (all_lost == 0) return std::nullopt;
  lost.share = static_cast<double>(all_lost) / static_cast<double>(all);
  lost.ci95 = half_width_95(shares);
  return lost;
}

Found p95_of(const std::optional<TimeSummary>& times) {
  if (!times) return {};
  return {times->p95, as_figure(times->p95_ci95)};
}

Found find(Figure figure, const Observed& observed, const WorkloadResult& result) {
  if (const QuantileFigure* quantile = quantile_figure(figure)) {
    if (quantile->of_tokens != nullptr && observed.tokens.empty()) return {};
    return quantile_of(*quantile, observed);
  }
  switch (figure) {
    case Figure::Availability:
      if (!result.requests || result.requests->arrived <= 0) return {};
      // What waits in a queue that only grows was asked for and is not answered.
      return {Share{std::min(result.requests->availability, 1 - result.requests->left_over)}};
    case Figure::Throughput:
      return {Rate{result.throughput_per_second}};
    case Figure::SessionStartP95:
      return result.notebooks ? p95_of(result.notebooks->session_start) : Found{};
    case Figure::CellSlowdownP95:
      if (!result.notebooks || !result.notebooks->cell_slowdown) return {};
      return {result.notebooks->cell_slowdown->p95};
    case Figure::OomPerUserMonth:
      if (!result.notebooks) return {};
      return {result.notebooks->oom_per_user_month};
    default:
      return {};
  }
}

// Also of what is not over and takes longer than the limit already: at least that long.
Found p95_with_late(const scenarios::Objective& objective, std::size_t workload,
                    std::span<const Replication> replications) {
  const bool of_wait = objective.figure == Figure::WaitP95;
  std::vector<std::vector<Duration>> times;
  for (const Replication& r : replications) {
    const WorkloadRecord& record = r.workloads[workload];
    std::vector<Duration>& own = times.emplace_back(of_wait ? record.wait : record.completion);
    for (const Duration age : of_wait ? record.waiting : record.unfinished) {
      if (age > std::get<Duration>(objective.limit)) own.push_back(age);
    }
  }
  return p95_of(summarize(times));
}

// The latest Job; nullopt when one never finished.
Found latest_completion(const World& world, std::span<const std::size_t> workloads,
                        std::span<const Replication> replications) {
  Duration latest;
  for (const Replication& r : replications) {
    for (const std::size_t w : workloads) {
      const std::vector<Duration>& done = r.workloads[w].completion;
      if (static_cast<int>(done.size()) < world.workloads[w].jobs()) return {};
      for (const Duration completion : done) latest = std::max(latest, completion);
    }
  }
  return {latest};
}

Found find(Figure figure, const JobGroupFigures& jobs) {
  switch (figure) {
    case Figure::CompletionP95:
      return {as_figure(jobs.completion_p95)};
    case Figure::WaitP95:
      return {as_figure(jobs.wait_p95)};
    case Figure::SlowdownP95:
      return jobs.slowdown ? Found{jobs.slowdown->p95} : Found{};
    case Figure::DeadlinesMet:
      return jobs.deadlines_met ? Found{Share{*jobs.deadlines_met}} : Found{};
    default:
      return {};
  }
}

// The least of what must be little, as much as is asked of the rest.
FigureValue best_value(const scenarios::Objective& objective) {
  if (is_at_least(objective.figure)) return objective.limit;
  return std::visit([](auto limit) { return FigureValue(decltype(limit){}); }, objective.limit);
}

ObjectiveResult judge(const scenarios::Objective& objective, const Found& found,
                      const Observed& observed, bool is_asked = true) {
  ObjectiveResult entry;
  entry.name = objective_name(objective.figure);
  entry.limit = objective.limit;
  entry.at_least = is_at_least(objective.figure);
  // Nothing was observed: the objective was not met.
  entry.value = found.value.value_or(
      std::visit([](auto limit) { return FigureValue(decltype(limit){}); }, objective.limit));
  entry.is_absent = !found.value;
  if (!found.value && !is_asked) {
    entry.value = best_value(objective);
    entry.pass = entry.is_unasked = true;
  }
  if (!found.value) return entry;
  entry.ci95 = found.ci95;
  entry.pass = is_within_limit(entry);
  if (const QuantileFigure* quantile = quantile_figure(objective.figure)) {
    entry.lost = lost_share(*quantile, observed);
    entry.pass = entry.pass && (!entry.lost || entry.lost->share <= entry.lost->most);
  }
  return entry;
}

// Whether all answers there were had one token: nothing came after the first.
bool has_single_tokens(const Observed& observed) {
  const bool answered = std::ranges::any_of(observed.requests,
                                            [](const RequestRecord* r) { return r->answered > 0; });
  return answered && std::ranges::all_of(observed.tokens, [](const TokenRecord* t) {
           return t->per_token.count() == 0;
         });
}

bool is_observed(const ObjectiveResult& objective) {
  return !objective.is_unasked && !objective.is_absent;
}

bool lacks_interval(const ObjectiveResult& objective) {
  return is_observed(objective) && !objective.ci95;
}

// Whether there was anything to answer.
bool is_asked_of(const Observed& observed) {
  return std::ranges::any_of(
      observed.requests, [](const RequestRecord* r) { return r->arrived > 0 || r->answered > 0; });
}

}  // namespace

FigureValue in_unit_of(const FigureValue& value, double amount) {
  return std::visit(models::Overloaded{[&](Duration) { return FigureValue(from_seconds(amount)); },
                                       [&](Share) { return FigureValue(Share{amount}); },
                                       [&](Rate) { return FigureValue(Rate{amount}); },
                                       [&](double) { return FigureValue(amount); }},
                    value);
}

std::optional<double> latency_quantile(Figure figure) {
  const QuantileFigure* quantile = quantile_figure(figure);
  if (quantile == nullptr || quantile->of_request == nullptr) return std::nullopt;
  return quantile->quantile;
}

std::vector<ObjectiveResult> judge_objectives(const World& world, std::size_t workload,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result) {
  const WorkloadModel& model = world.workloads[workload];
  if (model.spec.trace) return {};  // it is judged as a whole
  Observed observed;
  for (const Replication& r : replications) {
    observed.requests.push_back(&r.workloads[workload].requests);
    observed.tokens.push_back(&r.workloads[workload].tokens);
  }
  const bool is_asked = result.requests ? is_asked_of(observed) : model.spec.count > 0;
  std::vector<ObjectiveResult> judged;
  for (const scenarios::Objective& objective : model.spec.objectives) {
    Found found;
    if (objective.figure == Figure::Deadline && is_asked) {
      found = latest_completion(world, std::span(&workload, 1), replications);
    } else if (objective.figure == Figure::CompletionP95 || objective.figure == Figure::WaitP95) {
      if (is_asked) found = p95_with_late(objective, workload, replications);
    } else if (result.requests || is_asked) {
      found = find(objective.figure, observed, result);
    }
    const QuantileFigure* quantile = quantile_figure(objective.figure);
    const bool of_tokens = quantile != nullptr && quantile->of_tokens == &TokenRecord::per_token;
    judged.push_back(
        judge(objective, found, observed, is_asked && !(of_tokens && has_single_tokens(observed))));
  }
  return judged;
}

std::vector<ObjectiveResult> judge_objectives(const PipelineModel& model, std::size_t pipeline,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result) {
  Observed observed;
  for (const Replication& r : replications) {
    observed.requests.push_back(&r.pipelines[pipeline].requests);
  }
  std::vector<ObjectiveResult> judged;
  for (const scenarios::Objective& objective : model.spec.objectives) {
    judged.push_back(judge(objective, find(objective.figure, observed, result), observed,
                           is_asked_of(observed)));
  }
  return judged;
}

std::vector<ObjectiveResult> judge_objectives(const World& world, const TraceModel& trace,
                                              std::span<const Replication> replications,
                                              const RecordedFigures& recorded) {
  std::vector<ObjectiveResult> judged;
  const auto& objectives = world.workloads[trace.workloads.front()].spec.objectives;
  for (const scenarios::Objective& objective : objectives) {
    const Figure figure = objective.figure;
    if (figure == Figure::Deadline) {
      judged.push_back(
          judge(objective, latest_completion(world, trace.workloads, replications), {}));
      continue;
    }
    judged.push_back(judge(objective, find(figure, recorded.all), {}));
    for (const JobGroupFigures& group : recorded.judged) {
      ObjectiveResult own = judge(objective, find(figure, group), {});
      // Nobody has an objective for a figure that their jobs do not have.
      if (figure == Figure::DeadlinesMet && !group.deadlines_met) continue;
      own.of = group.name;
      const ObjectiveResult& worst = judged.back();
      const bool is_worse = own.at_least ? own.value < worst.value : own.value > worst.value;
      const bool is_first = worst.of.empty();
      if (is_first || (own.pass == worst.pass ? is_worse : worst.pass)) judged.back() = own;
    }
  }
  return judged;
}

void add_scatter(std::vector<ObjectiveResult>& judged, std::span<const Replication> replications,
                 const ObjectivesOf& objectives_of) {
  if (replications.size() < 2 || std::ranges::none_of(judged, lacks_interval)) return;
  std::vector<std::vector<double>> values(judged.size());
  for (std::size_t r = 0; r < replications.size(); ++r) {
    const std::vector<ObjectiveResult> own = objectives_of(replications.subspan(r, 1));
    for (std::size_t o = 0; o < judged.size(); ++o) {
      if (is_observed(own[o])) values[o].push_back(in_its_unit(own[o].value));
    }
  }
  for (std::size_t o = 0; o < judged.size(); ++o) {
    const std::optional<double> width = half_width_95(values[o]);
    if (width && lacks_interval(judged[o])) judged[o].ci95 = in_unit_of(judged[o].limit, *width);
  }
}

Diagnostic missed_objective(const std::string& workload, const ObjectiveResult& judged,
                            const SourceLocation& where) {
  return make_diagnostic(Code::ObjectiveMissed, where, missed_text(workload, judged));
}

}  // namespace slicewise::sim
