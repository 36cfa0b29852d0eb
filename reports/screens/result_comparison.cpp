#include "result_comparison.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/result_record.hpp"

#include "result_figures.hpp"
#include "result_nodes.hpp"
#include "result_verdict.hpp"
#include "result_workload_rows.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

using sim::TimeSummary;
using sim::VariantResult;
using sim::WorkloadResult;

// "" when the variant has nothing to show in this column.
using VariantCell = std::function<std::string(const VariantResult&)>;

struct VariantMeasure {
  Column column;
  VariantCell cell;
};

using SummaryField = std::optional<TimeSummary> WorkloadResult::*;

// The workload that is worst off: the one a reader must look at first.
const TimeSummary* slowest(const VariantResult& variant, SummaryField field,
                           Duration TimeSummary::*quantile) {
  const TimeSummary* worst = nullptr;
  for (const WorkloadResult& w : variant.workloads) {
    const std::optional<TimeSummary>& times = w.*field;
    if (!times || times->count == 0) continue;
    if (worst == nullptr || (*times).*quantile > worst->*quantile) worst = &*times;
  }
  return worst;
}

VariantCell worst_quantile(SummaryField field, Duration TimeSummary::*quantile) {
  return [=](const VariantResult& v) -> std::string {
    const TimeSummary* times = slowest(v, field, quantile);
    return times == nullptr ? "" : duration_text(times->*quantile);
  };
}

// The pods of all workloads that never started count, and Jobs that were never admitted.
std::string wait_and_never(const VariantResult& variant) {
  std::int64_t never = 0;
  for (const WorkloadResult& w : variant.workloads) {
    never += w.left_behind.pending + w.left_behind.never_admitted;
  }
  return wait_text(worst_quantile(&WorkloadResult::wait, &TimeSummary::mean)(variant), never);
}

bool has_jobs(const VariantResult& variant) {
  return std::ranges::any_of(variant.workloads,
                             [](const WorkloadResult& w) { return w.has_jobs(); });
}

std::string gpu_share_text(const VariantResult& variant, double sim::GpuResult::*ratio) {
  return variant.gpus.empty() ? "" : percent_text(sim::mean_over_gpus(variant, ratio));
}

std::string run_length(const VariantResult& variant) {
  return variant.makespan.count == 0 ? "" : duration_text(variant.makespan.mean);
}

// Until the last Job that runs is done, however long the run goes on.
std::string makespan(const VariantResult& variant) {
  if (!sim::unfinished_jobs(variant).empty()) return ">" + run_length(variant);
  return variant.last_job_end ? duration_text(variant.last_job_end->mean) : run_length(variant);
}

// A run of other things than jobs, or of both, ends when the scenario says so.
bool is_of_jobs_alone(const sim::Result& result) {
  const auto of_jobs_alone = [](const VariantResult& variant) {
    return has_jobs(variant) &&
           std::ranges::none_of(variant.workloads,
                                [](const WorkloadResult& w) { return w.requests || w.notebooks; });
  };
  return std::ranges::all_of(result.variants, of_jobs_alone);
}

std::string objectives_met(const VariantResult& variant) {
  using Cause = sim::Verdict::Cause;
  if (!has_objectives(variant)) return "";
  const std::vector<sim::Verdict::Reason>& reasons = variant.verdict.reasons;
  const auto count = [&](Cause cause) {
    return std::ranges::count(reasons, cause, &sim::Verdict::Reason::cause);
  };
  if (const auto missed = count(Cause::ObjectiveMissed); missed > 0) {
    return fmt::format("{} MISSED", missed);
  }
  if (variant.verdict.loses_pods()) return "PODS LOST";
  const auto undecided = count(Cause::ObjectiveUndecided);
  return undecided > 0 ? fmt::format("{} undecided", undecided) : "met";
}

