#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "slicewise/sim/plan.hpp"

#include "../compare/candidates.hpp"
#include "scaled_input.hpp"

namespace slicewise::sim {

PlanAnswer answer_probe(const scenarios::Scenario& base, const PlanProbe& probe,
                        const models::Catalogue& catalogue, const RunOptions& run) {
  PlanAnswer answer;
  const scenarios::Scenario scenario = scaled_input(base, probe.input, probe.factor);
  Expected<World> world = build_world(
      probe.pools.empty() ? scenario : planned_scenario(scenario, probe.pools, catalogue),
      catalogue);
  if (!world) {
    const Diagnostic& error = first_error(world.error());
    answer.code = error.code;
    answer.refused = error.message;
    return answer;
  }
  const auto never = std::ranges::find(world->findings, Code::GpuOom, &Diagnostic::code);
  if (never != world->findings.end()) {
    answer.code = never->code;
    answer.refused = never->message;
    return answer;
  }
  world->replications = probe.replications;
  RunOptions one;
  one.interrupted = run.interrupted;
  const auto result = simulate(*world, one);
  if (result && result->replications == probe.replications) {
    answer.figures = figures_of(*result);
  }
  return answer;
}

double PlannedObjective::ratio() const {
  const auto number = [](const scenarios::FigureValue& figure) {
    return std::visit(
        models::Overloaded{[](Duration d) { return to_seconds(d); },
                           [](scenarios::Share s) { return s.of_one; },
                           [](Rate r) { return r.per_second; }, [](double x) { return x; }},
        figure);
  };
  // 99.95 % where 99.9 % must be is half of what may go wrong.
  const auto* share = std::get_if<scenarios::Share>(&limit);
  const bool of_losses = at_least && share != nullptr && share->of_one < 1;
  const double of = of_losses ? 1 - number(value) : at_least ? number(limit) : number(value);
  const double to = of_losses ? 1 - number(limit) : at_least ? number(value) : number(limit);
  constexpr double kNothingDone = 1'000;
  const double used = to > 0 ? std::min(kNothingDone, of / to) : kNothingDone;
  // A quantile within its limit fails where more requests were lost than it leaves out.
  return pass || used > 1 ? used : kNothingDone;
}

}  // namespace slicewise::sim
