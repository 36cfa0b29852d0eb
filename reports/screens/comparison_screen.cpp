#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../document/documents.hpp"
#include "../text/text_table.hpp"
#include "comparison_words.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "screen.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::ComparedOption;
using sim::ReplicaChoice;
using sim::StrategyComparison;
using sim::TimeSummary;
using sim::WorkloadResult;

// "" when the option has nothing to show in this column.
using OptionCell = std::function<std::string(const ComparedOption&)>;

struct OptionMeasure {
  Column column;
  OptionCell cell;
};

// The workload that is worst off. `times_of`: nullptr where it has none.
template <class TimesOf>
OptionCell worst_of(TimesOf times_of, Duration TimeSummary::*quantile) {
  return [=](const ComparedOption& option) -> std::string {
    const TimeSummary* slowest = nullptr;
    for (const WorkloadResult& workload : option.result.workloads) {
      const TimeSummary* times = times_of(workload);
      if (times == nullptr || times->count == 0) continue;
      if (slowest == nullptr || times->*quantile > slowest->*quantile) slowest = times;
    }
    return slowest == nullptr ? "" : duration_text(slowest->*quantile);
  };
}

OptionCell worst(std::optional<TimeSummary> WorkloadResult::*field,
                 Duration TimeSummary::*quantile) {
  return worst_of(
      [=](const WorkloadResult& workload) {
        return workload.*field ? &*(workload.*field) : nullptr;
      },
      quantile);
}

// Of language models.
OptionCell worst_of_tokens(std::optional<TimeSummary> sim::TokenFigures::*field) {
  return worst_of(
      [=](const WorkloadResult& workload) {
        const bool has_it = workload.tokens && (*workload.tokens).*field;
        return has_it ? &*((*workload.tokens).*field) : nullptr;
      },
      &TimeSummary::p95);
}

bool any_workload(const StrategyComparison& comparison,
                  const std::function<bool(const WorkloadResult&)>& has) {
  return std::ranges::any_of(comparison.options, [&](const ComparedOption& option) {
    return std::ranges::any_of(option.result.workloads, has);
  });
}

bool is_service(const WorkloadResult& workload) { return workload.kind == "Service"; }
bool is_pipeline(const WorkloadResult& workload) { return workload.kind == "Pipeline"; }
bool is_batch(const WorkloadResult& workload) {
  return !is_service(workload) && !is_pipeline(workload);
}

double units_per_second(const ComparedOption& option) {
  double rate = 0;
  for (const WorkloadResult& workload : option.result.workloads) {
    if (is_batch(workload)) rate += workload.throughput_per_second;
  }
  return rate;
}

