#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/reports/studies.hpp"

#include "../text/text_table.hpp"
#include "screens.hpp"

// What `slicewise validate` shows: a table of studies, then what each was fitted on.
namespace slicewise::reports {
namespace {

constexpr std::size_t kWeakestShown = 3;

bool above_target(const sim::StudyResult& study) {
  const auto target = study.study.target_percent;
  return target && study.check.mean_percent > *target;
}

bool worse_than_naive(const sim::StudyResult& study) {
  const auto beats = [&](const std::optional<double>& naive) {
    return naive && *naive < study.check.mean_percent;
  };
  return beats(study.even_share_percent) || beats(study.no_slowdown_percent);
}

// How many studies, and which.
struct Named {
  std::size_t count = 0;
  std::string names;

  void add(const models::Study& study) {
    ++count;
    add_name(names, study.id);
  }
  void add(const sim::StudyResult& result) { add(result.study); }
  std::string in_brackets(const std::string& before = "") const {
    return names.empty() ? "" : " (" + before + names + ")";
  }
};

bool checks(const sim::StudyResult& study) { return study.check.rows > 0; }

std::string verdict_on_study(const sim::StudyResult& study) {
  if (!checks(study)) return "nothing to check";
  if (!study.within_bound) return "ABOVE BOUND";
  if (worse_than_naive(study)) return "worse than naive";
  return above_target(study) ? "above target" : "ok";
}

// As many decimals as it takes to show what the verdict says: 3.51 against a target of 3.5.
std::string error_cell(const sim::StudyResult& study) {
  if (!checks(study)) return "-";
  constexpr int kMostDecimals = 4;
  const double error = study.check.mean_percent;
  const auto hidden = [&](const std::optional<double>& limit, int decimals) {
    return limit && *limit < error &&
           fmt::format("{:.{}f}", error, decimals) == fmt::format("{:.{}f}", *limit, decimals);
  };
  int decimals = 1;
  while (decimals < kMostDecimals && (hidden(study.study.target_percent, decimals) ||
                                      hidden(study.study.bound_percent, decimals))) {
    ++decimals;
  }
  return fmt::format("{:.{}f}", error, decimals);
}

std::string percent_cell(double percent) { return fmt::format("{:.1f}", percent); }

std::string maybe_percent(const std::optional<double>& percent) {
  return percent ? percent_cell(*percent) : "-";
}

// "75/85": of so many that share, for how many it is right whether sharing helps.
std::string sign_cell(const sim::StudyResult& study) {
  const std::vector<sim::SharingGain> gains = sim::sharing_gains(study);
  if (gains.empty()) return "-";
  return fmt::format("{}/{}", std::ranges::count_if(gains, &sim::SharingGain::has_right_sign),
                     gains.size());
}

std::vector<Column> validation_columns() {
  return {{"STUDY", false, 0},  {"MODE", false, 3},   {"FIT", true, 2},     {"FIT %", true, 4},
          {"CHECK", true, 1},   {"ERROR %", true, 0}, {"WORST %", true, 3}, {"TARGET", true, 5},
          {"BOUND", true, 1},   {"EVEN %", true, 2},  {"NONE %", true, 2},  {"SIGN", true, 2},
          {"VERDICT", false, 0}};
}

std::vector<Cell> validation_row(const sim::StudyResult& study) {
  return {study.study.id,
          study.study.mode,
          std::to_string(study.fit.rows),
          study.fit.rows == 0 ? "-" : percent_cell(study.fit.mean_percent),
          std::to_string(study.check.rows),
          error_cell(study),
          checks(study) ? percent_cell(study.check.worst_percent) : "-",
          maybe_percent(study.study.target_percent),
          percent_cell(study.study.bound_percent),
          maybe_percent(study.even_share_percent),
          maybe_percent(study.no_slowdown_percent),
          sign_cell(study),
          verdict_on_study(study)};
}

std::string weakest_workloads(const sim::StudyResult& study, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < study.by_workload.size() && i < most; ++i) {
    const sim::WorkloadError& error = study.by_workload[i];
    text += fmt::format("{}{} {:.1f} % of {}", i == 0 ? "" : ", ", error.workload,
                        error.mean_percent, counted(error.rows, "row"));
  }
  return text;
}

std::string worst_row(const sim::StudyResult& study) {
  if (!checks(study)) return "";
  return fmt::format("{}: {:.1f} %", study.check.worst_row, study.check.worst_percent);
}

std::string source_line(const sim::StudyResult& study) {
  const models::MeasurementSource& source = study.source;
  std::string text = source.title;
  if (source.url != source.title) text += ", " + source.url;
  if (!source.gpu.empty()) text += ", " + source.gpu;
  if (!source.date.empty()) text += "; read " + source.date;
  return text;
}

std::string bounds_line(const sim::ValidationResult& result) {
  Named above_bound;
  Named missed;
  Named naive_is_better;
  Named unchecked;
  for (const sim::StudyResult& study : result.studies) {
    if (!checks(study)) unchecked.add(study);
    if (!study.within_bound) above_bound.add(study);
    if (above_target(study)) missed.add(study);
    if (worse_than_naive(study)) naive_is_better.add(study);
  }
  const std::size_t checked = result.studies.size() - unchecked.count;
  return fmt::format(
      "{} of {} studies within their bounds{}; {} above target{}; {} worse than a "
      "naive rule{}.{}",
      checked - above_bound.count, checked, above_bound.in_brackets("all but "), missed.count,
      missed.in_brackets(), naive_is_better.count, naive_is_better.in_brackets(),
      unchecked.count == 0 ? "" : fmt::format(" Nothing to check: {}.", unchecked.names));
}

std::string pairs_line(const sim::ValidationResult& result) {
  Named missing;
  for (const models::Study& study : result.not_run) missing.add(study);
  if (missing.count == 0) return "";
  return fmt::format("{} stud{} measurements that may not be redistributed{}: --pairs FILE.",
                     missing.count, missing.count == 1 ? "y needs" : "ies need",
                     missing.in_brackets());
}

std::vector<std::string> validation_notes() {
  return {
      "FIT: rows that parameters were fitted on or that were given; CHECK: all other rows. ERROR: "
      "mean of |predicted / measured - 1| over the check rows, WORST: the largest of them; TARGET: "
      "what was aimed at; BOUND: what may not be exceeded (exit code 99).",
      "VERDICT: above target, within the bound but not what was aimed at; worse than naive, EVEN "
      "or "
      "NONE has the smaller error, whether or not the target is met; nothing to check, all rows "
      "were fitted on or given.",
      "EVEN and NONE are the answers without a model on the same check rows: time grows as 1/share "
      "of the GPU (n processes take n times as long; of a pair each runs at half speed), and "
      "nobody "
      "slows anybody down. SIGN: of so many that share a GPU, a pair as one, for how many it is "
      "right whether they get more done together than one after the other."};
}

Cells validation_cells(const sim::ValidationResult& result) {
  Cells table{validation_columns(), {}};
  for (const sim::StudyResult& study : result.studies) table.rows.push_back(validation_row(study));
  return table;
}

// What a study was fitted on, and where it is worst.
ScreenPart study_part(const sim::StudyResult& study) {
  ScreenPart part{.heading = study.study.id + ": " + study.study.title};
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) part.sentences.push_back({text, {label}});
  };
  add("Split: ", study.study.split);
  add("Parameters: ", study.study.parameters);
  add("Weakest: ", weakest_workloads(study, kWeakestShown));
  add("Worst row: ", worst_row(study));
  add("Source: ", source_line(study));
  add("Note: ", study.source.note);
  if (study.rows_left_out > 0) {
    add("Left out: ", fmt::format("{}: too few isolated figures of their workload and size",
                                  counted(study.rows_left_out, "row")));
  }
  return part;
}

