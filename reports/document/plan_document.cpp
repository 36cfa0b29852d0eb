#include "plan_document.hpp"

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "csv_rows.hpp"
#include "json_text.hpp"
#include "record_json.hpp"
#include "yaml_text.hpp"

// All from the declarations in sim/studies/plan/plan_record.cpp.
namespace slicewise::reports {

using nlohmann::json;

namespace {

std::string names_of(const sim::PlanOption& option) {
  std::string names;
  for (const sim::PoolChoice& choice : option.pools) {
    names += (names.empty() ? "" : " + ") + sim::describe(choice);
  }
  return names;
}

}  // namespace

json plan_document(const sim::Plan& plan) { return described_json(plan); }

std::string plan_json(const sim::Plan& plan) { return json_text(plan_document(plan)); }

std::string plan_yaml(const sim::Plan& plan) { return yaml_text(plan_document(plan)); }

json plan_schema() { return document_schema(sim::record_of<sim::Plan>(), "slicewise plan"); }

std::string plan_schema_json() { return json_text(plan_schema()); }

// An objective stands where other reports have their workload.
std::string plan_csv(const sim::Plan& plan) {
  const json document = plan_document(plan);
  DocumentCsv table(sim::record_of<sim::Plan>());
  table.add(4, "rank", "/rank");
  table.add(5, "configuration", "/configuration");
  std::string out = table.header();
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    json option = document["options"][o];
    option["rank"] = o + 1;
    option["configuration"] = names_of(plan.options[o]);
    if (option["objectives"].empty()) out += table.row(document, option, json::object());
    for (const json& objective : option["objectives"]) {
      out += table.row(document, option, objective);
    }
  }
  return out;
}

}  // namespace slicewise::reports
