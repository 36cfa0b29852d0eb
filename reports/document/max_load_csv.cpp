#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/max_load_report.hpp"

#include "csv_rows.hpp"
#include "max_load_document.hpp"

namespace slicewise::reports {
namespace {

using Level = CsvColumn::Level;

// The whole document stands where other reports have their metadata.
constexpr std::array kMaxLoadCsv = {
    CsvColumn{"scenario", Level::Metadata, "/metadata/scenario"},
    CsvColumn{"variant", Level::Metadata, "/metadata/variant"},
    CsvColumn{"seed", Level::Metadata, "/metadata/seed"},
    CsvColumn{"path", Level::Item, "/path"},
    CsvColumn{"name", Level::Item, "/name"},
    CsvColumn{"unit", Level::Item, "/unit"},
    CsvColumn{"scenarioLoad", Level::Item, "/scenario"},
    CsvColumn{"passedLoad", Level::Item, "/passed"},
    CsvColumn{"failedLoad", Level::Item, "/failed"},
    CsvColumn{"headroom", Level::Item, "/headroom"},
    CsvColumn{"passedFactor", Level::Metadata, "/passedFactor"},
    CsvColumn{"failedFactor", Level::Metadata, "/failedFactor"},
    CsvColumn{"widthRatio", Level::Metadata, "/widthRatio"},
    CsvColumn{"bindingWorkload", Level::Metadata, "/binding/workload"},
    CsvColumn{"bindingObjective", Level::Metadata, "/binding/name"},
    CsvColumn{"per1kRequestsInSloUsd", Level::Metadata, "/atPassed/per1kRequestsInSloUsd"},
};

}  // namespace

std::string max_load_csv(const sim::MaxLoad& found) {
  const nlohmann::json document = max_load_document(found);
  std::string out = csv_header(kMaxLoadCsv);
  for (const auto& load : document["loads"]) {
    out += csv_row(kMaxLoadCsv, document, load, nlohmann::json::object());
  }
  return out;
}

}  // namespace slicewise::reports
