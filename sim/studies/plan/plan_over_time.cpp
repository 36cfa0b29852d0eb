#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "../probe/scaled_input.hpp"
#include "commitments.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

using WorkloadNames = std::vector<std::string>;

int nodes_of(const PlanOption& option) {
  int nodes = 0;
  for (const PoolChoice& pool : option.pools) nodes += pool.nodes + pool.unshared;
  return nodes;
}

class Growth {
 public:
  // `vary_pods`: by so many a Service's pods may differ from those of the month before.
  Growth(const BlockSearch& search, double growth, int months, int vary_pods)
      : search_(search), vary_pods_(vary_pods) {
    double factor = 1;
    for (int month = 0; month < months; ++month) {
      factors_.push_back(factor);
      factor *= 1 + growth;
    }
  }

  PlanOverTime from(PlanOption option) const {
    PlanOverTime plan;
    for (std::size_t month = 0; month < factors_.size();) {
      const std::size_t end = borne_until(option, month);
      const int nodes = nodes_of(option);
      add_months(std::move(option), month, end, plan.spans);
      if (end == factors_.size()) break;
      auto next =
          with_other_pods(plan.spans.back().option, end, grown(plan.spans.back().option, end));
      if (!next) {
        plan.fails_from = static_cast<int>(end) + 1;
        break;
      }
      option = std::move(*next);
      const bool more = nodes_of(option) > nodes;
      if (more && !plan.next_node) plan.next_node = static_cast<int>(end) + 1;
      month = end;
    }
    return plan;
  }

 private:
  // The first month that the option does not bear; it bears `month`.
  std::size_t borne_until(const PlanOption& option, std::size_t month) const {
    if (factors_[month] == factors_.back()) return factors_.size();
    std::size_t bears_it = month;
    std::size_t breaks = factors_.size();
    for (std::size_t look = breaks - 1; breaks - bears_it > 1; look = (bears_it + breaks) / 2) {
      const bool stands = bears(search_, option, std::string(kTraffic), factors_[look]);
      (stands ? bears_it : breaks) = look;
    }
    return breaks;
  }

  // Nodes that stay cost as much in each month; of those that come and go there are more with more
  // traffic: what they cost is simulated month by month.
  void add_months(PlanOption option, std::size_t month, std::size_t end,
                  std::vector<PlannedSpan>& spans) const {
    const bool elastic = std::ranges::any_of(option.pools, &PoolChoice::elastic);
    const std::size_t first = elastic ? month + 1 : end;
    spans.push_back({static_cast<int>(month) + 1, static_cast<int>(first), factors_[first - 1],
                     std::move(option)});
    for (std::size_t next = first; next < end; ++next) {
      PlanOption then = spans.back().option;
      if (factors_[next] != factors_[next - 1]) {
        then.figures = figures_with(search_, then, std::string(kTraffic), factors_[next]);
      }
      if (then.figures.monthly == spans.back().option.figures.monthly) {
        spans.back().to = static_cast<int>(next) + 1;
        spans.back().traffic = factors_[next];
      } else {
        then.goal = to_dollars(then.figures.monthly);
        const int number = static_cast<int>(next) + 1;
        spans.push_back({number, number, factors_[next], std::move(then)});
      }
    }
  }

  // The cheapest that bears a month: with the pods that there are, or with more of what the option
  // misses there, for the traffic that came since the month before or since the first. Where none
  // stands, with more of all that share its pools, else of everything.
  std::optional<PlanOption> grown(const PlanOption& option, std::size_t month) const {
    const ServicePods now = changed_pods(option);
    const WorkloadNames missed =
        behind(missed_with(search_, option, std::string(kTraffic), factors_[month]));
    auto best = planned_with(option, now, month, missed);
    ServicePods tried = now;
    const auto try_with = [&](ServicePods more, const WorkloadNames& names) {
      if (more == tried) return;
      best = cheaper(std::move(best), planned_with(option, more, month, names));
      tried = std::move(more);
    };
    try_with(for_more_traffic(now, month - 1, month, missed), missed);
    for (const WorkloadNames& names :
         {missed, beside(option, missed), workloads_with_pods(search_.base)}) {
      try_with(for_more_traffic(now, 0, month, names), names);
      if (best && tried != now) return best;
    }
    return best;
  }

  // --vary-pods: or with a few pods more or fewer than there are.
  std::optional<PlanOption> with_other_pods(const PlanOption& option, std::size_t month,
                                            std::optional<PlanOption> best) const {
    if (vary_pods_ == 0) return best;
    const ServicePods now = changed_pods(option);
    const Scenario base = with_pods(search_.base, now);
    auto other = best_with_other_pods(search_in(month, base, now), best, vary_pods_);
    return cheaper(std::move(best), std::move(other));
  }

  // All workloads of the pools in which one of these is.
  static WorkloadNames beside(const PlanOption& option, const WorkloadNames& names) {
    WorkloadNames all;
    for (const PoolChoice& pool : option.pools) {
      if (has_one_of(pool, names))
        all.insert(all.end(), pool.workloads.begin(), pool.workloads.end());
    }
    return all;
  }

  static std::optional<PlanOption> cheaper(std::optional<PlanOption> one,
                                           std::optional<PlanOption> other) {
    return !other || (one && one->goal <= other->goal) ? std::move(one) : std::move(other);
  }

