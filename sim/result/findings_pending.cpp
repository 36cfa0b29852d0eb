#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/sim/cluster/cluster.hpp"

#include "merge.hpp"

// Pods that no node took, why, and what helps.
namespace slicewise::sim {
namespace {

// "a pod of "train" asks for 99 vCPUs, an empty p3.8xlarge has 31.75": of the largest request.
std::string largest_pod(const World& world, bool of_cpu) {
  const auto asks = [&](const WorkloadModel& workload) {
    return of_cpu ? workload.spec.pod.cpu_request.count : workload.spec.pod.memory_request.count;
  };
  const auto& most = *std::ranges::max_element(world.workloads, {}, asks);
  const PoolModel& pool = world.pools.front();
  const auto shown = [&](std::int64_t count) {
    return of_cpu ? fmt::format("{:.4g} vCPUs", static_cast<double>(count) / 1'000)
                  : fmt::format("{:.4g} GiB", in_gibibytes({count}));
  };
  return fmt::format(
      "a pod of \"{}\" asks for {}, an empty {} has {} for pods (slicewise get instances -o wide)",
      most.spec.name.value, shown(asks(most)), pool.instance_type,
      shown(of_cpu ? pool.allocatable_cpu.count : pool.allocatable_memory.count));
}

// "the nodes offer 4 nvidia.com/gpu, all pods at once ask for 7": of the resource that was short.
std::string short_resource(const World& world, std::span<const Replication> replications) {
  for (std::size_t r = 0; r < world.resources.size(); ++r) {
    const bool is_short = std::ranges::any_of(replications, [&](const Replication& replication) {
      return std::ranges::any_of(replication.pending_reasons, [&](const PendingReason& reason) {
        return reason.nodes_by_cause.size() > kResourceCause + r &&
               reason.nodes_by_cause[kResourceCause + r] > 0;
      });
    });
    std::int64_t offered = 0;
    for (const PoolModel& pool : world.pools) {
      const std::size_t last = pool.layout_changes.empty() ? 0 : pool.layout_changes.back().layout;
      for (std::size_t o = 0; o < pool.offers.size(); ++o) {
        if (pool.offers[o].name == world.resources[r]) {
          offered += pool.tickets_per_node(o, last) * pool.nodes;
        }
      }
    }
    std::int64_t asked = 0;
    for (const WorkloadModel& workload : world.workloads) {
      for (const scenarios::ExtendedRequest& request : workload.spec.pod.extended) {
        if (request.name.value == world.resources[r])
          asked += request.count * workload.spec.pods_at_once();
      }
    }
    if (is_short && asked > offered) {
      return fmt::format("the nodes offer {} {}, all pods at once ask for {}: ", offered,
                         world.resources[r], asked);
    }
  }
  return {};
}

// kube-scheduler no longer says which. That of a pool, where pods of some workload do not tolerate
// it.
std::string taint_in_the_way(const World& world) {
  for (const PoolModel& pool : world.pools) {
    for (const WorkloadModel& workload : world.workloads) {
      const scenarios::Taint* taint = untolerated(pool.taints, workload.spec.pod.tolerations);
      if (taint != nullptr) return taint->key;
    }
  }
  return "the taint";
}

// Whether some node would do for the pods, were it not full.
bool has_full_nodes(const PendingReason& reason) {
  constexpr auto kFirst = static_cast<std::size_t>(RejectCause::NodeSelector) + 1;
  return std::any_of(reason.nodes_by_cause.begin() + kFirst, reason.nodes_by_cause.end(),
                     [](const auto nodes) { return nodes > 0; });
}

// What to do about pods that no node took, by the first cause that some node gave.
std::string pending_help(const World& world, std::span<const Replication> replications) {
  const auto gave = [&](RejectCause cause, bool of_no_full_nodes = false) {
    return std::ranges::any_of(replications, [&](const Replication& r) {
      return std::ranges::any_of(r.pending_reasons, [&](const PendingReason& reason) {
        return reason.nodes_by_cause[static_cast<std::size_t>(cause)] > 0 &&
               !(of_no_full_nodes && has_full_nodes(reason));
      });
    });
  };
  const auto keeps_out = [&](RejectCause cause) { return gave(cause, true); };
  if (keeps_out(RejectCause::Taint)) {
    return fmt::format("add the toleration of {} to podTemplate.tolerations",
                       taint_in_the_way(world));
  }
  if (keeps_out(RejectCause::NodeSelector)) {
    return "no node has these labels: change podTemplate.nodeSelector or nodePools.labels";
  }
  if (gave(RejectCause::AntiAffinity) || gave(RejectCause::ExistingAntiAffinity)) {
    return "add nodes: podTemplate.affinity lets each have one of these pods";
  }
  if (gave(RejectCause::HostPorts)) {
    return "add nodes, or leave podTemplate.hostPorts out: one pod of a node has a port of it";
  }
  if (gave(RejectCause::Devices) || gave(RejectCause::ClaimElsewhere)) {
    return "other claims have the devices, or the claim has its device on another node: add nodes, "
           "or let more pods name one ResourceClaim";
  }
  for (std::size_t cause = static_cast<std::size_t>(RejectCause::PartSlots); cause < kResourceCause;
       ++cause) {
    if (!gave(static_cast<RejectCause>(cause))) continue;
    return "no GPU has the part left that the pods ask for, whatever those there really use: ask "
           "for less, or add nodes";
  }
  for (const RejectCause cause : {RejectCause::Cpu, RejectCause::Memory}) {
    if (!gave(cause)) continue;
    // Which of several pools was short, the reasons do not tell.
    const std::string which =
        world.pools.size() == 1 ? largest_pod(world, cause == RejectCause::Cpu) + ": " : "";
    return which + "lower the requests, or take a larger instance type";
  }
  return short_resource(world, replications) +
         "add nodes or replicas, take a MIG layout that has the slice, or ask for fewer GPUs";
}

// Whether all pods that stayed Pending are of recorded jobs that no node holds: JOB_NEVER_FITS says
// what helps.
bool never_fit(const World& world, std::span<const Replication> replications) {
  const auto waits = [&](std::size_t w) {
    return std::ranges::any_of(
        replications, [&](const Replication& r) { return r.workloads[w].pending_for_good > 0; });
  };
  bool any = false;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    if (!waits(w)) continue;
    any = true;
    const bool known = std::ranges::any_of(
        world.traces, [&](const TraceModel& trace) { return contains(trace.never_fit, w); });
    if (!known) return false;
  }
  return any;
}

// That of which most pods stayed Pending, else that whose pods waited longest.
const WorkloadModel& pending_workload(const World& world,
                                      std::span<const Replication> replications) {
  const auto waited = [&](const WorkloadModel& model) {
    const auto w = static_cast<std::size_t>(&model - world.workloads.data());
    std::int64_t for_good = 0;
    Duration longest;
    for (const Replication& r : replications) {
      for_good += r.workloads[w].pending_for_good;
      longest = std::max(longest, r.workloads[w].longest_pending);
    }
    return std::pair(for_good, longest);
  };
  return *std::ranges::max_element(world.workloads, {}, waited);
}

// What the scheduler says, but once where the numbers of nodes alone tell messages apart.
std::string pending_text(const World& world, std::span<const Replication> replications) {
  struct PendingCause {
    std::vector<bool> which;
    std::set<std::string> messages;
    std::string first;
  };
  std::vector<PendingCause> causes;
  for (const Replication& replication : replications) {
    for (const PendingReason& reason : replication.pending_reasons) {
      std::vector<bool> which;
      for (const std::uint32_t nodes : reason.nodes_by_cause) which.push_back(nodes > 0);
      auto known = std::ranges::find(causes, which, &PendingCause::which);
      std::string message = pending_message(world, reason);
      if (known == causes.end()) known = causes.insert(known, {std::move(which), {}, message});
      known->messages.insert(std::move(message));
    }
  }
  std::string text;
  for (const PendingCause& cause : causes) {
    text += fmt::format("{}{}", text.empty() ? "" : " / ", cause.first);
    if (const std::size_t more = cause.messages.size() - 1; more > 0) {
      text += fmt::format(" (and {} with other numbers of nodes)", more);
    }
  }
  return text;
}

}  // namespace

void pending_finding(const World& world, std::span<const Replication> replications,
                     const VariantResult& result, Diagnostics& found) {
  if (result.pods.pending_max == 0) return;
  const bool for_ever =
      std::ranges::any_of(replications, [](const Replication& r) { return r.pending_at_end > 0; });
  add_diagnostic(
      found, Code::PodPending, pending_workload(world, replications).spec.name.where,
      fmt::format("up to {} Pending{}: {}", counted(result.pods.pending_max, "pod"),
                  for_ever ? ", some until the end" : "", pending_text(world, replications)),
      for_ever && !never_fit(world, replications) ? pending_help(world, replications) : "");
}

}  // namespace slicewise::sim
