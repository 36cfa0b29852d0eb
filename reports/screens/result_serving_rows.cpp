#include <fmt/format.h>

#include "slicewise/sim/result_record.hpp"

#include "result_figures.hpp"
#include "result_workload_rows.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

using sim::TimeSummary;
using sim::VariantResult;
using sim::WorkloadResult;

// How a block is shown.
struct Shown {
  const TextStyle& style;
  std::int64_t seconds;  // that rates are told by
};

// One column of a block and what it shows of a workload.
struct ServingMeasure {
  Column column;
  std::string (*cell)(const WorkloadResult&, const Shown&);
  bool wide_only = false;
};

constexpr bool kWideOnly = true;

std::string count_unless_zero(double count) { return count > 0 ? count_text(count) : ""; }

// "655 ms"; "~655 ms" when it is one of the ten largest values.
std::string p999_cell(const std::optional<TimeSummary>& times) {
  if (!times || !times->p999) return "";
  return (times->p999_is_rough ? "~" : "") + duration_text(*times->p999);
}

std::string p99_cell(const std::optional<TimeSummary>& times, const TextStyle& style) {
  return times && times->count > 0 ? interval_text(times->p99, times->p99_ci95, style) : "";
}

std::string p95_cell(const std::optional<TimeSummary>& times, const TextStyle& style) {
  return times && times->count > 0 ? interval_text(times->p95, times->p95_ci95, style) : "";
}

std::string decimal_unless_zero(double value) { return value > 0 ? decimal_text(value) : ""; }

std::string batch_cell(const WorkloadResult& w) {
  // Without batching every batch is one request.
  return w.requests->mean_batch > 1 ? decimal_text(w.requests->mean_batch) : "";
}

// Results of before do not say how many requests have these tokens.
std::string tokens_per_request(double tokens, const WorkloadResult& w) {
  const double answered = w.tokens->answered.value_or(w.requests ? w.requests->answered : 0);
  return answered > 0 ? count_text(tokens / answered) : "";
}

const std::vector<ServingMeasure>& request_measures() {
  using W = const WorkloadResult&;
  using S = const Shown&;
  static const std::vector<ServingMeasure> all = {
      {{"SERVICE"}, [](W w, S) { return w.kind == "Pipeline" ? w.name + " (pipeline)" : w.name; }},
      {{"REQUESTS", true}, [](W w, S) { return count_text(w.requests->arrived); }},
      {{"REFUSED", true}, [](W w, S) { return count_unless_zero(w.requests->refused); }},
      {{"DROPPED", true}, [](W w, S) { return count_unless_zero(w.requests->dropped); }},
      {{"TIMED OUT", true}, [](W w, S) { return count_unless_zero(w.requests->timed_out); }},
      {{"RETRIES", true, 4}, [](W w, S) { return count_unless_zero(w.requests->retried); }},
      {{"RATE", true, 2},
       [](W w, S s) { return rate_text(w.throughput_per_second, "", s.seconds); }},
      {{"IN SLO", true}, [](W w, S) { return share_in_slo(w); }},
      {{"ANSWERED", true},
       [](W w, S) { return fmt::format("{:.2f}%", 100 * w.requests->availability); },
       kWideOnly},
      {{"GOODPUT", true},
       [](W w, S s) { return rate_text(w.goodput_per_second, "", s.seconds); },
       kWideOnly},
      {{"MEAN", true}, [](W w, S s) { return mean_cell(w.latency, s.style); }, kWideOnly},
      {{"P50", true, 3}, [](W w, S) { return quantile_cell(w.latency, &TimeSummary::p50); }},
      {{"P95", true}, [](W w, S) { return quantile_cell(w.latency, &TimeSummary::p95); }},
      {{"P99", true}, [](W w, S s) { return p99_cell(w.latency, s.style); }},
      {{"P99.9", true}, [](W w, S) { return p999_cell(w.latency); }, kWideOnly},
      {{"QUEUE P95", true, 1}, [](W w, S) { return quantile_cell(w.queueing, &TimeSummary::p95); }},
      {{"BATCH", true, 1}, [](W w, S) { return batch_cell(w); }},
      {{"IN SYSTEM", true},
       [](W w, S) { return decimal_unless_zero(w.requests->mean_in_system); },
       kWideOnly},
      {{"GPU TIME", true, 5},
       [](W w, S) { return w.gpu_busy_share > 0 ? percent_text(w.gpu_busy_share) : ""; }},
      {{"BOUND BY", false, 4}, [](W w, S) { return w.bound_by; }},
  };
  return all;
}

