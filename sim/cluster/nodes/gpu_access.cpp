#include "gpu_access.hpp"

#include <algorithm>

#include "../record/recorder.hpp"

namespace slicewise::sim {

bool GpuAccess::is_throttled(const Pod& pod) const {
  if (!throttle_.any()) return false;
  const Domain& domain = run_.cluster.domains[index(pod.domain)];
  const Tickets* const held = run_.cluster.tickets(domain, run_.cluster.model(pod));
  return held != nullptr && held->time_limit < 1;
}

void GpuAccess::launch(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const auto piece = throttle_.next(p, run_.now, run_.cluster.time_limit(pod));
  if (piece) {
    with_engine(run_.cluster.domains[index(pod.domain)], [&](auto& engine) {
      engine.advance(run_.now);
      engine.start(pod.context, *piece);
    });
  }
  arm(index(pod.domain));
}

// Whether a pod was held back until now.
bool GpuAccess::launch_due(std::size_t d) {
  if (!throttle_.any()) return false;
  for (const std::uint32_t p : run_.cluster.domains[d].owner) {
    if (p == kNoOwner || throttle_.held_until(p) > run_.now) continue;
    launch(p);
    return true;
  }
  return false;
}

std::optional<std::uint32_t> GpuAccess::complete(std::size_t d) {
  if (launch_due(d)) return std::nullopt;
  Domain& domain = run_.cluster.domains[d];
  std::uint32_t context = 0;
  with_engine(domain, [&](auto& engine) {
    engine.advance(run_.now);
    context = engine.complete();
  });
  const std::uint32_t p = domain.owner[context];
  if (throttle_.any() && throttle_.rest(p) > Duration{}) {
    launch(p);
    return std::nullopt;
  }
  if (--ranks_at_work_[p] > 0) return std::nullopt;
  return p;
}

void GpuAccess::start(std::uint32_t p, Duration work) {
  const Pod& pod = run_.cluster.pods[p];
  ranks_at_work_[p] = 1 + static_cast<int>(pod.ranks.size());
  if (is_throttled(pod)) {
    throttle_.begin(p, work);
    return launch(p);
  }
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context) {
    with_engine(run_.cluster.domains[index(domain)], [&](auto& engine) {
      engine.advance(run_.now);
      engine.start(context, work);
    });
    arm(index(domain));
  });
}

void GpuAccess::yield(std::uint32_t p) {
  for_each_rank(run_.cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    if (auto* turns = std::get_if<RoundRobin>(&run_.cluster.domains[index(domain)].engine)) {
      turns->advance(run_.now);
      turns->yield(context);
    }
  });
}

void GpuAccess::wait_by_chance(std::uint32_t p, RandomStream& random) {
  for_each_rank(run_.cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    auto* engine = std::get_if<Fluid>(&run_.cluster.domains[index(domain)].engine);
    if (engine == nullptr) return;
    engine->wait_by_chance(context, random);
    arm(index(domain));
  });
}

Duration GpuAccess::left(const Pod& pod) {
  const auto p = static_cast<std::uint32_t>(&pod - run_.cluster.pods.data());
  const Duration rest = throttle_.any() ? throttle_.rest(p) : Duration{};
  if (throttle_.any() && throttle_.held_until(p) != kNever) return rest;
  Duration left;
  with_engine(run_.cluster.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(run_.now);
    left = engine.left(pod.context);
  });
  return left + rest;
}

void GpuAccess::shorten(const Pod& pod, Duration less) {
  if (throttle_.any()) {
    less -= throttle_.shorten(static_cast<std::uint32_t>(&pod - run_.cluster.pods.data()), less);
  }
  if (less == Duration{}) return;
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context) {
    with_engine(run_.cluster.domains[index(domain)], [&](auto& engine) {
      engine.advance(run_.now);
      engine.shorten(context, less);
    });
    arm(index(domain));
  });
}

void GpuAccess::cancel(std::uint32_t p) {
  ranks_at_work_[p] = 0;
  if (throttle_.any()) throttle_.end(p);
  for_each_rank(run_.cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    with_engine(run_.cluster.domains[index(domain)], [&](auto& engine) {
      engine.advance(run_.now);
      engine.cancel(context);
    });
    arm(index(domain));
  });
}

Duration GpuAccess::busy(DomainId domain, std::uint32_t context) {
  Duration busy;
  with_engine(run_.cluster.domains[index(domain)], [&](auto& engine) {
    engine.advance(run_.now);
    busy = engine.busy_of(context);
  });
  return busy;
}

Duration GpuAccess::busy(DomainId domain) {
  Duration busy;
  with_engine(run_.cluster.domains[index(domain)], [&](auto& engine) {
    engine.advance(run_.now);
    busy = engine.time().busy;
  });
  return busy;
}

// An MPS client connects, a vGPU is powered on.
void GpuAccess::open(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  if (pod.domain == kNoDomain) return;
  const Demand& demand = run_.cluster.demand(pod);
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context) {
    std::visit(models::Overloaded{[](std::monostate) {}, [](Exclusive&) {}, [](RoundRobin&) {},
                                  [&](Fluid& engine) {
                                    engine.advance(run_.now);
                                    engine.set_client(context, demand.client);
                                  },
                                  [&](StrictSlots& engine) {
                                    engine.advance(run_.now);
                                    engine.join(context);
                                  }},
               run_.cluster.domains[index(domain)].engine);
    arm(index(domain));
  });
}

void GpuAccess::run_as(std::uint32_t p, const models::DomainClient& client) {
  const Pod& pod = run_.cluster.pods[p];
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context) {
    auto* engine = std::get_if<Fluid>(&run_.cluster.domains[index(domain)].engine);
    if (engine == nullptr) return;
    engine->advance(run_.now);
    engine->set_client(context, client);
  });
}

void GpuAccess::close(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  if (pod.domain == kNoDomain) return;
  Domain& domain = run_.cluster.domains[index(pod.domain)];
  if (auto* engine = std::get_if<StrictSlots>(&domain.engine)) {
    engine->advance(run_.now);
    engine->leave(pod.context);
    arm(index(pod.domain));
  }
}

void GpuAccess::arm(std::size_t d) {
  TimePoint next = kNever;
  with_engine(run_.cluster.domains[d], [&](auto& engine) { next = engine.next().at; });
  if (throttle_.any()) {
    for (const std::uint32_t p : run_.cluster.domains[d].owner) {
      if (p != kNoOwner) next = std::min(next, throttle_.held_until(p));
    }
  }
  with_engine(run_.cluster.domains[d], [&](auto&) { run_.timers.set(TimerKind::Domain, d, next); });
  if (run_.recorder != nullptr && run_.recorder->turns().follows(run_.now)) {
    run_.timers.set(TimerKind::Turn, 0, run_.now);
  }
}

}  // namespace slicewise::sim
