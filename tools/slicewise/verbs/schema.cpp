#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/difference.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"

namespace slicewise::tools {

namespace {

std::string schema_text(SchemaKind kind) {
  switch (kind) {
    case SchemaKind::Scenario:
      return scenarios::scenario_schema_json();
    case SchemaKind::Result:
      return reports::Report<sim::Result>::schema();
    case SchemaKind::Comparison:
      return reports::Report<sim::StrategyComparison>::schema();
    case SchemaKind::MaxLoad:
      return reports::Report<sim::MaxLoad>::schema();
    case SchemaKind::Plan:
      return reports::Report<sim::Plan>::schema();
    case SchemaKind::Neighbours:
      return reports::Report<sim::NeighbourMatrix>::schema();
    case SchemaKind::Sensitivity:
      return reports::Report<sim::SensitivityStudy>::schema();
    case SchemaKind::Difference:
      return reports::difference_schema_json();
    case SchemaKind::Replay:
      return reports::Report<sim::ReplayStudy>::schema();
    case SchemaKind::Check:
      return reports::check_schema_json();
    case SchemaKind::Catalogue:
      return models::catalogue_schema_json();
  }
  return {};
}

}  // namespace

void add_schema(CLI::App& app, SchemaCommand& schema, CommonFlags& flags) {
  CLI::App& verb = add_verb(app, "schema", "Print the JSON Schema of a file format",
                            "  slicewise schema scenario", flags);
  add_choice(verb, "kind", kSchemas, schema.kind, "Which format")->required();
}

ExitCode execute(const SchemaCommand& command, const CommonFlags& /*flags*/) {
  return write_text("", schema_text(command.kind));
}

}  // namespace slicewise::tools
