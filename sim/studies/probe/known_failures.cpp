#include "known_failures.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "slicewise/lookup.hpp"

#include "scaled_input.hpp"

namespace slicewise::sim {
namespace {

std::string key_of(const std::vector<PoolChoice>& pools, const std::string& input) {
  return probe_line({.pools = pools, .input = input});
}

bool is_batched(const Workload& workload) {
  return workload.serving.max_batch > 1 && !workload.llm;
}

// Whose requests come the later, the longer the answers take.
bool waits_for_answers(const Workload& workload) {
  return workload.traffic && std::holds_alternative<scenarios::ClosedLoop>(workload.traffic->shape);
}

// Nothing but objectives kept it from standing.
bool is_slow(const OptionFigures& figures) {
  using Cause = Verdict::Cause;
  return std::ranges::all_of(figures.verdict.reasons, [](const Verdict::Reason& reason) {
    return reason.cause == Cause::ObjectiveMissed || reason.cause == Cause::ObjectiveUndecided;
  });
}

bool is_batched(const PoolChoice& pool) {
  return std::ranges::any_of(pool.serving,
                             [](const ServingChoice& c) { return c.max_batch.value_or(1) > 1; });
}

}  // namespace

KnownFailures::KnownFailures(const Scenario& base)
    : more_is_worse_(std::ranges::none_of(base.workloads,
                                          [](const Workload& workload) {
                                            return workload.autoscaling || workload.schedule ||
                                                   waits_for_answers(workload);
                                          })),
      more_traffic_is_worse_(std::ranges::none_of(
          base.workloads, [](const auto& workload) { return is_batched(workload); })),
      memory_is_room_(std::ranges::none_of(base.workloads, [](const auto& workload) {
        return workload.llm || workload.notebooks;
      })) {}

bool KnownFailures::is_worse(const PlanProbe& probe) const {
  if (probe.factor <= 1 || probe.input.empty() || probe.input == kSmActive) return false;
  if (probe.input != kTraffic) return true;
  return more_traffic_is_worse_ &&
         std::ranges::none_of(probe.pools, [](const PoolChoice& pool) { return is_batched(pool); });
}

bool KnownFailures::is_as_slow(const PlanProbe& probe) const {
  return memory_is_room_ && probe.input.ends_with(kGpuMemory) &&
         !contains(probe.pools, Strategy::Hami, &PoolChoice::strategy);
}

std::optional<PlanAnswer> KnownFailures::find(const PlanProbe& probe) const {
  if (!more_is_worse_ || !probe.until_clear || probe.draw != 0) return std::nullopt;
  const bool worse = is_worse(probe);
  if (!worse && !is_as_slow(probe)) return std::nullopt;
  const auto failure_with = [&](const std::string& input) -> const Failure* {
    const auto known = failures_.find(key_of(probe.pools, input));
    const bool says = known != failures_.end() && known->second.replications >= probe.replications;
    return says ? &known->second : nullptr;
  };
  const Failure* as_it_is = failure_with("");
  if (as_it_is != nullptr && (worse || is_slow(*as_it_is->answer.figures))) {
    return as_it_is->answer;
  }
  const Failure* with_less = worse ? failure_with(probe.input) : nullptr;
  if (with_less == nullptr || with_less->factor > probe.factor) return std::nullopt;
  return with_less->answer;
}

void KnownFailures::note(const PlanProbe& probe, const PlanAnswer& answer) {
  const bool fails = answer.figures && (answer.partial || !answer.figures->stands());
  const bool elastic = std::ranges::any_of(probe.pools, &PoolChoice::elastic);
  const bool tells = fails && probe.until_clear && !probe.glance && !elastic;
  if (!tells || !more_is_worse_ || probe.factor < 1) return;
  Failure failure{probe.factor, probe.replications, answer};
  failure.answer.partial = true;
  const auto [known, is_new] = failures_.emplace(key_of(probe.pools, probe.input), failure);
  const bool says_more =
      failure.factor <= known->second.factor && failure.replications >= known->second.replications;
  if (!is_new && says_more) known->second = std::move(failure);
}

}  // namespace slicewise::sim
