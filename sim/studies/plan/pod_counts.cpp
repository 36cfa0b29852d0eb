#include "pod_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "../probe/probe.hpp"
#include "fleet_model.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// Less is not worth another number of pods.
constexpr double kWorthAWord = 0.95;
constexpr std::size_t kMostHints = 3;
// Of many workloads: those next to their limits get one more, those furthest from them one fewer.
constexpr std::size_t kMostTried = 4;
// Of few Services all numbers are looked at together: so many combinations are priced in closed
// form, and of those that may be cheaper so many simulated, the cheapest first.
constexpr std::size_t kMostPriced = 243;
constexpr std::size_t kMostSimulated = 32;
// Where nothing stands.
constexpr int kMostMore = 2;
constexpr double kLeastGain = 0.01;

// Services of which an objective says how few pods will do, or how few an autoscaler must keep.
std::vector<const Workload*> variable_services(const Scenario& base) {
  std::vector<const Workload*> services;
  for (const Workload& workload : base.workloads) {
    const bool in_pipeline = std::ranges::any_of(base.pipelines, [&](const auto& pipeline) {
      return !pipeline.objectives.empty() &&
             std::ranges::any_of(pipeline.stages, [&](const auto& stage) {
               return stage.workload.value == workload.name.value;
             });
    });
    const bool varies = workload.kind == WorkloadKind::Service && workload.count > 0 &&
                        (in_pipeline || !workload.objectives.empty());
    if (varies) services.push_back(&workload);
  }
  return services;
}

// Numbers of pods that a Service may have, among them its own.
struct PodRange {
  int least = 1;
  int most = 1;
};

// Of an autoscaled one no more than its autoscaler may start.
PodRange numbers_of(const Workload& service, int change) {
  const int now = service.pods_kept();
  const int most = service.autoscaling ? service.autoscaling->max_replicas : now + change;
  return {std::min(now, std::max(1, now - change)), std::min(most, now + change)};
}

bool are_few(const Scenario& base) { return separable_groups(base).size() <= kExactGroups; }

double worst_ratio(const PlanOption& option, const std::string& workload) {
  double worst = 0;
  for (const PlannedObjective& objective : option.figures.objectives) {
    if (objective.workload == workload) worst = std::max(worst, objective.result.ratio());
  }
  return worst;
}

// Numbers of pods, and what no fleet for them costs less than.
struct PricedPods {
  ServicePods pods;  // that are not the scenario's
  double least = 0;
  int all = 0;
};

// Every number of every Service with every other's; empty: those are too many. Nothing runs some.
std::vector<PricedPods> all_numbers(const BlockSearch& search, int most) {
  std::vector<PricedPods> numbers = {{search.pods}};
  for (const Workload* service : variable_services(search.base)) {
    std::vector<PricedPods> longer;
    for (const PricedPods& shorter : numbers) {
      const int now = service->pods_kept();
      const PodRange range = numbers_of(*service, most);
      for (int to = range.least; to <= range.most; ++to) {
        PricedPods& with = longer.emplace_back(shorter);
        with.all += to;
        if (to != now) with.pods[service->name.value] = to;
      }
    }
    if (longer.size() > kMostPriced) return {};
    numbers = std::move(longer);
  }
  std::vector<PricedPods> priced;
  for (PricedPods& each : numbers) {
    const Scenario base = with_pods(search.base, each.pods);
    const BlockSearch there = search_with_pods(search, base, each.pods);
    const FleetModel fleet(there, separable_groups(base));
    const auto worth = fleet.least_worth();
    if (!worth) continue;
    each.least = fleet.as_bound(worth).value_or(0);
    priced.push_back(std::move(each));
  }
  std::ranges::stable_sort(priced, {},
                           [](const PricedPods& each) { return std::pair(each.least, each.all); });
  return priced;
}

class PodSearch {
 public:
  explicit PodSearch(const BlockSearch& search)
      : search_(search), services_(variable_services(search.base)), few_(are_few(search.base)) {}