const std::vector<ServingMeasure>& token_measures() {
  using W = const WorkloadResult&;
  using S = const Shown&;
  static const sim::Record& tokens = sim::record_of<sim::TokenFigures>();
  static const std::vector<ServingMeasure> all = {
      {{"LANGUAGE MODEL"}, [](W w, S) { return w.name; }},
      {column_of(tokens, "firstTokenSeconds", "p50"),
       [](W w, S) { return quantile_cell(w.tokens->first_token, &TimeSummary::p50); }, kWideOnly},
      {column_of(tokens, "firstTokenSeconds", "p95"),
       [](W w, S s) { return p95_cell(w.tokens->first_token, s.style); }},
      {column_of(tokens, "firstTokenSeconds", "p99"),
       [](W w, S s) { return p99_cell(w.tokens->first_token, s.style); }, kWideOnly},
      {column_of(tokens, "perTokenSeconds", "p50"),
       [](W w, S) { return quantile_cell(w.tokens->per_token, &TimeSummary::p50); }, kWideOnly},
      {column_of(tokens, "perTokenSeconds", "p95"),
       [](W w, S s) { return p95_cell(w.tokens->per_token, s.style); }},
      {column_of(tokens, "perTokenSeconds", "p99"),
       [](W w, S s) { return p99_cell(w.tokens->per_token, s.style); }, kWideOnly},
      {column_of(tokens, "outputPerSecond"),
       [](W w, S) { return decimal_text(w.tokens->output_per_second); }},
      {{"PROMPT", true, 3}, [](W w, S) { return tokens_per_request(w.tokens->input_tokens, w); }},
      {{"ANSWER", true, 3}, [](W w, S) { return tokens_per_request(w.tokens->output_tokens, w); }},
      {column_of(tokens, "kvCachePeakRatio"),
       [](W w, S) {
         return w.tokens->kv_cache.count > 0 ? percent_text(w.tokens->kv_cache_peak) : "";
       }},
      {column_of(tokens, "kvCacheBytes"),
       [](W w, S) { return w.tokens->kv_cache.count > 0 ? memory_text(w.tokens->kv_cache) : ""; },
       kWideOnly},
      {column_of(tokens, "prefixHitRatio"),
       [](W w, S) { return w.tokens->prefix_hits > 0 ? percent_text(w.tokens->prefix_hits) : ""; }},
      {column_of(tokens, "wakeUps"), [](W w, S) { return count_unless_zero(w.tokens->wake_ups); }},
      {column_of(tokens, "awakeRatio"),
       [](W w, S) { return w.tokens->awake ? percent_text(*w.tokens->awake) : ""; }},
      {column_of(tokens, "adapterLoads"),
       [](W w, S) { return count_unless_zero(w.tokens->adapter_loads); }},
      {column_of(tokens, "preemptions"),
       [](W w, S) { return count_unless_zero(w.tokens->preemptions); }},
      {column_of(tokens, "perMillionOutputUsd"),
       [](W w, S) { return money_or_nothing(w.tokens->per_million_output); }},
  };
  return all;
}

const std::vector<ServingMeasure>& scaling_measures() {
  using W = const WorkloadResult&;
  using S = const Shown&;
  static const sim::Record& scaling = sim::record_of<sim::ScalingFigures>();
  static const std::vector<ServingMeasure> all = {
      {{"AUTOSCALED"}, [](W w, S) { return w.name; }},
      {column_of(scaling, "replicasMean"),
       [](W w, S) { return decimal_text(w.scaling->mean_replicas); }},
      {column_of(scaling, "replicasMax"),
       [](W w, S) { return fmt::format("{}", w.scaling->max_replicas); }},
      {column_of(scaling, "scaleUps"), [](W w, S) { return count_text(w.scaling->scale_ups); }},
      {column_of(scaling, "scaleDowns"), [](W w, S) { return count_text(w.scaling->scale_downs); }},
      {column_of(scaling, "startUpSeconds", "p50"),
       [](W w, S) { return quantile_cell(w.scaling->start_up, &TimeSummary::p50); }, kWideOnly},
      {column_of(scaling, "startUpSeconds", "p95"),
       [](W w, S) { return quantile_cell(w.scaling->start_up, &TimeSummary::p95); }},
  };
  return all;
}

