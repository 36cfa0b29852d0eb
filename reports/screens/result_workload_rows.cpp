#include "result_workload_rows.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/result_record.hpp"

#include "result_figures.hpp"
#include "result_verdict.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

using sim::TimeSummary;
using sim::VariantResult;
using sim::WorkloadResult;

constexpr std::size_t kMostWorkloads = 12;

bool misses_an_objective(const WorkloadResult& w) {
  return std::ranges::any_of(w.objectives, [](const sim::ObjectiveResult& o) {
    return sim::standing_of(o) != sim::ObjectiveStanding::Holds;
  });
}

// Sessions of notebooks do not finish anything that could be counted.
bool needs_a_look(const WorkloadResult& w) {
  return misses_an_objective(w) || (w.completed == 0 && !w.notebooks);
}

// "latencyP99" -> "latency p99", "cellSlowdownP95" -> "cell slowdown p95", "ttftP95" -> "TTFT p95".
std::string objective_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (lower(c) != c && !out.empty()) out += ' ';
    out += lower(c);
  }
  for (const std::string_view acronym : {"ttft", "tpot", "oom"}) {
    if (!out.starts_with(acronym)) continue;
    for (std::size_t i = 0; i < acronym.size(); ++i) {
      out[i] = upper(out[i]);
    }
  }
  return out;
}

// Of the work that was done. Nothing where what is missed is no figure of single jobs or requests.
std::string share_in_time(const WorkloadResult& w) {
  if (w.objectives.empty() || w.completed <= 0) return "";
  const double in_time =
      w.throughput_per_second > 0 ? w.goodput_per_second / w.throughput_per_second : 0;
  if (in_time >= 1 && misses_an_objective(w)) return "";
  return fmt::format("{:.2f}%", 100 * in_time);
}

std::string slowdown_cell(const sim::JobGroupFigures& jobs) {
  return jobs.slowdown ? short_text(jobs.slowdown->p95) : "";
}

std::string limit_of(const sim::ObjectiveResult& o, const TextStyle& style) {
  const std::string limit = figure_text(o.limit, {}, style);
  return o.at_least ? fmt::format("{} {}", signs(style).at_least, limit) : limit;
}

}  // namespace

std::vector<const WorkloadResult*> shown(const VariantResult& variant, bool every) {
  const std::vector<WorkloadResult>& all = variant.workloads;
  const std::size_t most = every ? all.size() : std::min(kMostWorkloads, all.size());
  std::vector<bool> chosen(all.size(), false);
  std::size_t count = 0;
  for (const bool urgent : {true, false}) {
    for (std::size_t w = 0; w < all.size() && count < most; ++w) {
      if (chosen[w] || (urgent && !needs_a_look(all[w]))) continue;
      chosen[w] = true;
      ++count;
    }
  }
  std::vector<const WorkloadResult*> out;
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (chosen[w]) out.push_back(&all[w]);
  }
  return out;
}

std::string mean_cell(const std::optional<TimeSummary>& times, const TextStyle& style) {
  return times && times->count > 0 ? interval_text(times->mean, times->ci95, style) : "";
}

std::string quantile_cell(const std::optional<TimeSummary>& times,
                          Duration TimeSummary::*quantile) {
  return times && times->count > 0 ? duration_text((*times).*quantile) : "";
}

std::string wait_text(const std::string& mean, std::int64_t never) {
  if (never == 0) return mean;
  return fmt::format("{}{}up to {} never", mean, mean.empty() ? "" : ", ", never);
}

std::vector<Column> objective_columns() {
  return {{"OBJECTIVE"}, {"WORKLOAD"}, {"FIGURE"}, {"VALUE", true}, {"LIMIT", true}};
}

std::vector<Column> batch_columns() {
  const sim::Record& w = sim::record_of<WorkloadResult>();
  return {column_of(w, "name"),
          column_of(w, "completed"),
          column_of(w, "throughputPerSecond"),
          {"IN SLO", true},
          column_of(w, "jobCompletionSeconds", "mean"),
          column_of(w, "jobCompletionSeconds", "p50"),
          column_of(w, "jobCompletionSeconds", "p95"),
          column_of(w, "jobCompletionSeconds", "p99"),
          column_of(w, "waitSeconds", "mean"),
          column_of(w, "waitSeconds", "p95"),
          column_of(sim::record_of<sim::QuotaFigures>(), "waitSeconds", "mean"),
          {"SLOWDOWN P95", true},
          column_of(w, "gpuBusyShare"),
          column_of(w, "boundBy")};
}

Rows objective_rows(const VariantResult& variant, const TextStyle& style, bool every) {
  Rows rows;
  for (const WorkloadResult* w : shown(variant, every)) {
    for (const sim::ObjectiveResult& o : w->objectives) {
      const sim::ObjectiveStanding standing = sim::standing_of(o);
      const bool holds = standing == sim::ObjectiveStanding::Holds;
      const std::string_view sign = holds    ? signs(style).pass
                                    : o.pass ? signs(style).warn
                                             : signs(style).fail;
      rows.push_back({{fmt::format("{} {}", sign, standing_word(standing)),
                       holds ? Emphasis::Good : Emphasis::Bad},
                      o.of.empty() ? w->name : fmt::format("{} ({})", w->name, o.of),
                      objective_name(o.name),
                      found_text(o, style),
                      limit_of(o, style)});
    }
  }
  return rows;
}

