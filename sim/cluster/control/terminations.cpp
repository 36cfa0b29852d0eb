#include "terminations.hpp"

#include "../service/replicas.hpp"
#include "../service/services.hpp"
#include "pod_life.hpp"

namespace slicewise::sim {

void Terminations::begin(std::uint32_t pod) {
  if (is_ending(pod)) return;
  for_each_of_job(run_.cluster, pod, [&](std::uint32_t p) {
    const Pod& ends = run_.cluster.pods[p];
    bool works = ends.phase == PodPhase::Working;
    if (works && run_.cluster.model(ends).spec.kind == WorkloadKind::Service) {
      std::erase(services_[services_.of_pod(p)].ready, p);
      works = replicas_.of_pod(p).outstanding > 0;
    }
    if (is_bound(ends.phase)) {
      endings_.push_back({p, run_.now, works ? run_.now + kTerminationGracePeriod : run_.now});
      count_spread(p, -1);
    }
  });
  arm();
}

bool Terminations::makes_room(std::uint32_t node, int below) const {
  return std::ranges::any_of(endings_, [&](const Ending& ending) {
    const Pod& pod = run_.cluster.pods[ending.pod];
    return index(pod.node) == node && run_.cluster.model(pod).spec.priority < below;
  });
}

// Not within what the pod is at.
void Terminations::idle(std::uint32_t pod) {
  const auto ending = std::ranges::find(endings_, pod, &Ending::pod);
  if (ending == endings_.end()) return;
  ending->killed_at = run_.now;
  arm();
}

// A timer for somebody who has gone meanwhile finds nobody.
void Terminations::arm() {
  if (endings_.empty()) return;
  const auto next = std::ranges::min_element(endings_, {}, &Ending::killed_at);
  run_.timers.set(TimerKind::Termination, 0, next->killed_at);
}

void Terminations::on_timer() {
  const auto is_over = [this](const Ending& ending) { return ending.killed_at <= run_.now; };
  for (auto over = std::ranges::find_if(endings_, is_over); over != endings_.end();
       over = std::ranges::find_if(endings_, is_over)) {
    const std::uint32_t pod = over->pod;
    pods_.evict(pod, Eviction::Preempted);
    gone(pod);
  }
  arm();
}

}  // namespace slicewise::sim
