#include "pod_placement.hpp"

#include <algorithm>

namespace slicewise::sim::lint {
namespace {

using scenarios::KeyValue;
using scenarios::NodeGroupFile;
using scenarios::PodFile;
using scenarios::TaintOrToleration;

bool tolerates(const TaintOrToleration& toleration, const TaintOrToleration& taint) {
  const bool effect = toleration.effect.empty() || toleration.effect == taint.effect;
  if (!effect) return false;
  const bool exists = toleration.op == "Exists";
  if (toleration.key.empty()) return exists;
  return toleration.key == taint.key && (exists || toleration.value == taint.value);
}

}  // namespace

bool is_set_by_others(std::string_view label) {
  return label.find("kubernetes.io/") != label.npos || label.starts_with("karpenter") ||
         label.starts_with("nvidia.com/") || label.starts_with("feature.node") ||
         label.starts_with("eks.amazonaws.com/") || label.starts_with("alpha.eksctl.io/") ||
         label.find(".amazonaws.com/") != label.npos;
}

const TaintOrToleration* untolerated(const PodFile& pod, const NodeGroupFile& group) {
  for (const TaintOrToleration& taint : group.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const bool accepted = std::ranges::any_of(
        pod.tolerations, [&](const auto& toleration) { return tolerates(toleration, taint); });
    if (!accepted) return &taint;
  }
  return nullptr;
}

bool may_select(const PodFile& pod, const NodeGroupFile& group) {
  return std::ranges::all_of(pod.node_selector, [&](const KeyValue& wanted) {
    const KeyValue* label = label_of(group, wanted.key);
    return label != nullptr ? label->value == wanted.value : is_set_by_others(wanted.key);
  });
}

bool may_run_on(const PodFile& pod, const NodeGroupFile& group) {
  return may_select(pod, group) && untolerated(pod, group) == nullptr;
}

}  // namespace slicewise::sim::lint
