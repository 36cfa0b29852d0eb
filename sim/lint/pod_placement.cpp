#include "pod_placement.hpp"

#include <algorithm>

#include "../world/admission.hpp"

namespace slicewise::sim::lint {
namespace {

using scenarios::KeyValue;
using scenarios::NodeGroupFile;
using scenarios::PodFile;

}  // namespace

const scenarios::Taint* untolerated(const PodFile& pod, const NodeGroupFile& group) {
  return sim::untolerated(group.taints, pod.tolerations);
}

bool may_select(const PodFile& pod, const NodeGroupFile& group) {
  return std::ranges::all_of(pod.node_selector, [&](const KeyValue& wanted) {
    const KeyValue* label = label_of(group, wanted.key);
    return label != nullptr ? label->value == wanted.value
                            : scenarios::is_set_by_others(wanted.key);
  });
}

bool may_run_on(const PodFile& pod, const NodeGroupFile& group) {
  return may_select(pod, group) && untolerated(pod, group) == nullptr;
}

}  // namespace slicewise::sim::lint
