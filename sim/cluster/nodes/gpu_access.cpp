#include "gpu_access.hpp"

#include "../record/recorder.hpp"

namespace slicewise::sim {

std::optional<std::uint32_t> GpuAccess::complete(std::size_t d) {
  Domain& domain = run_.cluster.domains[d];
  std::uint32_t context = 0;
  with_engine(domain, [&](auto& engine) {
    engine.advance(run_.now);
    context = engine.complete();
  });
  const std::uint32_t p = domain.owner[context];
  if (--ranks_at_work_[p] > 0) return std::nullopt;
  return p;
}

void GpuAccess::start(std::uint32_t p, Duration work) {
  const Pod& pod = run_.cluster.pods[p];
  ranks_at_work_[p] = 1 + static_cast<int>(pod.ranks.size());
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context) {
    with_engine(run_.cluster.domains[index(domain)], [&](auto& engine) {
      engine.advance(run_.now);
      engine.start(context, work);
    });
    arm(index(domain));
  });
}

Duration GpuAccess::left(const Pod& pod) {
  Duration left;
  with_engine(run_.cluster.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(run_.now);
    left = engine.left(pod.context);
  });
  return left;
}

void GpuAccess::shorten(const Pod& pod, Duration less) {
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
  Domain& domain = run_.cluster.domains[index(pod.domain)];
  const Demand& demand = run_.cluster.demand(pod);
  std::visit(models::Overloaded{[](std::monostate) {}, [](Exclusive&) {}, [](RoundRobin&) {},
                                [&](Fluid& engine) {
                                  engine.advance(run_.now);
                                  engine.set_client(pod.context, demand.client);
                                },
                                [&](StrictSlots& engine) {
                                  engine.advance(run_.now);
                                  engine.join(pod.context);
                                }},
             domain.engine);
  arm(index(pod.domain));
}

void GpuAccess::close(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  Domain& domain = run_.cluster.domains[index(pod.domain)];
  if (auto* engine = std::get_if<StrictSlots>(&domain.engine)) {
    engine->advance(run_.now);
    engine->leave(pod.context);
    arm(index(pod.domain));
  }
}

void GpuAccess::arm(std::size_t d) {
  with_engine(run_.cluster.domains[d],
              [&](auto& engine) { run_.timers.set(TimerKind::Domain, d, engine.next().at); });
  if (run_.recorder != nullptr && run_.recorder->turns().follows(run_.now)) {
    run_.timers.set(TimerKind::Turn, 0, run_.now);
  }
}

}  // namespace slicewise::sim
