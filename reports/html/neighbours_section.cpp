#include <algorithm>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/screens.hpp"
#include "html_text.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

std::string times_text(double slowdown) { return fmt::format("{:.2f}×", slowdown); }

charts::HeatMatrix neighbour_chart(const sim::NeighbourMatrix& matrix) {
  charts::HeatMatrix chart;
  chart.columns = matrix.workloads;
  chart.columns.emplace_back("all others");
  chart.least = 1;
  for (const sim::NeighbourRow& row : matrix.rows) {
    const std::string& suffers = matrix.workloads[row.workload];
    const std::string figure(sim::figure_name(row.figure));
    chart.rows.push_back(fmt::format("{} {}", suffers, figure));
    std::vector<charts::HeatCell> cells;
    const auto add = [&](const sim::NeighbourEffect& effect, const std::string& causes) {
      charts::HeatCell cell;
      cell.tooltip = fmt::format("{} of {} beside {}: not known", figure, suffers, causes);
      if (effect.slowdown) {
        cell.value = effect.slowdown;
        cell.text = times_text(*effect.slowdown);
        cell.tooltip = fmt::format("{} of {} beside {}: {}{}", figure, suffers, causes, cell.text,
                                   effect.ci95 ? fmt::format(" ±{:.2f}", *effect.ci95) : "");
        chart.most = std::max(chart.most, *effect.slowdown);
      }
      cells.push_back(std::move(cell));
    };
    for (std::size_t w = 0; w < row.beside.size(); ++w) add(row.beside[w], matrix.workloads[w]);
    add(row.beside_all, "all others");
    chart.cells.push_back(std::move(cells));
  }
  chart.most = std::max(chart.most, 1.05);
  chart.scale_least = "1×";
  chart.scale_most = times_text(chart.most);
  return chart;
}

}  // namespace

Markup neighbours_section(const HtmlReport& report) {
  if (!report.neighbours || report.neighbours->rows.empty()) return "";
  const sim::NeighbourMatrix& matrix = *report.neighbours;
  Screen screen = screen_of(matrix, kPageStyle, Detail::Comment);
  std::erase_if(screen.parts, [](const ScreenPart& part) {
    return part.is_answer;
  });  // it stands above the chart
  charts::HeatMatrix chart = neighbour_chart(matrix);
  const std::string worst = worst_neighbour(matrix);
  chart.text = {"chart-neighbours", worst.empty() ? "Nothing was observed." : worst,
                "Rows suffer, columns cause: the figure beside that neighbour over the figure "
                "alone. Hatched: not observed."};
  return section("neighbours", "Who slows whom down?",
                 figure(draw(chart), chart.text.title, {}) + screen_markup(screen));
}

}  // namespace slicewise::reports::html
