#include <unistd.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

Expected<std::string> list(const GetCommand& command, Bytes fits,
                           const models::Catalogue& catalogue, const reports::TextStyle& style) {
  switch (command.listing) {
    case Listing::Instances: {
      reports::InstanceFilter filter;
      filter.family = command.name.empty() ? command.family : command.name;
      filter.gpu = command.gpu;
      filter.region = command.region;
      filter.fits = fits;
      filter.sort = command.sort;
      return reports::list_instances(catalogue, filter, command.format, style);
    }
    case Listing::Gpus:
      return reports::list_gpus(catalogue, command.name, command.format, style);
    case Listing::MigProfiles:
      return reports::list_mig_profiles(
          catalogue, command.name.empty() ? command.gpu : command.name, command.format, style);
    case Listing::Profiles:
      return reports::list_profiles(catalogue, command.kind, command.gpu, command.name,
                                    command.format, style);
    case Listing::Prices:
      return reports::list_prices(catalogue, command.name, command.region, command.format, style);
  }
  return {};
}

CLI::App& add_listing(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples, Listing listing, GetCommand& get,
                      CommonFlags& flags) {
  CLI::App& verb = add_verb(parent, name, description, examples, flags);
  verb.parse_complete_callback([&get, listing] { get.listing = listing; });
  add_format(verb, kListFormats, get.format);
  add_catalogue(verb, flags);
  return verb;
}

void add_region(CLI::App& verb, GetCommand& get, const std::string& description) {
  add_text(verb, "--region", get.region, "REGION", description);
}

}  // namespace

void add_flags(CLI::App& app, GetCommand& get, CommonFlags& flags) {
  CLI::App& verb = *app.add_subcommand("get", "List what the catalogue knows, with its sources");
  verb.footer("  slicewise get instances --family g5\n  slicewise get gpus -o wide")
      ->group("Verbs");
  verb.require_subcommand(1);

  CLI::App& instances = add_listing(verb, "instances", "EC2 instance types with NVIDIA GPUs",
                                    "  slicewise get instances --fits 20Gi --sort price",
                                    Listing::Instances, get, flags);
  add_text(instances, "name", get.name, "NAME", "Only this instance type");
  add_text(instances, "--family", get.family, "FAMILY", "Only this family: g5")->excludes("name");
  add_text(instances, "--gpu", get.gpu, "GPU", "Only instances with this GPU model: A10G");
  add_text(instances, "--fits", get.fits, "QUANTITY", "Only GPUs with at least this memory: 16Gi");
  add_choice(instances, "--sort", kInstanceOrders, get.sort, "Order (default: the catalogue's)");
  add_region(instances, get,
             "Whose prices to show (default " + reports::InstanceFilter{}.region + ")");
  add_prices(instances, get.prices);

  CLI::App& gpus = add_listing(verb, "gpus", "GPU models", "  slicewise get gpus -o wide",
                               Listing::Gpus, get, flags);
  add_text(gpus, "name", get.name, "NAME", "Only this GPU model");

  CLI::App& mig =
      add_listing(verb, "mig-profiles", "MIG profiles and where they may be placed",
                  "  slicewise get mig-profiles A100-SXM4-40GB", Listing::MigProfiles, get, flags);
  add_text(mig, "name", get.name, "GPU", "Only this GPU model");
  add_text(mig, "--gpu", get.gpu, "GPU", "The same as a flag")->excludes("name");

  CLI::App& profiles = add_listing(verb, "profiles", "Measured workloads",
                                   "  slicewise get profiles", Listing::Profiles, get, flags);
  add_text(profiles, "name", get.name, "NAME", "Only this profile");
  add_text(profiles, "--kind", get.kind, "KIND", "Only this kind of workload");
  add_text(profiles, "--gpu", get.gpu, "GPU", "Only what was measured on this GPU model");

  CLI::App& prices = add_listing(verb, "prices", "On-demand, spot and commitment prices",
                                 "  slicewise get prices g5.xlarge", Listing::Prices, get, flags);
  add_text(prices, "name", get.name, "INSTANCE", "Only this instance type");
  add_region(prices, get, "Only this region");
  add_prices(prices, get.prices);
}

ExitCode execute(const GetCommand& command, const CommonFlags& flags) {
  Bytes fits;
  if (!command.fits.empty()) {
    const auto parsed = scenarios::parse_bytes(command.fits);
    if (!parsed) {
      return usage_error("--fits: " + parsed.error().message, parsed.error().help);
    }
    fits = *parsed;
  }
  auto opened = open_catalogue(flags);
  if (!opened) return opened.error();
  models::Catalogue& catalogue = *opened;
  if (const ExitCode code = lay_prices_over(catalogue, command.prices, flags); failed(code)) {
    return code;
  }
  const Expected<std::string> text =
      list(command, fits, catalogue, style_for(STDOUT_FILENO, flags.color));
  if (!text) {
    print_diagnostics(text.error(), {}, flags);
    return ExitCode::Usage;
  }
  return write_text("", *text);
}

}  // namespace slicewise::tools
