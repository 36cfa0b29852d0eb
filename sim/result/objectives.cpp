#include <algorithm>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

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

std::optional<FigureValue> interval_of(const QuantileFigure& figure, const Observed& observed) {
  std::vector<const Histogram*> histograms;
  for (std::size_t r = 0; r < observed.requests.size(); ++r) {
    histograms.push_back(&histogram_of(figure, observed, r));
  }
  const auto half_width = quantile_half_width(figure.quantile, histograms);
  if (!half_width) return std::nullopt;
  return *half_width;
}

std::optional<FigureValue> pooled_quantile(const QuantileFigure& figure, const Observed& observed) {
  Histogram pooled;
  for (std::size_t r = 0; r < observed.requests.size(); ++r) {
    pooled.merge(histogram_of(figure, observed, r));
  }
  if (pooled.count() == 0) return std::nullopt;
  return pooled.quantile(figure.quantile);
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

std::optional<FigureValue> value_of(Figure figure, const Observed& observed,
                                    const WorkloadResult& result) {
  if (const QuantileFigure* quantile = quantile_figure(figure)) {
    if (quantile->of_tokens != nullptr && observed.tokens.empty()) return std::nullopt;
    return pooled_quantile(*quantile, observed);
  }
  switch (figure) {
    case Figure::Availability:
      if (!result.requests || result.requests->arrived <= 0) return std::nullopt;
      // What waits in a queue that only grows was asked for and is not answered.
      return Share{std::min(result.requests->availability, 1 - result.requests->left_over)};
    case Figure::Throughput:
      return Rate{result.throughput_per_second};
    case Figure::CompletionP95:
      if (!result.job_completion) return std::nullopt;
      return result.job_completion->p95;
    case Figure::WaitP95:
      if (!result.wait) return std::nullopt;
      return result.wait->p95;
    case Figure::SessionStartP95:
      if (!result.notebooks || !result.notebooks->session_start) return std::nullopt;
      return result.notebooks->session_start->p95;
    case Figure::CellSlowdownP95:
      if (!result.notebooks || !result.notebooks->cell_slowdown) return std::nullopt;
      return result.notebooks->cell_slowdown->p95;
    case Figure::OomPerUserMonth:
      if (!result.notebooks) return std::nullopt;
      return result.notebooks->oom_per_user_month;
    default:
      return std::nullopt;
  }
}

// The latest Job; nullopt when one never finished.
std::optional<FigureValue> latest_completion(const World& world,
                                             std::span<const std::size_t> workloads,
                                             std::span<const Replication> replications) {
  Duration latest;
  for (const Replication& r : replications) {
    for (const std::size_t w : workloads) {
      const std::vector<Duration>& done = r.workloads[w].completion;
      if (static_cast<int>(done.size()) < world.workloads[w].jobs()) return std::nullopt;
      for (const Duration completion : done) latest = std::max(latest, completion);
    }
  }
  return latest;
}

std::optional<FigureValue> value_of(Figure figure, const JobGroupFigures& jobs) {
  const auto as_figure = [](const auto& value) -> std::optional<FigureValue> {
    return value ? std::optional(FigureValue(*value)) : std::nullopt;
  };
  switch (figure) {
    case Figure::CompletionP95:
      return as_figure(jobs.completion_p95);
    case Figure::WaitP95:
      return as_figure(jobs.wait_p95);
    case Figure::SlowdownP95:
      return jobs.slowdown ? std::optional(FigureValue(jobs.slowdown->p95)) : std::nullopt;
    case Figure::DeadlinesMet:
      return jobs.deadlines_met ? std::optional(FigureValue(Share{*jobs.deadlines_met}))
                                : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The least of what must be little, as much as is asked of the rest.
FigureValue best_value(const scenarios::Objective& objective) {
  if (is_at_least(objective.figure)) return objective.limit;
  return std::visit([](auto limit) { return FigureValue(decltype(limit){}); }, objective.limit);
}

ObjectiveResult judge(const scenarios::Objective& objective, std::optional<FigureValue> value,
                      const Observed& observed, bool is_asked = true) {
  ObjectiveResult entry;
  entry.name = objective_name(objective.figure);
  entry.limit = objective.limit;
  entry.at_least = is_at_least(objective.figure);
  // Nothing was observed: the objective was not met.
  entry.value = value.value_or(
      std::visit([](auto limit) { return FigureValue(decltype(limit){}); }, objective.limit));
  entry.is_absent = !value;
  if (!value && !is_asked) {
    entry.value = best_value(objective);
    entry.pass = entry.is_unasked = true;
  }
  if (!value) return entry;
  entry.pass = is_within_limit(entry);
  if (const QuantileFigure* quantile = quantile_figure(objective.figure)) {
    entry.ci95 = interval_of(*quantile, observed);
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

// Whether there was anything to answer.
bool is_asked_of(const Observed& observed) {
  return std::ranges::any_of(
      observed.requests, [](const RequestRecord* r) { return r->arrived > 0 || r->answered > 0; });
}

}  // namespace

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
    std::optional<FigureValue> value;
    if (objective.figure == Figure::Deadline && is_asked) {
      value = latest_completion(world, std::span(&workload, 1), replications);
    } else if (result.requests || is_asked) {
      value = value_of(objective.figure, observed, result);
    }
    const QuantileFigure* quantile = quantile_figure(objective.figure);
    const bool of_tokens = quantile != nullptr && quantile->of_tokens == &TokenRecord::per_token;
    judged.push_back(
        judge(objective, value, observed, is_asked && !(of_tokens && has_single_tokens(observed))));
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
    judged.push_back(judge(objective, value_of(objective.figure, observed, result), observed,
                           is_asked_of(observed)));
  }
  return judged;
}

std::vector<ObjectiveResult> judge_objectives(const World& world, const TraceModel& trace,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result) {
  std::vector<ObjectiveResult> judged;
  const auto& objectives = world.workloads[trace.workloads.front()].spec.objectives;
  for (const scenarios::Objective& objective : objectives) {
    const Figure figure = objective.figure;
    if (figure == Figure::Deadline) {
      judged.push_back(
          judge(objective, latest_completion(world, trace.workloads, replications), {}));
      continue;
    }
    judged.push_back(judge(objective, value_of(figure, result.recorded->all), {}));
    for (const JobGroupFigures& group : result.recorded->judged) {
      ObjectiveResult own = judge(objective, value_of(figure, group), {});
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

Diagnostic missed_objective(const std::string& workload, const ObjectiveResult& judged,
                            const SourceLocation& where) {
  return make_diagnostic(Code::ObjectiveMissed, where, missed_text(workload, judged));
}

}  // namespace slicewise::sim
