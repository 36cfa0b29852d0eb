#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "../text/text_table.hpp"
#include "replay_origin.hpp"
#include "result_figures.hpp"
#include "result_verdict.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

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

template <class Says>
bool any_outcome(const ReplayStudy& study, Says says) {
  return std::ranges::any_of(study.outcomes, says);
}

bool any_preempted(const ReplayStudy& study) {
  return any_outcome(study, [](const ReplayOutcome& o) { return o.result.preemptions > 0; });
}

std::string scheduler_name(const ReplayStudy& study, const sim::Scheduling& scheduling) {
  std::string name(scheduling.sharing ? scheduling.sharing->name + ", " : "");
  name += sim::policy_name(scheduling.queue);
  if (study.on_nodes && !sim::interleaves(scheduling.queue)) {
    name += fmt::format(", {}", sim::policy_name(scheduling.placement));
  }
  return name;
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
    if (study.on_nodes) {
      row.emplace_back(sim::interleaves(outcome.scheduling.queue)
                           ? "-"
                           : std::string(sim::policy_name(outcome.scheduling.placement)));
    }
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

std::string ratio_text(double ratio) { return fmt::format("{:.2f}", ratio); }

struct RatioTexts {
  std::string mean = "-";
  std::string p95 = "-";
};

RatioTexts ratio_texts(const sim::RatioHistogram& ratios) {
  if (ratios.count() == 0) return {};
  return {ratio_text(ratios.mean()), ratio_text(ratios.quantile(0.95))};
}

std::string worst_user_text(const sim::SharingFigures& figures) {
  if (figures.users.empty()) return "-";
  const sim::SlowedUser& worst = figures.users.front();
  return fmt::format("{} {}", worst.name, ratio_text(worst.mean_slowdown));
}

// A figure of every outcome that is shown where it says something.
struct SharingColumn {
  Column column;
  bool shown;
  std::string (*text)(const ReplayOutcome&);
};

std::vector<SharingColumn> sharing_columns(const ReplayStudy& study) {
  using O = ReplayOutcome;
  const auto shared = [](const O& o) -> const sim::SharingFigures& { return *o.result.sharing; };
  const sim::Scheduling& first = study.outcomes.front().scheduling;
  const bool queues =
      any_outcome(study, [&](const O& o) { return o.scheduling.queue != first.queue; });
  const bool placements =
      any_outcome(study, [&](const O& o) { return o.scheduling.placement != first.placement; });
  const bool killed = any_outcome(study, [&](const O& o) { return shared(o).oom_killed > 0; });
  const bool refused = any_outcome(study, [&](const O& o) { return shared(o).refused() > 0; });
  return {
      {{"SHARING"}, true, [](const O& o) { return o.scheduling.sharing->name; }},
      {{"QUEUE", false, queues ? kNeverDropped : 8},
       true,
       [](const O& o) { return std::string(sim::policy_name(o.scheduling.queue)); }},
      {{"PLACEMENT", false, placements ? kNeverDropped : 8},
       true,
       [](const O& o) { return std::string(sim::policy_name(o.scheduling.placement)); }},
      {{"FINISHED", true, 0}, true, [](const O& o) { return whole_text(o.result.finished); }},
      {{"OOM-KILLED", true, 1},
       killed,
       [](const O& o) { return whole_text(o.result.sharing->oom_killed); }},
      {{"FAILED", true, 1},
       killed,
       [](const O& o) { return whole_text(o.result.sharing->failed); }},
      {{"FIT NO SHARE", true, 1},
       refused,
       [](const O& o) { return whole_text(o.result.sharing->refused()); }},
      {{"WAIT MEAN", true, 0}, true, [](const O& o) { return mean_text(o.result.wait); }},
      {{"P99", true, 5}, true, [](const O& o) { return quantile_text(o.result.wait, 0.99); }},
      {{"COMPLETION MEAN", true, 0},
       true,
       [](const O& o) { return mean_text(o.result.completion); }},
      {{"P95", true, 6}, true, [](const O& o) { return quantile_text(o.result.completion, 0.95); }},
      {{"P99", true, 7}, true, [](const O& o) { return quantile_text(o.result.completion, 0.99); }},
      {{"SLOWDOWN MEAN", true, 0},
       true,
       [](const O& o) { return ratio_texts(o.result.sharing->slowdown).mean; }},
      {{"P95", true, 1},
       true,
       [](const O& o) { return ratio_texts(o.result.sharing->slowdown).p95; }},
      {{"WORST USER", true, 4},
       true,
       [](const O& o) { return worst_user_text(*o.result.sharing); }},
      {{"BOUNDED MEAN", true, 6},
       true,
       [](const O& o) { return ratio_texts(o.result.sharing->bounded).mean; }},
      {{"P95", true, 7},
       true,
       [](const O& o) { return ratio_texts(o.result.sharing->bounded).p95; }},
      {{"MAKESPAN", true, 2}, true, [](const O& o) { return duration_text(o.result.makespan()); }},
      {{"GPU BUSY", true, 0},
       true,
       [](const O& o) { return percent_text(o.result.sharing->gpu_busy); }},
      {{"SM ACTIVE", true, 3},
       true,
       [](const O& o) { return percent_text(o.result.sharing->sm_active); }},
      {{"SWITCH", true, 5},
       true,
       [](const O& o) { return percent_text(o.result.sharing->switching); }},
      {{"PREEMPTED", true, 6},
       any_preempted(study),
       [](const O& o) { return whole_text(o.result.preemptions); }},
      {{"COST", true, 0}, true, [](const O& o) { return o.cost ? money_text(*o.cost) : "-"; }},
      {{"$/JOB", true, 1},
       true,
       [](const O& o) {
         const auto usd = o.cost_per_job();
         return usd ? money_text(*usd) : "-";
       }},
      {{"GPU-H PER $", true, 3}, true, [](const O& o) {
         const auto hours = o.gpu_hours_per_usd();
         return hours ? short_text(*hours) : "-";
       }}};
}

// One way of sharing below the other.
Cells sharing_cells(const ReplayStudy& study) {
  Cells cells;
  cells.rows.resize(study.outcomes.size());
  for (const SharingColumn& column : sharing_columns(study)) {
    if (!column.shown) continue;
    cells.columns.push_back(column.column);
    for (std::size_t at = 0; at < study.outcomes.size(); ++at) {
      cells.rows[at].emplace_back(column.text(study.outcomes[at]));
    }
  }
  return cells;
}

std::string_view group_word(sim::GroupBy by) {
  constexpr std::string_view kWords[] = {"", "USER", "GROUP", "PROJECT", "SIZE"};
  return kWords[static_cast<std::size_t>(by)];
}

Cells group_cells(const ReplayStudy& study, const ReplayOutcome& outcome, std::size_t most) {
  Cells cells;
  cells.columns = {{std::string(group_word(study.group_by))},
                   {"FINISHED", true, 1},
                   {"WAIT MEAN", true},
                   {"COMPLETION MEAN", true}};
  const bool shared = outcome.result.sharing.has_value();
  const auto& groups = outcome.result.groups;
  const bool lost = std::ranges::any_of(groups, [](const auto& group) { return group.lost > 0; });
  if (lost) cells.columns.insert(cells.columns.begin() + 2, Column{"LOST", true, 1});
  if (shared) {
    cells.columns.push_back({"SLOWDOWN MEAN", true});
    cells.columns.push_back({"P95", true});
  }
  const auto text = [](std::optional<Duration> mean) {
    return mean ? duration_text(*mean) : std::string("-");
  };
  for (const sim::ReplayGroup& group : groups) {
    if (cells.rows.size() == most) break;
    std::vector<Cell> row = {group.name.empty() ? "-" : group.name, whole_text(group.finished)};
    if (lost) row.emplace_back(whole_text(group.lost));
    row.emplace_back(text(group.wait_mean()));
    row.emplace_back(text(group.completion_mean()));
    if (shared) {
      const RatioTexts slowdown = ratio_texts(group.slowdown);
      row.emplace_back(slowdown.mean);
      row.emplace_back(slowdown.p95);
    }
    cells.rows.push_back(std::move(row));
  }
  return cells;
}

ScreenPart group_part(const ReplayStudy& study, const ReplayOutcome& outcome, Detail detail) {
  constexpr std::size_t kMostShown = 10;
  const std::size_t all = outcome.result.groups.size();
  const std::size_t shown = detail == Detail::Brief ? std::min(kMostShown, all) : all;
  const std::string title = fmt::format("BY {} ({})", group_word(study.group_by),
                                        scheduler_name(study, outcome.scheduling));
  ScreenPart part{.heading = title, .table = group_cells(study, outcome, shown), .folded = title};
  if (shown < all) {
    part.sentences = sentences_of(
        {fmt::format("{} more: -o wide", whole_text(static_cast<std::int64_t>(all - shown)))});
  }
  return part;
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

std::string refusal_text(const ReplayOutcome& outcome,
                         const sim::SharingFigures::Refusal& refusal) {
  return fmt::format("{}: {} jobs never ran: {}; the first is {}", outcome.scheduling.sharing->name,
                     whole_text(refusal.jobs), sim::why_turned_away(refusal.reason),
                     refusal.first.text());
}

// Whom a way of sharing turned away, or gave less than was asked for.
void add_refusal_notes(const ReplayStudy& study, std::vector<std::string>& notes) {
  const sim::GpuSharing* last = nullptr;
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (outcome.scheduling.sharing.get() == last) continue;
    last = outcome.scheduling.sharing.get();
    for (const auto& refusal : outcome.result.sharing->refusals) {
      notes.push_back(refusal_text(outcome, refusal));
    }
    const sim::SharingFigures& figures = *outcome.result.sharing;
    if (figures.asked_for_more > 0) {
      notes.push_back(fmt::format(
          "{}: {} jobs asked for more of a GPU than a share of it is, and got one share; the first "
          "is {}",
          last->name, whole_text(figures.asked_for_more), figures.first_asked_for_more.text()));
    }
  }
}

// What was known of the jobs, and what was assumed.
void add_provenance_notes(const sim::JobFigures& known, std::vector<std::string>& notes) {
  const std::string of = " of " + whole_text(known.jobs) + " jobs";
  if (const std::int64_t full = known.jobs - known.with_use - known.with_fraction; full > 0) {
    notes.push_back(
        fmt::format("{}{} do not say how busy they kept their GPUs: all the time, the "
                    "worst case (Assumed)",
                    whole_text(full), of));
  }
  if (known.by_profile > 0) {
    notes.push_back(fmt::format("{}{} have the use of a profile of the catalogue (Assumed)",
                                whole_text(known.by_profile), of));
  }
  if (known.with_fraction > 0) {
    notes.push_back(
        fmt::format("{}{} say what part of a GPU they asked for, not what they used: "
                    "taken for it (Assumed)",
                    whole_text(known.with_fraction), of));
  }
  if (known.with_sm < known.jobs) {
    notes.push_back(
        fmt::format("{}{} do not say how many SMs they used: all while kernels ran, so "
                    "that SM ACTIVE is an upper bound (Assumed)",
                    whole_text(known.jobs - known.with_sm), of));
  }
  if (known.with_memory < known.jobs) {
    notes.push_back(
        fmt::format("{}{} do not say how much GPU memory they need: none but a CUDA "
                    "context (Assumed)",
                    whole_text(known.jobs - known.with_memory), of));
  }
  notes.push_back(
      known.with_gpu == 0
          ? std::string("no job says on which one GPU of the catalogue it ran: times are "
                        "taken as they are")
          : fmt::format("{}{} ran on a GPU of the catalogue: their times are carried "
                        "over by the roofline rule, those of others taken as they are",
                        whole_text(known.with_gpu), of));
}

void add_sharing_notes(const ReplayStudy& study, std::vector<std::string>& notes) {
  const sim::JobFigures& known = study.outcomes.front().result.sharing->known;
  add_refusal_notes(study, notes);
  add_provenance_notes(known, notes);
  notes.emplace_back(
      "a job with one GPU holds one ticket, one with several whole GPUs without company");
  if (known.with_memory > 0) {
    notes.push_back(study.backoff_limit == 0
                        ? std::string("a job that finds no GPU memory left has failed")
                        : fmt::format("a job that finds no GPU memory left is tried again after 10 "
                                      "s, 20 s ... {} times",
                                      study.backoff_limit == scenarios::kBackoffLimit
                                          ? std::string("six")
                                          : whole_text(study.backoff_limit)));
  }
  if (any_outcome(study, [](const ReplayOutcome& o) {
        return o.scheduling.sharing->tickets > 1 &&
               o.scheduling.placement != sim::NodePolicy::LeastAllocated &&
               !sim::knows_sharing(o.scheduling.placement);
      })) {
    notes.emplace_back(
        "jobs fill a GPU before they take the next one: --placement least-allocated spreads them "
        "as "
        "EKS does");
  }
  if (any_outcome(study, [](const ReplayOutcome& o) {
        return o.scheduling.queue == sim::QueuePolicy::Easy;
      })) {
    notes.emplace_back("easy: time limits and run times know nothing of sharing");
  }
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
  if (study.company_taken_out > 0) {
    notes.push_back(fmt::format(
        "what neighbours cost them while they were recorded was taken out of the run times of {} "
        "jobs: the time of a GPU is shared evenly (Assumed)",
        whole_text(study.company_taken_out)));
  }
  if (any_outcome(study, [](const ReplayOutcome& o) { return o.result.perfect_estimates; })) {
    notes.emplace_back(
        "easy: the trace has no time limits, so backfilling knows the true run times (Assumed)");
  }
  if (any_outcome(study, [](const ReplayOutcome& o) {
        return o.scheduling.queue == sim::QueuePolicy::ShortestTime ||
               o.scheduling.queue == sim::QueuePolicy::ShortestService;
      })) {
    notes.emplace_back(
        "srtf, srsf: run times are known and moving a job costs nothing, an ideal that no "
        "cluster reaches");
  }
  if (any_outcome(study,
                  [](const ReplayOutcome& o) { return sim::interleaves(o.scheduling.queue); })) {
    notes.emplace_back(
        "muri, antman: several jobs are on each GPU, so GPU USE may be above 100 %; stopping and "
        "starting a job costs nothing");
  }
  if (any_preempted(study)) {
    notes.emplace_back(study.restart_preempted
                           ? "preempted jobs start over"
                           : "preempted jobs go on where they were stopped (Assumed; "
                             "--restart-preempted: they start over)");
  }
  if (study.shares()) add_sharing_notes(study, notes);
  notes.push_back(fmt::format(
      "not modelled: start-up of pods and nodes, failures, slowdown by {}",
      study.shares() ? "distance or for want of host CPU" : "neighbours or by distance"));
  return notes;
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

Screen with_notes(Screen screen, const ReplayStudy& study) {
  screen.parts.push_back(notes_part(replay_notes(study)));
  screen.origin = replay_origin(study.origin.stamp);
  return screen;
}

Screen replay_screen(const ReplayStudy& study, const TextStyle& style, Detail detail) {
  Screen screen{"", replay_alarm(study.interrupted), replay_heading(study)};
  screen.parts.push_back({.table = study.shares() ? sharing_cells(study) : scheduler_cells(study),
                          .sentences = lost_sentences(study, style)});
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (study.group_by != sim::GroupBy::Nothing) {
      screen.parts.push_back(group_part(study, outcome, detail));
    }
  }
  if (study.group_by != sim::GroupBy::Nothing) return with_notes(std::move(screen), study);
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (detail != Detail::Comment && outcome.result.classes.size() < 2) continue;
    const std::string title = "BY SIZE OF JOB (" + scheduler_name(study, outcome.scheduling) + ")";
    screen.parts.push_back({.heading = title, .table = size_cells(outcome), .folded = title});
    if (detail == Detail::Brief) break;
  }
  return with_notes(std::move(screen), study);
}

}  // namespace

std::string replay_table(const ReplayStudy& study, const TextStyle& style, bool wide) {
  return screen_text(replay_screen(study, style, wide ? Detail::Wide : Detail::Brief), style, wide);
}

std::string replay_markdown(const ReplayStudy& study) {
  return screen_markdown(replay_screen(study, kPlain, Detail::Comment));
}

}  // namespace slicewise::reports
