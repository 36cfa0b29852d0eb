#include <nlohmann/json.hpp>

#include "slicewise/models/catalogue.hpp"

#include "../bug_report.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"

namespace slicewise::tools {

void add_flags(CLI::App& app, VersionCommand& version, CommonFlags& flags) {
  CLI::App& verb = add_verb(app, "version", "Print version, commit and price date",
                            "  slicewise version -o json", flags);
  add_format(verb, kVersionFormats, version.json);
}

ExitCode execute(const VersionCommand& command, const CommonFlags& /*flags*/) {
  const BuildInfo build = build_info();
  const models::Catalogue catalogue = models::load_catalogue();
  if (command.json) {
    nlohmann::json document = {{"compiler", build.compiler},
                               {"gpuModels", catalogue.gpus.size()},
                               {"instanceTypes", catalogue.instances.size()},
                               {"priceDate", catalogue.prices.date()},
                               {"version", build.version}};
    if (!build.commit.empty()) {
      document["commit"] = build.commit;
    }
    return write_text("", document.dump(2) + "\n");
  }
  const std::string commit = build.commit.empty() ? "" : " (commit " + build.commit + ")";
  return write_text("", "slicewise " + build.version + commit + "\nprices of " +
                            catalogue.prices.date() + ", " +
                            std::to_string(catalogue.instances.size()) +
                            " instance types\nbuilt with " + build.compiler + "\n");
}

}  // namespace slicewise::tools