  std::optional<PlanOption> best(const std::optional<PlanOption>& from, int most) const {
    std::optional<PlanOption> best = from ? from : first_that_stands(most);
    if (best && few_ && services_.size() > 1) best = together(std::move(*best), most);
    while (best && !search_.probes.interrupted()) {
      std::optional<PlanOption> better;
      for (const Workload* service : services_) {
        const PodRange range = numbers_of(*service, most);
        for (int to = range.least; to <= range.most; ++to) {
          auto then = cheaper(*best, *service, to, few_);
          if (then && (!better || *then->goal < *better->goal)) better = std::move(then);
        }
      }
      if (!better) break;
      best = std::move(better);
    }
    const bool is_new = best && (!from || *best->goal < *from->goal - kLeastGain);
    return is_new ? best : std::nullopt;
  }

  std::vector<PlanOption> hints(const std::optional<PlanOption>& from) const {
    std::vector<PlanOption> hints;
    if (!from) {
      auto stands = first_that_stands(kMostMore);
      if (!stands) stands = least_kept();
      if (stands) hints.push_back(std::move(*stands));
      return hints;
    }
    for (const int change : {-1, 1}) {
      for (const Workload* service : most_promising(*from, change)) {
        auto then = cheaper(*from, *service, service->pods_kept() + change, false);
        if (then && *then->goal < kWorthAWord * *from->goal) hints.push_back(std::move(*then));
      }
    }
    std::ranges::stable_sort(hints, {}, [](const PlanOption& option) { return *option.goal; });
    if (hints.size() > kMostHints) hints.resize(kMostHints);
    return hints;
  }

 private:
  // What no single Service's number makes cheaper, those of several may.
  PlanOption together(PlanOption best, int most) const {
    std::size_t simulated = 0;
    for (const PricedPods& numbers : all_numbers(search_, most)) {
      const bool is_dear = numbers.least >= *best.goal - kLeastGain;
      if (is_dear || simulated++ == kMostSimulated || search_.probes.interrupted()) break;
      if (auto then = planned_with(numbers.pods, *best.goal - kLeastGain)) best = std::move(*then);
    }
    return best;
  }

  std::vector<const Workload*> most_promising(const PlanOption& from, int change) const {
    std::vector<const Workload*> services = services_;
    std::erase_if(services, [&](const Workload* each) {
      const int to = each->pods_kept() + change;
      return to < 1 || to > numbers_of(*each, 1).most;
    });
    if (few_) return services;
    std::ranges::stable_sort(services, {}, [&](const Workload* each) {
      return -change * worst_ratio(from, each->name.value);
    });
    if (services.size() > kMostTried) services.resize(kMostTried);
    return services;
  }

  // The option with so many pods of the service, if that costs less. `divided`: workloads may be
  // divided otherwise, too.
  std::optional<PlanOption> cheaper(const PlanOption& from, const Workload& service, int to,
                                    bool divided) const {
    ServicePods pods = changed_pods(from);
    const auto now = pods.find(service.name.value);
    if ((now == pods.end() ? service.pods_kept() : now->second) == to) return std::nullopt;
    pods[service.name.value] = to;
    // Where the search is of other pods than the scenario's, that is not what the scenario has.
    if (to == service.pods_kept() && search_.pods.empty()) pods.erase(service.name.value);
    const Scenario base = with_pods(search_.base, pods);
    const BlockSearch there = search_with_pods(search_, base, std::move(pods));
    auto then = divided ? cheapest_plan(there, *from.goal)
                        : pools_anew(there, from, {service.name.value}, {.cheaper = true});
    if (!then || !then->goal || *then->goal >= *from.goal - kLeastGain) return std::nullopt;
    return then;
  }

