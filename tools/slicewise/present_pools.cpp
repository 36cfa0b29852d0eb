#include "present_pools.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "files.hpp"
#include "plan_part.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
namespace {

using Pools = tl::expected<std::vector<sim::PoolChoice>, ExitCode>;

// The workloads may have changed since the plan was made: only its pools count.
Pools of_plan(const SourceText& source, const FilePart& named, const OneVariant& opened,
              const CommonFlags& flags) {
  const auto plan = reports::read_plan(source);
  if (!plan) return tl::unexpected(fail(plan.error(), {source}, flags));
  const auto part = part_of_plan(*plan, named.part.value_or("1"));
  if (!part) return tl::unexpected(usage_error("--from: " + part.error(), kPlanParts));
  Diagnostics problems =
      reports::check_plan_names(source, part->option.pools, part->at,
                                opened.set().variants[opened.variant], opened.catalogue);
  if (!problems.empty()) return tl::unexpected(fail(problems, {source}, flags));
  return part->option.pools;
}

Pools of_scenario(const ScenarioFile& file, const OneVariant& opened, const CommonFlags& flags) {
  if (!file.loaded.problems.empty()) {
    return tl::unexpected(fail(file.loaded.problems, file.texts, flags));
  }
  const auto& variants = file.loaded.set.variants;
  const auto same = std::ranges::find(variants, opened.set().variants[opened.variant].name,
                                      &scenarios::Scenario::name);
  auto pools =
      sim::pools_as_they_stand(same == variants.end() ? variants.front() : *same, opened.catalogue);
  if (!pools) return tl::unexpected(fail(pools.error(), file.texts, flags));
  return std::move(*pools);
}

}  // namespace

Pools present_pools(const PlanCommand& command, const CommonFlags& flags,
                    const OneVariant& opened) {
  if (command.from.empty()) {
    if (!command.options.max_changes) return std::vector<sim::PoolChoice>{};
    return of_scenario(opened.file, opened, flags);
  }
  const FilePart named = file_part(command.from);
  const Expected<SourceText> source = read_source(named.file);
  if (!source) return tl::unexpected(fail(source.error(), {}, flags));
  if (reports::looks_like_plan(*source)) return of_plan(*source, named, opened, flags);
  const auto file = open_scenario_or_option(command.from, {}, flags);
  if (!file) return tl::unexpected(file.error());
  return of_scenario(*file, opened, flags);
}

}  // namespace slicewise::tools