std::string policies_held(const VariantResult& variant) {
  const auto count = [&](auto matches) { return std::ranges::count_if(variant.policies, matches); };
  using Verdict = sim::PolicyResult::Verdict;
  if (variant.policies.empty()) return "";
  if (const auto denied = count([](const auto& p) { return p.denies(); }); denied > 0) {
    return fmt::format("{} FAILED", denied);
  }
  const auto is = [&](Verdict verdict) {
    return count([=](const auto& p) { return p.verdict == verdict; });
  };
  if (is(Verdict::Fail) > 0) return fmt::format("{} warned", is(Verdict::Fail));
  return is(Verdict::Unknown) > 0 ? fmt::format("{} not judged", is(Verdict::Unknown)) : "hold";
}

bool several_services(const sim::Result& result) {
  return std::ranges::any_of(result.variants, [](const VariantResult& variant) {
    return std::ranges::count_if(variant.workloads,
                                 [](const WorkloadResult& w) { return w.latency.has_value(); }) > 1;
  });
}

// The figure of the workload that has the largest one; "" when none has any.
template <class Value, class Text>
VariantCell worst_of(Value value, Text text) {
  return [=](const VariantResult& variant) -> std::string {
    decltype(value(WorkloadResult{})) worst;
    for (const WorkloadResult& w : variant.workloads) {
      const auto own = value(w);
      if (own && (!worst || *own > *worst)) worst = own;
    }
    return worst ? text(*worst) : "";
  };
}

std::optional<Duration> p95_of(const std::optional<TimeSummary>& times) {
  return times && times->count > 0 ? std::optional(times->p95) : std::nullopt;
}

std::string tokens_per_second(const VariantResult& variant) {
  double sum = 0;
  bool any = false;
  for (const WorkloadResult& w : variant.workloads) {
    if (!w.tokens) continue;
    any = true;
    sum += w.tokens->output_per_second;
  }
  return any ? decimal_text(sum) : "";
}

// Of language models and notebooks: what their users feel, and what it costs.
std::vector<VariantMeasure> people_measures() {
  const sim::Record& tokens = sim::record_of<sim::TokenFigures>();
  const sim::Record& notebooks = sim::record_of<sim::NotebookFigures>();
  return {
      {column_of(tokens, "firstTokenSeconds", "p95"),
       worst_of(
           [](const WorkloadResult& w) {
             return w.tokens ? p95_of(w.tokens->first_token) : std::nullopt;
           },
           duration_text)},
      {column_at(1, tokens, "perTokenSeconds", "p95"),
       worst_of(
           [](const WorkloadResult& w) {
             return w.tokens ? p95_of(w.tokens->per_token) : std::nullopt;
           },
           duration_text)},
      {column_at(1, tokens, "outputPerSecond"), tokens_per_second},
      {column_at(1, notebooks, "sessionStartSeconds", "p95"),
       worst_of(
           [](const WorkloadResult& w) {
             return w.notebooks ? p95_of(w.notebooks->session_start) : std::nullopt;
           },
           duration_text)},
      {column_of(notebooks, "cellSlowdown", "p95"),
       worst_of(
           [](const WorkloadResult& w) -> std::optional<double> {
             if (!w.notebooks || !w.notebooks->cell_slowdown) return std::nullopt;
             return w.notebooks->cell_slowdown->p95;
           },
           decimal_text)},
  };
}

// Of all language models together: what they cost by what they wrote.
std::string price_of_tokens(const VariantResult& variant) {
  double nano = 0;
  double tokens = 0;
  for (const WorkloadResult& workload : variant.workloads) {
    if (!workload.tokens || !workload.tokens->per_million_output) continue;
    const double written = workload.tokens->output_tokens;
    nano += static_cast<double>(workload.tokens->per_million_output->nano) * written;
    tokens += written;
  }
  return tokens > 0 ? money_text(Usd{std::llround(nano / tokens)}) : "";
}