namespace {

// How badly the jobs of somebody fare, by an objective.
double suffering(const sim::JobGroupFigures& jobs, std::string_view objective) {
  const auto time = [](const std::optional<Duration>& p95) {
    return to_seconds(p95.value_or(Duration{}));
  };
  if (objective == "deadlinesMet") return -jobs.deadlines_met.value_or(1);
  if (objective == "completionP95") return time(jobs.completion_p95);
  if (objective == "slowdownP95") return jobs.slowdown ? jobs.slowdown->p95 : 0;
  return time(jobs.wait_p95);
}

// Whoever the missed objectives name, then by the first of those.
std::vector<const sim::JobGroupFigures*> worst_first(const WorkloadResult& w) {
  std::vector<const sim::JobGroupFigures*> groups;
  for (const sim::JobGroupFigures& group : w.recorded->judged) groups.push_back(&group);
  const auto missed = std::ranges::find(w.objectives, false, &sim::ObjectiveResult::pass);
  const auto& by = missed == w.objectives.end() ? w.objectives.begin() : missed;
  const auto rank = [&](const sim::JobGroupFigures* group) {
    const bool is_named = std::ranges::any_of(w.objectives, [&](const sim::ObjectiveResult& o) {
      return !o.pass && o.of == group->name;
    });
    return std::pair(is_named, suffering(*group, by == w.objectives.end() ? "" : by->name));
  };
  std::ranges::stable_sort(groups, std::ranges::greater{}, rank);
  return groups;
}

// "2 x 8 GPUs"; "": its jobs are a pod each.
std::string gang_text(const sim::JobClass& jobs) {
  if (jobs.pods_per_job == 1) return "";
  const int gpus = jobs.gang ? jobs.gang->gpus : 1;
  return fmt::format("{} x {}", jobs.pods_per_job, counted(gpus, "GPU"));
}

}  // namespace

std::string job_groups_left_out(const VariantResult& variant, bool every) {
  std::size_t groups = 0;
  for (const WorkloadResult& w : variant.workloads) {
    groups += w.recorded ? w.recorded->judged.size() : 0;
  }
  if (every || groups <= kMostWorkloads) return "";
  return fmt::format("the worst first; and {} more (-o wide)", groups - kMostWorkloads);
}

std::vector<Column> job_group_columns() {
  return {{"JOBS OF"},   {"JOBS", true},         {"EACH A GANG OF"},     {"WAIT P95", true},
          {"P95", true}, {"SLOWDOWN P95", true}, {"DEADLINES MET", true}};
}

Rows job_group_rows(const VariantResult& variant, const TextStyle& /*style*/, bool every) {
  Rows rows;
  const auto add = [&](const sim::JobGroupFigures& group, const std::string& gang) {
    const auto time = [](const std::optional<Duration>& p95) {
      return p95 ? duration_text(*p95) : "";
    };
    rows.push_back({group.name, count_text(static_cast<double>(group.jobs)), gang,
                    time(group.wait_p95), time(group.completion_p95), slowdown_cell(group),
                    group.deadlines_met ? percent_text(*group.deadlines_met) : ""});
  };
  for (const WorkloadResult& w : variant.workloads) {
    if (!w.recorded) continue;
    for (const sim::JobGroupFigures* group : worst_first(w)) {
      if (every || rows.size() < kMostWorkloads) add(*group, "");
    }
    for (const sim::JobClass& c : w.recorded->classes) {
      if (every) add(c.figures, gang_text(c));
    }
  }
  return rows;
}

Rows batch_rows(const VariantResult& variant, const TextStyle& style, bool every,
                std::int64_t seconds) {
  Rows rows;
  for (const WorkloadResult* w : shown(variant, every)) {
    if (w->requests || w->notebooks) continue;
    rows.push_back(
        {w->name, count_text(w->completed),
         rate_text(w->throughput_per_second, w->unit_name.empty() ? "run" : w->unit_name, seconds),
         share_in_time(*w), mean_cell(w->job_completion, style),
         quantile_cell(w->job_completion, &TimeSummary::p50),
         quantile_cell(w->job_completion, &TimeSummary::p95),
         quantile_cell(w->job_completion, &TimeSummary::p99),
         wait_text(mean_cell(w->wait, style),
                   w->left_behind.pending + w->left_behind.never_admitted),
         quantile_cell(w->wait, &TimeSummary::p95),
         w->quota ? mean_cell(w->quota->wait, style) : "",
         w->recorded ? slowdown_cell(w->recorded->all) : "", percent_text(w->gpu_busy_share),
         w->bound_by});
  }
  return rows;
}

std::string workloads_left_out(const VariantResult& variant, bool every) {
  const std::vector<const WorkloadResult*> seen = shown(variant, every);
  const std::size_t left_out = variant.workloads.size() - seen.size();
  if (left_out == 0) return "";
  const std::string count = "and " + counted(left_out, "more workload");
  // Those that miss one are shown first: when one without is shown, no other misses any.
  const bool all_met = std::ranges::any_of(seen, [](const auto* w) { return !needs_a_look(*w); });
  const bool judged =
      std::ranges::any_of(seen, [](const auto* w) { return !w->objectives.empty(); });
  return fmt::format("{}{} (-o wide)", count,
                     judged && all_met ? ", without a missed objective" : "");
}

}  // namespace slicewise::reports
