#include "victim_choice.hpp"

#include <algorithm>
#include <limits>

namespace slicewise::sim {

std::optional<std::uint32_t> VictimChoice::node_for(std::uint32_t pod,
                                                    const DisruptionBudgets& budgets) {
  const WorkloadModel& model = cluster_.model(cluster_.pods[pod]);
  std::optional<std::uint32_t> chosen;
  Rank least;
  allowed_.clear();
  if (company_.reaches(index(cluster_.pods[pod].workload))) company_ = cluster_.company;
  for (std::size_t w = 0; budgets.any() && w < cluster_.world->workloads.size(); ++w) {
    allowed_.push_back(budgets.allowed(w));
  }
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    const Node& node = cluster_.nodes[n];
    if (!node.is_known() || !node.schedulable) continue;
    if (!cluster_.has_quota_on(cluster_.pods[pod], node.pool)) continue;
    if (!model.on_pool[index(node.pool)].schedulable) continue;
    find_lower(n, priority(pod));
    put_kept_first();
    if (lower_.empty()) continue;
    const bool fits = spare(n, pod);
    company_.copy(n, cluster_.company);
    if (!fits || victims_.empty()) continue;
    const Rank here = rank();
    if (chosen && here >= least) continue;
    chosen = n;
    least = here;
    best_.swap(victims_);
  }
  return chosen;
}

// Pods that hold something of the node, the most important first.
void VictimChoice::find_lower(std::uint32_t n, int than) {
  lower_.clear();
  for_each_pod_on(cluster_, cluster_.nodes[n], [&](std::uint32_t p) {
    if (priority(p) < than) lower_.push_back(p);
  });
  std::ranges::sort(lower_, {}, [this](std::uint32_t p) { return importance(p); });
}

// filterPodsWithPDBViolation: each takes of what its budget allows, until nothing is left.
void VictimChoice::put_kept_first() {
  kept_ = 0;
  if (allowed_.empty()) return;
  auto left = allowed_;
  const auto kept = std::stable_partition(lower_.begin(), lower_.end(), [&](std::uint32_t p) {
    auto& of_budget = left[index(cluster_.pods[p].workload)];
    return of_budget && --*of_budget < 0;
  });
  kept_ = static_cast<std::size_t>(kept - lower_.begin());
}

// Which of `lower_` have to go. False: the pod does not fit without any of them either.
bool VictimChoice::spare(std::uint32_t n, std::uint32_t pod) {
  const WorkloadModel& model = cluster_.model(cluster_.pods[pod]);
  const Node& node = cluster_.nodes[n];
  const auto offer = model.on_pool[index(node.pool)].offer;
  PodRoom room{node.pods_free, node.cpu_free.count, node.memory_free.count,
               offer ? node.tickets_free[*offer] : 0};
  room -= nominated_.kept(n, pod);
  const auto count = [&](std::uint32_t p, std::int64_t change) {
    company_.count(n, index(cluster_.pods[p].workload), change);
  };
  company_.copy(n, cluster_.company);
  nominated_.for_each_kept(n, pod, [&](std::uint32_t p) { count(p, 1); });
  const std::size_t w = index(cluster_.pods[pod].workload);
  const auto admits = [&] {
    if (!company_.admits(n, w)) return false;
    if (nominated_.empty()) return true;
    // Without those that may still go elsewhere, too.
    nominated_.for_each_kept(n, pod, [&](std::uint32_t p) { count(p, -1); });
    const bool admitted = company_.admits(n, w);
    nominated_.for_each_kept(n, pod, [&](std::uint32_t p) { count(p, 1); });
    return admitted;
  };
  const auto fits = [&] { return room.holds(model) >= 1 && admits(); };
  // Who ends already is taken off what is spread once more, as kube-scheduler's RemovePod does.
  for (const std::uint32_t p : lower_) {
    room += nominated_.taken(n, p, model);
    count(p, -1);
  }
  if (!fits()) return false;
  victims_.clear();
  against_budgets_ = 0;
  for (std::size_t nth = 0; nth < lower_.size(); ++nth) {
    const std::uint32_t p = lower_[nth];
    const PodRoom its = nominated_.taken(n, p, model);
    room -= its;
    count(p, 1);
    if (fits()) continue;
    room += its;
    count(p, -1);
    victims_.push_back(p);
    against_budgets_ += nth < kept_ ? 1 : 0;
  }
  std::ranges::sort(victims_, {}, [this](std::uint32_t victim) { return importance(victim); });
  return true;
}

// The API keeps start times in whole seconds. Priorities are added up from the least there is, so
// that fewer victims of negative priority count as less.
VictimChoice::Rank VictimChoice::rank() const {
  Rank rank{against_budgets_, priority(victims_.front()), 0, victims_.size(),
            -cluster_.pods[victims_.front()].bound.ns / seconds(1).ns};
  for (const std::uint32_t p : victims_) {
    rank.sum += std::int64_t{priority(p)} - std::numeric_limits<std::int32_t>::min();
  }
  return rank;
}

}  // namespace slicewise::sim
