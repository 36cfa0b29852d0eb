#include "pods_without_gpu.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../text/kubernetes_names.hpp"

namespace slicewise::scenarios {
namespace {

std::set<std::string> gpu_nodes(const ClusterFiles& cluster) {
  std::set<std::string> names;
  for (const NodeGroupFile& node : cluster.groups) {
    const bool has_gpu = !node.types.empty() && is_gpu_type(node.types.front().value);
    if (node.kind == NodeGroupFile::Kind::Node && has_gpu) names.insert(node.name);
  }
  return names;
}

// The Cluster Autoscaler leaves nodes alone with pods of kube-system that have no budget, and with
// pods that nobody would make anew. Source: its FAQ, what pods prevent it from removing a node.
bool holds_for_autoscaler(const PodFile& pod) {
  return pod.owner.empty() || (pod.space == "kube-system" && !pod.budget);
}

DraftWorkload draft_of(const PodFile& pod, const std::string& owner) {
  DraftWorkload workload;
  const std::size_t slash = owner.find('/');
  workload.name = dns_name(owner.substr(slash + 1), "pods") + "-without-gpu";
  if (!pod.space.empty()) workload.space = dns_name(pod.space, "default");
  workload.comment = "on nodes with a GPU, which it does not use";
  workload.kind = DraftWorkload::Kind::Deployment;
  workload.object_kind = owner.substr(0, slash);
  workload.object_name = owner.substr(slash + 1);
  workload.uses_gpu = false;
  workload.pods = 0;
  const Amounts amounts = reserved_amounts(pod);
  workload.cpu_milli = amount_of(amounts, "cpu");
  workload.memory_bytes = amount_of(amounts, "memory");
  workload.priority = pod.priority;
  workload.never_preempts = pod.never_preempts;
  workload.host_ports = pod.host_ports;
  workload.budget = pod.budget;
  // What else they tolerate and select has let them be there.
  workload.tolerations.push_back({"", "Exists", "", ""});
  for (const KeyValue& annotation : pod.annotations) {
    if (annotation.key == kDoNotDisrupt || annotation.key == kSafeToEvict) {
      workload.annotations.emplace_back(annotation.key, annotation.value);
    }
  }
  if (annotation_of(pod, kSafeToEvict) == nullptr && holds_for_autoscaler(pod)) {
    workload.annotations.emplace_back(kSafeToEvict, "false");
  }
  return workload;
}

}  // namespace

std::vector<DraftWorkload> pods_without_gpu(const ClusterFiles& cluster, ImportReport& report) {
  const std::set<std::string> nodes = gpu_nodes(cluster);
  std::map<std::pair<std::string, std::string>, DraftWorkload> of_controllers;
  for (const PodFile& pod : cluster.pods) {
    if (pod.has_ended || asks_for_gpu(pod) || goes_with_node(pod) || !nodes.contains(pod.node)) {
      continue;
    }
    const std::string owner = pod.owner.empty() ? "Pod/" + pod.object : pod.owner;
    const auto [known, is_new] =
        of_controllers.try_emplace({std::string(namespace_of(pod.space)), owner});
    if (is_new) known->second = draft_of(pod, owner);
    ++known->second.pods;
    report.noted(
        "pods without a GPU on nodes with one: they take their CPU and memory, and keep them",
        pod.object_where);
  }
  std::vector<DraftWorkload> all;
  std::map<std::string, int> named;  // of several namespaces
  for (auto& [controller, workload] : of_controllers) {
    const int others = named[workload.name]++;
    if (others > 0) workload.name += fmt::format("-{}", others + 1);
    all.push_back(std::move(workload));
  }
  return all;
}

}  // namespace slicewise::scenarios
