#include "rollouts.hpp"

#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"

#include "guide.hpp"
#include "pod_owner.hpp"

namespace slicewise::reports {
namespace {

constexpr int kMostThatOnlySurge = 3;  // pods of which 25 % is no whole one

// What nodes offer of each resource that the plugin advertises, at most, but for what pods have
// that are there for good.
std::map<std::string, std::int64_t> free_places(const scenarios::Scenario& scenario,
                                                std::span<const PoolNodes> nodes) {
  std::map<std::string, std::int64_t> free;
  for (const PoolNodes& one : nodes) {
    const scenarios::NodePool& pool = *one.target.pool;
    for (const AdvertisedResource& resource : advertised(one.target)) {
      free[resource.name] +=
          std::int64_t{resource.count.value_or(0)} * pool.most_nodes.value_or(pool.nodes);
    }
  }
  for (const scenarios::Workload& workload : scenario.workloads) {
    if (!keeps_replicas(workload)) continue;
    for (const scenarios::ExtendedRequest& asked : workload.pod.extended) {
      free[asked.name.value] -= asked.count * workload.count;
    }
  }
  return free;
}

}  // namespace

std::string rollout_remarks(const scenarios::Scenario& scenario, std::span<const PoolNodes> nodes) {
  const std::map<std::string, std::int64_t> free = free_places(scenario, nodes);
  std::string out;
  for (const scenarios::Workload& workload : scenario.workloads) {
    const PodOwner owner = owner_of(workload);
    if (owner.kind != "Deployment" || workload.count < 1 || workload.autoscaling ||
        workload.count > kMostThatOnlySurge) {
      continue;
    }
    const auto* lacking =
        find_if_or_null(workload.pod.extended, [&](const scenarios::ExtendedRequest& asked) {
          const auto left = free.find(asked.name.value);
          return left != free.end() && left->second < asked.count;
        });
    if (lacking == nullptr) continue;
    out += fmt::format(
        "\nUnless its strategy says otherwise, a rollout of {} ({}) starts a pod more before it "
        "ends "
        "one, and fewer\n{} are free than it asks for: it waits for good. Give the pool a node "
        "more, or "
        "let it end one first:\n\n"
        "    kubectl -n {} patch deployment {} --type merge -p "
        "'{{\"spec\":{{\"strategy\":{{\"rollingUpdate\":{{\"maxSurge\":0,\"maxUnavailable\":1}}}}}}"
        "}}'\n",
        owner.name, counted(workload.count, "pod"), lacking->name.value, workload.namespace_name,
        owner.name);
  }
  return out;
}

}  // namespace slicewise::reports
