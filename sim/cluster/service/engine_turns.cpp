#include "engine_turns.hpp"

#include <algorithm>

#include "slicewise/lookup.hpp"

#include "../control/pod_life.hpp"
#include "replicas.hpp"

namespace slicewise::sim {

EngineTurns::EngineTurns(RunState& run, std::vector<PodServer>& servers, Replicas& replicas,
                         PodLife& pods)
    : run_(run), servers_(servers), replicas_(replicas), pods_(pods) {
  const bool any = std::ranges::any_of(
      run.world.workloads, [](const auto& w) { return w.spec.llm && w.spec.llm->sleep; });
  if (!any) return;
  turns_.resize(run.cluster.domains.size());
  for (std::size_t d = 0; d < turns_.size(); ++d) {  // nothing is allocated while it runs
    std::size_t places = 0;
    for (const Tickets& tickets : run.cluster.kind(run.cluster.domains[d]).tickets) {
      places += static_cast<std::size_t>(tickets.count);
    }
    turns_[d].asking.reserve(places);
  }
}

const SleepDemand& EngineTurns::demand_of(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  const PoolId pool = run_.cluster.nodes[index(pod.node)].pool;
  const std::size_t kind = run_.cluster.domains[index(pod.domain)].kind;
  return *run_.cluster.model(pod).on_pool[index(pool)].llm[kind].sleep;
}

bool EngineTurns::lets_in(std::uint32_t p) const {
  const Turn& turn = turns_[index(run_.cluster.pods[p].domain)];
  return turn.awake == p && turn.stage == Stage::Still && turn.asking.empty();
}

void EngineTurns::ask(std::uint32_t p) {
  Turn& turn = turn_of(p);
  if (turn.next == p) return;
  if (!contains(turn.asking, p)) turn.asking.push_back(p);
  look_at(p);
}

// At this instant, after what happens now.
void EngineTurns::look_at(std::uint32_t p) {
  const std::size_t domain = index(run_.cluster.pods[p].domain);
  if (turns_[domain].stage == Stage::Still && !turns_[domain].asking.empty()) {
    run_.timers.set(TimerKind::EngineTurn, domain, run_.now);
  }
}

void EngineTurns::gone(std::uint32_t p) {
  Turn& turn = turn_of(p);
  const std::size_t domain = index(run_.cluster.pods[p].domain);
  std::erase(turn.asking, p);
  if (turn.awake == p) settle(turn);
  const bool was_next = turn.next == p;
  if (turn.awake == p) turn.awake = kNoOwner;
  if (was_next) turn.next = kNoOwner;
  if (was_next && turn.stage == Stage::Waking) turn.stage = Stage::Still;
  if (turn.stage == Stage::Still) run_.timers.set(TimerKind::EngineTurn, domain, run_.now);
}

void EngineTurns::on_timer(std::size_t d) {
  Turn& turn = turns_[d];
  if (turn.stage == Stage::FallingAsleep) {
    const std::uint32_t asleep = turn.awake;
    settle(turn);
    turn.awake = kNoOwner;
    turn.stage = Stage::Still;
    if (asleep != kNoOwner) pods_.take_memory(asleep, demand_of(asleep).gpu_memory);
    return turn.next == kNoOwner ? choose(d) : wake(d);
  }
  if (turn.stage == Stage::Still) return choose(d);
  turn.awake = turn.next;
  turn.next = kNoOwner;
  turn.stage = Stage::Still;
  turn.since = run_.now;
  const std::uint32_t awake = turn.awake;
  if (run_.is_observed(run_.now)) ++run_.record_of(run_.cluster.pods[awake]).tokens.wake_ups;
  replicas_.woke_up(awake);
}

// Who is next, unless the engine that is awake still has work. Requests that have been given up
// wake nobody.
void EngineTurns::choose(std::size_t d) {
  Turn& turn = turns_[d];
  std::erase_if(turn.asking, [&](std::uint32_t p) { return servers_[p].ready.empty(); });
  if (turn.asking.empty()) return;
  if (turn.awake != kNoOwner && !servers_[turn.awake].llm->batching.idle()) return;
  turn.next = turn.asking.front();
  turn.asking.erase(turn.asking.begin());
  if (turn.awake == turn.next) {
    turn.next = kNoOwner;
    return replicas_.woke_up(turn.awake);
  }
  if (turn.awake == kNoOwner) return wake(d);
  turn.stage = Stage::FallingAsleep;
  servers_[turn.awake].llm->batching.abandon([](const LlmRequest&) {});  // its KV cache
  run_.timers.set(TimerKind::EngineTurn, d, run_.now + demand_of(turn.awake).sleep_time);
}

// Memory is taken first, then the weights come. Where others hold it, the process dies.
void EngineTurns::wake(std::size_t d) {
  Turn& turn = turns_[d];
  const std::uint32_t p = turn.next;
  turn.stage = Stage::Waking;
  if (!pods_.take_memory(p, run_.cluster.gpu_memory(run_.cluster.pods[p]))) return pods_.crash(p);
  run_.timers.set(TimerKind::EngineTurn, d, run_.now + demand_of(p).wake_time);
}

void EngineTurns::settle(Turn& turn) {
  if (turn.awake == kNoOwner) return;
  const TimePoint from = std::max(turn.since, TimePoint{} + run_.world.warmup);
  if (from < run_.now) {
    run_.record_of(run_.cluster.pods[turn.awake]).tokens.awake_ns +=
        static_cast<double>((run_.now - from).ns);
  }
  turn.since = run_.now;
}

void EngineTurns::record_awake() {
  for (Turn& turn : turns_) settle(turn);
}

}  // namespace slicewise::sim
