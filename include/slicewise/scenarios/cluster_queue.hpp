#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/node_pool.hpp"

// The queues of Kueue: what the Jobs of a team may have at a time, before any of their pods exist.
// Field by field as in apis/kueue/v1beta2 of sigs.k8s.io/kueue 0.17.
namespace slicewise::scenarios {

// Nodes that quotas do not tell apart. Pods that are admitted to it go to nodes with its labels.
struct ResourceFlavor {
  Located<std::string> name;
  std::map<std::string, std::string> node_labels;  // empty: any node
  std::vector<Taint> node_taints;  // pods that do not tolerate them are not admitted to it
  SourceLocation where;
};

// Of one resource in one flavor. Amounts are Kubernetes' quantities.
struct ResourceQuota {
  Located<std::string> resource;
  Located<std::string> nominal;
  std::optional<Located<std::string>> borrowing_limit;  // absent: what others of the cohort leave
  std::optional<Located<std::string>> lending_limit;    // absent: all that is not used
  SourceLocation where;
};

struct FlavorQuotas {
  Located<std::string> flavor;
  std::vector<ResourceQuota> resources;
  SourceLocation where;
};

// A job has all of these resources in one of the flavors, the first that will do.
struct ResourceGroup {
  std::vector<Located<std::string>> covered;
  std::vector<FlavorQuotas> flavors;
  SourceLocation where;
};

// Which jobs give way to one that does not fit.
enum class QuotaPreemption : std::uint8_t { Never, LowerPriority, LowerOrNewerEqualPriority, Any };

// Whether the search for a flavor ends at one that would need this, or goes on to the next.
enum class FlavorSearch : std::uint8_t { MayStopSearch, TryNextFlavor };

struct ClusterQueue {
  enum class Strategy : std::uint8_t {
    BestEffortFifo,  // jobs that do not fit let younger ones by
    StrictFifo,
  };
  Located<std::string> name;
  std::string cohort;  // whose queues lend each other what they do not use; "" none
  Strategy strategy = Strategy::BestEffortFifo;
  QuotaPreemption within_queue = QuotaPreemption::Never;
  QuotaPreemption reclaim = QuotaPreemption::Never;  // from those of the cohort that borrow
  QuotaPreemption borrow_within_cohort = QuotaPreemption::Never;  // for a job that borrows itself
  std::optional<int> most_priority_preempted;                     // of those, maxPriorityThreshold
  FlavorSearch when_can_borrow = FlavorSearch::MayStopSearch;
  FlavorSearch when_can_preempt = FlavorSearch::TryNextFlavor;
  std::vector<ResourceGroup> groups;
  SourceLocation where;
};

// Of KAI scheduler, its spec.resources.gpu: GPUs, in parts, too; -1: as many as there are. Source:
// NVIDIA/KAI-Scheduler pkg/apis/scheduling/v2.
struct KaiQueue {
  Located<std::string> name;
  std::string parent;            // whose share it is of; "" or none of these: of all GPUs
  double quota = 0;              // that it gets back from others
  double limit = -1;             // the most that it has
  double over_quota_weight = 1;  // of what is left beyond the quotas
};

// Calls `use` with the name of the flavor and the quota, for each of the queue.
template <class Use>
void for_each_quota(const ClusterQueue& queue, Use&& use) {
  for (const ResourceGroup& group : queue.groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      for (const ResourceQuota& quota : flavor.resources) use(flavor.flavor.value, quota);
    }
  }
}

// Amounts of quotas, and of what is asked of them, are no more, so that sums of cohorts are exact.
inline constexpr std::int64_t kMostQuota = std::int64_t{1} << 52;

// In the unit in which pods ask for the resource: CPU in thousandths, others whole; kMostQuota at
// the most. nullopt: no quantity.
std::optional<std::int64_t> quota_amount(std::string_view resource, std::string_view quantity);
// Of one of the quota's own quantities; 0 where it is none.
std::int64_t amount_of(const ResourceQuota& quota, const Located<std::string>& quantity);

// What so many pods ask of a quota that ask for so much each.
std::int64_t quota_of_pods(std::int64_t each, std::int64_t pods);

}  // namespace slicewise::scenarios
