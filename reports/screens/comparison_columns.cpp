#include "comparison_columns.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "slicewise/sim/isolation.hpp"

#include "comparison_words.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::ComparedOption;
using sim::StrategyComparison;
using sim::TimeSummary;
using sim::WorkloadResult;

// "" when the option has nothing to show in this column.
using OptionCell = std::function<std::string(const ComparedOption&)>;

struct OptionMeasure {
  Column column;
  OptionCell cell;
};

// The workload that is worst off.
OptionCell worst(std::optional<TimeSummary> WorkloadResult::*field,
                 Duration TimeSummary::*quantile) {
  return [=](const ComparedOption& option) -> std::string {
    const TimeSummary* slowest = nullptr;
    for (const WorkloadResult& workload : option.result.workloads) {
      const std::optional<TimeSummary>& times = workload.*field;
      if (!times || times->count == 0) continue;
      if (slowest == nullptr || (*times).*quantile > slowest->*quantile) slowest = &*times;
    }
    return slowest == nullptr ? "" : duration_text(slowest->*quantile);
  };
}

bool any_workload(const StrategyComparison& comparison,
                  const std::function<bool(const WorkloadResult&)>& has) {
  return std::any_of(
      comparison.options.begin(), comparison.options.end(), [&](const ComparedOption& option) {
        return std::any_of(option.result.workloads.begin(), option.result.workloads.end(), has);
      });
}

bool is_service(const WorkloadResult& workload) { return workload.kind == "Service"; }
bool is_batch(const WorkloadResult& workload) { return !is_service(workload); }

double units_per_second(const ComparedOption& option) {
  double rate = 0;
  for (const WorkloadResult& workload : option.result.workloads) {
    if (is_batch(workload)) rate += workload.throughput_per_second;
  }
  return rate;
}

double requests_in_slo(const ComparedOption& option) {
  double rate = 0;
  for (const WorkloadResult& workload : option.result.workloads) {
    if (is_service(workload)) rate += workload.goodput_per_second;
  }
  return rate;
}

std::string figure(double value) {
  return with_thousands(fmt::format("{:.{}f}", value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0)));
}

// "EPOCH/H": the unit that all batch workloads count in, else UNITS.
OptionMeasure batch_rate(const StrategyComparison& comparison) {
  std::string unit;
  double fastest = 0;
  for (const ComparedOption& option : comparison.options) {
    fastest = std::max(fastest, units_per_second(option));
    for (const WorkloadResult& workload : option.result.workloads) {
      if (!is_batch(workload)) continue;
      unit = unit.empty() || unit == workload.unit_name ? workload.unit_name : "units";
    }
  }
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  const bool per_second = fastest >= 1;
  return {{unit + (per_second ? "/S" : "/H"), true, 2}, [=](const ComparedOption& option) {
            return figure(units_per_second(option) * (per_second ? 1 : 3600));
          }};
}

OptionMeasure request_rate(const StrategyComparison& comparison) {
  const bool objectives =
      any_workload(comparison, [](const WorkloadResult& w) { return !w.objectives.empty(); });
  return {{objectives ? "IN SLO/S" : "REQ/S", true, 4},
          [](const ComparedOption& option) { return figure(requests_in_slo(option)); }};
}

// Amounts without the sign, which stands in the header.
OptionMeasure price(std::string header, int priority,
                    std::function<std::optional<Usd>(const ComparedOption&)> amount) {
  return {{std::move(header), true, priority},
          [amount = std::move(amount)](const ComparedOption& option) {
            const std::optional<Usd> usd = amount(option);
            return usd ? money_text(*usd).substr(1) : "";
          }};
}

// A mix of workloads is judged by hours of work: the other prices are the first to go.
std::vector<OptionMeasure> option_price_measures(const StrategyComparison& comparison, bool mixed) {
  const bool objectives =
      any_workload(comparison, [](const WorkloadResult& w) { return !w.objectives.empty(); });
  std::vector<OptionMeasure> measures{
      price("$/H", 0, [](const ComparedOption& o) { return o.price.per_hour; }),
      price("$/JOB", mixed ? 5 : 0, [](const ComparedOption& o) { return o.result.cost.per_job; }),
      price(objectives ? "$/1K IN SLO" : "$/1K REQ", mixed ? 5 : 0,
            [](const ComparedOption& o) { return o.result.cost.per_1k_requests_in_slo; })};
  if (mixed) {
    measures.push_back(
        price("$/WORK-H", 0, [](const ComparedOption& o) { return o.per_work_hour; }));
  }
  return measures;
}

