#include "stored_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/reports/plan_report.hpp"
#include "slicewise/sim/plan.hpp"

#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
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
