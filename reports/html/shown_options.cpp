#include <algorithm>
#include <iterator>
#include <span>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/pool_choice.hpp"

#include "../screens/result_figures.hpp"
#include "../screens/result_verdict.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

struct StrategySign {
  charts::Shape shape;
  int series;
};

// A diamond for MIG, a square for MPS, a triangle for turns, a plus for vGPUs, a circle for whole
// GPUs: the first that some pool has.
constexpr StrategySign kSigns[] = {{charts::Shape::Diamond, 4},
                                   {charts::Shape::Square, 0},
                                   {charts::Shape::Triangle, 3},
                                   {charts::Shape::Plus, 1},
                                   {charts::Shape::Circle, 2}};

std::size_t sign_number(sim::Strategy strategy) {
  using sim::Strategy;
  if (sim::is_mig(strategy)) return 0;
  switch (strategy) {
    case Strategy::Mps:
    case Strategy::MpsUncapped:
    case Strategy::Nos:
    case Strategy::AwsVirtualGpu:
      return 1;
    case Strategy::TimeSlicing:
    case Strategy::Hami:
    case Strategy::Kai:
      return 2;
    case Strategy::Vgpu:
      return 3;
    default:
      return std::size(kSigns) - 1;
  }
}

template <class Pools, class Strategy>
void sign(const Pools& pools, Strategy strategy_of, ShownOption& option) {
  std::size_t number = std::size(kSigns) - 1;
  for (const auto& pool : pools) number = std::min(number, sign_number(strategy_of(pool)));
  option.shape = kSigns[number].shape;
  option.series = kSigns[number].series;
}

// In the words of the one judge.
void show_verdict(const sim::Verdict& verdict, ShownOption& option) {
  option.stands = verdict.stands();
  option.reason = brief_reasons(verdict);
  option.misses = !verdict.loses_pods() && verdict.has(sim::Verdict::Cause::ObjectiveMissed);
}

ShownOption of_variant(const sim::VariantResult& variant, const sim::VariantResult* best) {
  ShownOption option;
  option.name = variant.name;
  option.label = variant.name;
  sign(
      variant.node_pools,
      [](const sim::NodePoolResult& pool) {
        return sim::strategy_of(pool.strategy).value_or(sim::Strategy::Exclusive);
      },
      option);
  for (const sim::NodePoolResult& pool : variant.node_pools) option.nodes += pool.nodes;
  option.figures = sim::figures_of(variant);
  show_verdict(variant.verdict, option);
  option.best = &variant == best;
  return option;
}

int nodes_of(const std::vector<sim::PoolChoice>& pools) {
  int nodes = 0;
  for (const sim::PoolChoice& pool : pools) nodes += pool.nodes;
  return nodes;
}

std::string name_of_pools(const std::vector<sim::PoolChoice>& pools) {
  std::vector<std::string> names;
  names.reserve(pools.size());
  for (const sim::PoolChoice& pool : pools) names.push_back(sim::describe(pool));
  return fmt::format("{}", fmt::join(names, " + "));
}

ShownOption of_pools(const std::vector<sim::PoolChoice>& pools) {
  ShownOption option;
  option.name = name_of_pools(pools);
  option.nodes = nodes_of(pools);
  sign(
      std::span(pools).first(std::min<std::size_t>(1, pools.size())),
      [](const sim::PoolChoice& pool) { return pool.strategy; }, option);
  return option;
}

ShownOption of_plan(const sim::PlanOption& planned) {
  ShownOption option = of_pools(planned.pools);
  option.figures = planned.figures;
  show_verdict(planned.figures.verdict, option);
  return option;
}

ShownOption of_rejected(const sim::RejectedChoice& rejected) {
  ShownOption option = of_pools({rejected.choice});
  option.figures = rejected.figures;
  if (option.figures && option.figures->running_max == 0) option.figures.reset();
  option.ruled_out = rejected.stage == sim::RejectedChoice::Stage::Bound && !option.figures;
  option.reason = rejected.reason.text();
  if (rejected.code)
    option.reason = fmt::format("{}: {}", info(*rejected.code).name, option.reason);
  return option;
}

std::vector<ShownOption> options_of_plan(const sim::Plan& plan) {
  std::vector<ShownOption> options;
  for (const sim::PlanOption& planned : plan.options) {
    options.push_back(of_plan(planned));
    ShownOption& option = options.back();
    option.rank = std::to_string(options.size());
    option.best = options.size() == 1;
    option.label = "#" + option.rank + (option.best ? " " + option.name : "");
  }
  if (plan.today) {
    options.push_back(of_plan(*plan.today));
    options.back().name = "the scenario's own pools";
    options.back().label = "today";
    options.back().today = true;
  }
  // What was simulated says more than what a rule refused.
  using RefusedAt = sim::RejectedChoice::Stage;
  for (const RefusedAt stage : {RefusedAt::Simulation, RefusedAt::Feasibility, RefusedAt::Bound}) {
    for (const sim::RejectedChoice& rejected : plan.rejected) {
      if (rejected.stage == stage) options.push_back(of_rejected(rejected));
    }
  }
  return options;
}

}  // namespace

const sim::PlannedObjective* ShownOption::tightest() const {
  return figures ? figures->tightest() : nullptr;
}

const sim::VariantResult* leading_variant(const HtmlReport& report) {
  if (report.result.variants.empty()) return nullptr;
  const sim::VariantResult* best = best_variant(report.result);
  return best != nullptr && !report.plan ? best : &report.result.variants.front();
}

std::vector<ShownOption> shown_options(const HtmlReport& report) {
  if (report.plan) return options_of_plan(*report.plan);
  std::vector<ShownOption> options;
  const sim::VariantResult* best = best_variant(report.result);
  for (const sim::VariantResult& variant : report.result.variants) {
    options.push_back(of_variant(variant, best));
  }
  return options;
}

charts::UpwardsFigure limit_share_of(const ShownOption& option) {
  const sim::PlannedObjective* worst = option.tightest();
  if (worst == nullptr) return {};
  charts::UpwardsFigure figure{worst->result.ratio(), std::nullopt};
  // An interval in the unit of the limit, where the share is the value over the limit.
  const auto* limit = std::get_if<Duration>(&worst->result.limit);
  const auto* half = worst->result.ci95 ? std::get_if<Duration>(&*worst->result.ci95) : nullptr;
  if (limit != nullptr && half != nullptr && limit->ns > 0) {
    figure.half_width = static_cast<double>(half->ns) / static_cast<double>(limit->ns);
  }
  return figure;
}

std::string option_id(std::size_t index) { return fmt::format("option-{}", index + 1); }

}  // namespace slicewise::reports::html
