#include "slicewise/reports/result_report.hpp"
#include "slicewise/scenarios/schema.hpp"

#include "commands.hpp"
#include "files.hpp"

namespace slicewise::tools {

ExitCode execute(const SchemaCommand& command, const CommonFlags& /*flags*/) {
  return write_text("", command.kind == SchemaKind::Scenario ? scenarios::scenario_schema_json()
                                                             : reports::result_schema_json());
}

}  // namespace slicewise::tools