// The same in a table.
Cells origin_cells(const sim::ValidationResult& result) {
  Cells table{{{"STUDY"}, {"SPLIT"}, {"PARAMETERS"}, {"WEAKEST"}, {"WORST ROW"}, {"SOURCE"}}, {}};
  for (const sim::StudyResult& study : result.studies) {
    table.rows.push_back({study.study.id + ": " + study.study.title, study.study.split,
                          study.study.parameters, weakest_workloads(study, kWeakestShown),
                          worst_row(study), source_line(study)});
  }
  return table;
}

// What error to expect of a result, by what was known before.
ScreenPart expected_part(const sim::ValidationResult& result) {
  ScreenPart part{.heading = "What to expect, by what is known of a workload"};
  part.table.columns = {{"MODE", false, 0}, {"NEIGHBOURS", false, 0}, {"KNOWN", false, 0},
                        {"ROWS", true, 0},  {"HALF IN %", true, 0},   {"9 OF 10 IN %", true, 0}};
  std::vector<models::ExpectedError> errors = sim::errors_from_nothing(result.studies);
  std::ranges::move(sim::errors_by_evidence(result.studies), std::back_inserter(errors));
  for (const models::ExpectedError& error : errors) {
    const bool none = error.evidence == models::Evidence::Nothing;
    part.table.rows.push_back({error.mode, error.unlike ? "others" : "copies",
                               none ? "nothing: each has its share of the GPU"
                                    : std::string(models::evidence_words(error.evidence)),
                               std::to_string(error.rows), percent_cell(error.median_percent),
                               percent_cell(error.ninth_decile_percent)});
  }
  return part;
}

}  // namespace

Screen screen_of(const sim::ValidationResult& result, const TextStyle& /*style*/, Detail detail) {
  const bool comment = detail == Detail::Comment;
  Screen screen{"validation", "", comment ? "Predicted against measured" : ""};
  ScreenPart answer{.sentences = {{bounds_line(result)}}, .is_answer = true};
  if (std::string line = pairs_line(result); !line.empty()) answer.sentences.push_back({line});
  ScreenPart origins{.heading = "What was fitted on what, and where the models are worst",
                     .folded = "What was fitted on what, and where the models are worst"};
  if (comment) {
    origins.table = origin_cells(result);
  } else {
    for (const sim::StudyResult& study : result.studies) origins.parts.push_back(study_part(study));
  }
  screen.parts = {{.table = validation_cells(result)},
                  std::move(answer),
                  expected_part(result),
                  notes_part(validation_notes()),
                  std::move(origins)};
  return screen;
}

}  // namespace slicewise::reports
