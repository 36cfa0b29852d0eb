#include "admission.hpp"

#include <algorithm>

#include "slicewise/sim/world.hpp"

namespace slicewise::sim {
namespace {

bool tolerates(const scenarios::Toleration& toleration, const scenarios::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.op == "Exists";
  if (toleration.key != taint.key) return false;
  return toleration.op == "Exists" || toleration.value == taint.value;
}

}  // namespace

const scenarios::Taint* untolerated(std::span<const scenarios::Taint> taints,
                                    std::span<const scenarios::Toleration> tolerations) {
  const auto found = std::ranges::find_if(taints, [&](const scenarios::Taint& taint) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return false;
    return std::ranges::none_of(
        tolerations, [&](const auto& toleration) { return tolerates(toleration, taint); });
  });
  return found == taints.end() ? nullptr : &*found;
}

bool has_untolerated_taint(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return untolerated(pool.taints, pod.tolerations) != nullptr;
}

bool matches_selector(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return std::ranges::all_of(pod.node_selector, [&](const auto& wanted) {
    const auto label = pool.labels.find(wanted.first);
    return label != pool.labels.end() && label->second == wanted.second;
  });
}

bool admits(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return !has_untolerated_taint(pool, pod) && matches_selector(pool, pod);
}

}  // namespace slicewise::sim
