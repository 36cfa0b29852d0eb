#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "record_json.hpp"

namespace slicewise::sim {

template <>
struct Spelling<NeighbourFigure> {
  using F = NeighbourFigure;
  static constexpr bool kListed = true;
  static constexpr F kAll[] = {F::LatencyP99, F::LatencyMean, F::TimePerUnit, F::CellTime};
  static std::string_view of(F figure) { return figure_name(figure); }
};

namespace {

constexpr std::string_view kNeighboursApiVersion = "slicewise.dev/neighbours.v1alpha1";

// A row and a cell of the matrix by their names.
struct NamedEffect {
  NeighbourEffect effect;
  std::string workload;
};
struct NamedRow {
  NeighbourRow row;
  std::string workload;
  std::vector<NamedEffect> beside;
};

std::vector<NamedRow> named_rows(const NeighbourMatrix& matrix) {
  std::vector<NamedRow> rows;
  for (const NeighbourRow& row : matrix.rows) {
    NamedRow named{row, matrix.workloads[row.workload], {}};
    for (std::size_t other = 0; other < row.beside.size(); ++other) {
      if (other == row.workload) continue;
      named.beside.push_back({row.beside[other], matrix.workloads[other]});
    }
    rows.push_back(std::move(named));
  }
  return rows;
}

bool is_ratio(const NamedRow& named) { return named.row.figure == NeighbourFigure::CellTime; }
bool is_time(const NamedRow& named) { return !is_ratio(named); }

const Record& neighbours_metadata() {
  using M = NeighbourMatrix;
  static const Record declared{
      "what produced the matrix; the same values produce the same bytes",
      {stamp_field<M>("scenario").csv(1, "scenario"), stamp_field<M>("scenarioSha256"),
       stamp_field<M>("variant").csv(2, "variant"),
       stamp_field<M>("seed")
           .saying("seed of the random streams, the same in every company")
           .csv(3, "seed"),
       stamp_field<M>("replications").saying("runs of each company that were asked for"),
       stamp_field<M>("version"), stamp_field<M>("allowPending"),
       field<&M::interrupted>("interrupted", "only runs that had finished count").optional()}};
  return declared;
}

}  // namespace

template <>
const Record& record_of<NeighbourEffect>() {
  using E = NeighbourEffect;
  static const Record declared{
      "",
      {field<&E::slowdown>("slowdown",
                           "the figure over the figure alone, mean of the ratios of all runs; "
                           "absent when nothing was observed"),
       field<&E::ci95>("ci95", "half width"),
       field<&E::shares_gpu>("sharesGpu",
                             "containers of both were on one GPU, or MIG instance, at once"),
       field<&E::put_together>("putTogether",
                               "one pod of each was put on one GPU: the scheduler keeps them apart "
                               "in some run")
           .optional()}};
  return declared;
}

template <>
const Record& record_of<NamedEffect>() {
  static const Record declared = [] {
    const auto like = [](std::string_view key) {
      return record_of<NeighbourEffect>().like(key).from<&NamedEffect::effect>();
    };
    return Record{
        "what one neighbour does",
        {like("slowdown").csv(10, "slowdown"), like("ci95").csv(11, "ci95"),
         like("sharesGpu").csv(12, "sharesGpu"), like("putTogether").csv(13, "putTogether"),
         field<&NamedEffect::workload>("workload", "the neighbour").csv(9, "causes")}};
  }();
  return declared;
}

template <>
const Record& record_of<NamedRow>() {
  using N = NamedRow;
  static const Record declared{
      "one figure of one workload",
      {field<&N::workload>("workload", "who suffers").csv(4, "suffers"),
       field<&N::row, &NeighbourRow::figure>(
           "figure",
           "what is compared: latencies of a Service, container time per unit of a Job or "
           "Deployment, time of a Notebook's cell over that on a free GPU")
           .csv(5, "figure"),
       field<&N::row, &NeighbourRow::alone>("aloneSeconds", "the figure alone on the same pools")
           .when<&is_time>()
           .of(Unit::Seconds)
           .csv(6, "aloneSeconds"),
       field<&N::row, &NeighbourRow::alone>("aloneRatio", "the same, of cellTime")
           .when<&is_ratio>()
           .csv(7, "aloneRatio"),
       field<&N::beside>("beside", "each other workload, in the order of the scenario"),
       field<&N::row, &NeighbourRow::beside_all>("besideAll", "what all others together do")}};
  return declared;
}

template <>
const Record& record_of<NeighbourMatrix>() {
  using M = NeighbourMatrix;
  static const Record declared{
      "What `slicewise neighbours -o json` prints. SI units in the keys; fields that do not apply "
      "are absent. Keys are added, never renamed.",
      {constant("apiVersion", kNeighboursApiVersion), constant("kind", "Neighbours"),
       group("metadata", &neighbours_metadata),
       field<&M::verdict>("verdict", "of the scenario as it is, its pipelines taken apart"),
       field<&M::workloads>("workloads", "those that have pods").each("workload"),
       field<&named_rows>("rows", "by workload; a Service has two"),
       field<&M::notes>("notes", "what was changed in the scenario to take it apart")
           .as(&finding_record)}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

// The item is who suffers; an entry who causes it, nobody for all together.
std::string csv_of(const sim::NeighbourMatrix& matrix) {
  json document = described_json(matrix);
  DocumentCsv table(sim::record_of<sim::NeighbourMatrix>());
  table.add(8, "company", "/company", 2);
  std::string out = table.header();
  for (json& row : document["rows"]) {
    for (json& effect : row["beside"]) {
      effect["company"] = "one";
      out += table.row(document, row, effect);
    }
    row["besideAll"]["company"] = "all";
    out += table.row(document, row, row["besideAll"]);
  }
  return out;
}

}  // namespace slicewise::reports
