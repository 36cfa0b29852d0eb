#include "../world/gangs.hpp"
#include "cluster_run.hpp"

namespace slicewise::sim {

void ClusterRun::on_domain_timer(std::size_t d) {
  Domain& domain = cluster_.domains[d];
  std::uint32_t context = 0;
  with_engine(domain, [&](auto& engine) {
    engine.advance(now_);
    context = engine.complete();
  });
  const std::uint32_t p = domain.owner[context];
  // The GPUs of a pod keep in step: the last one ends it.
  if (--cluster_.pods[p].ranks_at_work > 0) return arm_domain(d);
  switch (cluster_.model(cluster_.pods[p]).spec.kind) {
    case scenarios::WorkloadKind::Service:
      servers_[p].llm ? piece_done(p) : batch_done(p);
      break;
    case scenarios::WorkloadKind::Notebook:
      cell_done(p);
      break;
    case scenarios::WorkloadKind::Job:
    case scenarios::WorkloadKind::Deployment:
      step_done(p);
      break;
  }
  arm_domain(d);
}

// On each GPU of the pod.
void ClusterRun::start_on_gpu(Pod& pod, Duration work) {
  pod.ranks_at_work = 1 + static_cast<int>(pod.ranks.size());
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context, Duration) {
    with_engine(cluster_.domains[index(domain)], [&](auto& engine) {
      engine.advance(now_);
      engine.start(context, work);
    });
    arm_domain(index(domain));
  });
}

// Work that the pod's request still needs. REQUIRES: it has one.
Duration ClusterRun::left_on_gpu(const Pod& pod) {
  Duration left;
  with_engine(cluster_.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(now_);
    left = engine.left(pod.context);
  });
  return left;
}

void ClusterRun::shorten_on_gpu(const Pod& pod, Duration less) {
  if (less == Duration{}) return;
  with_engine(cluster_.domains[index(pod.domain)], [&](auto& engine) {
    engine.advance(now_);
    engine.shorten(pod.context, less);
  });
  arm_domain(index(pod.domain));
}

void ClusterRun::cancel_on_gpu(Pod& pod) {
  pod.ranks_at_work = 0;
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context, Duration) {
    with_engine(cluster_.domains[index(domain)], [&](auto& engine) {
      engine.advance(now_);
      engine.cancel(context);
    });
    arm_domain(index(domain));
  });
}

// GPU time of a context so far; 0 in steady state.
Duration ClusterRun::busy_on_gpu(DomainId domain, std::uint32_t context) {
  Duration busy;
  with_engine(cluster_.domains[index(domain)], [&](auto& engine) {
    engine.advance(now_);
    busy = engine.busy_of(context);
  });
  return busy;
}

// Which GPUs a pod with several was given, and what its all-reduce takes there.
void ClusterRun::note_gpus(Pod& pod) {
  pod.all_reduce = {};
  if (pod.ranks.empty()) return;
  const PoolId pool_id = cluster_.nodes[index(pod.node)].pool;
  GpuMask set = 0;
  for_each_rank(pod, [&](DomainId domain, std::uint32_t, Duration) {
    set |= GpuMask{1} << cluster_.domains[index(domain)].gpu;
  });
  ++record_.workloads[index(pod.workload)].pods_by_gpu_set[index(pool_id) * kGpuSets + set];
  pod.all_reduce = all_reduce_time(world_.pools[index(pool_id)], cluster_.model(pod), set);
}

// The process opens its CUDA context: an MPS client connects, a vGPU is powered on.
void ClusterRun::open_on_gpu(const Pod& pod) {
  Domain& domain = cluster_.domains[index(pod.domain)];
  const Demand& demand = cluster_.demand(pod);
  const double alone_ns = static_cast<double>((demand.gpu + demand.host).ns);
  std::visit(models::Overloaded{[](std::monostate) {}, [](Exclusive&) {}, [](RoundRobin&) {},
                                [&](Fluid& engine) {
                                  engine.advance(now_);
                                  engine.set_client(pod.context, demand.client,
                                                    static_cast<double>(demand.gpu.ns) / alone_ns);
                                },
                                [&](StrictSlots& engine) {
                                  engine.advance(now_);
                                  engine.join(pod.context);
                                }},
             domain.engine);
  arm_domain(index(pod.domain));
}

void ClusterRun::close_on_gpu(const Pod& pod) {
  Domain& domain = cluster_.domains[index(pod.domain)];
  if (auto* engine = std::get_if<StrictSlots>(&domain.engine)) {
    engine->advance(now_);
    engine->leave(pod.context);
    arm_domain(index(pod.domain));
  }
}

void ClusterRun::arm_domain(std::size_t d) {
  with_engine(cluster_.domains[d], [&](auto& engine) {
    timers_.set(first_domain_timer_ + static_cast<std::uint32_t>(d), engine.next().at);
  });
  if (recorder_ != nullptr && recorder_->follows_turns(now_)) timers_.set(turn_timer_, now_);
}

}  // namespace slicewise::sim