std::vector<VariantMeasure> price_measures(const sim::Result& result) {
  return {
      {{"COST", true}, [](const VariantResult& v) { return money_text(v.cost.ledger.total); }},
      {price_column("perJobUsd"),
       [](const VariantResult& v) { return money_or_nothing(v.cost.per_job); }},
      {request_price_column(std::ranges::any_of(result.variants, sim::has_objectives)),
       [](const VariantResult& v) { return money_or_nothing(v.cost.per_1k_requests_in_slo); }},
      {column_of(sim::record_of<sim::TokenFigures>(), "perMillionOutputUsd"), price_of_tokens},
      {column_of(sim::record_of<sim::NotebookFigures>(), "perActiveUserMonthUsd"),
       worst_of(
           [](const WorkloadResult& w) {
             return w.notebooks ? w.notebooks->per_active_user_month : std::nullopt;
           },
           money_text)},
  };
}

// A column of nothing but zeros is the first to go when the terminal is narrow.
constexpr int kAllZero = 9;

int unless_zero(const sim::Result& result, double sim::PodCounts::*count) {
  const bool zero = std::ranges::all_of(
      result.variants, [&](const VariantResult& variant) { return variant.pods.*count == 0; });
  return zero ? kAllZero : 0;
}

// A column of what happens in few runs: absent when nothing did.
VariantMeasure unless_none(const char* header, const sim::Result& result,
                           double sim::PodCounts::*count) {
  const bool none = unless_zero(result, count) == kAllZero;
  return {{header, true, 1},
          [=](const VariantResult& v) { return none ? std::string() : count_text(v.pods.*count); }};
}

// Restarts alone may tell that containers crash; next to failed pods they tell little more.
int restarts_priority(const sim::Result& result) {
  constexpr int kLittleMore = 6;
  const bool alone = unless_zero(result, &sim::PodCounts::failed) == kAllZero &&
                     unless_zero(result, &sim::PodCounts::oom_kills) == kAllZero;
  return std::max(alone ? 0 : kLittleMore, unless_zero(result, &sim::PodCounts::restarts));
}

std::vector<VariantMeasure> pod_measures(const sim::Result& result) {
  return {
      {{"VARIANT"}, [](const VariantResult& v) { return v.name; }},
      {{"STRATEGY", false, 5}, strategy_text},
      {{"RUN/PEND", true},
       [](const VariantResult& v) {
         return fmt::format("{}/{}", v.pods.running_max, v.pods.pending_max);
       }},
      {{"JOBS", true},
       [](const VariantResult& v) { return has_jobs(v) ? count_text(jobs_done(v)) : ""; }},
      {{"FAILED", true, unless_zero(result, &sim::PodCounts::failed)},
       [](const VariantResult& v) { return count_text(v.pods.failed); }},
      {{"OOM", true, std::max(1, unless_zero(result, &sim::PodCounts::oom_kills))},
       [](const VariantResult& v) { return count_text(v.pods.oom_kills); }},
      {{"RESTARTS", true, restarts_priority(result)},
       [](const VariantResult& v) { return count_text(v.pods.restarts); }},
      unless_none("FAULTS", result, &sim::PodCounts::faults),
      unless_none("VICTIMS", result, &sim::PodCounts::fault_victims),
      unless_none("EVICTED", result, &sim::PodCounts::evicted),
      {{"SLO"}, objectives_met},
      {{"POLICIES"}, policies_held},
  };
}

std::vector<VariantMeasure> time_measures(const sim::Result& result) {
  const std::string worst = several_services(result) ? "WORST " : "";
  const bool of_jobs = is_of_jobs_alone(result);
  return {
      {{of_jobs ? "MAKESPAN" : "LENGTH", true, 1}, of_jobs ? makespan : run_length},
      {{"WAIT", true, 2}, wait_and_never},
      {{"JOB P95", true, 1}, worst_quantile(&WorkloadResult::job_completion, &TimeSummary::p95)},
      {{worst + "P50", true, 3}, worst_quantile(&WorkloadResult::latency, &TimeSummary::p50)},
      {{worst + "P95", true, 2}, worst_quantile(&WorkloadResult::latency, &TimeSummary::p95)},
      {{worst + "P99", true}, worst_quantile(&WorkloadResult::latency, &TimeSummary::p99)},
      {{"GPU BUSY", true, 3},
       [](const VariantResult& v) { return gpu_share_text(v, &sim::GpuResult::time_busy_ratio); }},
      {{"SWITCH", true, 4},
       [](const VariantResult& v) {
         return gpu_share_text(v, &sim::GpuResult::context_switch_ratio);
       }},
  };
}

