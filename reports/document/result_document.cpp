#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/plan_record.hpp"

#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "record_json.hpp"

// All from the declarations in sim/result/result_record.cpp.
namespace slicewise::reports {

using nlohmann::json;

std::string csv_of(const sim::Result& result) {
  const json document = described_json(result);
  const DocumentCsv table(sim::record_of<sim::Result>());
  std::string out = table.header();
  // Groups of the bill stand in the place of workloads.
  const json::json_pointer groups("/cost/split/groups");
  for (const json& variant : document["variants"]) {
    for (const json& row : variant.contains(groups) ? variant.at(groups) : variant["workloads"]) {
      out += table.row(document, variant, row);
    }
  }
  return out;
}

// All from the declarations in sim/studies/plan/plan_record.cpp.

// An objective stands where other reports have their workload.
std::string csv_of(const sim::Plan& plan) {
  const json document = described_json(plan);
  DocumentCsv table(sim::record_of<sim::Plan>());
  table.add(4, "rank", "/rank");
  std::string out = table.header();
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    json option = document["options"][o];
    option["rank"] = o + 1;
    if (option["objectives"].empty()) out += table.row(document, option, json::object());
    for (const json& objective : option["objectives"]) {
      out += table.row(document, option, objective);
    }
  }
  return out;
}

}  // namespace slicewise::reports
