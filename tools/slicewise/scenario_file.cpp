#include "scenario_file.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/result_record.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"

#include "bug_report.hpp"
#include "files.hpp"
#include "host.hpp"
#include "plan_part.hpp"
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
  const auto read_trace_file = [](const std::string& name) {
    Expected<SourceText> trace = read_source(name, scenarios::kLargestTrace);
    return trace ? scenarios::decompressed(std::move(*trace)) : std::move(trace);
  };
  file.loaded = scenarios::read_scenario_file(source, {.set = set}, read_trace_file);
  const auto& variants = file.loaded.set.variants;
  if (current_host() == nullptr) {  // what is remembered is of the process
    remember_scenario(file.loaded.set.sha256, variants.empty() ? 0 : variants.front().seed);
  }
  // A line for each argument, under the flag that it is a mistake of.
  SourceText settings{"--set", ""};
  SourceText sweeps{"--sweep", ""};
  for (const std::string& setting : set) {
    const bool swept = setting.starts_with(scenarios::kSweepPath);
    settings.text += swept ? "\n" : setting + "\n";
    sweeps.text += swept ? setting.substr(scenarios::kSweepPath.size()) + "\n" : "\n";
  }
  file.texts = {std::move(source), std::move(settings), std::move(sweeps)};
  std::move(file.loaded.traces.begin(), file.loaded.traces.end(), std::back_inserter(file.texts));
  file.loaded.traces.clear();
  file.settings = set;
  return file;
}

