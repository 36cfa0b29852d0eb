#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "slicewise/sim/plan.hpp"

namespace slicewise::tools {

// The option that "#2" names, 1 for the best; 0 for what is no such number.
int option_number(const std::string& text);
// The step that "step2" names, from 1 on; 0: none.
int step_number(const std::string& text);

// The cheapest option that is scaled down by the clock.
inline constexpr std::string_view kSchedulePart = "schedule";
// ... by the load.
inline constexpr std::string_view kLoadPart = "load";

// What "#2", "#step1", "#schedule" or "#load" names in a plan.
struct PlanPart {
  sim::PlanOption option;
  std::string name;              // "option 2"
  std::string merit;             // ", which meets every objective"; of a step it is not known
  std::string at;                // in the document: "/options/1"
  bool over_whole_days = false;  // it was simulated so
};
// Whether it names an option, a step or what is scaled down; what it names, or why there is none
// such.
bool names_plan_part(const std::string& part);
std::string names_no_part(const std::string& part);  // says so
tl::expected<PlanPart, std::string> part_of_plan(const sim::Plan& plan, const std::string& part);
inline constexpr std::string_view kPlanParts =
    "#2 is the second option, #step1 what stands after the first step of the plan's path, "
    "#schedule the cheapest scaled down by the clock, #load by the load";

}  // namespace slicewise::tools
