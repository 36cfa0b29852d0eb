#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "result_verdict.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

using sim::InflationStudy;
using sim::ReplayOutcome;
using sim::ReplayResult;
using sim::ReplayStudy;

std::string whole_text(std::int64_t count) { return with_thousands(std::to_string(count)); }

std::string mean_text(const sim::Histogram& times) {
  return times.count() > 0 ? duration_text(times.mean()) : "-";
}

std::string quantile_text(const sim::Histogram& times, double q) {
  return times.count() > 0 ? duration_text(times.quantile(q)) : "-";
}

bool any_preempted(const ReplayStudy& study) {
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (outcome.result.preemptions > 0) return true;
  }
  return false;
}

bool any_perfect_estimates(const ReplayStudy& study) {
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (outcome.result.perfect_estimates) return true;
  }
  return false;
}

bool any_ideal(const ReplayStudy& study) {
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (outcome.scheduling.queue == sim::QueuePolicy::ShortestTime ||
        outcome.scheduling.queue == sim::QueuePolicy::ShortestService) {
      return true;
    }
  }
  return false;
}

std::string replay_alarm(bool interrupted) {
  return interrupted ? "INTERRUPTED: jobs that had not ended by then are missing" : "";
}

std::string scheduler_name(const ReplayStudy& study, const sim::Scheduling& scheduling) {
  const std::string queue(sim::policy_name(scheduling.queue));
  return study.on_nodes ? fmt::format("{}, {}", queue, sim::policy_name(scheduling.placement))
                        : queue;
}

std::string replay_heading(const ReplayStudy& study) {
  const std::int64_t jobs = study.outcomes.empty() ? 0 : study.outcomes.front().result.jobs;
  const std::string repeated =
      study.repeat > 1 ? fmt::format(" (the trace {} times)", study.repeat) : "";
  return fmt::format("{}: {} jobs{} on {}", study.origin.stamp.scenario_file, whole_text(jobs),
                     repeated, study.origin.cluster);
}

Cells scheduler_cells(const ReplayStudy& study) {
  Cells cells;
  cells.columns = {{"QUEUE"}};
  if (study.on_nodes) cells.columns.push_back({"PLACEMENT"});
  const bool preempted = any_preempted(study);
  for (const Column& column :
       {Column{"FINISHED", true, 5}, Column{"WAIT MEAN", true, 0}, Column{"P50", true, 4},
        Column{"P90", true, 6}, Column{"P99", true, 0}, Column{"AT ONCE", true, 3},
        Column{"COMPLETION MEAN", true, 0}, Column{"MAKESPAN", true, 1}, Column{"GPU USE", true, 1},
        Column{"PEAK GPUS", true, 2}, Column{"LONGEST QUEUE", true, 7}}) {
    cells.columns.push_back(column);
  }
  if (preempted) cells.columns.push_back({"PREEMPTED", true, 2});
  if (study.origin.price) cells.columns.push_back({"COST", true, 0});
  for (const ReplayOutcome& outcome : study.outcomes) {
    const ReplayResult& r = outcome.result;
    std::vector<Cell> row = {std::string(sim::policy_name(outcome.scheduling.queue))};
    if (study.on_nodes)
      row.emplace_back(std::string(sim::policy_name(outcome.scheduling.placement)));
    const double at_once =
        r.finished > 0 ? static_cast<double>(r.started_at_once) / static_cast<double>(r.finished)
                       : 0;
    for (std::string& cell : std::vector<std::string>{
             whole_text(r.finished), mean_text(r.wait), quantile_text(r.wait, 0.5),
             quantile_text(r.wait, 0.9), quantile_text(r.wait, 0.99), percent_text(at_once),
             mean_text(r.completion), duration_text(r.makespan()), percent_text(r.utilization()),
             count_text(r.peak_gpus), whole_text(r.most_waiting)}) {
      row.push_back(std::move(cell));
    }
    if (preempted) row.push_back(whole_text(r.preemptions));
    if (study.origin.price) row.push_back(outcome.cost ? money_text(*outcome.cost) : "-");
    cells.rows.push_back(std::move(row));
  }
  return cells;
}

Cells size_cells(const ReplayOutcome& outcome) {
  Cells cells;
  cells.columns = {
      {"SIZE"},         {"FINISHED", true, 1}, {"WAIT MEAN", true},      {"P50", true, 2},
      {"P90", true, 3}, {"P99", true},         {"COMPLETION MEAN", true}};
  for (const sim::ReplayClass& size : outcome.result.classes) {
    cells.rows.push_back({size.name, whole_text(size.finished), mean_text(size.wait),
                          quantile_text(size.wait, 0.5), quantile_text(size.wait, 0.9),
                          quantile_text(size.wait, 0.99), mean_text(size.completion)});
  }
  return cells;
}

