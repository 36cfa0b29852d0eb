#include <unistd.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../prices.hpp"
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

}  // namespace

ExitCode execute(const GetCommand& command, const CommonFlags& flags) {
  Bytes fits;
  if (!command.fits.empty()) {
    const auto parsed = scenarios::parse_bytes(command.fits);
    if (!parsed) {
      return usage_error("--fits: " + parsed.error().message, parsed.error().help);
    }
    fits = *parsed;
  }
  models::Catalogue catalogue = models::load_catalogue();
  if (const ExitCode code = lay_prices_over(catalogue, command.prices, flags);
      code != ExitCode::Success) {
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
