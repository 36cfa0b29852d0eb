#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "prometheus.hpp"

namespace slicewise::scenarios {
namespace {

constexpr double kLatestSecond = 4e9;  // 2096

PodRecord::Time time_in(double seconds) {
  if (!(seconds > 0 && seconds <= kLatestSecond)) return std::nullopt;
  return std::llround(seconds * 1'000.0) * 1'000'000;  // milliseconds, as Prometheus keeps them
}

// CPU in millicores, the rest as it is.
std::int64_t sampled_amount(std::string_view resource, double value) {
  if (!(value > 0)) return 0;
  if (value >= 1e15) return kMostAmount;
  const double unit = resource == "cpu" ? 1'000.0 : 1.0;
  return static_cast<std::int64_t>(std::ceil(value * unit - 1e-6));
}

std::string first_of(const Labels& labels, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!labels[name].empty()) return std::string(labels[name]);
  }
  return {};
}

// Without the labels of the pod: "train-5d9c6b7f4" is what the Deployment train made, by the hash
// of the template behind the last dash.
std::string controller(std::string_view kind, std::string_view name) {
  constexpr std::string_view kHashLetters = "bcdfghjklmnpqrstvwxz2456789";
  if (kind == "<none>" || name == "<none>") return {};
  const std::size_t dash = name.rfind('-');
  const std::string_view hash = dash == std::string_view::npos ? "" : name.substr(dash + 1);
  const bool is_hash = hash.size() >= 6 && hash.size() <= 10 &&
                       hash.find_first_not_of(kHashLetters) == std::string_view::npos;
  return controller_of(std::string(kind), std::string(name), is_hash ? hash : "");
}

void add_all(Amounts& sum, const std::map<std::string, Amounts>& containers) {
  for (const auto& [name, amounts] : containers) add_amounts(sum, amounts);
}

}  // namespace

PodName exported_pod_of(const Labels& labels) {
  return {first_of(labels, {"exported_namespace", "pod_namespace"}),
          first_of(labels, {"exported_pod", "pod_name"}),
          first_of(labels, {"exported_container", "container_name"})};
}

PodName pod_of(const Labels& labels) {
  PodName name = exported_pod_of(labels);
  if (!name.name.empty()) return name;
  return {std::string(labels["namespace"]), std::string(labels["pod"]),
          std::string(labels["container"])};
}

bool ClusterMetrics::add(const Labels& labels, const std::vector<Sample>& samples,
                         const SourceLocation& where) {
  std::string_view metric = labels.metric();
  if (samples.empty()) return true;
  const Sample& last = *std::ranges::max_element(samples, {}, &Sample::at);
  latest_ = std::max(latest_, last.at);
  if (metric.starts_with("kube_node_")) return add_node(labels, metric, last.value);
  if (!metric.starts_with("kube_pod_")) return false;
  const PodName name = pod_of(labels);
  if (name.name.empty()) return false;
  std::string uid(labels["uid"]);
  if (uid.empty()) uid = fmt::format("{}/{}", name.space, name.name);
  Pod& pod = pods_[uid];
  if (pod.record.name.empty()) {
    pod.record.name = name.name;
    pod.record.space = name.space;
    pod.record.where = where;
  }
  if (metric == "kube_pod_status_phase" || metric == "kube_pod_status_reason") {
    // One series for each phase, 1 for the one that holds.
    for (const Sample& sample : samples) {
      if (sample.value != 1) continue;
      const bool is_phase = metric == "kube_pod_status_phase";
      std::int64_t& when = pod.phases[std::string(labels[is_phase ? "phase" : "reason"])];
      when = std::max(when, sample.at);
    }
  }
  pod.first_seen = std::min(pod.first_seen, std::ranges::min(samples, {}, &Sample::at).at);
  pod.last_seen = std::max(pod.last_seen, last.at);
  return add_to_pod(pod, labels, metric.substr(9), last);
}

bool ClusterMetrics::add_to_pod(Pod& pod, const Labels& labels, std::string_view metric,
                                const Sample& last) {
  PodRecord& record = pod.record;
  if (!labels["node"].empty()) record.node = labels["node"];
  if (metric == "created") {
    record.arrival = time_in(last.value);
  } else if (metric == "status_scheduled_time") {
    record.scheduled = time_in(last.value);
  } else if (metric == "start_time" || metric == "container_state_started") {
    const auto time = time_in(last.value);
    if (time) record.started = std::min(record.started.value_or(*time), *time);
    // Init containers end before it, sidecars start with it; the first of a pod that was restarted
    // is not known.
    if (time && metric == "container_state_started") {
      record.working = std::max(record.working.value_or(*time), *time);
    }
  } else if (metric == "completion_time") {
    record.ended = time_in(last.value);
  } else if (metric == "info") {
    record.work = controller(labels["created_by_kind"], labels["created_by_name"]);
    pod.priority_class = labels["priority_class"];
  } else if (metric == "container_info") {
    ContainerFile container;  // of which Prometheus does not know the environment
    container.image = labels["image"];
    record.is_greedy = record.is_greedy || maps_all_memory(container);
  } else if (metric == "container_status_restarts_total") {
    pod.restarted = pod.restarted || last.value > 0;
  } else if (metric.find("resource_") != std::string_view::npos) {
    return add_resource(pod, labels, metric, last.value);
  } else {
    return metric == "status_phase" || metric == "status_reason" || metric == "status_qos_class" ||
           metric == "status_scheduled";
  }
  return true;
}

