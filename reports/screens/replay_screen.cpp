#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/job_trace.hpp"

#include "../document/documents.hpp"
#include "../document/record_json.hpp"
#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"
#include "replay_figures.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"
#include "screen.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::ReplayOutcome;
using sim::ReplayStudy;

std::string whole_text(std::int64_t count) { return with_thousands(std::to_string(count)); }

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

// Columns of figures that the record of the rows declares, and others, for each of them.
template <class Row>
class RowTable {
 public:
  explicit RowTable(const std::vector<Row>& rows) : rows_(rows) {
    for (const Row& row : rows) documents_.push_back(described_json(row));
    cells_.rows.resize(rows.size());
  }

  // `priority` where it is another than usual.
  void add(std::string_view pointer, std::optional<int> priority = std::nullopt) {
    add(replayed::figure_of(sim::record_of<Row>(), pointer), priority);
  }
  template <class Text>
  void add(Column column, const Text& text) {
    cells_.columns.push_back(std::move(column));
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      cells_.rows[at].emplace_back(std::string(text(rows_[at])));
    }
  }
  // All that any of them has.
  void add_all() {
    for (const replayed::Figure& figure : replayed::figures_of(sim::record_of<Row>())) {
      if (std::ranges::any_of(documents_, [&](const nlohmann::json& document) {
            return replayed::value_at(document, figure.pointer).has_value();
          })) {
        add(figure, std::nullopt);
      }
    }
  }

  Cells take(std::size_t most) {
    if (cells_.rows.size() > most) cells_.rows.resize(most);
    return std::move(cells_);
  }
  Cells take() { return take(rows_.size()); }

 private:
  void add(const replayed::Figure& figure, std::optional<int> priority) {
    cells_.columns.push_back(
        {std::string(figure.column->heading), true, priority.value_or(figure.column->priority)});
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      // Documents leave out counts that are 0.
      const auto value = replayed::value_at(documents_[at], figure.pointer);
      cells_.rows[at].emplace_back(value                       ? figure.text(*value)
                                   : figure.field->is_positive ? "0"
                                                               : "-");
    }
  }

  const std::vector<Row>& rows_;
  std::vector<nlohmann::json> documents_;
  Cells cells_;
};

std::string_view queue_word(const ReplayOutcome& outcome) {
  return sim::policy_name(outcome.scheduling.queue);
}

std::string_view placement_word(const ReplayOutcome& outcome) {
  return sim::interleaves(outcome.scheduling.queue)
             ? "-"
             : sim::policy_name(outcome.scheduling.placement);
}

std::string at_once_text(const ReplayOutcome& outcome) {
  const sim::ReplayResult& r = outcome.result;
  return percent_text(r.finished > 0
                          ? static_cast<double>(r.started_at_once) / static_cast<double>(r.finished)
                          : 0);
}

Cells scheduler_cells(const ReplayStudy& study) {
  RowTable table(study.outcomes);
  table.add({"QUEUE"}, queue_word);
  if (study.on_nodes) table.add({"PLACEMENT"}, placement_word);
  table.add("/finished");
  for (const char* part : {"mean", "p50", "p90", "p99"})
    table.add(fmt::format("/waitSeconds/{}", part));
  table.add({"AT ONCE", true, 3}, at_once_text);
  table.add("/completionSeconds/mean");
  table.add("/makespanSeconds");
  table.add("/gpuUtilization");
  table.add("/peakGpus");
  table.add("/mostWaiting");
  if (any_preempted(study)) table.add("/preemptions");
  if (study.origin.price) table.add("/costUsd");
  return table.take();
}

std::string worst_user_text(const ReplayOutcome& outcome) {
  const std::vector<sim::SlowedUser>& users = outcome.result.sharing->users;
  if (users.empty()) return "-";
  return fmt::format("{} {}", users.front().name,
                     replayed::ratio_words(users.front().mean_slowdown));
}