const std::vector<ServingMeasure>& notebook_measures() {
  using W = const WorkloadResult&;
  using S = const Shown&;
  static const sim::Record& notebooks = sim::record_of<sim::NotebookFigures>();
  static const std::vector<ServingMeasure> all = {
      {{"NOTEBOOKS"}, [](W w, S) { return w.name; }},
      {column_of(notebooks, "users"), [](W w, S) { return fmt::format("{}", w.notebooks->users); }},
      {column_of(notebooks, "sessions"), [](W w, S) { return count_text(w.notebooks->sessions); }},
      {column_of(notebooks, "cells"), [](W w, S) { return count_text(w.notebooks->cells); },
       kWideOnly},
      {column_of(notebooks, "culled"),
       [](W w, S) { return count_unless_zero(w.notebooks->culled); }},
      {column_of(notebooks, "gaveUp"),
       [](W w, S) { return count_unless_zero(w.notebooks->gave_up); }},
      {column_of(notebooks, "sessionStartSeconds", "p95"),
       [](W w, S) { return quantile_cell(w.notebooks->session_start, &TimeSummary::p95); }},
      {column_of(notebooks, "cellSlowdown", "p95"),
       [](W w, S) {
         const auto& slowdown = w.notebooks->cell_slowdown;
         return slowdown ? fmt::format("{:.2f}", slowdown->p95) : "";
       }},
      {column_of(notebooks, "oomPerUserMonth"),
       [](W w, S) { return fmt::format("{:.2f}", w.notebooks->oom_per_user_month); }},
      {column_of(notebooks, "waitingPerUserMonthSeconds"),
       [](W w, S) { return duration_text(from_seconds(w.notebooks->waiting_per_user_month_s)); }},
      {column_of(notebooks, "perActiveUserMonthUsd"),
       [](W w, S) { return money_or_nothing(w.notebooks->per_active_user_month); }},
  };
  return all;
}

struct ServingTable {
  const std::vector<ServingMeasure>& measures;
  bool (*has_row)(const WorkloadResult& workload);
};

ServingTable table_of(ServingBlock block) {
  switch (block) {
    case ServingBlock::Requests:
      return {request_measures(), [](const auto& w) { return w.requests.has_value(); }};
    case ServingBlock::Tokens:
      return {token_measures(), [](const auto& w) { return w.tokens.has_value(); }};
    case ServingBlock::Scaling:
      return {scaling_measures(), [](const auto& w) { return w.scaling.has_value(); }};
    case ServingBlock::Notebooks:
      break;
  }
  return {notebook_measures(), [](const auto& w) { return w.notebooks.has_value(); }};
}

}  // namespace

std::string share_in_slo(const WorkloadResult& w) {
  if (!w.requests || w.objectives.empty()) return "";
  const sim::RequestCounts& r = *w.requests;
  const double decided = r.answered + r.refused + r.dropped + r.timed_out;
  return decided > 0 ? fmt::format("{:.2f}%", 100 * r.in_objectives / decided) : "";
}

std::vector<Column> serving_columns(ServingBlock block, bool every) {
  std::vector<Column> columns;
  for (const ServingMeasure& m : table_of(block).measures) {
    if (every || !m.wide_only) columns.push_back(m.column);
  }
  return columns;
}

Rows serving_rows(ServingBlock block, const VariantResult& variant, const TextStyle& style,
                  bool every, std::int64_t seconds) {
  const ServingTable table = table_of(block);
  Rows rows;
  for (const WorkloadResult* w : shown(variant, every)) {
    if (!table.has_row(*w)) continue;
    std::vector<Cell>& row = rows.emplace_back();
    for (const ServingMeasure& m : table.measures) {
      if (every || !m.wide_only) row.push_back(m.cell(*w, {style, seconds}));
    }
  }
  return rows;
}

}  // namespace slicewise::reports
