#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/reports/studies.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::NeighbourEffect;
using sim::NeighbourFigure;
using sim::NeighbourMatrix;
using sim::NeighbourRow;

std::string_view figure_word(NeighbourFigure figure) {
  switch (figure) {
    case NeighbourFigure::LatencyP99:
      return "p99";
    case NeighbourFigure::LatencyMean:
      return "mean latency";
    case NeighbourFigure::TimePerUnit:
      return "time/unit";
    case NeighbourFigure::CellTime:
      return "cell time";
  }
  return "p99";
}

std::string alone_text(const NeighbourRow& row, const TextStyle& style) {
  if (!row.alone) return std::string(signs(style).none);
  return row.figure == NeighbourFigure::CellTime ? fmt::format("{:.2f}x", *row.alone)
                                                 : duration_text(from_seconds(*row.alone));
}

// "1.62", with an interval that is worth showing "1.62 ±0.05".
std::string effect_text(const NeighbourEffect& effect, const TextStyle& style) {
  constexpr double kTooSmallToShow = 0.005;
  if (!effect.slowdown) return std::string(signs(style).none);
  std::string ratio = with_thousands(fmt::format("{:.2f}", *effect.slowdown));
  if (!effect.ci95 || *effect.ci95 < kTooSmallToShow) return ratio;
  return fmt::format("{} {}{:.2f}", ratio, signs(style).plus_minus, *effect.ci95);
}

bool has_three(const NeighbourMatrix& matrix) { return matrix.workloads.size() > 2; }

// "api and trainer, ..." of some pairs.
template <class Counts>
std::string pairs_that(const NeighbourMatrix& matrix, Counts counts) {
  constexpr std::size_t kMostNamed = 6;
  std::vector<std::string> pairs;
  for (const NeighbourRow& row : matrix.rows) {
    for (std::size_t other = row.workload + 1; other < matrix.workloads.size(); ++other) {
      if (!counts(row.beside[other])) continue;
      std::string pair =
          fmt::format("{} and {}", matrix.workloads[row.workload], matrix.workloads[other]);
      if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(std::move(pair));
    }
  }
  const std::size_t named = std::min(pairs.size(), kMostNamed);
  const std::size_t more = pairs.size() - named;
  pairs.resize(named);
  return fmt::format("{}{}", fmt::join(pairs, ", "),
                     more > 0 ? " and " + counted(more, "more pair") : "");
}

bool has_figure(const NeighbourMatrix& matrix, NeighbourFigure figure) {
  return std::ranges::find(matrix.rows, figure, &NeighbourRow::figure) != matrix.rows.end();
}

std::string neighbours_heading(const NeighbourMatrix& matrix) {
  return studied(matrix.stamp) + ": how many times as long each row takes beside a column as alone";
}

std::vector<std::string> neighbours_notes(const NeighbourMatrix& matrix, bool full) {
  std::vector<std::string> lines;
  if (matrix.stamp.replications > 1) {
    lines.push_back(
        fmt::format("mean of {} runs, each against the run alone with the same random numbers",
                    matrix.stamp.replications));
  }
  const std::string together = pairs_that(matrix, std::mem_fn(&NeighbourEffect::put_together));
  if (!together.empty()) {
    lines.push_back(
        "the scheduler keeps them apart, so one pod of each was put on one GPU, against that pod "
        "alone: " +
        together);
  }
  const std::string pairs =
      pairs_that(matrix, [](const NeighbourEffect& effect) { return !effect.shares_gpu; });
  if (!pairs.empty()) {
    lines.push_back("never on one GPU, so that only the host's CPU is shared, if anything: " +
                    pairs);
  }
  if (has_figure(matrix, NeighbourFigure::TimePerUnit)) {
    lines.emplace_back(
        "time/unit: time of the containers over the units they got done, with what was done of "
        "those under way; waiting for a GPU is not in it");
  }
  for (const Diagnostic& d : matrix.notes) lines.push_back(finding_text(d));
  for (std::string& line : note_lines({}, full)) lines.push_back(std::move(line));
  return lines;
}

Cells neighbours_cells(const NeighbourMatrix& matrix, const TextStyle& style) {
  Cells table{{{"SUFFERS"}, {"FIGURE"}, {"ALONE", true}}, {}};
  for (const std::string& workload : matrix.workloads) table.columns.push_back({workload, true, 1});
  if (has_three(matrix)) table.columns.push_back({"ALL OTHERS", true});
  for (const NeighbourRow& row : matrix.rows) {
    std::vector<Cell> cells{matrix.workloads[row.workload], std::string(figure_word(row.figure)),
                            alone_text(row, style)};
    for (std::size_t other = 0; other < matrix.workloads.size(); ++other) {
      cells.push_back(other == row.workload ? "" : effect_text(row.beside[other], style));
    }
    if (has_three(matrix)) cells.push_back(effect_text(row.beside_all, style));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::string worst_neighbour(const NeighbourMatrix& matrix) {
  constexpr double kNoticeable = 1.02;
  const NeighbourRow* suffers = nullptr;
  std::size_t causes = 0;
  double worst = 0;
  for (const NeighbourRow& row : matrix.rows) {
    for (std::size_t other = 0; other < row.beside.size(); ++other) {
      if (row.beside[other].slowdown.value_or(0) <= worst) continue;
      worst = *row.beside[other].slowdown;
      suffers = &row;
      causes = other;
    }
  }
  if (suffers == nullptr) return "";
  if (worst < kNoticeable) {
    if (matrix.verdict.loses_pods()) return "Of what ran, no workload slows another one down.";
    const bool together =
        has_three(matrix) && std::ranges::any_of(matrix.rows, [](const auto& row) {
          return row.beside_all.slowdown.value_or(0) >= kNoticeable;
        });
    return together ? "No pair disturbs each other; all together do, see ALL OTHERS."
                    : "No workload slows another one down.";
  }
  return fmt::format("Hit hardest: {} of {}, {:.2f} times as long beside {}.",
                     figure_word(suffers->figure), matrix.workloads[suffers->workload], worst,
                     matrix.workloads[causes]);
}

Screen screen_of(const NeighbourMatrix& matrix, const TextStyle& style, Detail detail) {
  Screen screen{matrix.stamp.scenario,
                matrix.interrupted ? "INTERRUPTED: only the runs that had finished count" : "",
                neighbours_heading(matrix)};
  if (!matrix.verdict.stands()) screen.parts.push_back(as_it_is_part(matrix.verdict, style));
  screen.parts.push_back({.table = neighbours_cells(matrix, style)});
  if (std::string worst = worst_neighbour(matrix); !worst.empty()) {
    screen.parts.push_back({.sentences = {{std::move(worst)}}, .is_answer = true});
  }
  screen.parts.push_back(notes_part(neighbours_notes(matrix, detail != Detail::Brief)));
  screen.origin = origin_line(matrix.stamp, {}, matrix.stamp.replications > 1, style);
  return screen;
}

}  // namespace slicewise::reports