// One way of sharing below the other.
Cells sharing_cells(const ReplayStudy& study) {
  using O = ReplayOutcome;
  const auto shared = [](const O& o) -> const sim::SharingFigures& { return *o.result.sharing; };
  const sim::Scheduling& first = study.outcomes.front().scheduling;
  const bool queues =
      any_outcome(study, [&](const O& o) { return o.scheduling.queue != first.queue; });
  const bool placements =
      any_outcome(study, [&](const O& o) { return o.scheduling.placement != first.placement; });
  const bool killed = any_outcome(study, [&](const O& o) { return shared(o).oom_killed > 0; });
  const bool refused = any_outcome(study, [&](const O& o) { return shared(o).refused() > 0; });
  RowTable table(study.outcomes);
  table.add({"SHARING"}, [](const O& o) { return o.scheduling.sharing->name; });
  table.add({"QUEUE", false, queues ? kNeverDropped : 8}, queue_word);
  table.add({"PLACEMENT", false, placements ? kNeverDropped : 8},
            [](const O& o) { return sim::policy_name(o.scheduling.placement); });
  table.add("/finished", 0);
  if (killed) table.add("/company/oomKilled");
  if (killed) table.add("/company/failed");
  if (refused) {
    table.add({"FIT NO SHARE", true, 1},
              [&](const O& o) { return whole_text(shared(o).refused()); });
  }
  table.add("/waitSeconds/mean");
  table.add("/waitSeconds/p99", 5);
  table.add("/completionSeconds/mean");
  table.add("/completionP95Seconds");
  table.add("/completionSeconds/p99");
  table.add("/company/slowdown/mean");
  table.add("/company/slowdown/p95");
  table.add({"WORST USER", true, 4}, worst_user_text);
  table.add("/company/boundedSlowdown/mean");
  table.add("/company/boundedSlowdown/p95");
  table.add("/makespanSeconds", 2);
  table.add("/company/gpuBusyRatio");
  table.add("/company/smActiveRatio");
  table.add("/company/switchRatio");
  if (any_preempted(study)) table.add("/preemptions", 6);
  table.add("/costUsd");
  table.add("/usdPerJob");
  table.add("/gpuHoursPerUsd");
  return table.take();
}

std::string_view group_word(sim::GroupBy by) {
  constexpr std::string_view kWords[] = {"", "USER", "GROUP", "PROJECT", "SIZE"};
  return kWords[static_cast<std::size_t>(by)];
}

// What jobs that have something in common, or are of like size, are called.
template <class Jobs>
std::string name_of(const Jobs& jobs) {
  return jobs.name.empty() ? "-" : jobs.name;
}

template <class Jobs>
Cells cells_of(std::string_view heading, const std::vector<Jobs>& jobs, std::size_t most) {
  RowTable table(jobs);
  table.add({std::string(heading)}, name_of<Jobs>);
  table.add_all();
  return table.take(most);
}