  // Nothing stands: more pods of one Service, else of all.
  std::optional<PlanOption> first_that_stands(int most) const {
    for (int more = 1; more <= most && !search_.probes.interrupted(); ++more) {
      std::optional<PlanOption> best;
      const ServicePods all = pods_with_more(search_, more);
      for (const Workload* service : services_) {
        const int to = numbers_of(*service, more).most;
        if (!few_ || to < service->pods_kept() + more) continue;
        ServicePods one = search_.pods;
        one[service->name.value] = to;
        auto then = planned_with(one, best ? best->goal : std::nullopt);
        if (then) best = std::move(then);
      }
      const bool is_other = all != search_.pods && (services_.size() > 1 || !few_);
      if (!best && is_other) best = planned_with(all, std::nullopt);
      if (best) return best;
    }
    return std::nullopt;
  }

  // Nothing stands: autoscalers may be too slow. All keep the same part of what they may add, as
  // little as will do.
  std::optional<PlanOption> least_kept() const {
    constexpr int kParts = 8;
    const auto keep = [&](int parts) {
      ServicePods pods = search_.pods;
      for (const Workload* service : services_) {
        const int least = service->pods_kept();
        const int more = service->autoscaling ? service->autoscaling->max_replicas - least : 0;
        if (more > 0) pods[service->name.value] = least + (more * parts + kParts - 1) / kParts;
      }
      return pods;
    };
    if (keep(kParts) == search_.pods || search_.probes.interrupted()) return std::nullopt;
    auto best = planned_with(keep(kParts), std::nullopt);
    int too_few = 0;
    for (int enough = kParts; best && enough - too_few > 1 && !search_.probes.interrupted();) {
      const int parts = (too_few + enough) / 2;
      auto then = planned_with(keep(parts), best->goal);
      (then ? enough : too_few) = parts;
      if (then) best = std::move(then);
    }
    return best;
  }

  std::optional<PlanOption> planned_with(const ServicePods& pods, std::optional<double> cap) const {
    const Scenario base = with_pods(search_.base, pods);
    return cheapest_plan(search_with_pods(search_, base, pods), cap);
  }

  const BlockSearch& search_;
  std::vector<const Workload*> services_;
  bool few_;
};

}  // namespace

ServicePods changed_pods(const PlanOption& option) {
  ServicePods changed;
  for (const PoolChoice& pool : option.pools) {
    for (std::size_t w = 0; w < pool.pods.size(); ++w) {
      if (pool.pods[w] > 0) changed[pool.workloads[w]] = pool.pods[w];
    }
  }
  return changed;
}

Scenario with_pods(Scenario base, const ServicePods& pods) {
  for (Workload& workload : base.workloads) {
    const auto changed = pods.find(workload.name.value);
    if (changed != pods.end()) workload.keep_pods(changed->second);
  }
  return base;
}

BlockSearch search_with_pods(const BlockSearch& search, const Scenario& base, ServicePods pods) {
  BlockSearch there = search_within(search, base, search.space);
  there.so_far = nullptr;
  there.pods = std::move(pods);
  return there;
}

ServicePods pods_with_more(const BlockSearch& search, int more) {
  ServicePods pods = search.pods;
  for (const Workload* service : variable_services(search.base)) {
    const int to = numbers_of(*service, more).most;
    if (to > service->pods_kept()) pods[service->name.value] = to;
  }
  return pods;
}

std::optional<PlanOption> best_with_other_pods(const BlockSearch& search,
                                               const std::optional<PlanOption>& best, int most) {
  return PodSearch(search).best(best, most);
}

std::optional<double> least_with_other_pods(const BlockSearch& search, int most) {
  if (!search.split || !are_few(search.base)) return std::nullopt;
  const std::vector<PricedPods> numbers = all_numbers(search, most);
  if (numbers.empty() || numbers.front().least <= 0) return std::nullopt;
  return numbers.front().least;
}

std::optional<PlanOption> cheaper_with_other_pods(const BlockSearch& search,
                                                  const std::optional<PlanOption>& best) {
  if (search.varied == nullptr) return std::nullopt;
  const BlockSearch free = search.varied->with_input(search.input, search.factor);
  return best_with_other_pods(free, best, free.vary_pods);
}

std::vector<PlanOption> hints_of_other_pods(const BlockSearch& search,
                                            const std::optional<PlanOption>& best) {
  return PodSearch(search).hints(best);
}

}  // namespace slicewise::sim
