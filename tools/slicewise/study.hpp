#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>

#include "slicewise/reports/formats.hpp"
#include "slicewise/reports/html_report.hpp"

#include "choices.hpp"
#include "files.hpp"
#include "host.hpp"
#include "journals.hpp"
#include "scenario_file.hpp"
#include "terminal.hpp"
#include "verdict_exit.hpp"

// What the verbs that simulate have in common: the formats of a report, and the way from the
// scenario to the exit code.
namespace slicewise::tools {

// Test cases of what was found, of verbs that judge objectives; nullptr of others.
template <class Found>
using Junit = std::string (*)(const Found&);

template <class Found>
std::string text_of(const Found& found, RunFormat format, const reports::TextStyle& style,
                    Junit<Found> junit) {
  const reports::Report report(found);
  switch (format) {
    case RunFormat::Table:
      return report.table(style, false);
    case RunFormat::Wide:
      return report.table(style, true);
    case RunFormat::Json:
      return report.json();
    case RunFormat::Yaml:
      return report.yaml();
    case RunFormat::Csv:
      return report.csv();
    case RunFormat::Markdown:
      return report.markdown();
    case RunFormat::Html:
      if constexpr (requires { reports::study_page(found); }) return reports::study_page(found);
      break;
    case RunFormat::Junit:
      return junit == nullptr ? std::string() : junit(found);
  }
  return {};
}

// All of a report but the JSON, and its charts: of a caller who has no second run for another
// format.
template <class Found>
void render_all(const Found& found, Junit<Found> junit, Host& host) {
  for (const auto& [word, format] : kVerdictFormats) {
    if (format == RunFormat::Json) continue;
    host.renderings[std::string(word)] = text_of(found, format, {}, junit);
  }
  if constexpr (requires { reports::study_page(found); }) {
    host.renderings["html"] = reports::study_page(found);
  }
  if constexpr (requires { reports::study_charts(found); }) {
    for (auto& [name, svg] : reports::study_charts(found)) {
      host.renderings[name + ".svg"] = std::move(svg);
    }
  }
}

// Writes the report to --out or standard output, and the JUnit file besides.
template <class Found, class AnyCommand>
ExitCode write_report(const Found& found, const AnyCommand& command, const CommonFlags& flags,
                      Junit<Found> junit = nullptr, const std::string& junit_file = {}) {
  Host* const host = current_host();
  if (host != nullptr && host->renders_all) render_all(found, junit, *host);
  const ExitCode code = write_text(
      command.out, text_of(found, command.format, report_style(command.out, flags), junit));
  if (failed(code) || junit_file.empty()) return code;
  return write_text(junit_file, junit(found));
}

// The options of a study, as this run of it has them.
template <class Options>
Options with_run(Options options, const sim::RunOptions& run) {
  options.run = run;
  return options;
}

// How a study is run and reported.
template <class Found>
struct Study {
  std::string counted = "replications";  // by the progress
  Progress::Total total = Progress::Total::Known;
  std::function<Expected<Found>(const OneVariant& opened, const sim::RunOptions& run)> find;
  ExitCode (*verdict)(const Found&);
  Junit<Found> junit = nullptr;
  bool (*nothing_runs)(const Found&) = nullptr;  // of the scenario as it is; not asked
  std::function<ExitCode()> after = {};          // before anything is written; empty: nothing to do
};

// Opens the scenario, finds, reports, and says how it went.
template <class Found>
ExitCode execute_study(const StudyCommand& command, const CommonFlags& flags,
                       const OneVariant& opened, const Study<Found>& study) {
  Progress progress(command.progress, flags.quiet, study.counted, study.total);
  const sim::RunOptions run{.threads = thread_count(command.jobs),
                            .progress = [&](int done, int total) { progress.update(done, total); },
                            .interrupted = &catch_interrupt(),
                            .so_far = [&](const std::string& line) { progress.say(line); }};
  Expected<Found> found = study.find(opened, run);
  progress.finish();
  if (!found) return fail(found.error(), opened.file.texts, flags);
  if (study.after) {
    if (const ExitCode code = study.after(); failed(code)) return code;
  }
  stamp_files(opened.file, opened.prices, found->stamp);
  const ExitCode code = write_report(*found, command, flags, study.junit, command.junit);
  if (failed(code)) return code;
  print_diagnostics(opened.set().notes, opened.file.texts, flags);
  if (study.nothing_runs != nullptr && !found->interrupted && study.nothing_runs(*found)) {
    return nothing_ran(opened.set().variants[opened.variant], opened.file, flags);
  }
  return study.verdict(*found);
}

// What a journal has to say once the study is made.
template <class Journal>
ExitCode close_journal(const Journal& journal, const std::string& path, const CommonFlags& flags) {
  if (journal.failed()) {
    print_error(fmt::format("error: cannot write {}", path));
    return ExitCode::FileAccess;
  }
  if (journal.found() > 0 && !flags.quiet) {
    print_error(fmt::format("note: {} simulations were in {}", journal.found(), path));
  }
  return ExitCode::Success;
}

// Runs `work` with the journal that the command names, or without one. `subject`: all that its
// simulations depend on but the command line.
template <class AnyCommand, class Work>
ExitCode with_journal(const AnyCommand& command, const CommonFlags& flags,
                      const std::string& subject, const Work& work) {
  if (command.journal.empty()) return work(nullptr);
  const auto journal =
      StudyJournal::open(command.journal, fmt::format("{} {}", subject, flags.asked));
  if (!journal) return fail(journal.error(), {}, flags);
  return work(journal->get());
}

template <class Found>
ExitCode execute_study(const StudyCommand& command, const CommonFlags& flags,
                       const Study<Found>& study) {
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  return with_journal(
      command, flags, subject_of(*opened, opened->variant), [&](StudyJournal* journal) {
        if (journal == nullptr) return execute_study(command, flags, *opened, study);
        Study<Found> kept = study;
        kept.find = [&](const OneVariant& from, const sim::RunOptions& run) {
          sim::RunOptions with = run;
          with.journal = &journal->tasks();
          return study.find(from, with);
        };
        kept.after = [&] { return close_journal(*journal, command.journal, flags); };
        return execute_study(command, flags, *opened, kept);
      });
}

}  // namespace slicewise::tools
