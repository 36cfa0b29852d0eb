#include "neighbours_document.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/neighbours_report.hpp"

#include "document_values.hpp"
#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::NeighbourFigure;
using sim::NeighbourMatrix;

using document::finding;
using document::list;
using document::metadata_of;
using document::number;
using document::present;

json effect(const sim::NeighbourEffect& e) {
  return present(
      {{"slowdown", number(e.slowdown)}, {"ci95", number(e.ci95)}, {"sharesGpu", e.shares_gpu}});
}

json row(const NeighbourMatrix& matrix, const sim::NeighbourRow& r) {
  json beside = json::array();
  for (std::size_t other = 0; other < r.beside.size(); ++other) {
    if (other == r.workload) continue;
    json entry = effect(r.beside[other]);
    entry["workload"] = matrix.workloads[other];
    beside.push_back(std::move(entry));
  }
  const bool ratio = r.figure == NeighbourFigure::CellTime;
  return present({{"workload", matrix.workloads[r.workload]},
                  {"figure", sim::figure_name(r.figure)},
                  {"aloneSeconds", ratio ? json(nullptr) : number(r.alone)},
                  {"aloneRatio", ratio ? number(r.alone) : json(nullptr)},
                  {"beside", std::move(beside)},
                  {"besideAll", effect(r.beside_all)}});
}

json metadata(const NeighbourMatrix& matrix) {
  return metadata_of(matrix.stamp, matrix.interrupted);
}

}  // namespace

json neighbours_document(const NeighbourMatrix& matrix) {
  return {{"apiVersion", kNeighboursApiVersion},
          {"kind", "Neighbours"},
          {"metadata", metadata(matrix)},
          {"workloads", json(matrix.workloads)},
          {"rows", list(matrix.rows, [&](const auto& r) { return row(matrix, r); })},
          {"notes", list(matrix.notes, finding)}};
}

std::string neighbours_json(const NeighbourMatrix& matrix) {
  return json_text(neighbours_document(matrix));
}

std::string neighbours_yaml(const NeighbourMatrix& matrix) {
  return yaml_text(neighbours_document(matrix));
}

}  // namespace slicewise::reports