std::vector<std::string> replay_notes(const ReplayStudy& study) {
  std::vector<std::string> notes;
  for (const Diagnostic& finding : study.findings) {
    notes.push_back(fmt::format("{}: {}", info(finding.code).name, finding.message));
  }
  if (!study.outcomes.empty() && study.outcomes.front().result.without_run > 0) {
    notes.push_back(fmt::format("{} jobs whose run time is not known were left out",
                                whole_text(study.outcomes.front().result.without_run)));
  }
  if (study.run_under_sharing) {
    notes.emplace_back(
        "run times of this trace were measured while jobs shared GPUs: they are lifetimes, not "
        "the work of a job that has its GPUs to itself");
  }
  if (any_perfect_estimates(study)) {
    notes.emplace_back(
        "easy: the trace has no time limits, so backfilling knows the true run times (Assumed)");
  }
  if (any_ideal(study)) {
    notes.emplace_back(
        "srtf, srsf: run times are known and moving a job costs nothing, an ideal that no "
        "cluster reaches");
  }
  if (any_preempted(study)) {
    notes.emplace_back(study.restart_preempted
                           ? "preempted jobs start over"
                           : "preempted jobs go on where they were stopped (Assumed; "
                             "--restart-preempted: they start over)");
  }
  notes.emplace_back(
      "not modelled: start-up of pods and nodes, failures, slowdown by neighbours or by distance");
  return notes;
}

std::string inflation_heading(const InflationStudy& study) {
  return fmt::format("{}: jobs arrive and stay until they ask for {} % of the GPUs of {}",
                     study.origin.stamp.scenario_file, study.target_percent, study.origin.cluster);
}

Cells inflation_cells(const InflationStudy& study) {
  Cells cells;
  cells.columns = {{"PLACEMENT"},
                   {"ALLOCATED", true},
                   {"SD", true, 1},
                   {"SEEDS", true, 3},
                   {"TURNED DOWN", true, 2}};
  for (const sim::InflationOutcome& outcome : study.outcomes) {
    const auto deviation = outcome.standard_deviation();
    std::int64_t failed = 0;
    for (const sim::InflationResult& seed : outcome.by_seed) failed += seed.failed;
    cells.rows.push_back(
        {std::string(sim::policy_name(outcome.placement)),
         fmt::format("{:.2f}%", outcome.mean_allocated_percent()),
         deviation ? fmt::format("{:.2f}", *deviation) : "-",
         std::to_string(outcome.by_seed.size()),
         count_text(static_cast<double>(failed) / static_cast<double>(outcome.by_seed.size()))});
  }
  return cells;
}

std::vector<std::string> inflation_notes(const InflationStudy& study) {
  const sim::Stamp& stamp = study.origin.stamp;
  return {stamp.replications == 1
              ? std::string("one seed; --replications 5 shows how far others differ")
              : fmt::format("mean over {} seeds ({} and on)", stamp.replications, stamp.seed),
          "the experiment of Weng et al., USENIX ATC'23: no job ever leaves, one that fits nowhere "
          "is dropped"};
}

std::string replay_origin(const sim::Stamp& stamp) {
  constexpr std::size_t kHashShown = 12;
  std::string out =
      fmt::format("trace {} (sha256 {}), seed {}, slicewise {}", stamp.scenario_file,
                  stamp.scenario_sha256.substr(0, kHashShown), stamp.seed, stamp.version);
  if (!stamp.price_date.empty()) out += ", prices of " + stamp.price_date;
  if (!stamp.price_file.empty()) {
    out += fmt::format(" ({}, sha256 {})", stamp.price_file,
                       stamp.price_file_sha256.substr(0, kHashShown));
  }
  return out;
}

// Whom each scheduler leaves waiting for good; nothing of those that stand.
std::vector<Sentence> lost_sentences(const ReplayStudy& study, const TextStyle& style) {
  std::vector<Sentence> out;
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (outcome.verdict.stands()) continue;
    out.push_back(
        {fmt::format("{} {}: {}", signs(style).fail, scheduler_name(study, outcome.scheduling),
                     full_reasons(outcome.verdict))});
  }
  return out;
}

Screen replay_screen(const ReplayStudy& study, const TextStyle& style, Detail detail) {
  Screen screen{"", replay_alarm(study.interrupted), replay_heading(study)};
  screen.parts.push_back(
      {.table = scheduler_cells(study), .sentences = lost_sentences(study, style)});
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (detail != Detail::Comment && outcome.result.classes.size() < 2) continue;
    const std::string title = "BY SIZE OF JOB (" + scheduler_name(study, outcome.scheduling) + ")";
    screen.parts.push_back({.heading = title, .table = size_cells(outcome), .folded = title});
    if (detail == Detail::Brief) break;
  }
  screen.parts.push_back(notes_part(replay_notes(study)));
  screen.origin = replay_origin(study.origin.stamp);
  return screen;
}

Screen inflation_screen(const InflationStudy& study) {
  Screen screen{"", replay_alarm(study.interrupted), inflation_heading(study)};
  screen.parts = {{.table = inflation_cells(study)}, notes_part(inflation_notes(study))};
  screen.origin = replay_origin(study.origin.stamp);
  return screen;
}

}  // namespace

std::string replay_table(const ReplayStudy& study, const TextStyle& style, bool wide) {
  return screen_text(replay_screen(study, style, wide ? Detail::Wide : Detail::Brief), style, wide);
}

std::string replay_markdown(const ReplayStudy& study) {
  return screen_markdown(replay_screen(study, kPlain, Detail::Comment));
}

std::string inflation_table(const InflationStudy& study, const TextStyle& style, bool wide) {
  return screen_text(inflation_screen(study), style, wide);
}

std::string inflation_markdown(const InflationStudy& study) {
  return screen_markdown(inflation_screen(study));
}

}  // namespace slicewise::reports
