#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/policies.hpp"

#include "../probe/probe.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

using scenarios::PolicyNode;

bool is_headroom(const PolicyNode& node) {
  return node.op == PolicyNode::Op::Figure && node.text == "headroom";
}

// How far to look. Beyond what policies ask for nobody asks how much more, and each doubling takes
// twice as long to simulate.
double most_headroom(const std::vector<scenarios::Policy>& policies) {
  using Op = PolicyNode::Op;
  double most = 4;
  for (const scenarios::Policy& policy : policies) {
    for (const PolicyNode& node : policy.nodes) {
      const bool compares = node.op >= Op::Less && node.op <= Op::NotEqual;
      if (!compares || !is_headroom(policy.nodes[node.left])) continue;
      const double limit = policy.nodes[node.right].value;
      const bool decided_at_limit = node.op == Op::GreaterEqual || node.op == Op::Less;
      most = std::max(most, decided_at_limit
                                ? limit
                                : std::nextafter(limit, std::numeric_limits<double>::infinity()));
    }
  }
  return most;
}

// What is no objective, in words that go before "breaks".
std::string what_breaks(const Verdict::Reason& reason) {
  using Cause = Verdict::Cause;
  if (reason.cause == Cause::PolicyDenies) return reason.brief;
  return reason.cause == Cause::Overloaded ? "the answering of every request"
                                           : "the running of every pod";
}

// How much more load a plan's option bears.
struct Headroom {
  std::optional<double> passed;  // times the load that is borne
  std::optional<double> failed;  // ... at which an objective breaks
  std::string binding;           // which
  bool interrupted = false;
};

// Of an option, or without pools of the scenario as it stands. All empty when nothing can be
// scaled, or nothing has an objective.
Headroom headroom_of(const ScenarioSet& set, const Scenario& base, const Catalogue& catalogue,
                     const RunOptions& run, const PlanOption& option) {
  ScenarioSet one = set;
  one.variants = {option.pools.empty() ? base : planned_scenario(base, option.pools, catalogue)};
  one.variants.front().starts_at = base.start();  // the peak of less would be another
  one.variants.front().other_peaks = base.other_peaks;
  MaxLoadOptions options;
  constexpr double kHeadroomPrecision = 0.05;
  options.precision = kHeadroomPrecision;
  options.most = most_headroom(base.policies);
  options.run = run;
  options.run.progress = nullptr;
  if (run.so_far) {
    options.run.so_far = [&](const std::string& line) { run.so_far("the best " + line); };
  }
  const auto load = find_max_load(one, 0, catalogue, options);
  Headroom headroom;
  if (!load) return headroom;
  headroom.interrupted = load->interrupted;
  if (load->passed) headroom.passed = load->probes[*load->passed].factor;
  if (load->failed) headroom.failed = load->probes[*load->failed].factor;
  if (!load->failed) return headroom;
  const LoadProbe& breaks = load->probes[*load->failed];
  if (load->binding) {
    const ProbedObjective& objective = breaks.objectives[*load->binding];
    headroom.binding = fmt::format("{} of {}", objective.result.name, objective.workload);
  } else if (!breaks.left_behind.empty()) {
    headroom.binding = what_breaks(breaks.left_behind.front());
  }
  return headroom;
}

// The policies once the headroom is known: those of `option.figures` are judged anew.
void judge_with_headroom(const Scenario& base, const Catalogue& catalogue, const RunOptions& run,
                         const Headroom& headroom, PlanOption& option) {
  auto world =
      probe_world(base, {.pools = option.pools, .replications = base.replications}, catalogue);
  if (!world) return;
  RunOptions quiet = run;
  quiet.progress = nullptr;
  auto result = simulate(*world, quiet);
  if (!result) return;
  result->policies = judge_policies(world->policies, *result, headroom.passed);
  result->verdict = judge(*result, world->allow_pending);
  option.figures = figures_of(*result);
}

void add_headroom(Headroom&& headroom, Plan& plan) {
  plan.interrupted = plan.interrupted || headroom.interrupted;
  plan.headroom = headroom.passed;
  plan.headroom_fails = headroom.failed;
  plan.headroom_binding = std::move(headroom.binding);
}

}  // namespace

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies) {
  return std::ranges::any_of(policies, [](const scenarios::Policy& policy) {
    return std::ranges::any_of(policy.nodes, is_headroom);
  });
}

void settle_today(const ScenarioSet& set, const Scenario& base, const Catalogue& catalogue,
                  const RunOptions& run, Plan& plan) {
  if (!asks_for_headroom(base.policies) || !plan.today->figures.stands()) return;
  const Headroom headroom = headroom_of(set, base, catalogue, run, *plan.today);
  judge_with_headroom(base, catalogue, run, headroom, *plan.today);
  plan.interrupted = plan.interrupted || headroom.interrupted;
}

void settle_headroom(const ScenarioSet& set, const Scenario& base, const Catalogue& catalogue,
                     const PlanOptions& options, Plan& plan) {
  const bool decides = asks_for_headroom(base.policies);
  while (!plan.options.empty() && (decides || options.headroom)) {
    PlanOption& best = plan.options.front();
    PlanOption left = best;
    left.pools = left_after(options.survive, std::move(left.pools));
    Headroom headroom = headroom_of(set, base, catalogue, options.run, left);
    if (decides) judge_with_headroom(base, catalogue, options.run, headroom, best);
    if (best.figures.denied_by.empty()) {
      add_headroom(std::move(headroom), plan);
      return;
    }
    Reason why{denial_of(best.figures)};
    if (headroom.passed) {
      why = joined(std::move(why),
                   reason(": it bears {} times the load", fmt::format("{:.3g}", *headroom.passed)));
    }
    plan.rejected.push_back({RejectedChoice::Stage::Simulation, best.pools.front(), std::nullopt,
                             std::move(why), std::move(best.figures)});
    plan.options.erase(plan.options.begin());
    plan.confirmed.reset();
  }
}

}  // namespace slicewise::sim
