#include "scenario_file.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/run.hpp"

#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {

Expected<ScenarioFile> open_scenario(const std::string& path, const std::vector<std::string>& set) {
  Expected<SourceText> source = read_source(path);
  if (!source) {
    return tl::unexpected(std::move(source.error()));
  }
  return scenario_of(std::move(*source), set);
}

ScenarioFile scenario_of(SourceText source, const std::vector<std::string>& set) {
  ScenarioFile file;
  file.loaded = scenarios::read_scenario_file(source, {.set = set}, [](const std::string& trace) {
    return read_source(trace, scenarios::kLargestTrace);
  });
  file.texts = {std::move(source), {"--set", ""}};
  for (const std::string& flag : set) {
    file.texts.back().text += flag + "\n";
  }
  std::move(file.loaded.traces.begin(), file.loaded.traces.end(), std::back_inserter(file.texts));
  file.loaded.traces.clear();
  file.settings = set;
  return file;
}

ExitCode lay_prices_over(models::Catalogue& catalogue, const std::string& path,
                         const CommonFlags& flags, PriceFile* used) {
  if (path.empty()) {
    return ExitCode::Success;
  }
  const Expected<SourceText> source = read_source(path);
  if (!source) {
    return fail(source.error(), {}, flags);
  }
  if (source->text.size() > scenarios::kLargestScenario) {
    return fail({make_diagnostic(Code::FileUnreadable, {.file = path, .line = 0},
                                 "\"" + path + "\" is larger than 16 MiB")},
                {}, flags);
  }
  Expected<models::PriceBook> prices = models::with_overrides(catalogue, *source);
  if (!prices) {
    return fail(prices.error(), {*source}, flags);
  }
  catalogue.prices = std::move(*prices);
  if (used != nullptr) {
    *used = {.name = path, .sha256 = scenarios::sha256_hex(source->text)};
  }
  return ExitCode::Success;
}

namespace {

std::vector<std::string> names_in_set(const scenarios::ScenarioSet& set) {
  std::vector<std::string> names;
  for (const scenarios::Scenario& variant : set.variants) {
    names.push_back(variant.name);
  }
  return names;
}

}  // namespace

std::string variant_names(const scenarios::ScenarioSet& set) {
  std::string text;
  for (const std::string& name : names_in_set(set)) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

ExitCode keep_variants(scenarios::ScenarioSet& set, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(set.variants, name, &scenarios::Scenario::name) == set.variants.end()) {
      const std::optional<std::string> nearest = nearest_name(name, names_in_set(set));
      return usage_error("--variant: " + set.name + " has no variant \"" + name + "\"" +
                             (nearest ? "; did you mean \"" + *nearest + "\"?" : ""),
                         "its variants are " + variant_names(set));
    }
  }
  if (!names.empty()) {
    std::erase_if(set.variants, [&](const scenarios::Scenario& variant) {
      return std::ranges::find(names, variant.name) == names.end();
    });
  }
  return ExitCode::Success;
}

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

namespace {

// Opens the scenario of a plan and puts one of its options in place.
class PlanOpener {
 public:
  PlanOpener(const SourceText& source, const ExportCommand& command,
             const models::Catalogue& catalogue, const CommonFlags& flags)
      : source_(source), command_(command), catalogue_(catalogue), flags_(flags) {}

  tl::expected<ScenarioFile, ExitCode> open() {
    if (!command_.set.empty()) {
      return tl::unexpected(
          usage_error("a plan takes no --set: its options are for the scenario "
                      "as it was planned",
                      "slicewise plan --set ... makes a plan of the other one"));
    }
    auto plan = reports::read_plan(source_);
    if (!plan) return refused(plan.error());
    const auto count = static_cast<int>(plan->options.size());
    const int candidate = command_.candidate.value_or(1);
    if (candidate > count) {
      return refused(Code::ValueRange,
                     count == 0 ? "the plan has no option: nothing that was tried stands"
                                : fmt::format("the plan has {} option{}, no option {}", count,
                                              count == 1 ? "" : "s", candidate),
                     "--candidate counts from 1, the best");
    }
    if (plan->stamp.scenario_file.empty() || plan->stamp.scenario_file == "-") {
      return refused(Code::FileUnreadable,
                     "the plan was made from standard input, which is not there any more",
                     "make it again with -f FILE");
    }
    return in_place(*plan, static_cast<std::size_t>(candidate) - 1);
  }

 private:
  tl::unexpected<ExitCode> refused(const Diagnostics& problems) const {
    return tl::unexpected(fail(problems, {source_}, flags_));
  }
  tl::unexpected<ExitCode> refused(Code code, std::string message, std::string help) const {
    return refused(
        {make_diagnostic(code, {source_.name, 1, 1, 1}, std::move(message), std::move(help))});
  }

  tl::expected<ScenarioFile, ExitCode> in_place(const reports::StoredPlan& plan,
                                                std::size_t option) const {
    const std::string path = path_from(source_.name, plan.stamp.scenario_file);
    Expected<ScenarioFile> file = open_scenario(path, plan.stamp.settings);
    if (!file) return refused(file.error());
    if (!file->loaded.problems.empty()) return std::move(*file);  // the caller says them
    scenarios::ScenarioSet& set = file->loaded.set;
    const auto variant =
        std::ranges::find(set.variants, plan.stamp.variant, &scenarios::Scenario::name);
    if (set.sha256 != plan.stamp.scenario_sha256 || variant == set.variants.end()) {
      return refused(Code::PlanStale, fmt::format("{} is not what this plan was made from", path),
                     "make the plan again, or take the scenario of that time");
    }
    const Diagnostics problems =
        reports::check_plan_names(source_, plan, option, *variant, catalogue_);
    if (!problems.empty()) return refused(problems);
    scenarios::Scenario planned = sim::planned_scenario(*variant, plan.options[option], catalogue_);
    set.variants = {std::move(planned)};
    return std::move(*file);
  }

  const SourceText& source_;
  const ExportCommand& command_;
  const models::Catalogue& catalogue_;
  const CommonFlags& flags_;
};

}  // namespace

tl::expected<ScenarioFile, ExitCode> open_scenario_or_plan(const ExportCommand& command,
                                                           const models::Catalogue& catalogue,
                                                           const CommonFlags& flags) {
  Expected<SourceText> source = read_source(command.file);
  if (!source) return tl::unexpected(fail(source.error(), {}, flags));
  if (reports::looks_like_plan(*source)) {
    return PlanOpener(*source, command, catalogue, flags).open();
  }
  if (command.candidate) {
    return tl::unexpected(
        usage_error("--candidate chooses an option of a plan, and " + command.file + " is none",
                    "slicewise plan -o json writes one; --variant chooses a "
                    "variant of a scenario"));
  }
  return scenario_of(std::move(*source), command.set);
}

}  // namespace slicewise::tools
