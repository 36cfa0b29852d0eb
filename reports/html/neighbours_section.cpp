#include <algorithm>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/neighbours_screen.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

std::string times_text(double slowdown) { return fmt::format("{:.2f}×", slowdown); }

struct WorstPair {
  double slowdown = 1;
  std::string suffers;
  std::string causes;
  std::string figure;
};

charts::HeatMatrix neighbour_chart(const sim::NeighbourMatrix& matrix, WorstPair& worst) {
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
        if (*effect.slowdown > worst.slowdown && causes != "all others") {
          worst = {*effect.slowdown, suffers, causes, figure};
        }
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
  WorstPair worst;
  charts::HeatMatrix chart = neighbour_chart(matrix, worst);
  constexpr double kNoticeable = 1.02;
  const std::string finding =
      worst.slowdown < kNoticeable
          ? std::string("No workload slows another one down.")
          : fmt::format("{} suffers most: its {} is {} as long beside {}.", worst.suffers,
                        worst.figure, times_text(worst.slowdown), worst.causes);
  chart.text = {"chart-neighbours", finding,
                "Rows suffer, columns cause: the figure beside that neighbour over the figure "
                "alone. Hatched: not observed."};
  return section("neighbours", "Who slows whom down?",
                 figure(draw(chart), finding,
                        {table_of("slowdown, rows suffer, columns cause",
                                  neighbours_cells(matrix, kPageStyle))}) +
                     paragraph(fmt::format("Each pair was simulated on the pools of {}, with the "
                                           "same random numbers as alone.",
                                           matrix.stamp.variant)));
}

}  // namespace slicewise::reports::html
