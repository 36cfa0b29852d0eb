#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "lint_rules.hpp"

// Workloads against the quotas of their queue (Kueue): what is above them is never admitted.
namespace slicewise::sim::lint {
namespace {

using scenarios::ClusterQueueFile;
using scenarios::PodFile;
using scenarios::PodPurpose;
using scenarios::QuotaFile;

constexpr std::int64_t kMost = std::int64_t{1} << 40;  // against overflow

const ClusterQueueFile* queue_of(const LintInput& input, const PodFile& pod) {
  for (const auto& local : input.files.local_queues) {
    if (local.name != pod.queue.value || local.space != pod.space) continue;
    const auto found =
        std::ranges::find(input.files.cluster_queues, local.cluster_queue, &ClusterQueueFile::name);
    if (found != input.files.cluster_queues.end()) return &*found;
  }
  return nullptr;
}

// What the queue may have of a resource in one flavor; nullopt: as much as its cohort has, whose
// queues may be in no file.
std::optional<std::int64_t> most_of(const ClusterQueueFile& queue, const QuotaFile& quota) {
  if (queue.cohort.empty()) return quota.nominal;
  if (!quota.borrows) return std::nullopt;
  return std::min(quota.nominal, kMost) + std::min(*quota.borrows, kMost);
}

// Kueue takes the pods of a Deployment one by one, those of all others together.
std::int64_t pods_at_once(const PodFile& pod) {
  return pod.kind == "Deployment" || pod.kind == "Pod" ? std::min<std::int64_t>(pod.copies, 1)
                                                       : pod.copies;
}

std::map<std::string, std::int64_t> wanted_by(const PodFile& pod) {
  std::map<std::string, std::int64_t> sum;
  for (const auto& container : pod.containers) {
    if (container.is_init && !container.restarts_always) continue;
    for (const auto& amount : container.amounts) {
      if (amount.resource == "cpu" || amount.resource == "memory") continue;
      std::int64_t& total = sum[amount.resource];
      const std::int64_t each = std::min(amount.amount, kMost / 1'000'000);
      total = std::min(total + each * pods_at_once(pod), kMost);
    }
  }
  return sum;
}

// All pods of a set are in one flavor.
void judge_pods(const LintInput& input, const PodFile& pod, const ClusterQueueFile& queue) {
  for (const auto& [resource, wanted] : wanted_by(pod)) {
    std::int64_t most = 0;
    bool is_covered = false;
    for (const QuotaFile& quota : queue.quotas) {
      if (quota.resource != resource) continue;
      is_covered = true;
      most = std::max(most, most_of(queue, quota).value_or(kMost));
    }
    // What nobody covers of other resources Kueue may be told to leave out.
    if (wanted <= most || (!is_covered && !scenarios::gpu_resource(resource))) continue;
    const std::string who = fmt::format("{} {}", pod.kind, pod.name.substr(0, 60));
    input.tell(
        Code::JobNeverFits, pod.queue.where,
        is_covered
            ? fmt::format("{} is never admitted: it asks for {} of {} at once, and ClusterQueue {} "
                          "may have {}",
                          who, wanted, resource.substr(0, 60), queue.name.substr(0, 60), most)
            : fmt::format("{} is never admitted: ClusterQueue {} has no quota of {}", who,
                          queue.name.substr(0, 60), resource.substr(0, 60)),
        is_covered ? "raise nominalQuota or borrowingLimit, or ask for less"
                   : "add the resource to coveredResources, with a quota");
  }
}

}  // namespace

void lint_queues(const LintInput& input) {
  for (const PodFile& pod : input.files.pods) {
    if (pod.queue.value.empty()) continue;
    const ClusterQueueFile* queue = queue_of(input, pod);
    if (queue != nullptr && !queue->quotas.empty()) judge_pods(input, pod, *queue);
  }
}

}  // namespace slicewise::sim::lint
