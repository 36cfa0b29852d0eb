#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/plan_record.hpp"

#include "../document/stored_fields.hpp"
#include "document_facts.hpp"

namespace slicewise::reports {
namespace {

// With the workloads where there is a choice between pools.
std::string words_of(const std::vector<sim::PoolChoice>& pools, std::size_t all_workloads) {
  std::vector<std::string> parts;
  for (const sim::PoolChoice& pool : pools) {
    std::string part = sim::describe(pool);
    if (pool.workloads.size() < all_workloads) {
      part += fmt::format(" for {}", fmt::join(pool.workloads, ", "));
    }
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, " + "));
}

// How it is called whatever the number of its nodes.
std::string name_of(std::vector<sim::PoolChoice> pools, std::size_t all_workloads) {
  for (sim::PoolChoice& pool : pools) pool.nodes = 0;
  return words_of(pools, all_workloads);
}

void add_option_figures(StoredDocument& document, const std::string& at, ItemFacts& item) {
  add_figures(document, sim::record_of<sim::OptionFigures>(), at, item);
  const std::size_t objectives = entries_at(document, at + "/objectives");
  for (std::size_t o = 0; o < objectives; ++o) {
    const std::string objective = fmt::format("{}/objectives/{}", at, o);
    add_objective(document, objective, document.required_text(objective + "/workload"), item);
  }
}

void add_headroom(StoredDocument& document, ItemFacts& item) {
  StoredFigure headroom{"", "headroom", "number", StoredFigure::Role::Load};
  headroom.more_is_better = true;
  headroom.is_main = true;
  // The truth lies between the load that passed and the one that failed.
  const auto passed = document.number("/headroom/passedFactor");
  const auto failed = document.number("/headroom/failedFactor");
  if (passed && failed) headroom.ci95 = *failed - *passed;
  add_figure(document, "/headroom/passedFactor", headroom, item);
}

}  // namespace

// The best option, and where the others stand: "rank 2", or why they are rejected.
std::vector<ItemFacts> plan_items(StoredDocument& document) {
  const auto plan = stored_value<sim::Plan>(document, "", Absent::Older);
  std::set<std::string> workloads;
  const auto count_workloads = [&](const sim::PoolChoice& pool) {
    workloads.insert(pool.workloads.begin(), pool.workloads.end());
  };
  for (const sim::PlanOption& option : plan.options) {
    std::ranges::for_each(option.pools, count_workloads);
  }
  for (const sim::RejectedChoice& rejected : plan.rejected) count_workloads(rejected.choice);

  ItemFacts item;
  item.name = "best option";
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    const std::vector<sim::PoolChoice>& pools = plan.options[o].pools;
    for (std::size_t p = 0; p < pools.size(); ++p) {
      document.required_text(fmt::format("/options/{}/pools/{}/instanceType", o, p));
    }
    if (o == 0) {
      item.settings.emplace_back("configuration", words_of(pools, workloads.size()));
      add_option_figures(document, "/options/0", item);
      item.verdict = plan.options[o].figures.verdict;
      add_headroom(document, item);
    }
    item.settings.emplace_back(name_of(pools, workloads.size()), fmt::format("rank {}", o + 1));
  }
  for (std::size_t r = 0; r < plan.rejected.size(); ++r) {
    item.settings.emplace_back(
        name_of({plan.rejected[r].choice}, workloads.size()),
        fmt::format("{} {}", kRejectedWord,
                    document.required_text(fmt::format("/rejected/{}/reason", r))));
  }
  if (plan.options.empty()) {
    item.verdict = sim::Verdict{{{sim::Verdict::Cause::NothingRan, "", "no option stands", ""}}};
  }
  const auto add = [&](const char* title, const std::vector<std::string>& names) {
    item.settings.emplace_back(title, fmt::format("{}", fmt::join(names, ", ")));
  };
  add("--set", plan.stamp.settings);
  add("instance types", plan.instance_types);
  add("purchase options", plan.purchases);
  return {std::move(item)};
}

}  // namespace slicewise::reports
