#include <fmt/format.h>

#include "../fields/check_scalar.hpp"
#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

bool is_extended(const Entry& entry) { return entry.key.find('/') != std::string::npos; }

std::vector<Toleration> read_tolerations(const Node* pod, Findings& findings) {
  std::vector<Toleration> tolerations;
  const Node* list = blocks(pod, "tolerations");
  if (list == nullptr) return tolerations;
  for (const NodePtr& item : list->items) {
    Toleration toleration{
        text_at(item.get(), "key").value_or(""), text_at(item.get(), "operator").value_or("Equal"),
        text_at(item.get(), "value").value_or(""), text_at(item.get(), "effect").value_or("")};
    if (toleration.op == "Exists" && !toleration.value.empty()) {
      findings.add(Code::SettingConflict, value_place(*item, "value"),
                   "a toleration with operator Exists has a value",
                   "Kubernetes wants the value left out, or operator Equal");
    }
    if (toleration.op == "Equal" && toleration.key.empty() && item->kind == Node::Kind::Map) {
      findings.add(Code::SettingConflict, item->where, "a toleration without a key",
                   "Kubernetes wants operator Exists when the key is empty");
    }
    tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

std::map<std::string, std::string> read_env(const Node* pod) {
  const Node* list = blocks(pod, "env");
  if (list == nullptr) return labels_at(pod, "env");
  std::map<std::string, std::string> env;
  for (const NodePtr& item : list->items) {
    env[text_at(item.get(), "name").value_or("")] = text_at(item.get(), "value").value_or("");
  }
  return env;
}

// Kubernetes: an extended resource cannot be overcommitted, so its limit and request are equal.
void read_extended(const Node* requests, const Node* limits, PodTemplate& pod, Findings& findings) {
  if (limits != nullptr) {
    for (const Entry& entry : limits->entries) {
      if (!is_extended(entry)) continue;
      const auto count = extended_count(*entry.value);
      if (!count) continue;
      pod.extended.push_back({{entry.key, entry.key_where}, *count, entry.value->where});
    }
  }
  if (requests == nullptr) return;
  for (const Entry& entry : requests->entries) {
    const auto request = is_extended(entry) ? extended_count(*entry.value) : std::nullopt;
    if (!request) continue;
    const Node* limit = limits == nullptr ? nullptr : limits->find(entry.key);
    if (limit == nullptr) {
      findings.add(Code::SettingConflict, entry.key_where,
                   fmt::format("{} is requested without a limit", entry.key),
                   "Kubernetes: limit must be set for non overcommitable resources; move it to "
                   "limits");
    } else if (extended_count(*limit).value_or(*request) != *request) {
      findings.add(Code::SettingConflict, entry.value->where,
                   fmt::format("the request of {} differs from its limit", entry.key),
                   "remove the request: the limit is the request");
    }
  }
}

template <class Quantity>
void check_limit(const Node* requests, std::string_view key, std::optional<Quantity> request,
                 std::optional<Quantity> limit, const Node* limits, Findings& findings) {
  if (!request || !limit || *request <= *limit) return;
  findings.add(Code::SettingConflict, value_place(*limits, key),
               fmt::format("the {} limit is below the request", key),
               "Kubernetes refuses the pod: raise the limit or lower the request",
               fmt::format("requested on line {}", value_place(*requests, key).line));
}

}  // namespace

PodTemplate read_pod_template(const Node& workload, Findings& findings) {
  PodTemplate pod;
  pod.where = key_place(workload, "podTemplate");
  pod.cpu_where = pod.where;
  const Node* node = block(&workload, "podTemplate");
  const Node* resources = block(node, "resources");
  const Node* requests = block(resources, "requests");
  const Node* limits = block(resources, "limits");
  const auto cpu_request = cpu_at(requests, "cpu");
  const auto memory_request = bytes_at(requests, "memory");
  pod.cpu_limit = cpu_at(limits, "cpu");
  pod.memory_limit = bytes_at(limits, "memory");
  pod.cpu_request = cpu_request ? *cpu_request : pod.cpu_limit.value_or(Millicores{});
  pod.memory_request = memory_request ? *memory_request : pod.memory_limit.value_or(Bytes{});
  if (cpu_request) {
    pod.cpu_where = value_place(*requests, "cpu");
  } else if (pod.cpu_limit) {
    pod.cpu_where = value_place(*limits, "cpu");
  }
  check_limit(requests, "cpu", cpu_request, pod.cpu_limit, limits, findings);
  check_limit(requests, "memory", memory_request, pod.memory_limit, limits, findings);
  read_extended(requests, limits, pod, findings);
  pod.tolerations = read_tolerations(node, findings);
  pod.node_selector = labels_at(node, "nodeSelector");
  pod.env = read_env(node);
  return pod;
}

}  // namespace slicewise::scenarios
