#include "one_variant.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <unistd.h>

#include "slicewise/sim/check.hpp"

#include "terminal.hpp"
#include "variants.hpp"

namespace slicewise::tools {

tl::expected<OneVariant, ExitCode> open_variant(
    const std::string& path, const std::vector<std::string>& set, const std::string& prices,
    const std::string& variant, std::optional<std::uint64_t> seed, std::optional<int> replications,
    bool allow_pending, const CommonFlags& flags) {
  Expected<ScenarioFile> file = open_scenario(path, set);
  if (!file) return tl::unexpected(fail(file.error(), {}, flags));
  OneVariant opened{std::move(*file), 0, models::load_catalogue(), {}};
  if (const ExitCode code = lay_prices_over(opened.catalogue, prices, flags, &opened.prices);
      code != ExitCode::Success) {
    return tl::unexpected(code);
  }
  if (!opened.file.loaded.problems.empty()) {
    return tl::unexpected(
        fail(sim::check_names(opened.file.loaded, opened.catalogue), opened.file.texts, flags));
  }
  std::vector<scenarios::Scenario>& variants = opened.file.loaded.set.variants;
  if (!variant.empty()) {
    // Only to have the name checked: the other variants are counted in the report.
    scenarios::ScenarioSet named = opened.file.loaded.set;
    if (const ExitCode code = keep_variants(named, {variant}); code != ExitCode::Success) {
      return tl::unexpected(code);
    }
    const auto found = std::ranges::find(variants, variant, &scenarios::Scenario::name);
    opened.variant = static_cast<std::size_t>(found - variants.begin());
  }
  scenarios::Scenario& scenario = variants[opened.variant];
  scenario.seed = seed.value_or(scenario.seed);
  scenario.replications = replications.value_or(scenario.replications);
  scenario.allow_pending = allow_pending;
  return opened;
}

void stamp_files(const ScenarioFile& scenario, const PriceFile& prices, sim::Stamp& stamp) {
  stamp.scenario_file = scenario.texts.front().name;
  stamp.settings = scenario.settings;
  stamp.price_file = prices.name;
  stamp.price_file_sha256 = prices.sha256;
}

int thread_count(int jobs) {
  return jobs > 0 ? jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

reports::TextStyle report_style(const std::string& out, const CommonFlags& flags) {
  reports::TextStyle style = style_for(STDOUT_FILENO, flags.color);
  if (!out.empty() && flags.color == ColorChoice::Auto) style.color = false;
  return style;
}

}  // namespace slicewise::tools