// As users count them: a request of a pipeline once, whatever the number of its stages.
double requests_in_slo(const ComparedOption& option) {
  double rate = 0;
  for (const WorkloadResult& workload : option.result.workloads) {
    if (is_batch(workload) || workload.is_stage) continue;
    rate += workload.goodput_per_second;
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
  unit = upper_case(unit);
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
OptionMeasure price(Column column,
                    std::function<std::optional<Usd>(const ComparedOption&)> amount) {
  return {std::move(column), [amount = std::move(amount)](const ComparedOption& option) {
            const std::optional<Usd> usd = amount(option);
            return usd ? money_text(*usd).substr(1) : "";
          }};
}

const sim::Record& option_prices() {
  return sim::record_of<ComparedOption>().find("cost")->inner();
}

// A mix of workloads is judged by hours of work: the other prices are the first to go.
std::vector<OptionMeasure> option_price_measures(const StrategyComparison& comparison, bool mixed) {
  const bool objectives =
      any_workload(comparison, [](const WorkloadResult& w) { return !w.objectives.empty(); });
  const int last = mixed ? 5 : 0;
  std::vector<OptionMeasure> measures{
      price(column_of(option_prices(), "usdPerHour"),
            [](const ComparedOption& o) { return o.price.per_hour; }),
      price(price_column("perJobUsd", last),
            [](const ComparedOption& o) { return o.result.cost.per_job; }),
      price(request_price_column(objectives, last),
            [](const ComparedOption& o) { return o.result.cost.per_1k_requests_in_slo; })};
  if (mixed) {
    measures.push_back(price(column_of(option_prices(), "perWorkHourUsd"),
                             [](const ComparedOption& o) { return o.per_work_hour; }));
  }
  return measures;
}

std::vector<OptionMeasure> isolation_measures() {
  const auto isolation = [](const ComparedOption& option) { return isolation_of(option); };
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
      {{"NODES"}, [](const ComparedOption& o) { return nodes_text(o.configuration); }},
      {{"STRATEGY", false, kNeverDropped}, option_title},
      {{"RUN/PEND", true, 6}, [](const ComparedOption& o) {
         return fmt::format("{}/{}", o.result.pods.running_max, o.result.pods.pending_max);
       }}};
  measures.push_back({{"P99", true}, worst(&WorkloadResult::latency, &TimeSummary::p99)});
  measures.push_back({{"TTFT P95", true, 2}, worst_of_tokens(&sim::TokenFigures::first_token)});
  measures.push_back({{"TPOT P95", true, 2}, worst_of_tokens(&sim::TokenFigures::per_token)});
  measures.push_back(
      {{"JOB P95", true, 1}, worst(&WorkloadResult::job_completion, &TimeSummary::p95)});
  if (services) measures.push_back(request_rate(comparison));
  if (batch) measures.push_back(batch_rate(comparison));
  measures.push_back(
      {{"BUSY", true, 3}, [](const ComparedOption& o) { return percent_text(o.gpu_busy_ratio); }});
  for (OptionMeasure& m : option_price_measures(comparison, mixed)) {
    measures.push_back(std::move(m));
  }
  measures.push_back(
      {{"BOUND BY", false, 7}, [](const ComparedOption& o) { return sim::bounds_of(o.result); }});
  if (wide) {
    for (OptionMeasure& m : isolation_measures()) measures.push_back(std::move(m));
  }
  measures.push_back({{"VERDICT"}, verdict_of});
  return measures;
}

std::string replicas_text(const ReplicaChoice& choice) {
  const bool full = choice.rule == ReplicaChoice::Rule::GpuMemory;
  return fmt::format("{} {}{}", choice.instance_type, choice.replicas,
                     full ? " (GPU memory does not hold all)" : "");
}

std::string replicas_rule(const StrategyComparison& comparison) {
  const ReplicaChoice& first = comparison.replicas.front();
  if (first.rule == ReplicaChoice::Rule::Asked) {
    return fmt::format("pods per shared GPU: {}, as asked", first.replicas);
  }
  if (first.rule == ReplicaChoice::Rule::Scenario) {
    return fmt::format("pods per shared GPU (--replicas): {}, as in the scenario", first.replicas);
  }
  std::string text;
  for (const ReplicaChoice& choice : comparison.replicas) add_name(text, replicas_text(choice));
  return "pods per shared GPU (--replicas), if one node held all of them: " + text;
}

std::string replicas_note(const StrategyComparison& comparison) {
  std::string fewer;
  for (const ReplicaChoice& choice : comparison.replicas) {
    if (choice.mps_replicas == choice.replicas) continue;
    add_name(fewer, fmt::format("{} {}", choice.instance_type, choice.mps_replicas));
  }
  std::string rule = replicas_rule(comparison);
  if (fewer.empty()) return rule;
  return rule + "; with MPS, which cuts the memory in equal shares: " + fewer;
}

// Sharing cannot help where every pod has a GPU for itself anyway.
void add_room_notes(const StrategyComparison& comparison, std::vector<std::string>& lines) {
  const bool some_take_several = std::ranges::any_of(
      comparison.options, [](const ComparedOption& o) { return o.configuration.unshared > 0; });
  if (some_take_several) return;
  for (const std::string& type : comparison.instance_types) {
    const auto option = std::ranges::find_if(comparison.options, [&](const ComparedOption& o) {
      return !o.yours && o.configuration.instance_type == type;
    });
    if (option == comparison.options.end()) continue;
    const int gpus = option->result.node_pools.front().gpus_per_node;
    const double pods = option->result.pods.submitted;
    if (gpus < 2 || gpus < pods) continue;
    lines.push_back(fmt::format("{} has {} GPUs for {}: none needs to share", type, gpus,
                                pods_text(option->result)));
  }
}

// Of those notes of the runs that say where figures come from.
bool is_about_inputs(const Diagnostic& d, bool full) {
  return d.code == Code::InstanceRetired || d.code == Code::PriceDerived ||
         (full && d.code == Code::ProfileScaled);
}

// "PROFILE_SCALED: 6 figures carried over to other GPUs by the roofline rule".
void add_scaled_count(const StrategyComparison& comparison, std::vector<std::string>& lines) {
  std::vector<std::string> messages;
  for (const ComparedOption& option : comparison.options) {
    for (const Diagnostic& d : option.result.findings) {
      if (d.code != Code::ProfileScaled) continue;
      if (std::ranges::find(messages, d.message) == messages.end()) {
        messages.push_back(d.message);
      }
    }
  }
  if (messages.empty()) return;
  lines.push_back(fmt::format(
      "{}: {} carried over to other GPUs by the roofline rule (-o wide)",
      info(Code::ProfileScaled).name,
      messages.size() == 1 ? std::string("a figure") : fmt::format("{} figures", messages.size())));
}

bool is_mixed(const StrategyComparison& comparison) {
  return !comparison.options.empty() &&
         work_of(comparison.options.front().result) == WorkKind::Mixed;
}

bool has_hami(const StrategyComparison& comparison) {
  return std::ranges::any_of(comparison.options, [](const ComparedOption& option) {
    return !option.yours && option.configuration.strategy == sim::Strategy::Hami;
  });
}

bool has_other_than_stock(const StrategyComparison& comparison) {
  return std::ranges::any_of(comparison.options, [](const ComparedOption& o) {
    return !o.by_dra && !sim::is_stock(o.configuration.strategy);
  });
}

Cells option_cells(const StrategyComparison& comparison, const TextStyle& style, bool wide) {
  return measured_cells(comparison.options, measures_of(comparison, wide), style);
}

Cells isolation_cells() {
  Cells table{{{"STRATEGY"}, {"MEMORY"}, {"COMPUTE"}, {"FAULT"}, {"MEANS"}}, {}};
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

// Ways of sharing whose price of the same work is as near to that of whole GPUs as half of such
// answers are off: which is cheaper is not known.
void add_unsure_gains(const StrategyComparison& comparison, std::vector<std::string>& lines) {
  const auto is_other = [](const ComparedOption& o) { return !o.yours && o.per_work_hour; };
  for (const ComparedOption& whole : comparison.options) {
    if (!is_other(whole) || whole.configuration.strategy != sim::Strategy::Exclusive) continue;
    std::string unsure;
    for (const ComparedOption& shared : comparison.options) {
      const auto& errors = shared.result.expected_errors;
      if (!is_other(shared) || errors.empty() ||
          shared.configuration.instance_type != whole.configuration.instance_type) {
        continue;
      }
      const double off = static_cast<double>(shared.per_work_hour->nano) /
                             static_cast<double>(whole.per_work_hour->nano) -
                         1;
      if (!models::may_be_gain_or_loss(off, errors.front())) continue;
      add_name(unsure, fmt::format("{} ({:+.1f} %)", option_title(shared), 100 * off));
    }
    if (unsure.empty()) continue;
    std::string line = fmt::format(
        "{}: may be gain or loss against whole GPUs, the price of the same work is as near "
        "as half of such answers are off: {}",
        whole.configuration.instance_type, unsure);
    if (!contains(lines, line)) lines.push_back(std::move(line));
  }
}

std::vector<std::string> comparison_notes(const StrategyComparison& comparison, bool full) {
  std::vector<std::string> lines;
  lines.push_back(comparison.nodes
                      ? fmt::format("nodes: {}, as asked", *comparison.nodes)
                      : std::string("nodes (--nodes): as few as hold all pods at once"));
  if (!comparison.replicas.empty()) lines.push_back(replicas_note(comparison));
  add_room_notes(comparison, lines);
  add_unsure_gains(comparison, lines);
  if (has_hami(comparison)) {
    lines.emplace_back("HAMi: each pod asks for an equal nvidia.com/gpumem, without gpucores");
  }
  if (has_other_than_stock(comparison)) {
    lines.emplace_back("not stock: no setting of the device plugin uncaps MPS; never the best");
  }
  if (comparison.sampled_inputs) lines.emplace_back("inputs: each run drew its own");
  if (is_mixed(comparison)) {
    lines.emplace_back(
        column_of(option_prices(), "perWorkHourUsd").header +
        ": dollars for an hour of work, that is for what a pod alone on the GPU it was "
        "measured on does in an hour, counted within the objectives");
  }
  for (const Diagnostic& d : comparison.notes) lines.push_back(finding_text(d));
  if (!full) add_scaled_count(comparison, lines);
  std::vector<sim::VariantResult> variants;
  for (const ComparedOption& option : comparison.options) {
    sim::VariantResult& variant = variants.emplace_back();
    variant.provenance = option.result.provenance;
    variant.cost = option.result.cost;
    for (const Diagnostic& d : option.result.findings) {
      if (is_about_inputs(d, full)) variant.findings.push_back(d);
    }
  }
  if (std::string prices = price_note(variants); !prices.empty()) {
    lines.push_back(std::move(prices));
  }
  if (!full && !comparison.options.empty()) {
    const std::size_t refused = comparison.refused.size();
    lines.push_back((refused == 0 ? std::string() : counted(refused, "refused option") + ", ") +
                    "isolation between pods: -o wide");
  }
  for (std::string& line : note_lines(variants, full)) lines.push_back(std::move(line));
  return lines;
}

ScreenPart refused_part(const StrategyComparison& comparison, Detail detail) {
  ScreenPart part{.heading = "REFUSED", .folded = "Refused"};
  for (const RefusalGroup& group : refusal_groups(comparison)) {
    if (detail == Detail::Comment) {
      part.sentences.push_back(
          {fmt::format(" on {}: {}", group.instances, group.reason), {group.strategies}});
    } else {
      part.sentences.push_back({group.strategies + " on " + group.instances});
      part.sentences.push_back({.text = group.reason, .indent = 2, .hanging = 0});
    }
  }
  const bool forcible =
      std::ranges::any_of(comparison.refused, [](const sim::RefusedOption& refused) {
        return refused.code == Code::MpsOnMig || refused.code == Code::VgpuNotOnEks;
      });
  if (forcible && detail != Detail::Comment) {
    part.sentences.push_back(
        {fmt::format("--force simulates what is refused by {} and {}", info(Code::MpsOnMig).name,
                     info(Code::VgpuNotOnEks).name)});
  }
  return part;
}

ScreenPart warnings_part(const StrategyComparison& comparison) {
  ScreenPart part{.heading = "WARNINGS"};
  for (const ComparedOption& option : comparison.options) {
    bool named = false;
    for (const Diagnostic& d : option.result.findings) {
      if (d.severity == Severity::Note) continue;
      if (!named) {
        part.sentences.push_back(
            {fmt::format("{}, {}", nodes_text(option.configuration), option_title(option))});
      }
      named = true;
      part.sentences.push_back({.text = finding_text(d), .indent = 2});
    }
  }
  return part;
}

// What a GPU of the best option holds; without one, of the scenario's own.
ScreenPart option_rooms(const StrategyComparison& comparison) {
  const auto& options = comparison.options;
  auto shown = std::ranges::find_if(options, &ComparedOption::best);
  if (shown == options.end()) shown = std::ranges::find_if(options, &ComparedOption::yours);
  if (shown == options.end()) return {};
  const sim::VariantRooms rooms{"", shown->result.rooms, ""};
  std::vector<Sentence> sentences = sentences_of(sim::room_lines({&rooms, 1}));
  for (Sentence& sentence : sentences) {
    sentence.text = fmt::format("{}, {}: {}", shown->configuration.instance_type,
                                option_title(*shown), sentence.text);
  }
  return {.sentences = std::move(sentences)};
}

}  // namespace

Screen screen_of(const StrategyComparison& comparison, const TextStyle& style, Detail detail) {
  Screen screen{
      comparison.stamp.scenario,
      comparison.interrupted ? "INTERRUPTED: options without a finished run are left out" : "",
      comparison_heading(comparison)};
  screen.parts.push_back(option_rooms(comparison));
  if (!comparison.options.empty()) {
    screen.parts.push_back({.table = option_cells(comparison, style, detail == Detail::Wide)});
  } else if (detail != Detail::Comment) {
    screen.parts.push_back({.sentences = {{"No option can run the workloads."}}});
  }
  screen.parts.push_back(
      {.sentences = sentences_of(recommendation_lines(comparison)), .is_answer = true});
  if (detail != Detail::Brief) {
    screen.parts.push_back({.heading = "ISOLATION between pods on one GPU",
                            .table = isolation_cells(),
                            .indent = 2,
                            .folded = "Isolation between pods on one GPU"});
  }
  // Where nothing else can be had the reasons are the answer.
  const bool any_offered = !std::ranges::all_of(comparison.options, &sim::ComparedOption::yours);
  if (detail != Detail::Brief || !any_offered) {
    screen.parts.push_back(refused_part(comparison, detail));
  }
  if (detail == Detail::Wide) screen.parts.push_back(warnings_part(comparison));
  screen.parts.push_back(notes_part(comparison_notes(comparison, detail != Detail::Brief)));
  std::vector<int> runs;
  for (const ComparedOption& option : comparison.options)
    runs.push_back(option.result.replications);
  screen.origin = origin_line(comparison.stamp, runs, false, style);
  return screen;
}

}  // namespace slicewise::reports
