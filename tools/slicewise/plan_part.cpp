#include "plan_part.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

#include "slicewise/counted.hpp"

namespace slicewise::tools {

int option_number(const std::string& text) {
  int option = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), option);
  return error == std::errc{} && end == text.data() + text.size() ? std::max(option, 0) : 0;
}

int step_number(const std::string& text) {
  constexpr std::string_view kStep = "step";
  return text.starts_with(kStep) ? option_number(text.substr(kStep.size())) : 0;
}

bool names_plan_part(const std::string& part) {
  return option_number(part) > 0 || step_number(part) > 0 || part == kSchedulePart ||
         part == kLoadPart;
}

std::string names_no_part(const std::string& part) {
  return fmt::format(
      "schedule or load, or the number of an option, or step and a number, comes after the #, from "
      "1 on: "
      "not \"{}\"",
      part);
}

tl::expected<PlanPart, std::string> part_of_plan(const sim::Plan& plan, const std::string& part) {
  if (!names_plan_part(part)) return tl::unexpected(names_no_part(part));
  if (part == kSchedulePart) {
    if (!plan.scheduled) return tl::unexpected(std::string("the plan has no schedule that saves"));
    return PlanPart{*plan.scheduled, "an option scaled down by the clock", ", which stands",
                    "/withSchedule", true};
  }
  if (part == kLoadPart) {
    if (!plan.by_load) return tl::unexpected(std::string("the plan has no option scaled by load"));
    return PlanPart{*plan.by_load, "an option scaled down by the load",
                    plan.by_load->figures.stands() ? ", which stands" : ", which does not stand",
                    "/withAutoscaling", true};
  }
  const auto option = static_cast<std::size_t>(option_number(part));
  if (option > 0) {
    const std::size_t count = plan.options.size();
    if (option <= count) {
      const sim::PlanOption& named = plan.options[option - 1];
      return PlanPart{named, fmt::format("option {}", option),
                      named.figures.objectives.empty() ? ", which runs every pod"
                                                       : ", which meets every objective",
                      fmt::format("/options/{}", option - 1)};
    }
    return tl::unexpected(
        count == 0
            ? std::string("the plan has no option: nothing that was tried stands")
            : fmt::format("the plan has {}, no option {}", counted(count, "option"), option));
  }
  const auto step = static_cast<std::size_t>(step_number(part));
  const std::size_t steps = plan.path ? plan.path->steps.size() : 0;
  if (step > steps) {
    return tl::unexpected(
        fmt::format("the plan's path has {}, no \"{}\"", counted(steps, "step"), part));
  }
  PlanPart after{{},
                 fmt::format("what stands after step {} of {}", step, steps),
                 "",
                 fmt::format("/path/steps/{}", step - 1)};
  after.option.pools = sim::pools_after(*plan.path, step);
  after.option.figures.monthly = plan.path->steps[step - 1].monthly;
  return after;
}

}  // namespace slicewise::tools
