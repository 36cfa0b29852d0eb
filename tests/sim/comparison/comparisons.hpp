#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/sim/comparison.hpp"

#include "../demo.hpp"

// Comparisons of the AWS time-slicing demo, and where to find a row of them.
namespace slicewise::sim::demo {

inline scenarios::ScenarioSet set_of(scenarios::Scenario scenario) {
  scenarios::ScenarioSet set;
  set.name = "demo";
  set.variants.push_back(std::move(scenario));
  return set;
}

// `count` training jobs of the AWS demo, on a pool that does not share.
inline scenarios::ScenarioSet jobs(int count) {
  return set_of(scenario(pool(0), {training(count)}));
}

inline StrategyComparison compared(const scenarios::ScenarioSet& set,
                                   const ComparisonOptions& options = {}) {
  auto comparison = compare_strategies(set, 0, catalogue(), options);
  if (!comparison) throw std::runtime_error(comparison.error().front().message);
  return std::move(*comparison);
}

inline Diagnostics errors_of(const scenarios::ScenarioSet& set,
                             const ComparisonOptions& options = {}) {
  const auto comparison = compare_strategies(set, 0, catalogue(), options);
  return comparison ? Diagnostics{} : comparison.error();
}

inline ComparisonOptions on(std::vector<std::string> types) {
  ComparisonOptions options;
  options.instance_types = std::move(types);
  return options;
}

inline const ComparedOption* find(const StrategyComparison& comparison, const std::string& type,
                                  Strategy strategy, const std::string& profile = "") {
  const auto option =
      std::ranges::find_if(comparison.options, [&](const ComparedOption& candidate) {
        const PoolChoice& c = candidate.configuration;
        return !candidate.yours && c.instance_type == type && c.strategy == strategy &&
               (profile.empty() || (!c.mig.empty() && c.mig.front().profile == profile));
      });
  return option == comparison.options.end() ? nullptr : &*option;
}

inline const RefusedOption* find_refused(const StrategyComparison& comparison,
                                         const std::string& type, Strategy strategy) {
  const auto option = std::ranges::find_if(comparison.refused, [&](const RefusedOption& candidate) {
    return candidate.configuration.instance_type == type &&
           candidate.configuration.strategy == strategy;
  });
  return option == comparison.refused.end() ? nullptr : &*option;
}

}  // namespace slicewise::sim::demo
