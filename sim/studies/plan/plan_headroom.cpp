#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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

}  // namespace

Headroom headroom_of(const scenarios::ScenarioSet& set, const scenarios::Scenario& base,
                     const models::Catalogue& catalogue, const RunOptions& run,
                     const PlanOption& option) {
  scenarios::ScenarioSet one = set;
  one.variants = {planned_scenario(base, option.pools, catalogue)};
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

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies) {
  return std::ranges::any_of(policies, [](const scenarios::Policy& policy) {
    return std::ranges::any_of(policy.nodes, is_headroom);
  });
}

void judge_with_headroom(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                         const RunOptions& run, const Headroom& headroom, PlanOption& option) {
  PlanProbe probe;
  probe.pools = option.pools;
  probe.replications = base.replications;
  auto world = probe_world(base, probe, catalogue);
  if (!world) return;
  RunOptions quiet = run;
  quiet.progress = nullptr;
  auto result = simulate(*world, quiet);
  if (!result) return;
  result->policies = judge_policies(world->policies, *result, headroom.passed);
  result->verdict = judge(*result, world->allow_pending);
  option.figures = figures_of(*result);
}

}  // namespace slicewise::sim
