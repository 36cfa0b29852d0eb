#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "parts.hpp"

namespace slicewise::sim {
namespace {

// "g5" of g5.xlarge.
std::string_view family_of(std::string_view instance_type) {
  return instance_type.substr(0, instance_type.find('.'));
}

Diagnostic unknown_instance(const Located<std::string>& wanted,
                            const models::Catalogue& catalogue) {
  return unknown_name(Code::InstanceUnknown, wanted,
                      fmt::format("instance type \"{}\" is not in the catalogue", wanted.value),
                      catalogue.instances, "slicewise get instances");
}

void check_instance_or_family(const Located<std::string>& wanted,
                              const models::Catalogue& catalogue, Diagnostics& found) {
  const bool known = std::ranges::any_of(catalogue.instances, [&](const auto& type) {
    return type.name == wanted.value || family_of(type.name) == wanted.value;
  });
  if (known) return;
  if (wanted.value.find('.') != std::string::npos) {
    found.push_back(unknown_instance(wanted, catalogue));
    return;
  }
  std::vector<std::string> families;
  for (const models::InstanceType& type : catalogue.instances) {
    families.emplace_back(family_of(type.name));
  }
  const auto near = nearest_name(wanted.value, families);
  found.push_back(make_diagnostic(
      Code::InstanceUnknown, wanted.where,
      fmt::format("the catalogue has no instance type of a family \"{}\"", wanted.value),
      near ? fmt::format("did you mean {}? `slicewise get instances` lists all", *near)
           : "`slicewise get instances` lists all"));
}

}  // namespace

void check_planning(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                    Diagnostics& found) {
  for (const Located<std::string>& wanted : scenario.planning.instance_types) {
    check_instance_or_family(wanted, catalogue, found);
  }
  for (const scenarios::PricePlan& plan : scenario.price_plans) {
    if (catalogue.find_instance(plan.instance_type.value) != nullptr) continue;
    found.push_back(unknown_instance(plan.instance_type, catalogue));
  }
}

}  // namespace slicewise::sim