// What the workload that is slowed down most waits for.
std::string bound_by(const ComparedOption& option) {
  std::string names;
  for (const WorkloadResult& workload : option.result.workloads) {
    if (workload.bound_by.empty() || names.find(workload.bound_by) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + workload.bound_by;
  }
  return names;
}

std::vector<OptionMeasure> isolation_measures() {
  const auto isolation = [](const ComparedOption& option) {
    return sim::isolation_of(option.configuration.strategy);
  };
  return {
      {{"MEMORY"},
       [=](const ComparedOption& o) { return std::string(sim::level_name(isolation(o).memory)); }},
      {{"COMPUTE"},
       [=](const ComparedOption& o) { return std::string(sim::level_name(isolation(o).compute)); }},
      {{"FAULT"},
       [=](const ComparedOption& o) { return std::string(sim::level_name(isolation(o).fault)); }}};
}

std::vector<OptionMeasure> measures_of(const StrategyComparison& comparison, bool wide) {
  const bool batch = any_workload(comparison, is_batch);
  const bool services = any_workload(comparison, is_service);
  const bool mixed =
      !comparison.options.empty() && work_of(comparison.options.front().result) == WorkKind::Mixed;
  std::vector<OptionMeasure> measures{
      {{"NODES"},
       [](const ComparedOption& o) {
         return fmt::format("{} x {}", o.configuration.nodes, o.configuration.instance_type);
       }},
      {{"STRATEGY"}, [](const ComparedOption& o) { return configuration_title(o.configuration); }},
      {{"RUN/PEND", true, 6}, [](const ComparedOption& o) {
         return fmt::format("{}/{}", o.result.pods.running_max, o.result.pods.pending_max);
       }}};
  measures.push_back({{"P99", true}, worst(&WorkloadResult::latency, &TimeSummary::p99)});
  measures.push_back(
      {{"JOB P95", true, 1}, worst(&WorkloadResult::job_completion, &TimeSummary::p95)});
  if (services) measures.push_back(request_rate(comparison));
  if (batch) measures.push_back(batch_rate(comparison));
  measures.push_back(
      {{"BUSY", true, 3}, [](const ComparedOption& o) { return percent_text(o.gpu_busy_ratio); }});
  for (OptionMeasure& m : option_price_measures(comparison, mixed)) {
    measures.push_back(std::move(m));
  }
  measures.push_back({{"BOUND BY", false, 7}, bound_by});
  if (wide) {
    for (OptionMeasure& m : isolation_measures()) measures.push_back(std::move(m));
  }
  measures.push_back({{"VERDICT"}, verdict_of});
  return measures;
}

}  // namespace

Cells option_cells(const StrategyComparison& comparison, const TextStyle& style, bool wide) {
  Cells table;
  table.rows.resize(comparison.options.size());
  for (const OptionMeasure& measure : measures_of(comparison, wide)) {
    std::vector<std::string> cells;
    for (const ComparedOption& option : comparison.options) cells.push_back(measure.cell(option));
    const bool empty =
        std::all_of(cells.begin(), cells.end(), [](const std::string& c) { return c.empty(); });
    if (empty) continue;
    table.columns.push_back(measure.column);
    for (std::size_t row = 0; row < cells.size(); ++row) {
      table.rows[row].push_back(cells[row].empty() ? std::string(signs(style).none) : cells[row]);
    }
  }
  return table;
}

Cells isolation_cells() {
  Cells table{{{"STRATEGY"}, {"MEMORY"}, {"COMPUTE"}, {"FAULT"}, {"MEANS", false, 1}}, {}};
  for (const sim::Strategy strategy : sim::kStrategies) {
    const sim::Isolation isolation = sim::isolation_of(strategy);
    const bool limit = isolation.memory == sim::Isolation::Memory::ProcessLimit;
    table.rows.push_back(
        {strategy_title(strategy),
         limit ? "limit per process" : std::string(sim::level_name(isolation.memory)),
         std::string(sim::level_name(isolation.compute)),
         std::string(sim::level_name(isolation.fault)), std::string(isolation_meaning(strategy))});
  }
  return table;
}

}  // namespace slicewise::reports
