#include "stored_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/reports/plan_report.hpp"
#include "slicewise/sim/plan.hpp"

#include "files.hpp"

namespace slicewise::tools {
namespace {

tl::unexpected<Diagnostics> plan_refused(const std::string& path, Code code, std::string message,
                                         std::string help) {
  return tl::unexpected(
      Diagnostics{make_diagnostic(code, {path, 1, 1, 1}, std::move(message), std::move(help))});
}

Expected<ScenarioFile> open_planned(const SourceText& source, int candidate,
                                    const models::Catalogue& catalogue) {
  const auto plan = reports::read_plan(source);
  if (!plan) return tl::unexpected(plan.error());
  const auto count = static_cast<int>(plan->options.size());
  if (candidate > count) {
    return plan_refused(source.name, Code::ValueRange,
                        fmt::format("the plan has {} options, no option {}", count, candidate),
                        "--candidate counts from 1, the best");
  }
  Expected<ScenarioFile> file = open_scenario(plan->scenario_file, plan->settings);
  if (!file || !file->loaded.problems.empty()) return file;
  scenarios::ScenarioSet& set = file->loaded.set;
  const auto variant = std::ranges::find(set.variants, plan->variant, &scenarios::Scenario::name);
  if (set.sha256 != plan->scenario_sha256 || variant == set.variants.end()) {
    return plan_refused(source.name, Code::PlanStale,
                        fmt::format("{} is not what this plan was made from", plan->scenario_file),
                        "make the plan again, or take the scenario of that time");
  }
  set.variants = {sim::planned_scenario(
      *variant, plan->options[static_cast<std::size_t>(candidate) - 1], catalogue)};
  return file;
}

}  // namespace

Expected<ScenarioFile> open_scenario_or_plan(const std::string& path,
                                             const std::vector<std::string>& set, int candidate,
                                             const models::Catalogue& catalogue) {
  if (path == "-") return open_scenario(path, set);
  Expected<SourceText> source = read_source(path);
  if (!source) return tl::unexpected(std::move(source.error()));
  if (!reports::looks_like_plan(*source)) return open_scenario(path, set);
  return open_planned(*source, candidate, catalogue);
}

}  // namespace slicewise::tools