  // The workloads with these names, and those that serve pipelines with them.
  WorkloadNames behind(WorkloadNames names) const {
    const std::size_t own = names.size();
    for (const auto& pipeline : search_.base.pipelines) {
      const auto end = names.begin() + static_cast<std::ptrdiff_t>(own);
      if (std::find(names.begin(), end, pipeline.name.value) == end) continue;
      for (const auto& stage : pipeline.stages) names.push_back(stage.workload.value);
    }
    return names;
  }

  // As many more pods of these Services as there is more traffic than in month `since`: in the
  // first they have those of the scenario, in others `pods`.
  ServicePods for_more_traffic(ServicePods pods, std::size_t since, std::size_t month,
                               const WorkloadNames& names) const {
    // What a division leaves over is no pod.
    const double factor = factors_[month] / factors_[since] * (1 - 1e-12);
    for (const Workload& workload : search_.base.workloads) {
      if (workload.kind != WorkloadKind::Service || workload.autoscaling) continue;
      const bool is_named = contains(names, workload.name.value);
      if (workload.count == 0 || !is_named) continue;
      int& own = pods.try_emplace(workload.name.value, workload.count).first->second;
      own =
          std::max(own, static_cast<int>(std::ceil((since == 0 ? workload.count : own) * factor)));
    }
    return pods;
  }

  // Of many workloads the pools of these only.
  std::optional<PlanOption> planned_with(const PlanOption& option, const ServicePods& pods,
                                         std::size_t month, const WorkloadNames& concerned) const {
    const Scenario base = with_pods(search_.base, pods);
    const BlockSearch there = search_in(month, base, pods);
    const bool few = separable_groups(base).size() <= kExactGroups;
    return few ? planned_anew(there, option, std::string(kTraffic), there.factor, std::nullopt)
               : pools_anew(there, option, concerned, {});
  }

  BlockSearch search_in(std::size_t month, const Scenario& base, const ServicePods& pods) const {
    return search_with_pods(search_, base, pods).with_input(kTraffic, factors_[month]);
  }

  const BlockSearch& search_;
  int vary_pods_;
  std::vector<double> factors_;  // of the scenario's traffic, by month
};

// Nodes that are bought by the hour and stay, by type and month.
std::map<std::string, NodesByMonth> steady_nodes(const BlockSearch& search,
                                                 const PlanOverTime& plan) {
  std::map<std::string, NodesByMonth> types;
  for (const PlannedSpan& span : plan.spans) {
    for (const PoolChoice& pool : span.option.pools) {
      const bool by_the_hour = pool.purchase == "on-demand" || pool.purchase.empty();
      const int nodes = by_the_hour ? pool.nodes + pool.unshared : pool.on_demand;
      if (nodes == 0 || pool.elastic) continue;
      PoolChoice bought = pool;
      bought.purchase = "on-demand";
      bought.on_demand = 0;
      const auto world = world_on_one_node(search, bought);
      if (!world) continue;
      NodesByMonth& type = types[pool.instance_type];
      type.price = world->pools.front().price.usd;
      type.nodes.resize(static_cast<std::size_t>(plan.months));
      for (int month = span.from; month <= span.to; ++month) {
        type.nodes[static_cast<std::size_t>(month) - 1] += nodes;
      }
    }
  }
  return types;
}

// Dollars: all nodes through all months at the largest discount that there is of one of its types.
double least_total(const BlockSearch& search, const PlanOption& option, int months) {
  double discount = 0;
  for (const PoolChoice& pool : option.pools) {
    for (const CommitmentRate& rate :
         commitment_rates(search.catalogue, pool.instance_type, search.base.region)) {
      discount = std::max(discount, rate.discount);
    }
  }
  return to_dollars(option.figures.monthly) * months * (1 - discount);
}

PlanOverTime over_time(const BlockSearch& search, const PlanOption& best, double growth, int months,
                       int vary_pods) {
  PlanOverTime plan = Growth(search, growth, months, vary_pods).from(best);
  plan.months = months;
  plan.growth = growth;
  for (const PlannedSpan& span : plan.spans) {
    for (int month = span.from; month <= span.to; ++month) {
      plan.by_the_hour += span.option.figures.monthly;
    }
  }
  plan.total = plan.by_the_hour;
  for (const auto& [type, nodes] : steady_nodes(search, plan)) {
    const std::vector<CommitmentRate> rates =
        commitment_rates(search.catalogue, type, search.base.region);
    if (rates.empty()) plan.without_rate.push_back(type);
    for (PlannedCommitment& each : commitments_for(type, nodes, rates)) {
      plan.total = plan.total - each.saves;
      plan.commitments.push_back(std::move(each));
    }
  }
  return plan;
}

}  // namespace

PlanOverTime best_over_time(const BlockSearch& search, const std::vector<PlanOption>& options,
                            double growth, int months, int vary_pods) {
  PlanOverTime best = over_time(search, options.front(), growth, months, vary_pods);
  for (std::size_t o = 1; o < options.size() && !search.probes.interrupted(); ++o) {
    const bool may_save = least_total(search, options[o], months) < to_dollars(best.total);
    if (!may_save && !best.fails_from) continue;
    PlanOverTime other = over_time(search, options[o], growth, months, vary_pods);
    other.rank = static_cast<int>(o) + 1;
    const auto fails = [&](const PlanOverTime& plan) {
      return plan.fails_from.value_or(months + 1);
    };
    if (fails(other) > fails(best) || (fails(other) == fails(best) && other.total < best.total)) {
      best = std::move(other);
    }
  }
  return best;
}

}  // namespace slicewise::sim
