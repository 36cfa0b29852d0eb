#include "result_document.hpp"

#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "csv_rows.hpp"
#include "record_json.hpp"
#include "yaml_text.hpp"

// All from the declarations in sim/result/result_record.cpp.
namespace slicewise::reports {

using nlohmann::json;

json result_document(const sim::Result& result) { return described_json(result); }

std::string result_json(const sim::Result& result) { return json_text(result_document(result)); }

std::string result_yaml(const sim::Result& result) { return yaml_text(result_document(result)); }

std::string result_schema_json() {
  return json_text(document_schema(sim::record_of<sim::Result>(), "slicewise result"));
}

std::string result_csv(const sim::Result& result) {
  const json document = result_document(result);
  const DocumentCsv table(sim::record_of<sim::Result>());
  std::string out = table.header();
  for (const json& variant : document["variants"]) {
    for (const json& workload : variant["workloads"]) {
      out += table.row(document, variant, workload);
    }
  }
  return out;
}

}  // namespace slicewise::reports