namespace {

// A folder stands for the files in it, by name.
std::vector<std::string> files_in(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".yaml" || ending == ".yml" || ending == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

namespace {

// A file of the catalogue, and what names it.
struct CatalogueFile {
  std::string path;
  SourceLocation where;  // in the scenario; of --catalogue without one
};

Expected<std::vector<CatalogueFile>> files_of(const std::string& path,
                                              const SourceLocation& where) {
  std::vector<CatalogueFile> out;
  for (std::string& file : files_in(path)) out.push_back({std::move(file), where});
  if (!out.empty()) return out;
  return failure(Code::FileUnreadable, {.file = path, .line = 0},
                 "the folder has no .yaml, .yml or .json file");
}

// What the variants of a scenario name, each once, by paths from the folder of the scenario.
std::vector<CatalogueFile> profile_files_of(const ScenarioFile& scenario) {
  const std::string& name = scenario.source().name;
  const std::filesystem::path folder =
      name == "-" ? std::filesystem::path() : std::filesystem::path(name).parent_path();
  std::vector<CatalogueFile> out;
  for (const scenarios::Scenario& variant : scenario.loaded.set.variants) {
    for (const Located<std::string>& file : variant.profile_files) {
      const std::string path = (folder / file.value).string();
      if (std::ranges::find(out, path, &CatalogueFile::path) != out.end()) continue;
      out.push_back({path, file.where});
      out.back().where.file = name;
    }
  }
  return out;
}

}  // namespace

Expected<models::Catalogue> laid_catalogue(const CommonFlags& flags, const ScenarioFile* scenario,
                                           std::vector<SourceText>& texts) {
  std::vector<CatalogueFile> files;
  const auto take = [&](const std::string& path, const SourceLocation& where) -> Diagnostics {
    auto found = files_of(path, where);
    if (!found) return found.error();
    std::ranges::move(*found, std::back_inserter(files));
    return {};
  };
  if (scenario != nullptr) {
    texts = scenario->texts;
    for (const CatalogueFile& named : profile_files_of(*scenario)) {
      if (Diagnostics problems = take(named.path, named.where); !problems.empty()) {
        problems.front().where = named.where;
        return tl::unexpected(std::move(problems));
      }
    }
  }
  const std::size_t own = files.size();
  for (const std::string& named : flags.catalogues) {
    if (Diagnostics problems = take(named, {}); !problems.empty()) {
      return tl::unexpected(std::move(problems));
    }
  }
  models::Catalogue catalogue = models::load_catalogue();
  for (std::size_t n = 0; n < files.size(); ++n) {
    Expected<SourceText> source = read_source(files[n].path);
    if (!source) {
      Diagnostics problems = source.error();
      if (n < own) {
        problems.front().where = files[n].where;
        problems.front().help = "the path is relative to the folder of the scenario file";
      }
      return tl::unexpected(std::move(problems));
    }
    // A command that repeats a result names what the scenario names as well.
    const std::string sha256 = scenarios::sha256_hex(source->text);
    const auto laid_before = [&](const models::CatalogueLayer& layer) {
      return layer.sha256 == sha256;
    };
    if (own > 0 && std::ranges::any_of(catalogue.layers, laid_before)) continue;
    Expected<models::Catalogue> laid = models::with_layer(std::move(catalogue), *source);
    texts.push_back(std::move(*source));
    if (!laid) return tl::unexpected(laid.error());
    catalogue = std::move(*laid);
    catalogue.layers.back().sha256 = sha256;
  }
  return catalogue;
}

tl::expected<models::Catalogue, ExitCode> open_catalogue(const CommonFlags& flags,
                                                         const ScenarioFile* scenario) {
  std::vector<SourceText> texts;
  auto catalogue = laid_catalogue(flags, scenario, texts);
  if (!catalogue) {
    Diagnostics problems = catalogue.error();
    if (scenario != nullptr) {
      std::ranges::copy(scenario->loaded.problems, std::back_inserter(problems));
    }
    return tl::unexpected(fail(problems, texts, flags));
  }
  return std::move(*catalogue);
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

bool has_several_zones(const scenarios::Scenario& scenario) {
  std::set<std::string> zones;
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    const auto zone = pool.labels.find(std::string(scenarios::kZoneLabel));
    if (zone != pool.labels.end()) zones.insert(zone->second);
  }
  return zones.size() > 1;
}

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

ExitCode check_size(const std::vector<SourceText>& texts,
                    std::span<const scenarios::Scenario> variants,
                    const models::Catalogue& catalogue, const sim::SizeLimits& limits,
                    const CommonFlags& flags) {
  Diagnostics found;
  for (const scenarios::Scenario& scenario : variants) {
    const auto world = sim::build_world(scenario, catalogue);
    if (!world) continue;
    for (Diagnostic& d : sim::beyond_limits(sim::estimate_size(*world), limits)) {
      if (!holds(found, d)) found.push_back(std::move(d));
    }
  }
  return found.empty() ? ExitCode::Success : fail(found, texts, flags);
}

tl::expected<OpenedScenario, ExitCode> open_priced(const std::string& path,
                                                   const std::vector<std::string>& set,
                                                   const std::string& prices,
                                                   const CommonFlags& flags,
                                                   std::optional<int> candidate) {
  tl::expected<ScenarioFile, ExitCode> file = open_scenario_or_option(path, set, flags, candidate);
  if (!file) return tl::unexpected(file.error());
  auto catalogue = open_catalogue(flags, &*file);
  if (!catalogue) return tl::unexpected(catalogue.error());
  OpenedScenario opened{std::move(*file), std::move(*catalogue), {}};
  const ExitCode code = lay_prices_over(
      opened.catalogue, prices.empty() ? opened.file.price_file : prices, flags, &opened.prices);
  if (failed(code)) return tl::unexpected(code);
  return opened;
}

ExitCode check_mistakes(const OpenedScenario& opened, const CommonFlags& flags) {
  if (opened.file.loaded.problems.empty()) return ExitCode::Success;
  return fail(sim::check_names(opened.file.loaded, opened.catalogue), opened.file.texts, flags);
}

tl::expected<OneVariant, ExitCode> open_variant(const StudyCommand& command,
                                                const CommonFlags& flags) {
  auto priced = open_priced(command.file, command.set, command.prices, flags);
  if (!priced) return tl::unexpected(priced.error());
  OneVariant opened{std::move(*priced)};
  if (const ExitCode code = check_mistakes(opened, flags); failed(code)) {
    return tl::unexpected(code);
  }
  std::vector<scenarios::Scenario>& variants = opened.file.loaded.set.variants;
  if (!command.variant.empty()) {
    // Only to have the name checked: the other variants are counted in the report.
    scenarios::ScenarioSet named = opened.file.loaded.set;
    if (const ExitCode code = keep_variants(named, {command.variant}); failed(code)) {
      return tl::unexpected(code);
    }
    const auto found = std::ranges::find(variants, command.variant, &scenarios::Scenario::name);
    opened.variant = static_cast<std::size_t>(found - variants.begin());
  }
  scenarios::Scenario& scenario = variants[opened.variant];
  scenario.seed = command.seed.value_or(scenario.seed);
  scenario.replications = command.replications.value_or(scenario.replications);
  scenario.allow_pending |= command.allow_pending;
  if (const ExitCode code =
          check_size(opened.file.texts, {&scenario, 1}, opened.catalogue, command.limits, flags);
      failed(code)) {
    return tl::unexpected(code);
  }
  return opened;
}

bool has_layers(const models::Catalogue& catalogue, const sim::Stamp& stamp, std::string& problem) {
  if (std::ranges::equal(catalogue.layers, stamp.catalogue_sha256, {},
                         &models::CatalogueLayer::sha256)) {
    return true;
  }
  std::string files;
  for (const std::string& file : stamp.catalogue_files) files += " " + file;
  problem = files.empty() ? "it was made without a --catalogue file"
                          : "it was made with other catalogue files:" + files;
  return false;
}

void stamp_files(const ScenarioFile& scenario, const PriceFile& prices, sim::Stamp& stamp) {
  stamp.scenario_file = scenario.texts.front().name;
  stamp.settings = scenario.settings;
  stamp.price_file = prices.name;
  stamp.price_file_sha256 = prices.sha256;
}

std::string subject_of(const OpenedScenario& opened, std::size_t variant) {
  const scenarios::ScenarioSet& set = opened.set();
  sim::Stamp stamp = sim::stamp_of(set, variant, opened.catalogue);
  stamp_files(opened.file, opened.prices, stamp);
  const bool allows = set.variants[variant].allow_pending;
  std::string subject =
      fmt::format("{} {} {} {} {} {} {}{}", stamp.version, stamp.scenario_sha256, stamp.variant,
                  stamp.seed, stamp.price_file_sha256.empty() ? "-" : stamp.price_file_sha256,
                  fmt::join(stamp.catalogue_sha256, " "), fmt::join(stamp.settings, " "),
                  allows ? " --allow-pending" : "");
  std::ranges::replace(subject, '\n', ' ');
  return subject;
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
  PlanOpener(const SourceText& source, const CommonFlags& flags) : source_(source), flags_(flags) {}

  tl::expected<ScenarioFile, ExitCode> open(const std::string& part) {
    const auto plan = reports::read_plan(source_);
    if (!plan) return refused(plan.error());
    const auto named = part_of_plan(*plan, part);
    if (!named) return refused(Code::ValueRange, named.error(), std::string(kPlanParts));
    if (plan->stamp.scenario_file.empty() || plan->stamp.scenario_file == "-") {
      return refused(Code::FileUnreadable,
                     "the plan was made from standard input, which is not there any more",
                     "make it again with -f FILE");
    }
    return in_place(*plan, *named, part);
  }

 private:
  tl::unexpected<ExitCode> refused(const Diagnostics& problems) const {
    return tl::unexpected(fail(problems, {source_}, flags_));
  }
  tl::unexpected<ExitCode> refused(Code code, std::string message, std::string help) const {
    return refused(
        {make_diagnostic(code, {source_.name, 1, 1, 1}, std::move(message), std::move(help))});
  }
  tl::unexpected<ExitCode> stale(const std::string& file) const {
    return refused(Code::PlanStale, fmt::format("{} is not what this plan was made from", file),
                   "make the plan again, or take the files of that time");
  }

  tl::expected<ScenarioFile, ExitCode> in_place(const sim::Plan& plan, const PlanPart& named,
                                                const std::string& part) const {
    const sim::OptionFigures& figures = named.option.figures;
    const std::string path = path_from(source_.name, plan.stamp.scenario_file);
    Expected<ScenarioFile> file = open_scenario(path, plan.stamp.settings);
    if (!file) return refused(file.error());
    if (!file->loaded.problems.empty()) return std::move(*file);  // the caller says them
    scenarios::ScenarioSet& set = file->loaded.set;
    const auto variant =
        std::ranges::find(set.variants, plan.stamp.variant, &scenarios::Scenario::name);
    if (set.sha256 != plan.stamp.scenario_sha256 || variant == set.variants.end()) {
      return stale(path);
    }
    const auto catalogue = open_catalogue(flags_, &*file);
    if (!catalogue) return tl::unexpected(catalogue.error());
    if (std::string given; !has_layers(*catalogue, plan.stamp, given)) {
      return refused(Code::PlanStale, given, "give the --catalogue files that it was made with");
    }
    const Diagnostics problems =
        reports::check_plan_names(source_, named.option.pools, named.at, *variant, *catalogue);
    if (!problems.empty()) return refused(problems);
    file->price_file = path_from(source_.name, plan.stamp.price_file);
    if (!file->price_file.empty()) {
      const Expected<SourceText> prices = read_source(file->price_file);
      if (!prices) return refused(prices.error());
      if (scenarios::sha256_hex(prices->text) != plan.stamp.price_file_sha256) {
        return stale(file->price_file);
      }
    }
    const auto starts_at = scenarios::parse_week_time(plan.stamp.starts_at);
    if (starts_at) variant->starts_at = *starts_at;
    scenarios::Scenario planned = sim::planned_scenario(*variant, named.option.pools, *catalogue);
    planned.seed = plan.stamp.seed;
    // What decided that it stands.
    planned.replications = std::max(plan.stamp.replications, figures.replications);
    if (named.over_whole_days) {
      planned = sim::over_whole_days(std::move(planned));
      planned.replications = figures.replications;
    }
    planned.allow_pending = plan.stamp.allow_pending;
    // A plan chooses no zones: of pools in several, or spread over them, its own are in any.
    if (has_several_zones(*variant) || plan.survives == "zone") {
      for (auto& pool : planned.node_pools) pool.labels.erase(std::string(scenarios::kZoneLabel));
    }
    if (!plan.survives.empty()) {
      const std::string_view label =
          plan.survives == "zone" ? scenarios::kZoneLabel : scenarios::kHostname;
      for (auto& workload : planned.workloads) workload.manifest.spread = label;
    }
    set.variants = {std::move(planned)};
    // What was read is the option of the plan: by that name it is found again.
    file->texts.insert(file->texts.begin(), file->texts.front());
    file->texts.front().name = fmt::format("{}#{}", source_.name, part);
    sim::PlanProbe probe;
    probe.pools = named.option.pools;
    set.sha256 = scenarios::sha256_hex(set.sha256, {sim::probe_line(probe)});
    file->planned_with = std::exchange(file->settings, {});
    file->is_option = true;
    file->origin = fmt::format(
        "It is {} of {}{} for ${:.2f} a month.{}{}", named.name, source_.name, named.merit,
        to_dollars(figures.monthly),
        plan.keep_as_is && !named.over_whole_days ? " The plan says to keep what there is." : "",
        plan.placeholders.empty()
            ? ""
            : fmt::format(" It is no recommendation: load and GPU time of {} are placeholders.",
                          sim::few_names(plan.placeholders)));
    return std::move(*file);
  }

  const SourceText& source_;
  const CommonFlags& flags_;
};

}  // namespace

tl::expected<ScenarioFile, ExitCode> open_scenario_or_option(const std::string& argument,
                                                             const std::vector<std::string>& set,
                                                             const CommonFlags& flags,
                                                             std::optional<int> candidate) {
  const FilePart named = file_part(argument);
  Expected<SourceText> source = read_source(named.file);
  if (!source) return tl::unexpected(fail(source.error(), {}, flags));
  const auto refused = [](const std::string& message, const std::string& help) {
    return tl::unexpected(usage_error(message, help));
  };
  if (!reports::looks_like_plan(*source)) {
    if (candidate) {
      return refused(
          "--candidate chooses an option of a plan, and " + named.file + " is none",
          "slicewise plan -o json writes one; --variant chooses a variant of a scenario");
    }
    if (named.part) {
      return refused("only a plan has options, and " + named.file + " is none",
                     "slicewise plan -o json writes one");
    }
    return scenario_of(std::move(*source), set);
  }
  if (!set.empty()) {
    return refused("a plan takes no --set: its options are for the scenario as it was planned",
                   "slicewise plan --set ... makes a plan of the other one");
  }
  if (named.part && candidate) {
    return refused("--candidate and #" + *named.part + " both choose an option",
                   "leave one of them out");
  }
  if (named.part && !names_plan_part(*named.part)) {
    return refused(names_no_part(*named.part), std::string(kPlanParts));
  }
  return PlanOpener(*source, flags)
      .open(named.part ? *named.part : std::to_string(candidate.value_or(1)));
}

}  // namespace slicewise::tools
