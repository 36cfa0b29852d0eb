#include "plan_over_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commitments.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"
#include "scaled_input.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

int nodes_of(const PlanOption& option) {
  int nodes = 0;
  for (const PoolChoice& pool : option.pools) nodes += pool.nodes + pool.unshared;
  return nodes;
}

class Growth {
 public:
  Growth(const BlockSearch& search, double growth, int months, ProbeBatch& probes)
      : search_(search), probes_(probes) {
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
      plan.spans.push_back({static_cast<int>(month) + 1, static_cast<int>(end), factors_[end - 1],
                            std::move(option)});
      if (end == factors_.size() || probes_.interrupted()) break;
      auto next = grown(plan.spans.back().option, factors_[end]);
      if (!next) {
        if (!probes_.interrupted()) plan.fails_from = static_cast<int>(end) + 1;
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
      (bears(search_, option, std::string(kTraffic), factors_[look], probes_) ? bears_it : breaks) =
          look;
    }
    return breaks;
  }

  // The cheapest that bears so much, with the pods that there are or with more in proportion.
  std::optional<PlanOption> grown(const PlanOption& option, double factor) const {
    const ServicePods now = changed_pods(option);
    ServicePods more = now;
    for (const Workload& workload : search_.base.workloads) {
      if (workload.kind != scenarios::WorkloadKind::Service || workload.autoscaling) continue;
      if (workload.count == 0) continue;
      const int wanted = static_cast<int>(std::ceil(workload.count * factor));
      int& pods = more.try_emplace(workload.name.value, workload.count).first->second;
      pods = std::max(pods, wanted);
    }
    auto same = planned_with(option, now, factor);
    auto scaled = more == now ? std::nullopt : planned_with(option, more, factor);
    const bool is_dearer = same && scaled && scaled->goal >= same->goal;
    return !scaled || is_dearer ? std::move(same) : std::move(scaled);
  }

  std::optional<PlanOption> planned_with(const PlanOption& option, const ServicePods& pods,
                                         double factor) const {
    const Scenario base = with_pods(search_.base, pods);
    return planned_anew(search_with_pods(search_, base, pods), option, std::string(kTraffic),
                        factor, probes_);
  }

  const BlockSearch& search_;
  ProbeBatch& probes_;
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

}  // namespace

PlanOverTime over_time(const BlockSearch& search, const PlanOption& best, double growth, int months,
                       ProbeBatch& probes) {
  PlanOverTime plan = Growth(search, growth, months, probes).from(best);
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

}  // namespace slicewise::sim
