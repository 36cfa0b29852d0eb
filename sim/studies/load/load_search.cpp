#include "load_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Traffic;
using scenarios::WorkloadKind;
using Kind = LoadTarget::Kind;

const Traffic& traffic_of(const Scenario& scenario, const LoadTarget& target) {
  return target.kind == Kind::PipelineTraffic ? scenario.pipelines[target.index].traffic
                                              : *scenario.workloads[target.index].traffic;
}

Traffic& traffic_of(Scenario& scenario, const LoadTarget& target) {
  return target.kind == Kind::PipelineTraffic ? scenario.pipelines[target.index].traffic
                                              : *scenario.workloads[target.index].traffic;
}

int scaled_count(int count, double factor) {
  return std::max(1, static_cast<int>(std::llround(count * factor)));
}

void scale(Rate& rate, double factor) { rate.per_second *= factor; }

void scale(Traffic& traffic, double factor) {
  scale(traffic.mean, factor);
  std::visit(
      models::Overloaded{
          [](std::monostate) {},
          [&](scenarios::Diurnal& diurnal) { scale(diurnal.peak, factor); },
          [&](scenarios::Bursts& bursts) { scale(bursts.rate, factor); },
          [&](std::vector<scenarios::RateStep>& steps) {
            for (scenarios::RateStep& step : steps) scale(step.rate, factor);
          },
          [&](scenarios::RequestTrace& trace) { trace.scale *= factor; },
          [&](scenarios::ClientTraffic& clients) { clients.scale *= factor; },
          [&](scenarios::ClosedLoop& loop) { loop.clients = scaled_count(loop.clients, factor); },
      },
      traffic.shape);
}

double requests_per_second(const Traffic& traffic) {
  const auto* trace = std::get_if<scenarios::RequestTrace>(&traffic.shape);
  if (trace == nullptr || trace->rows.size() < 2 || trace->rows.back().at.ns == 0) {
    return traffic.mean.per_second;
  }
  return trace->scale * static_cast<double>(trace->rows.size() - 1) /
         to_seconds(trace->rows.back().at);
}

// Whether the jobs of the workload are those that the target scales: all of one trace.
bool is_of(const scenarios::Workload& workload, const LoadTarget& target) {
  return target.kind == Kind::Jobs && workload.trace && workload.trace->workload == target.name;
}

// Over the whole trace.
double jobs_per_hour(const Scenario& scenario, const LoadTarget& target) {
  double jobs = 0;
  Duration last;
  for (const scenarios::Workload& workload : scenario.workloads) {
    if (!is_of(workload, target)) continue;
    jobs += workload.count;
    last = std::max(last, workload.trace->jobs->back().submitted);
  }
  const double hours_of_trace = std::max(to_seconds(last), 1.0) / 3600;
  return jobs * scenario.workloads[target.index].trace->scale / hours_of_trace;
}

Diagnostic unknown_path(const std::string& path, const std::vector<LoadTarget>& known) {
  std::vector<std::string> paths;
  paths.reserve(known.size());
  for (const LoadTarget& target : known) paths.push_back(target.path);
  const auto near = nearest_name(path, paths);
  return make_diagnostic(Code::PathUnknown, {}, fmt::format("no load at \"{}\"", path),
                         near ? fmt::format("did you mean {}?", *near)
                              : fmt::format("there is load at {}", fmt::join(paths, ", ")));
}

Diagnostic nothing_to_scale(const Scenario& scenario) {
  return make_diagnostic(
      Code::InputMissing, scenario.where,
      fmt::format("\"{}\" has no load that could grow", scenario.name),
      "give a Service or a pipeline `traffic`, a Notebook its users, or TraceJobs their trace");
}

}  // namespace

std::vector<LoadTarget> all_load_targets(const Scenario& scenario) {
  std::vector<LoadTarget> targets;
  const auto add = [&](Kind kind, std::size_t index, std::string_view list, std::string_view field,
                       const std::string& name) {
    targets.push_back({kind, index, fmt::format("{}.{}.{}", list, name, field), name});
  };
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    const scenarios::Workload& workload = scenario.workloads[w];
    if (workload.count == 0) continue;
    const std::string& name = workload.name.value;
    if (workload.kind == WorkloadKind::Service && workload.traffic) {
      add(Kind::WorkloadTraffic, w, "workloads", "traffic", name);
    }
    if (workload.notebooks) add(Kind::Users, w, "workloads", "notebooks", name);
    const bool first_of_trace =
        workload.trace &&
        std::ranges::none_of(targets, [&](const LoadTarget& t) { return is_of(workload, t); });
    if (first_of_trace) add(Kind::Jobs, w, "workloads", "trace", workload.trace->workload);
  }
  for (std::size_t p = 0; p < scenario.pipelines.size(); ++p) {
    add(Kind::PipelineTraffic, p, "pipelines", "traffic", scenario.pipelines[p].name.value);
  }
  return targets;
}

