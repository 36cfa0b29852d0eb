#include <algorithm>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../../result/merge.hpp"
#include "../../world/parts.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

using models::PurchaseOption;

constexpr std::string_view kAll = "all";

// An option's nodes at the prices of a region, or why they cannot be bought there.
struct PricedThere {
  std::optional<double> monthly;
  std::string missing;
};

PurchaseOption purchase_option(const PoolChoice& pool) {
  if (pool.purchase == "spot" || pool.purchase == kSpotFallback) return PurchaseOption::Spot;
  if (pool.purchase == "capacity-block") return PurchaseOption::CapacityBlock;
  return pool.purchase == "reserved" ? PurchaseOption::Reserved : PurchaseOption::OnDemand;
}

// What is left of the price where it is bought by one of the scenario's plans.
double paid_part(const PoolChoice& pool, const Scenario& base) {
  for (const scenarios::PricePlan& plan : base.price_plans) {
    if (plan.name == pool.purchase && plan.instance_type.value == pool.instance_type) {
      return 1 - plan.discount;
    }
  }
  return 1;
}

PricedThere priced_in(const std::string& region, const Scenario& base, const PlanOption& option,
                      const Catalogue& catalogue) {
  double nodes_here = 0;
  double nodes_there = 0;
  const std::string& first = option.pools.front().instance_type;
  bool one_type = true;
  bool come_and_go = false;
  for (const PoolChoice& pool : option.pools) {
    const PurchaseOption bought = purchase_option(pool);
    const auto own = catalogue.prices.find(pool.instance_type, base.region, bought);
    const auto there = catalogue.prices.find(pool.instance_type, region, bought);
    if (!own || !there) return {std::nullopt, (own ? there : own).error().front().message};
    const double nodes = (pool.nodes + pool.unshared) * paid_part(pool, base);
    nodes_here += nodes * to_dollars(cost_of(own->usd, kMonth));
    nodes_there += nodes * to_dollars(cost_of(there->usd, kMonth));
    one_type = one_type && pool.instance_type == first;
    come_and_go = come_and_go || pool.elastic;
  }
  if (come_and_go && !one_type) {
    return {std::nullopt, "nodes of several types come and go: how many of each is not known"};
  }
  // Of one type the hours are the same, whether the nodes stay or come and go.
  return {to_dollars(option.figures.monthly) * nodes_there / nodes_here, ""};
}

}  // namespace

std::vector<std::string> regions_named(const std::vector<std::string>& names, const Scenario& base,
                                       const Catalogue& catalogue, Diagnostics& found) {
  std::vector<std::string> regions;
  const auto add = [&](const std::string& region) {
    const bool known = contains(regions, region);
    if (region != base.region && !known) regions.push_back(region);
  };
  for (const std::string& name : names) {
    if (name == kAll) {
      for (const std::string& region : catalogue.prices.regions()) add(region);
    } else if (has_prices(catalogue, name)) {
      add(name);
    } else {
      found.push_back(unknown_region(name, {}, catalogue));
    }
  }
  return regions;
}

std::vector<PlannedRegion> other_regions(const std::vector<std::string>& regions,
                                         const std::vector<PlanOption>& options,
                                         const Scenario& base, const Catalogue& catalogue) {
  if (options.empty()) return {};
  std::vector<PlannedRegion> all;
  for (const std::string& region : regions) {
    PlannedRegion there{region, std::nullopt, std::nullopt, ""};
    for (std::size_t o = 0; o < options.size(); ++o) {
      PricedThere priced = priced_in(region, base, options[o], catalogue);
      if (!priced.monthly) {
        if (there.missing.empty()) there.missing = std::move(priced.missing);
        continue;
      }
      const Usd monthly = from_dollars(*priced.monthly);
      if (there.monthly && *there.monthly <= monthly) continue;
      there.rank = static_cast<int>(o) + 1;
      there.monthly = monthly;
    }
    if (there.rank) there.missing.clear();
    all.push_back(std::move(there));
  }
  return all;
}

}  // namespace slicewise::sim
