#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/plan_record.hpp"

#include "../document/stored_fields.hpp"
#include "document_facts.hpp"

namespace slicewise::reports {
namespace {

std::vector<std::string> stored_names(StoredDocument& document, const std::string& pointer) {
  std::vector<std::string> names;
  const std::size_t count = entries_at(document, pointer);
  for (std::size_t n = 0; n < count; ++n) {
    names.push_back(document.text(fmt::format("{}/{}", pointer, n)).value_or(""));
  }
  return names;
}

std::vector<sim::PoolChoice> stored_pools(StoredDocument& document, const std::string& option) {
  std::vector<sim::PoolChoice> pools;
  const std::size_t count = entries_at(document, option + "/pools");
  for (std::size_t p = 0; p < count; ++p) {
    pools.push_back(stored_value<sim::PoolChoice>(document, fmt::format("{}/pools/{}", option, p)));
  }
  return pools;
}

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
  const std::size_t options = entries_at(document, "/options");
  const std::size_t rejected = entries_at(document, "/rejected");
  std::set<std::string> workloads;
  const auto count_workloads = [&](const std::string& pool) {
    for (std::string& name : stored_names(document, pool + "/workloads")) {
      workloads.insert(std::move(name));
    }
  };
  for (std::size_t o = 0; o < options; ++o) {
    const std::string pools = fmt::format("/options/{}/pools", o);
    const std::size_t count = entries_at(document, pools);
    for (std::size_t p = 0; p < count; ++p) count_workloads(fmt::format("{}/{}", pools, p));
  }
  for (std::size_t r = 0; r < rejected; ++r) count_workloads(fmt::format("/rejected/{}/pool", r));

  ItemFacts item;
  item.name = "best option";
  for (std::size_t o = 0; o < options; ++o) {
    const std::string at = fmt::format("/options/{}", o);
    const std::vector<sim::PoolChoice> pools = stored_pools(document, at);
    if (o == 0) {
      item.settings.emplace_back("configuration", words_of(pools, workloads.size()));
      add_option_figures(document, at, item);
      item.verdict = stored_verdict(document, at + "/reasons");
      add_headroom(document, item);
    }
    item.settings.emplace_back(name_of(pools, workloads.size()), fmt::format("rank {}", o + 1));
  }
  for (std::size_t r = 0; r < rejected; ++r) {
    const std::string at = fmt::format("/rejected/{}", r);
    item.settings.emplace_back(
        name_of({stored_value<sim::PoolChoice>(document, at + "/pool")}, workloads.size()),
        fmt::format("{} {}", kRejectedWord, document.required_text(at + "/reason")));
  }
  if (options == 0) {
    item.verdict = sim::Verdict{{{sim::Verdict::Cause::NothingRan, "", "no option stands", ""}}};
  }
  struct TriedList {
    const char* key;
    const char* title;
  };
  for (const TriedList& list :
       {TriedList{"settings", "--set"}, TriedList{"instanceTypes", "instance types"},
        TriedList{"purchaseOptions", "purchase options"}}) {
    const auto names = stored_names(document, std::string("/metadata/") + list.key);
    item.settings.emplace_back(list.title, fmt::format("{}", fmt::join(names, ", ")));
  }
  return {std::move(item)};
}

}  // namespace slicewise::reports