bool ClusterMetrics::add_resource(Pod& pod, const Labels& labels, std::string_view metric,
                                  double value) {
  const std::string container = pod_of(labels).container;
  const std::string resource = resource_of_label(labels["resource"]);
  if (metric == "container_resource_requests") {
    pod.requests[container][resource] = sampled_amount(resource, value);
  } else if (metric == "container_resource_limits") {
    pod.limits[container][resource] = sampled_amount(resource, value);
  } else if (metric.starts_with("init_container_resource_")) {
    std::int64_t& amount = pod.init[container][resource];
    amount = std::max(amount, sampled_amount(resource, value));
  } else {
    return false;
  }
  return true;
}

bool ClusterMetrics::add_node(const Labels& labels, std::string_view metric, double value) {
  Node& node = nodes_[std::string(labels["node"])];
  if (metric == "kube_node_labels") {
    node.instance_type = labels["label_node_kubernetes_io_instance_type"];
    node.sharing = labels["label_nvidia_com_gpu_sharing_strategy"];
    const auto replicas = replicas_of_gpu(labels["label_nvidia_com_gpu_replicas"]);
    if (replicas) node.replicas = replicas;
  } else if (metric == "kube_node_status_allocatable") {
    if (gpu_resource(resource_of_label(labels["resource"]))) node.gpus += value;
  } else {
    return false;
  }
  return true;
}

PodRecord ClusterMetrics::finished(const Pod& pod, std::int64_t end, ImportReport& report) const {
  PodRecord record = pod.record;
  add_all(record.amounts, pod.requests);
  // Extended resources have limits equal to requests; either metric may be missing.
  Amounts limits;
  add_all(limits, pod.limits);
  for (const auto& [name, amount] : limits) {
    if (gpu_resource(name) && !record.amounts.contains(name)) record.amounts[name] = amount;
  }
  std::vector<ContainerAmounts> containers{{record.amounts}};
  for (const auto& [name, amounts] : pod.init) containers.push_back({amounts, true});
  record.amounts = reserved_amounts(containers);

  std::int64_t latest = 0;
  std::string phase;
  for (const auto& [name, when] : pod.phases) {
    const bool is_phase =
        name == "Succeeded" || name == "Failed" || name == "Running" || name == "Pending";
    if (is_phase && when > latest) {
      latest = when;
      phase = name;
    }
  }
  if (phase == "Succeeded") record.state = JobState::Completed;
  if (phase == "Failed") {
    record.state = pod.phases.contains("Evicted") ? JobState::Cancelled : JobState::Failed;
  }
  record.seen = pod.first_seen;
  const bool is_there = pod.last_seen >= end - kStale;
  if (!record.ended && !is_there) {
    // A deleted pod leaves no completion time.
    record.ended = pod.last_seen;
    report.guessed(
        "pods that were deleted: their end is the last time they were seen, late by up to a scrape "
        "and 5 minutes",
        record.where);
  } else if (!record.ended) {
    record.state = record.scheduled || record.started ? JobState::Running : JobState::Pending;
  }
  if (!record.arrival && (record.scheduled || record.started)) {
    record.arrival = record.scheduled ? record.scheduled : record.started;
    report.guessed("pods without kube_pod_created: they arrive when they start", record.where);
  }
  if (pod.restarted) {
    report.noted("pods whose containers were restarted", record.where);
  }
  if (!pod.priority_class.empty() && pod.priority_class != "<none>") {
    report.noted("pods with a priority class: Prometheus does not know its value, priority 0",
                 record.where);
  }
  const auto node = nodes_.find(record.node);
  if (node != nodes_.end()) {
    record.instance_type = node->second.instance_type;
    record.node_replicas = node->second.replicas;
    record.node_sharing = node->second.sharing;
  }
  return record;
}

std::vector<PodRecord> ClusterMetrics::pods(std::int64_t end, ImportReport& report) const {
  std::vector<PodRecord> records;
  for (const auto& [uid, pod] : pods_) records.push_back(finished(pod, end, report));
  return records;
}

}  // namespace slicewise::scenarios