Expected<std::vector<LoadTarget>> load_targets(const Scenario& scenario,
                                               std::span<const std::string> paths) {
  std::vector<LoadTarget> known = all_load_targets(scenario);
  if (known.empty()) return tl::unexpected(Diagnostics{nothing_to_scale(scenario)});
  if (paths.empty()) {
    // Requests, else jobs, else users.
    for (const Kind kind : {Kind::Users, Kind::Jobs}) {
      const auto is_kind = [&](const LoadTarget& target) { return target.kind == kind; };
      if (!std::ranges::all_of(known, is_kind)) std::erase_if(known, is_kind);
    }
    return known;
  }
  std::vector<LoadTarget> chosen;
  Diagnostics found;
  for (const std::string& path : paths) {
    const auto target = std::ranges::find(known, path, &LoadTarget::path);
    if (target == known.end()) {
      found.push_back(unknown_path(path, known));
    } else if (std::ranges::find(chosen, path, &LoadTarget::path) == chosen.end()) {
      chosen.push_back(*target);
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return chosen;
}

LoadUnit unit_of(const Scenario& scenario, const LoadTarget& target) {
  if (target.kind == Kind::Users) return LoadUnit::Users;
  if (target.kind == Kind::Jobs) return LoadUnit::JobsPerHour;
  return std::holds_alternative<scenarios::ClosedLoop>(traffic_of(scenario, target).shape)
             ? LoadUnit::Streams
             : LoadUnit::RequestsPerSecond;
}

double load_of(const Scenario& scenario, const LoadTarget& target) {
  if (target.kind == Kind::Users) return scenario.workloads[target.index].notebooks->users;
  if (target.kind == Kind::Jobs) return jobs_per_hour(scenario, target);
  const Traffic& traffic = traffic_of(scenario, target);
  const auto* loop = std::get_if<scenarios::ClosedLoop>(&traffic.shape);
  return loop != nullptr ? loop->clients : requests_per_second(traffic);
}

Scenario scaled(const Scenario& scenario, std::span<const LoadTarget> targets, double factor) {
  Scenario result = scenario;
  for (const LoadTarget& target : targets) {
    if (target.kind == Kind::Jobs) {
      for (scenarios::Workload& workload : result.workloads) {
        if (is_of(workload, target)) workload.trace->scale *= factor;
      }
      continue;
    }
    if (target.kind != Kind::Users) {
      scale(traffic_of(result, target), factor);
      continue;
    }
    scenarios::Workload& workload = result.workloads[target.index];
    const int users = scaled_count(workload.notebooks->users, factor);
    if (workload.count == workload.notebooks->users) workload.count = users;  // a pod for each
    workload.notebooks->users = users;
  }
  return result;
}

namespace {

bool within_limit(const ObjectiveResult& o) {
  return o.at_least ? o.value >= o.limit : o.value <= o.limit;
}

LoadVerdict verdict_on(const ObjectiveResult& pooled,
                       const std::vector<const ObjectiveResult*>& own) {
  std::vector<double> values;
  for (const ObjectiveResult* o : own) {
    if (!is_missed_without_figure(*o)) values.push_back(in_its_unit(o->value));
  }
  if (values.empty()) return LoadVerdict::Fails;
  if (values.size() < own.size()) return LoadVerdict::Undecided;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const double half_width = *half_width_95(values);
  // How much room there is below the limit, or above a least figure.
  const double room =
      pooled.at_least ? mean - in_its_unit(pooled.limit) : in_its_unit(pooled.limit) - mean;
  if (room < -half_width) return LoadVerdict::Fails;
  return room >= half_width && pooled.pass ? LoadVerdict::Passes : LoadVerdict::Undecided;
}

LoadVerdict verdict_of(const std::vector<ProbedObjective>& objectives) {
  const auto is = [](LoadVerdict verdict) {
    return [verdict](const ProbedObjective& o) { return o.verdict == verdict; };
  };
  if (std::ranges::any_of(objectives, is(LoadVerdict::Fails))) return LoadVerdict::Fails;
  return std::ranges::all_of(objectives, is(LoadVerdict::Passes)) ? LoadVerdict::Passes
                                                                  : LoadVerdict::Undecided;
}

}  // namespace

bool is_missed_without_figure(const ObjectiveResult& o) {
  return !o.pass && (o.is_absent || within_limit(o));
}

double objective_excess(const ObjectiveResult& o) {
  if (is_missed_without_figure(o)) return std::numeric_limits<double>::infinity();
  const double value = in_its_unit(o.value);
  const double limit = in_its_unit(o.limit);
  if (!o.at_least) return value / limit;
  return std::holds_alternative<scenarios::Share>(o.limit) ? (1 - value) / (1 - limit)
                                                           : limit / value;
}

LoadProbe judge_probe(double factor, const VariantResult& pooled,
                      std::span<const VariantResult> singles) {
  LoadProbe probe;
  probe.factor = factor;
  probe.replications = pooled.replications;
  for (std::size_t w = 0; w < pooled.workloads.size(); ++w) {
    const WorkloadResult& workload = pooled.workloads[w];
    for (std::size_t o = 0; o < workload.objectives.size(); ++o) {
      std::vector<const ObjectiveResult*> own;
      for (const VariantResult& single : singles) {
        own.push_back(&single.workloads[w].objectives[o]);
      }
      const ObjectiveResult& result = workload.objectives[o];
      probe.objectives.push_back({workload.name, result, verdict_on(result, own)});
    }
  }
  for (const Verdict::Reason& reason : pooled.verdict.reasons) {
    if (reason.cause <= Verdict::Cause::Overloaded) probe.left_behind.push_back(reason);
  }
  probe.verdict = probe.left_behind.empty() ? verdict_of(probe.objectives) : LoadVerdict::Fails;
  return probe;
}

std::optional<double> excess_of(const LoadProbe& probe) {
  if (!probe.left_behind.empty() || probe.objectives.empty()) return std::nullopt;
  double most = 0;
  for (const ProbedObjective& o : probe.objectives) {
    most = std::max(most, objective_excess(o.result));
  }
  return most;
}

std::optional<std::size_t> binding_objective(const LoadProbe& probe) {
  std::optional<std::size_t> binding;
  for (std::size_t o = 0; o < probe.objectives.size(); ++o) {
    if (probe.objectives[o].verdict != LoadVerdict::Fails) continue;
    if (!binding || objective_excess(probe.objectives[o].result) >
                        objective_excess(probe.objectives[*binding].result)) {
      binding = o;
    }
  }
  return binding;
}

std::optional<double> LoadSearch::next() const {
  if (!lowest_) return 1;
  const double least = 1 / most_;
  if (!passed_ && *lowest_ > least) return std::max(least, *lowest_ / 2);
  if (!passed_) return std::nullopt;
  if (failed_) return between();
  if (*highest_ < most_) return std::min(most_, *highest_ * 2);
  return std::nullopt;
}

std::optional<double> LoadSearch::expected() const {
  if (!passed_excess_ || !failed_excess_) return std::nullopt;
  const bool has_logs = *passed_excess_ > 0 && *passed_excess_ < 1 && *failed_excess_ > 1 &&
                        std::isfinite(*failed_excess_);
  if (!has_logs) return std::nullopt;
  const double below = portable_log(*passed_excess_);
  const double above = portable_log(*failed_excess_);
  return *passed_ * portable_exp(portable_log(*failed_ / *passed_) * below / (below - above));
}

std::optional<double> LoadSearch::between() const {
  // So near to the expected limit, as shares of the precision, one load still passes and one fails.
  constexpr double kBeside = 0.4;
  if (*failed_ <= *passed_ * (1 + precision_)) return std::nullopt;
  if (!first_undecided_) {
    const double step = 1 + precision_ * kBeside;
    const std::optional<double> limit = expected();
    if (bisects_ || !limit) return std::sqrt(*passed_ * *failed_);
    const double beside = *limit / *passed_ > *failed_ / *limit ? *limit / step : *limit * step;
    return std::clamp(beside, *passed_ * step, *failed_ / step);
  }
  const double low_gap = below() / *passed_;
  const double high_gap = *failed_ / above();
  // What stays undecided has its width, too: the gaps beside it make up for it where they can.
  const bool is_wide = *failed_ > *passed_ * (1 + 2 * precision_);
  if (std::max(low_gap, high_gap) <= 1 + precision_ / (is_wide ? 8 : 2)) return std::nullopt;
  return low_gap > high_gap ? std::sqrt(*passed_ * below()) : std::sqrt(above() * *failed_);
}

void LoadSearch::record(double factor, LoadVerdict verdict, std::optional<double> excess) {
  const auto width = [&] { return passed_ && failed_ ? portable_log(*failed_ / *passed_) : 0; };
  const double before = width();
  lowest_ = std::min(lowest_.value_or(factor), factor);
  highest_ = std::max(highest_.value_or(factor), factor);
  switch (verdict) {
    case LoadVerdict::Passes:
      if (!passed_ || factor > *passed_) passed_excess_ = excess;
      passed_ = std::max(passed_.value_or(factor), factor);
      break;
    case LoadVerdict::Fails:
      if (!failed_ || factor < *failed_) failed_excess_ = excess;
      failed_ = std::min(failed_.value_or(factor), factor);
      break;
    case LoadVerdict::Undecided:
      first_undecided_ = std::min(first_undecided_.value_or(factor), factor);
      last_undecided_ = std::max(last_undecided_.value_or(factor), factor);
      break;
  }
  constexpr double kHalf = 0.5 + 1e-9;  // a bisection halves the width but for rounding
  bisects_ = before > 0 && width() > before * kHalf;
  if (!first_undecided_) return;
  // A clear verdict beyond what was undecided speaks for it.
  if (passed_) first_undecided_ = std::max(*first_undecided_, *passed_);
  if (failed_) last_undecided_ = std::min(*last_undecided_, *failed_);
  const bool none_left =
      (passed_ && *last_undecided_ <= *passed_) || (failed_ && *first_undecided_ >= *failed_);
  if (none_left) first_undecided_ = last_undecided_ = std::nullopt;
}

}  // namespace slicewise::sim
