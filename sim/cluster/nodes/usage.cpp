#include "usage.hpp"

#include <algorithm>
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
      kept_(run.cluster.pods.size()),
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

void Usage::end(std::uint32_t p, Worth worth) {
  const double steady_ns = containers_[p].busy_ns;
  for_each_rank(run_.cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    const double busy_ns = steady_ns + counted_ns(domain, context);
    account_busy(p, domain, busy_ns, worth);
    if (run_.recorder != nullptr) run_.recorder->pods().worked(p, busy_ns);
  });
}

// GPU time of the pod on one of its GPUs.
void Usage::account_busy(std::uint32_t p, DomainId id, double busy_ns, Worth worth) {
  const Pod& pod = run_.cluster.pods[p];
  const Container& container = containers_[p];
  const DomainKind& kind = run_.cluster.kind(run_.cluster.domains[index(id)]);
  OfDomain& domain = domains_[index(id)];
  // Requests are late by their work; side by side they take less of the GPU's time than that.
  const double late_ns = container.late.ns == 0 ? 0
                                                : busy_ns * static_cast<double>(container.late.ns) /
                                                      static_cast<double>(container.answered.ns);
  (worth == Worth::Lost ? domain.failed_ns : domain.useful_ns) += busy_ns - late_ns;
  domain.late_ns += late_ns;
  domain.sm_ns += container.sm_ns;
  domain.sm_known = domain.sm_known && run_.cluster.model(pod).sm_known;
  double gpu_ns = busy_ns * kind.time_share;
  if (kind.owned_time < 1) {
    // What this container adds to the time that counts as the domain's.
    const double counted_ns =
        domain.used_ns() * kind.time_share / owned_time(index(id), switching_ns(index(id)));
    gpu_ns = std::max(0.0, counted_ns - domain.counted_ns);
    domain.counted_ns += gpu_ns;
  }
  gpu_ns_[p] += gpu_ns;
  run_.record_of(pod).gpu_busy += rounded_ns(gpu_ns);
  if (worth == Worth::Kept) kept_[p].push_back({id, launched(id), busy_ns, rounded_ns(gpu_ns)});
}

TimePoint Usage::launched(DomainId id) const {
  return run_.cluster.nodes[index(run_.cluster.domains[index(id)].node)].life.launched;
}

Duration Usage::lose_kept(std::uint32_t p) {
  Duration lost;
  for (const Stretch& stretch : kept_[p]) {
    lost += stretch.gpu_busy;
    if (launched(stretch.domain) != stretch.launched) continue;  // that node has been billed
    OfDomain& domain = domains_[index(stretch.domain)];
    domain.useful_ns -= stretch.busy_ns;
    domain.failed_ns += stretch.busy_ns;
  }
  kept_[p].clear();
  return lost;
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

double Usage::switching_ns(std::size_t d) {
  const OfDomain& domain = domains_[d];
  double switch_ns = domain.switch_ns;
  with_engine(run_.cluster.domains[d], [&](auto& engine) {
    engine.advance(run_.now);
    switch_ns += static_cast<double>((engine.time().switching - domain.switching_billed).ns);
  });
  return switch_ns;
}

// What a vGPU of EC2 gets done counts against the share of the time that is its own. Best effort
// may lend it more: then it was busy all the time.
double Usage::owned_time(std::size_t d, double switch_ns) const {
  const double owned = run_.cluster.kind(run_.cluster.domains[d]).owned_time;
  if (owned >= 1) return owned;
  const Node& node = run_.cluster.nodes[index(run_.cluster.domains[d].node)];
  const double up_ns = static_cast<double>((run_.now - node.life.launched).ns);
  return up_ns > 0 ? std::max(owned, (domains_[d].used_ns() + switch_ns) / up_ns) : owned;
}

DomainTime Usage::take(std::size_t d) {
  OfDomain& domain = domains_[d];
  account_cold(domain);
  const double switch_ns = switching_ns(d);
  with_engine(run_.cluster.domains[d],
              [&](auto& engine) { domain.switching_billed = engine.time().switching; });
  const double owned = owned_time(d, switch_ns);
  DomainTime time;
  time.useful = rounded_ns(domain.useful_ns / owned);
  time.late = rounded_ns(domain.late_ns / owned);
  time.failed = rounded_ns(domain.failed_ns / owned);
  time.switching = rounded_ns(switch_ns / owned);
  time.cold_start = rounded_ns(domain.cold_ns);
  time.sm_active = rounded_ns(domain.sm_ns / owned);
  time.sm_known = domain.sm_known;
  domain.useful_ns = domain.late_ns = domain.failed_ns = 0;
  domain.switch_ns = domain.cold_ns = domain.sm_ns = domain.counted_ns = 0;
  run_.record.domains[d].time += time;
  return time;
}

Duration Usage::host_time(std::size_t node) const { return rounded_ns(cpu_ns_[node]); }

}  // namespace slicewise::sim