ScreenPart group_part(const ReplayStudy& study, const ReplayOutcome& outcome, Detail detail) {
  constexpr std::size_t kMostShown = 10;
  const std::size_t all = outcome.result.groups.size();
  const std::size_t shown = detail == Detail::Brief ? std::min(kMostShown, all) : all;
  const std::string title = fmt::format("BY {} ({})", group_word(study.group_by),
                                        scheduler_name(study, outcome.scheduling));
  ScreenPart part{.heading = title,
                  .table = cells_of(group_word(study.group_by), outcome.result.groups, shown),
                  .folded = title};
  if (shown < all) {
    part.sentences = sentences_of(
        {fmt::format("{} more: -o wide", whole_text(static_cast<std::int64_t>(all - shown)))});
  }
  return part;
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
  if (known.with_util > 0) {
    notes.push_back(fmt::format(
        "{}{} say how much of the time kernels ran: {:.0f} % of it is taken for time that they "
        "need the GPU, which is what GPU BUSY counts (Assumed, fitted on pairs of RTX 3090; "
        "--inputs sampled shows what {:.0f} to {:.0f} % would do)",
        whole_text(known.with_util), of, 100 * scenarios::kBusyOfGpuUtil,
        100 * sim::kLeastBusyOfGpuUtil, 100 * sim::kMostBusyOfGpuUtil));
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
  for (const Diagnostic& finding : study.findings) notes.push_back(finding_text(finding));
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

// "time-slicing:4, backfill, least-allocated at 70 % and 75 %, ... at 100 %".
std::string fastest_text(const ReplayStudy& study) {
  std::vector<sim::FastestAt> by_share = study.fastest;
  std::ranges::sort(by_share, {}, &sim::FastestAt::busy_of_util);
  std::string text;
  std::optional<std::size_t> last;
  for (const sim::FastestAt& at : by_share) {
    if (at.outcome != last) {
      text += fmt::format("{}{} at", last ? "; " : "",
                          scheduler_name(study, study.outcomes[at.outcome].scheduling));
    } else {
      text += ",";
    }
    text += fmt::format(" {:.0f} %", 100 * at.busy_of_util);
    last = at.outcome;
  }
  return text;
}

// What the part of GPU_UTIL that is busy time does to the answer.
ScreenPart ranges_part(const ReplayStudy& study) {
  ScreenPart part;
  part.table.columns = {
      {"INPUTS DRAWN"}, {"FIGURE"}, {"VALUE", true}, {"FROM", true}, {"TO", true}};
  for (const ReplayOutcome& outcome : study.outcomes) {
    for (const sim::FigureRange& range : outcome.ranges) {
      const auto text = [&](double value) { return amount_text({value, range.unit}); };
      part.table.rows.push_back({scheduler_name(study, outcome.scheduling), range.name,
                                 text(range.value), text(range.least), text(range.most)});
    }
  }
  if (part.table.rows.empty()) return {};
  part.sentences.push_back({fmt::format(
      "From {:.0f} to {:.0f} % of GPU_UTIL as busy time: what published pairs need, on RTX 3090, "
      "RTX 4090 and H200.",
      100 * sim::kLeastBusyOfGpuUtil, 100 * sim::kMostBusyOfGpuUtil)});
  if (!study.fastest.empty()) {
    part.sentences.push_back({fmt::format("Jobs are done soonest under {}.", fastest_text(study))});
  }
  return part;
}

Screen with_notes(Screen screen, const ReplayStudy& study) {
  screen.parts.push_back(notes_part(replay_notes(study)));
  screen.origin = replay_origin(study.origin.stamp);
  return screen;
}

}  // namespace

Screen screen_of(const ReplayStudy& study, const TextStyle& style, Detail detail) {
  Screen screen{"", replay_alarm(study.interrupted), replay_heading(study)};
  screen.parts.push_back({.table = study.shares() ? sharing_cells(study) : scheduler_cells(study),
                          .sentences = lost_sentences(study, style)});
  if (ScreenPart ranges = ranges_part(study); !ranges.table.rows.empty()) {
    screen.parts.push_back(std::move(ranges));
  }
  for (const ReplayOutcome& outcome : study.outcomes) {
    if (study.group_by != sim::GroupBy::Nothing) {
      screen.parts.push_back(group_part(study, outcome, detail));
    }
  }
  if (study.group_by != sim::GroupBy::Nothing) return with_notes(std::move(screen), study);
  for (const ReplayOutcome& outcome : study.outcomes) {
    const auto& classes = outcome.result.classes;
    if (detail != Detail::Comment && classes.size() < 2) continue;
    const std::string title = "BY SIZE OF JOB (" + scheduler_name(study, outcome.scheduling) + ")";
    screen.parts.push_back(
        {.heading = title, .table = cells_of("SIZE", classes, classes.size()), .folded = title});
    if (detail == Detail::Brief) break;
  }
  return with_notes(std::move(screen), study);
}

}  // namespace slicewise::reports
