#include <algorithm>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/export/device_plugin.hpp"
#include "slicewise/reports/export/pod_patch.hpp"
#include "slicewise/sim/check.hpp"

#include "commands.hpp"
#include "files.hpp"
#include "scenario_file.hpp"
#include "terminal.hpp"
#include "variants.hpp"

namespace slicewise::tools {
namespace {

Expected<std::string> render(const ExportCommand& command, const scenarios::Scenario& scenario,
                             const models::Catalogue& catalogue) {
  reports::ExportOptions options;
  if (!command.chart_version.empty()) {
    options.chart_version = command.chart_version;
  }
  switch (command.target) {
    case ExportTarget::HelmValues:
      return reports::helm_values(scenario, catalogue, options);
    case ExportTarget::ConfigMap:
      return reports::config_map(scenario, catalogue, options);
    case ExportTarget::PodPatch:
      return reports::pod_patches(scenario);
  }
  return {};
}

// Every other word that an export refuses stands in the scenario.
bool chart_is_unknown(const Diagnostics& problems) {
  return std::ranges::any_of(problems, [](const Diagnostic& d) {
    return d.code == Code::EnumUnknown && d.where.file.empty();
  });
}

}  // namespace

ExitCode execute(const ExportCommand& command, const CommonFlags& flags) {
  Expected<ScenarioFile> file = open_scenario(command.file, command.set);
  if (!file) {
    return fail(file.error(), {}, flags);
  }
  const models::Catalogue catalogue = models::load_catalogue();
  if (const Diagnostics problems = sim::check_names(file->loaded, catalogue); !problems.empty()) {
    return fail(problems, file->texts, flags);
  }
  scenarios::ScenarioSet& set = file->loaded.set;
  if (command.variant.empty() && set.variants.size() > 1) {
    return usage_error(set.name + " has several variants: say which one with --variant",
                       "its variants are " + variant_names(set));
  }
  const std::vector<std::string> wanted =
      command.variant.empty() ? std::vector<std::string>() : std::vector{command.variant};
  if (const ExitCode code = keep_variants(set, wanted); code != ExitCode::Success) {
    return code;
  }
  const Expected<std::string> text = render(command, set.variants.front(), catalogue);
  if (!text) {
    const ExitCode code = fail(text.error(), file->texts, flags);
    return chart_is_unknown(text.error()) ? ExitCode::Usage : code;
  }
  print_diagnostics(set.notes, file->texts, flags);
  return write_text(command.out, *text);
}

}  // namespace slicewise::tools
