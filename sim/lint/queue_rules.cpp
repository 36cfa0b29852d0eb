#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "lint_rules.hpp"

// Workloads against the quotas of their queue (Kueue): what is above them is never admitted.
namespace slicewise::sim::lint {
namespace {

using scenarios::ClusterQueue;
using scenarios::PodFile;
using scenarios::ResourceQuota;

using scenarios::kMostQuota;

// What the queue may have of a resource in one flavor; as much as its cohort has, whose queues may
// be in no file: kMostQuota.
std::int64_t most_of(const ClusterQueue& queue, const ResourceQuota& quota) {
  const std::int64_t nominal = amount_of(quota, quota.nominal);
  if (queue.cohort.empty()) return nominal;
  return quota.borrowing_limit ? nominal + amount_of(quota, *quota.borrowing_limit) : kMostQuota;
}

// What its cohort has of it in this flavor; kMostQuota: no file has its other queues.
std::int64_t most_of_cohort(const LintInput& input, const ClusterQueue& queue,
                            const std::string& flavor, const std::string& resource) {
  std::int64_t sum = 0;
  int queues = 0;
  for (const scenarios::ClusterQueueFile& file : input.files.cluster_queues) {
    if (file.queue.cohort != queue.cohort) continue;
    ++queues;
    for_each_quota(file.queue, [&](const std::string& name, const ResourceQuota& quota) {
      if (name != flavor || quota.resource.value != resource) return;
      sum = std::min(sum + amount_of(quota, quota.nominal), kMostQuota);
    });
  }
  return queues > 1 ? sum : kMostQuota;
}

// Kueue takes the pods of a Deployment one by one, those of all others together, unless a Job says
// that fewer will do.
std::int64_t pods_at_once(const PodFile& pod) {
  const scenarios::KeyValue* least = annotation_of(pod, scenarios::kLeastParallelism);
  if (pod.kind == "Job" && least != nullptr) {
    std::int64_t pods = pod.copies;
    std::from_chars(least->value.data(), least->value.data() + least->value.size(), pods);
    return std::clamp<std::int64_t>(pods, 0, pod.copies);
  }
  return pod.kind == "Deployment" || pod.kind == "Pod" ? std::min<std::int64_t>(pod.copies, 1)
                                                       : pod.copies;
}

using Amounts = std::map<std::string, std::int64_t>;

void add_wanted(const PodFile& pod, Amounts& sum) {
  for (const auto& container : pod.containers) {
    if (container.is_init && !container.restarts_always) continue;
    for (const auto& amount : container.amounts) {
      std::int64_t& total = sum[amount.resource];
      total += scenarios::quota_of_pods(amount.amount, pods_at_once(pod));
      total = std::min(total, kMostQuota);
    }
  }
}

// Pods of one set are in one flavor, the sets of an object may each be in another.
struct Ask {
  std::string who;
  Amounts wanted;
  bool in_one_flavor = true;
  SourceLocation where;
};

bool is_of_hosts(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

// "8", "1.5" CPUs, "36 GiB".
std::string amount_text(std::string_view resource, std::int64_t amount) {
  const auto number = static_cast<double>(amount);
  if (resource == "cpu") return fmt::format("{:g}", number / 1'000);
  if (resource == "memory") return fmt::format("{:.4g} GiB", number / (1 << 30));
  return fmt::format("{}", amount);
}

void judge(const LintInput& input, const Ask& ask, const ClusterQueue& queue) {
  for (const auto& one : ask.wanted) {
    const std::string& resource = one.first;
    const std::int64_t wanted = one.second;
    std::int64_t most = 0;
    std::int64_t known = 0;
    bool has_quota = false;
    const auto add = [&](std::int64_t& sum, std::int64_t here) {
      sum = ask.in_one_flavor ? std::max(sum, here) : std::min(sum + here, kMostQuota);
    };
    for_each_quota(queue, [&](const std::string& flavor, const ResourceQuota& quota) {
      if (quota.resource.value != resource) return;
      has_quota = true;
      const std::int64_t here = std::min(most_of(queue, quota), kMostQuota);
      add(most, here);
      add(known, queue.cohort.empty()
                     ? here
                     : std::min(here, most_of_cohort(input, queue, flavor, resource)));
    });
    if (has_quota) {
      if (wanted <= most && wanted > known) {
        input.tell_as(Severity::Note, Code::JobNeverFits, ask.where,
                      fmt::format("{} asks for {} of {} at once, and the queues of cohort {} here "
                                  "have {}: never admitted, unless others lend it more",
                                  ask.who, amount_text(resource, wanted), resource.substr(0, 60),
                                  queue.cohort.substr(0, 60), amount_text(resource, known)),
                      "raise a nominalQuota of the cohort, or ask for less");
      }
      if (wanted <= most) continue;
      input.tell(
          Code::JobNeverFits, ask.where,
          fmt::format(
              "{} is never admitted: it asks for {} of {} at once, and ClusterQueue {} may have {}",
              ask.who, amount_text(resource, wanted), resource.substr(0, 60),
              queue.name.value.substr(0, 60), amount_text(resource, most)),
          "raise nominalQuota or borrowingLimit, or ask for less");
      continue;
    }
    // What nobody covers of other resources Kueue is often told to leave out.
    const bool counts = is_of_hosts(resource) || scenarios::gpu_resource(resource);
    if (!counts || wanted == 0) continue;
    input.tell(Code::JobNeverFits, ask.where,
               fmt::format("{} is never admitted: resource {} unavailable in ClusterQueue {}",
                           ask.who, resource.substr(0, 60), queue.name.value.substr(0, 60)),
               "add it to coveredResources, with a quota, or to resources.excludeResourcePrefixes "
               "of Kueue's configuration");
  }
}

std::string title_of(const PodFile& pod, const std::string& name) {
  return fmt::format("{} {}", pod.kind, name.substr(0, 60));
}

// In a namespace whose other LocalQueues are here.
void judge_name(const LintInput& input, const PodFile& pod) {
  if (pod.queue.value.empty()) return;
  std::vector<std::string> names;
  for (const scenarios::LocalQueueFile& local : input.files.local_queues) {
    if (scenarios::namespace_of(local.space) == scenarios::namespace_of(pod.space)) {
      names.push_back(local.name);
    }
  }
  if (names.empty() || std::ranges::find(names, pod.queue.value) != names.end()) return;
  const auto near = nearest_name(pod.queue.value, names);
  input.tell_as(
      Severity::Warning, Code::QueueUnknown, pod.queue.where,
      fmt::format(
          "none of the LocalQueues of its namespace here is called {}: Kueue leaves it suspended",
          pod.queue.value.substr(0, 60)),
      near ? fmt::format("did you mean {}?", *near) : "");
}

}  // namespace

void lint_queues(const LintInput& input) {
  const auto& pods = input.files.pods;
  for (std::size_t first = 0, next = 0; first < pods.size(); first = next) {
    Ask all{title_of(pods[first], pods[first].object), {}, false, pods[first].queue.where};
    judge_name(input, pods[first]);
    const scenarios::ClusterQueueFile* file = cluster_queue_of(input.files, pods[first]);
    const bool has_quotas = file != nullptr && !file->queue.groups.empty();
    for (next = first; next < pods.size() && pods[next].object_where == pods[first].object_where;
         ++next) {
      if (!has_quotas) continue;
      Ask one{title_of(pods[next], pods[next].name), {}, true, all.where};
      add_wanted(pods[next], one.wanted);
      judge(input, one, file->queue);
      add_wanted(pods[next], all.wanted);
    }
    if (has_quotas) judge(input, all, file->queue);
  }
}

}  // namespace slicewise::sim::lint
