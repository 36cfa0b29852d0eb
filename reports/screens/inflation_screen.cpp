#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "screen.hpp"
#include "screens.hpp"

namespace slicewise::reports {

std::string replay_alarm(bool interrupted) {
  return interrupted ? "INTERRUPTED: jobs that had not ended by then are missing" : "";
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

namespace {

using sim::InflationStudy;

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

}  // namespace

Screen screen_of(const InflationStudy& study, const TextStyle& /*style*/, Detail /*detail*/) {
  Screen screen{"", replay_alarm(study.interrupted), inflation_heading(study)};
  screen.parts = {{.table = inflation_cells(study)}, notes_part(inflation_notes(study))};
  screen.origin = replay_origin(study.origin.stamp);
  return screen;
}

}  // namespace slicewise::reports
