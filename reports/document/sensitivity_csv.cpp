#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/sensitivity_report.hpp"

#include "csv_rows.hpp"
#include "sensitivity_document.hpp"

namespace slicewise::reports {
namespace {

using Level = CsvColumn::Level;

// An item is one input at one end, its "workloads" are the figures that change.
constexpr std::array kSensitivityColumns = {
    CsvColumn{"scenario", Level::Metadata, "/scenario"},
    CsvColumn{"variant", Level::Metadata, "/variant"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"path", Level::Item, "/path"},
    CsvColumn{"basis", Level::Item, "/basis"},
    CsvColumn{"unit", Level::Item, "/unit"},
    CsvColumn{"scenarioValue", Level::Item, "/value"},
    CsvColumn{"factor", Level::Item, "/end/factor"},
    CsvColumn{"value", Level::Item, "/end/value"},
    CsvColumn{"refused", Level::Item, "/end/refused"},
    CsvColumn{"workload", Level::Workload, "/workload"},
    CsvColumn{"figure", Level::Workload, "/name"},
    CsvColumn{"figureValue", Level::Workload, "/value"},
    CsvColumn{"changeRatio", Level::Workload, "/changeRatio"},
    CsvColumn{"ci95Ratio", Level::Workload, "/ci95Ratio"},
};

}  // namespace

std::string sensitivity_csv(const sim::SensitivityStudy& study) {
  const nlohmann::json document = sensitivity_document(study);
  std::string out = csv_header(kSensitivityColumns);
  for (nlohmann::json input : document["inputs"]) {
    for (const char* end : {"low", "high"}) {
      if (!input.contains(end)) continue;
      input["end"] = input[end];
      if (input["end"].contains("refused")) {
        out += csv_row(kSensitivityColumns, document["metadata"], input, nlohmann::json::object());
        continue;
      }
      for (const auto& change : input["end"]["changes"]) {
        out += csv_row(kSensitivityColumns, document["metadata"], input, change);
      }
    }
  }
  return out;
}

}  // namespace slicewise::reports
