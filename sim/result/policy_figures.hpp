#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// What an assertion finds where it names a figure: nothing, a truth, a number in the unit of
// scenarios::PolicyNode::value, or words of which all must agree.
struct SeenFigure {
  std::variant<std::monostate, bool, double, std::vector<std::string>> value;
  std::string text;  // for people; "" for nothing
};

// REQUIRES: scenarios::policy_figure(name). `headroom` as in judge_policies().
SeenFigure see_figure(std::string_view name, const VariantResult& result,
                      std::optional<double> headroom);

}  // namespace slicewise::sim
