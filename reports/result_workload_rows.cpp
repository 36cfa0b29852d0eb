#include "result_workload_rows.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "result_details.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::TimeSummary;
using sim::VariantResult;
using sim::WorkloadResult;

constexpr std::size_t kMostWorkloads = 12;

bool misses_an_objective(const WorkloadResult& w) {
  return std::any_of(w.objectives.begin(), w.objectives.end(),
                     [](const sim::ObjectiveResult& o) { return !o.pass; });
}

bool needs_a_look(const WorkloadResult& w) { return misses_an_objective(w) || w.completed == 0; }

// In the order of the scenario.
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

// "latencyP99" -> "latency p99", "jobCompletionP95" -> "job completion p95".
std::string objective_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty()) out += ' ';
    out += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string mean_of(const std::optional<TimeSummary>& times, const TextStyle& style) {
  return times && times->count > 0 ? interval_text(times->mean, times->ci95, style) : "";
}

std::string quantile_of(const std::optional<TimeSummary>& times, Duration TimeSummary::*quantile) {
  return times && times->count > 0 ? duration_text((*times).*quantile) : "";
}

// Of the requests that arrived: those that found no replica were not served in time either.
std::string share_in_slo(const WorkloadResult& w) {
  const double arrived = w.completed + (w.requests ? w.requests->refused : 0);
  if (w.objectives.empty() || arrived <= 0) return "";
  const double answered = w.completed / arrived;
  const double in_time =
      w.throughput_per_second > 0 ? w.goodput_per_second / w.throughput_per_second : 0;
  return fmt::format("{:.2f}%", 100 * answered * in_time);
}

// Nothing was served or finished: there is no value.
std::string value_of(const sim::ObjectiveResult& o, const TextStyle& style) {
  const auto* time = std::get_if<Duration>(&o.value);
  if (!o.pass && time != nullptr && time->ns == 0) return std::string(signs(style).none);
  return figure_text(o.value, o.ci95, style);
}

}  // namespace

std::vector<Column> objective_columns() {
  return {{"OBJECTIVE"}, {"WORKLOAD"}, {"FIGURE"}, {"VALUE", true}, {"LIMIT", true}};
}

std::vector<Column> workload_columns() {
  return {{"WORKLOAD"},     {"DONE", true},         {"REFUSED", true},     {"RATE", true, 1},
          {"IN SLO", true}, {"MEAN", true, 2},      {"P50", true, 3},      {"P95", true},
          {"P99", true, 2}, {"WAIT MEAN", true, 2}, {"WAIT P95", true, 4}, {"GPU TIME", true, 5},
          {"BOUND BY"}};
}

Rows objective_rows(const VariantResult& variant, const TextStyle& style, bool every) {
  Rows rows;
  for (const WorkloadResult* w : shown(variant, every)) {
    for (const sim::ObjectiveResult& o : w->objectives) {
      const std::string verdict = o.pass ? fmt::format("{} met", signs(style).pass)
                                         : fmt::format("{} MISSED", signs(style).fail);
      rows.push_back({emphasised(verdict, o.pass ? Emphasis::Good : Emphasis::Bad, style), w->name,
                      objective_name(o.name), value_of(o, style), figure_text(o.limit, {}, style)});
    }
  }
  return rows;
}

Rows workload_rows(const VariantResult& variant, const TextStyle& style, bool every) {
  Rows rows;
  for (const WorkloadResult* shown_workload : shown(variant, every)) {
    const WorkloadResult& w = *shown_workload;
    const auto& times = w.latency ? w.latency : w.job_completion;
    const double refused = w.requests ? w.requests->refused : 0;
    rows.push_back({w.name, count_text(w.completed), refused > 0 ? count_text(refused) : "",
                    rate_text(w.throughput_per_second, w.unit_name.empty() ? "run" : w.unit_name),
                    share_in_slo(w), mean_of(times, style), quantile_of(times, &TimeSummary::p50),
                    quantile_of(times, &TimeSummary::p95), quantile_of(times, &TimeSummary::p99),
                    mean_of(w.wait, style), quantile_of(w.wait, &TimeSummary::p95),
                    percent_text(w.gpu_busy_share), w.bound_by});
  }
  return rows;
}

std::string workloads_left_out(const VariantResult& variant, bool every) {
  const std::vector<const WorkloadResult*> seen = shown(variant, every);
  const std::size_t left_out = variant.workloads.size() - seen.size();
  if (left_out == 0) return "";
  const std::string count =
      fmt::format("and {} more {}", left_out, left_out == 1 ? "workload" : "workloads");
  // Those that miss one are shown first: when one without is shown, no other misses any.
  const bool all_met =
      std::any_of(seen.begin(), seen.end(), [](const auto* w) { return !needs_a_look(*w); });
  const bool judged =
      std::any_of(seen.begin(), seen.end(), [](const auto* w) { return !w->objectives.empty(); });
  return fmt::format("{}{} (-o wide)", count,
                     judged && all_met ? ", without a missed objective" : "");
}

}  // namespace slicewise::reports
