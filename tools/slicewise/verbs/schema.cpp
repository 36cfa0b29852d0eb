#include <array>

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

constexpr std::array kSchemas = {
    Choice{"scenario", &scenarios::scenario_schema_json},
    Choice{"result", &reports::Report<sim::Result>::schema},
    Choice{"comparison", &reports::Report<sim::StrategyComparison>::schema},
    Choice{"max-load", &reports::Report<sim::MaxLoad>::schema},
    Choice{"plan", &reports::Report<sim::Plan>::schema},
    Choice{"neighbours", &reports::Report<sim::NeighbourMatrix>::schema},
    Choice{"sensitivity", &reports::Report<sim::SensitivityStudy>::schema},
    Choice{"difference", &reports::difference_schema_json},
    Choice{"replay", &reports::Report<sim::ReplayStudy>::schema},
    Choice{"check", &reports::check_schema_json},
    Choice{"catalogue", &models::catalogue_schema_json},
};

}  // namespace

void add_flags(CLI::App& app, SchemaCommand& schema, CommonFlags& flags) {
  CLI::App& verb = add_verb(app, "schema", "Print the JSON Schema of a file format",
                            "  slicewise schema scenario", flags);
  add_choice(verb, "kind", kSchemas, schema.text, "Which format")->required();
}

ExitCode execute(const SchemaCommand& command, const CommonFlags& /*flags*/) {
  return write_text("", command.text());
}

}  // namespace slicewise::tools