// The number that a sweep gave it, with any unit: "10", "2.5/s".
std::optional<double> swept_number(const VariantResult& variant) {
  const std::string& value = variant.swept_value;
  double number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// "instanceType=g5.xlarge,replicas" of a point of a sweep: all but its value.
std::string_view curve_of(const VariantResult& variant) {
  return std::string_view(variant.name)
      .substr(0, variant.name.size() - variant.swept_value.size() - 1);
}

// "" where the price may fall further than it was tried, and where the setting is the work itself.
std::string knee_line(std::span<const VariantResult> curve, bool jobs) {
  std::vector<std::optional<Usd>> prices;
  prices.reserve(curve.size());
  for (const VariantResult& v : curve) {
    const std::optional<Usd>& price = jobs ? v.cost.per_job : v.cost.per_1k_requests_in_slo;
    prices.push_back(v.verdict.stands() ? price : std::nullopt);
  }
  const std::optional<std::size_t> stops_at = sim::knee_of(prices);
  if (!stops_at) return "";
  const auto knee = curve.begin() + static_cast<std::ptrdiff_t>(*stops_at);
  const auto beyond = knee + 1;
  const bool same_work = std::ranges::all_of(curve, [&](const VariantResult& v) {
    if (!v.verdict.stands()) return true;
    return jobs ? finished_the_same(*knee, v) : were_asked_the_same(*knee, v);
  });
  if (beyond == curve.end() || !same_work) return "";
  const std::string stopped_by = brief_reasons(beyond->verdict);
  return fmt::format("{}: {} is where the price of {} stops falling ({}){}", curve_of(*knee),
                     knee->swept_value, jobs ? "a job" : thousand_requests(has_objectives(*knee)),
                     money_text(*prices[*stops_at]),
                     stopped_by.empty() ? "" : "; beyond it: " + stopped_by);
}

}  // namespace

std::string thousand_requests(bool in_slo) {
  return in_slo ? "1,000 requests in SLO" : "1,000 requests";
}

double jobs_done(const VariantResult& variant) {
  double done = 0;
  for (const WorkloadResult& w : variant.workloads) {
    if (w.has_jobs()) done += w.completed;
  }
  return done;
}

Cells comparison(const sim::Result& result, const TextStyle& style, bool alone) {
  std::vector<VariantMeasure> measures = pod_measures(result);
  for (VariantMeasure& m : time_measures(result)) measures.push_back(std::move(m));
  for (VariantMeasure& m : people_measures()) measures.push_back(std::move(m));
  for (VariantMeasure& m : price_measures(result)) measures.push_back(std::move(m));

  if (alone) measures.push_back({{"BOUND BY"}, sim::bounds_of});
  return measured_cells(result.variants, measures, style);
}

std::vector<std::string> knee_lines(const sim::Result& result) {
  constexpr std::ptrdiff_t kLeastPoints = 3;
  std::vector<std::string> lines;
  const auto& variants = result.variants;
  for (auto first = variants.begin(); first != variants.end();) {
    auto end = first + 1;
    auto last = swept_number(*first);
    for (; last && end != variants.end(); ++end) {
      const auto next = swept_number(*end);
      if (!next || *next <= *last || curve_of(*end) != curve_of(*first)) break;
      last = next;
    }
    if (end - first >= kLeastPoints) {
      std::string line = knee_line({first, end}, has_jobs(*first));
      if (!line.empty()) lines.push_back(std::move(line));
    }
    first = end;
  }
  return lines;
}

}  // namespace slicewise::reports
