#include "usage.hpp"

#include <cmath>

#include "../record/recorder.hpp"

namespace slicewise::sim {
namespace {

Duration rounded_ns(double ns) { return {std::llround(ns)}; }

bool is_loading(PodPhase phase) { return phase == PodPhase::Pulling || phase == PodPhase::Loading; }

}  // namespace

Usage::Usage(RunState& run, GpuAccess& gpus)
    : run_(run),
      gpus_(gpus),
      containers_(run.cluster.pods.size()),
      domains_(run.cluster.domains.size()),
      gpu_ns_(run.cluster.pods.size()),
      cpu_ns_(run.cluster.nodes.size()) {
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    domains_[d].busy_before.resize(run.cluster.domains[d].owner.size());
  }
}

void Usage::begin(std::uint32_t p) {
  containers_[p] = {};
  for_each_rank(run_.cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    domains_[index(domain)].busy_before[context] = gpus_.busy(domain, context);
  });
}

double Usage::counted_ns(DomainId domain, std::uint32_t context) {
  const Duration before = domains_[index(domain)].busy_before[context];
  return static_cast<double>((gpus_.busy(domain, context) - before).ns);
}

void Usage::end(std::uint32_t p, bool useful) {
  const double steady_ns = containers_[p].busy_ns;
  for_each_rank(run_.cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    const double busy_ns = steady_ns + counted_ns(domain, context);
    account_busy(p, domain, busy_ns, useful);
    if (run_.recorder != nullptr) run_.recorder->pods().worked(p, busy_ns);
  });
}

// GPU time of the pod on one of its GPUs.
void Usage::account_busy(std::uint32_t p, DomainId id, double busy_ns, bool useful) {
  const Pod& pod = run_.cluster.pods[p];
  const Container& container = containers_[p];
  const DomainKind& kind = run_.cluster.kind(run_.cluster.domains[index(id)]);
  OfDomain& domain = domains_[index(id)];
  // Requests are late by their work; side by side they take less of the GPU's time than that.
  const double late_ns = container.late.ns == 0 ? 0
                                                : busy_ns * static_cast<double>(container.late.ns) /
                                                      static_cast<double>(container.answered.ns);
  (useful ? domain.useful_ns : domain.failed_ns) += busy_ns - late_ns;
  domain.late_ns += late_ns;
  domain.sm_ns += container.sm_ns;
  domain.sm_known = domain.sm_known && run_.cluster.model(pod).sm_known;
  const double gpu_ns = busy_ns * kind.time_share / kind.owned_time;
  gpu_ns_[p] += gpu_ns;
  run_.record_of(pod).gpu_busy += rounded_ns(gpu_ns);
}

void Usage::pod_enters(const Pod& pod, PodPhase phase) {
  for_each_rank(pod, [&](DomainId id, std::uint32_t) {
    OfDomain& domain = domains_[index(id)];
    account_cold(domain);
    domain.loading += static_cast<int>(is_loading(phase)) - static_cast<int>(is_loading(pod.phase));
    domain.working += static_cast<int>(phase == PodPhase::Working) -
                      static_cast<int>(pod.phase == PodPhase::Working);
    domain.cold_since = domain.loading > 0 && domain.working == 0 ? run_.now : kNever;
  });
}

void Usage::account_cold(OfDomain& domain) const {
  if (domain.cold_since == kNever) return;
  domain.cold_ns += static_cast<double>((run_.now - domain.cold_since).ns);
  domain.cold_since = run_.now;
}

DomainTime Usage::take(std::size_t d) {
  OfDomain& domain = domains_[d];
  account_cold(domain);
  double switch_ns = domain.switch_ns;
  with_engine(run_.cluster.domains[d], [&](auto& engine) {
    engine.advance(run_.now);
    const Duration switching = engine.time().switching;
    switch_ns += static_cast<double>((switching - domain.switching_billed).ns);
    domain.switching_billed = switching;
  });
  // What a vGPU of EC2 gets done counts against the share of the time that is its own. Best effort
  // may lend it more: then it was busy all the time.
  double owned = run_.cluster.kind(run_.cluster.domains[d]).owned_time;
  if (owned < 1) {
    const Node& node = run_.cluster.nodes[index(run_.cluster.domains[d].node)];
    const double up_ns = static_cast<double>((run_.now - node.life.launched).ns);
    const double used_ns = domain.useful_ns + domain.late_ns + domain.failed_ns + switch_ns;
    if (up_ns > 0) owned = std::max(owned, used_ns / up_ns);
  }
  DomainTime time;
  time.useful = rounded_ns(domain.useful_ns / owned);
  time.late = rounded_ns(domain.late_ns / owned);
  time.failed = rounded_ns(domain.failed_ns / owned);
  time.switching = rounded_ns(switch_ns / owned);
  time.cold_start = rounded_ns(domain.cold_ns);
  time.sm_active = rounded_ns(domain.sm_ns / owned);
  time.sm_known = domain.sm_known;
  domain.useful_ns = domain.late_ns = domain.failed_ns = 0;
  domain.switch_ns = domain.cold_ns = domain.sm_ns = 0;
  run_.record.domains[d].time += time;
  return time;
}

Duration Usage::host_time(std::size_t node) const { return rounded_ns(cpu_ns_[node]); }

}  // namespace slicewise::sim
