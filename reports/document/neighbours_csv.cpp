#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/neighbours_report.hpp"

#include "csv_rows.hpp"
#include "neighbours_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using Level = CsvColumn::Level;

// The item is who suffers; in place of a workload stands who causes it, nobody for all together.
constexpr std::array kNeighboursCsv = {
    CsvColumn{"scenario", Level::Metadata, "/scenario"},
    CsvColumn{"variant", Level::Metadata, "/variant"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"suffers", Level::Item, "/workload"},
    CsvColumn{"figure", Level::Item, "/figure"},
    CsvColumn{"aloneSeconds", Level::Item, "/aloneSeconds"},
    CsvColumn{"aloneRatio", Level::Item, "/aloneRatio"},
    CsvColumn{"company", Level::Workload, "/company"},
    CsvColumn{"causes", Level::Workload, "/workload"},
    CsvColumn{"slowdown", Level::Workload, "/slowdown"},
    CsvColumn{"ci95", Level::Workload, "/ci95"},
    CsvColumn{"sharesGpu", Level::Workload, "/sharesGpu"},
};

}  // namespace

std::string neighbours_csv(const sim::NeighbourMatrix& matrix) {
  json document = neighbours_document(matrix);
  const json& metadata = document["metadata"];
  std::string out = csv_header(kNeighboursCsv);
  for (json& row : document["rows"]) {
    for (json& effect : row["beside"]) {
      effect["company"] = "one";
      out += csv_row(kNeighboursCsv, metadata, row, effect);
    }
    row["besideAll"]["company"] = "all";
    out += csv_row(kNeighboursCsv, metadata, row, row["besideAll"]);
  }
  return out;
}

}  // namespace slicewise::reports
