#include "comparison_words.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "result_nodes.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"

namespace slicewise::reports {
namespace {

using sim::ComparedOption;
using sim::Isolation;
using sim::PoolChoice;
using sim::Strategy;
using sim::StrategyComparison;

// "latencyP99" -> "p99"; other objectives keep their name.
std::string short_objective(const std::string& name) {
  constexpr std::string_view kLatency = "latencyP";
  return name.starts_with(kLatency) ? "p" + name.substr(kLatency.size()) : name;
}

std::vector<std::string> missed_objectives(const ComparedOption& option) {
  std::vector<std::string> missed;
  for (const sim::WorkloadResult& workload : option.result.workloads) {
    for (const sim::ObjectiveResult& objective : workload.objectives) {
      if (sim::standing_of(objective) == sim::ObjectiveStanding::Holds) continue;
      missed.push_back(short_objective(objective.name));
    }
  }
  return missed;
}

// Of those that another option gets done.
std::string unfinished_in(const ComparedOption& option) {
  std::vector<sim::UnfinishedJobs> left = sim::unfinished_jobs(option.result);
  std::erase_if(left, [&](const sim::UnfinishedJobs& each) {
    return std::ranges::find(option.unfinished, each.workload) == option.unfinished.end();
  });
  return unfinished_text(left);
}

std::string useful_work_price(const ComparedOption& option) {
  const sim::Cost& cost = option.result.cost;
  switch (work_of(option.result)) {
    case WorkKind::Jobs:
      if (cost.per_job) return money_text(*cost.per_job) + " per job";
      break;
    case WorkKind::Requests:
      if (cost.per_1k_requests_in_slo) {
        return money_text(*cost.per_1k_requests_in_slo) + " per 1,000 requests in SLO";
      }
      break;
    case WorkKind::Mixed:
      break;
  }
  return money_text(option.per_work_hour.value_or(Usd{})) + " per hour of work";
}

// As the scenario calls its MIG layout, and its way of sharing where no option is of that, where it
// is the scenario's own.
std::string own_title(const ComparedOption& option) {
  if (!option.yours) return configuration_title(option.configuration);
  const sim::NodePoolResult& pool = option.result.node_pools.front();
  const std::string& own = pool.mig_config;
  const auto strategy = sim::strategy_of(pool.strategy);
  if (own.empty() && strategy && !sim::is_planned(*strategy)) return strategy_text(option.result);
  return own.empty() ? sim::sharing_text(option.configuration)
                     : sim::sharing_text(option.configuration, own);
}

// Scaled Services make pods and delete them: of those what counts is how many run at once.
std::string compared_pods(const std::vector<ComparedOption>& options) {
  const sim::VariantResult& first = options.front().result;
  const bool scaled = std::ranges::any_of(first.workloads, [](const sim::WorkloadResult& workload) {
    return workload.scaling.has_value();
  });
  if (!scaled) return pods_text(first);
  std::int64_t most = 0;
  for (const ComparedOption& option : options) {
    most = std::max(most, option.result.pods.running_max);
  }
  return fmt::format("up to {} at once", counted(most, "pod"));
}

std::string sentence(const ComparedOption& option) {
  const PoolChoice& configuration = option.configuration;
  return fmt::format("{}{}, {}: {} at {}/h", option.yours ? "yours, " : "",
                     nodes_text(configuration), own_title(option), useful_work_price(option),
                     money_text(option.price.per_hour));
}

bool in_hardware(const ComparedOption& option) {
  const Isolation isolation = isolation_of(option);
  return isolation.memory == Isolation::Memory::Hardware &&
         isolation.fault == Isolation::Fault::Hardware;
}

// "MIG" for several refused profiles of one instance.
void add_name_once(std::string& names, const std::string& name) {
  if (names != name && !names.ends_with(", " + name)) add_name(names, name);
}

// The profile matters only where it is to blame.
std::string refused_title(const PoolChoice& configuration) {
  const bool profile = configuration.strategy == Strategy::Mig && !configuration.mig.empty() &&
                       configuration.mig.front().count > 0;
  return profile ? configuration_title(configuration) : strategy_title(configuration.strategy);
}

}  // namespace

std::string nodes_text(const PoolChoice& choice) {
  const std::string unshared =
      choice.unshared > 0 ? fmt::format(" + {} unshared", choice.unshared) : "";
  return fmt::format("{}{} x {}", sim::node_count(choice), unshared, choice.instance_type);
}

WorkKind work_of(const sim::VariantResult& result) {
  const auto& workloads = result.workloads;
  if (std::ranges::all_of(workloads, &sim::WorkloadResult::has_jobs)) return WorkKind::Jobs;
  const auto serves = [](const sim::WorkloadResult& w) { return w.kind == "Service"; };
  return std::ranges::all_of(workloads, serves) ? WorkKind::Requests : WorkKind::Mixed;
}

std::string strategy_title(Strategy strategy) {
  return std::string(sim::described(strategy).title);
}

std::string configuration_title(const PoolChoice& configuration) {
  const std::string bought = configuration.purchase.empty() ? "" : ", " + configuration.purchase;
  return sim::sharing_text(configuration) + bought;
}

std::string option_title(const ComparedOption& option) {
  return (option.yours ? "yours: " : "") + own_title(option);
}

Isolation isolation_of(const ComparedOption& option) {
  return option.yours ? sim::isolation_of(option.result.node_pools.front())
                      : sim::isolation_of(option.configuration.strategy);
}

std::string pods_text(const sim::VariantResult& result) {
  const double pods = result.pods.submitted;
  const auto whole = static_cast<std::int64_t>(std::llround(pods));
  if (std::abs(pods - static_cast<double>(whole)) < 1e-9) {
    return fmt::format("{} {}", count_text(pods), whole == 1 ? "pod" : "pods");
  }
  return fmt::format("{} pods (mean of {} runs)", count_text(static_cast<double>(whole)),
                     result.replications);
}

std::string_view isolation_meaning(Strategy strategy) {
  switch (strategy) {
    case Strategy::Exclusive:
      return "no neighbour";
    case Strategy::TimeSlicing:
      return "turns; the first to allocate wins";
    case Strategy::Mps:
      return "side by side; one fault ends all";
    case Strategy::MpsUncapped:
      return "as MPS; one pod may take all SMs";
    case Strategy::Mig:
      return "own SMs, memory and faults";
    case Strategy::MigTimeSlicing:
      return "turns inside an instance, else MIG";
    case Strategy::MigMps:
      return "MPS inside an instance, else MIG";
    case Strategy::Vgpu:
      return "own memory; fixed share of the time";
    case Strategy::Hami:
      return "turns; a library in each container limits memory";
    case Strategy::Kai:
    case Strategy::Nos:
    case Strategy::AwsVirtualGpu:
      break;  // not planned
  }
  return "";
}

std::string verdict_of(const ComparedOption& option) {
  std::string verdict = option.best ? "best" : "ok";
  if (!sim::is_stock(option.configuration.strategy)) verdict = "not stock";
  if (option.retired) verdict = "retired";
  if (!option.unfinished.empty()) verdict = unfinished_in(option);
  if (!option.per_work_hour) verdict = "no work done";
  const sim::Verdict& judged = option.result.verdict;
  if (!judged.loses_pods() && !judged.meets_objectives()) {
    const std::vector<std::string> missed = missed_objectives(option);
    verdict =
        fmt::format("{} {}", missed.size() == 1 ? missed.front() : std::to_string(missed.size()),
                    judged.has(sim::Verdict::Cause::ObjectiveMissed) ? "missed" : "undecided");
  } else if (!judged.stands()) {
    verdict = judged.reasons.front().brief;
  }
  return option.forced ? "forced, " + verdict : verdict;
}

std::string comparison_heading(const StrategyComparison& comparison) {
  if (comparison.options.empty()) return studied(comparison.stamp);
  return fmt::format("{}: {} under every way of sharing", studied(comparison.stamp),
                     compared_pods(comparison.options));
}

namespace {

std::string why_none_is_best(const std::vector<ComparedOption>& options) {
  std::vector<sim::Verdict> verdicts;
  std::vector<std::string> why;  // what stands is not recommended
  const auto add_once = [&](bool is_so, std::string_view words) {
    if (is_so && std::ranges::find(why, words) == why.end()) why.emplace_back(words);
  };
  for (const ComparedOption& option : options) {
    verdicts.push_back(option.result.verdict);
    if (!option.result.verdict.stands()) continue;
    add_once(option.retired, "AWS has retired its instance type");
    add_once(option.forced, "nobody offers it");
    add_once(!sim::is_stock(option.configuration.strategy), "the device plugin does not set it up");
    add_once(!option.unfinished.empty(), "it leaves Jobs undone that others get done");
    add_once(!option.per_work_hour, "it did no work");
  }
  if (!why.empty()) {
    return fmt::format("What stands is not recommended: {}.", fmt::join(why, "; "));
  }
  return "Nothing stands: the options " + sim::causes_text(verdicts) + ".";
}

}  // namespace

std::vector<std::string> recommendation_lines(const StrategyComparison& comparison) {
  if (comparison.interrupted) return {};
  const ComparedOption* best = nullptr;
  const ComparedOption* isolated = nullptr;
  for (const ComparedOption& option : comparison.options) {
    if (option.best) best = &option;
    if (option.is_recommendable() && in_hardware(option) &&
        (isolated == nullptr || *option.per_work_hour < *isolated->per_work_hour)) {
      isolated = &option;
    }
  }
  if (best == nullptr) {
    return {why_none_is_best(comparison.options)};
  }
  std::vector<std::string> lines{"Cheapest work: " + sentence(*best)};
  if (const std::string bounds = sim::bounds_of(best->result); !bounds.empty()) {
    lines.push_back(fmt::format("It is bound by: {}.", bounds));
  }
  if (isolated != nullptr && isolated != best) {
    lines.push_back("With memory and faults isolated in hardware: " + sentence(*isolated));
  }
  return lines;
}

std::vector<RefusalGroup> refusal_groups(const StrategyComparison& comparison) {
  std::vector<RefusalGroup> by_instance;
  for (const sim::RefusedOption& refused : comparison.refused) {
    const std::string& instance = refused.configuration.instance_type;
    const std::string title = refused_title(refused.configuration);
    const std::string reason =
        refused.code ? fmt::format("{}: {}", info(*refused.code).name, refused.message)
                     : refused.message;
    const auto group = std::ranges::find_if(by_instance, [&](const RefusalGroup& g) {
      return g.instances == instance && g.reason == reason;
    });
    if (group != by_instance.end()) {
      add_name_once(group->strategies, title);
    } else {
      by_instance.push_back({instance, title, reason});
    }
  }
  std::vector<RefusalGroup> groups;
  for (RefusalGroup& one : by_instance) {
    const auto group = std::ranges::find_if(groups, [&](const RefusalGroup& g) {
      return g.strategies == one.strategies && g.reason == one.reason;
    });
    if (group != groups.end()) {
      add_name(group->instances, one.instances);
    } else {
      groups.push_back(std::move(one));
    }
  }
  return groups;
}

}  // namespace slicewise::reports
