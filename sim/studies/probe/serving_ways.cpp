#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "probe.hpp"

namespace slicewise::sim {
namespace {

// Of more ways all language models of a pool serve alike, and all its other Services.
constexpr std::size_t kMostWays = 64;

// What one workload may do; it takes one of them. One that chooses nothing where there is nothing.
struct Ways {
  bool is_llm = false;
  std::vector<ServingChoice> choices;
};

// No more than a node has; the smallest where that is too many.
std::vector<ServingChoice> split_on(const InstanceType& type, const std::vector<int>& sizes) {
  std::vector<ServingChoice> choices;
  for (const int size : sizes) {
    if (size > type.gpu_count && !choices.empty()) break;
    choices.push_back({.gpus = size});
  }
  return choices;
}

std::vector<int> largest_first(std::vector<int> ascending) {
  std::ranges::reverse(ascending);
  return ascending;
}

template <class Value>
std::vector<std::optional<Value>> or_as_it_is(const std::vector<Value>& values) {
  if (values.empty()) return {std::nullopt};
  return {values.begin(), values.end()};
}

// Those that bear most first: of what costs the same the first that stands is taken. A batch of one
// does not wait, and none holds more than the pod works on.
std::vector<ServingChoice> batches_of(const Workload& service, const ServingWays& tried) {
  const scenarios::Serving& now = service.serving;
  std::vector<ServingChoice> choices;
  for (const std::optional<int> batch : or_as_it_is(largest_first(tried.max_batches))) {
    for (const std::optional<Duration> delay : or_as_it_is(tried.max_delays)) {
      for (const std::optional<int> workers : or_as_it_is(largest_first(tried.concurrencies))) {
        ServingChoice choice{.max_batch = batch, .max_delay = delay, .concurrency = workers};
        const int most = batch.value_or(now.max_batch);
        const int at_once = workers.value_or(now.concurrency);
        if (at_once > 0 && at_once < most) continue;
        if (most == 1) {
          const bool waits = delay || now.max_delay.ns > 0;
          choice.max_delay = waits ? std::optional(Duration{}) : std::nullopt;
        }
        if (!contains(choices, choice)) choices.push_back(choice);
      }
    }
  }
  return choices;
}

Ways ways_of(const Workload& workload, const InstanceType& type, const ServingWays& tried) {
  Ways ways;
  ways.is_llm = workload.llm.has_value();
  if (ways.is_llm) {
    ways.choices = split_on(type, tried.tensor_parallel);
  } else if (workload.kind == WorkloadKind::Service) {
    ways.choices = batches_of(workload, tried);
  }
  if (ways.choices.empty()) ways.choices.emplace_back();
  return ways;
}

std::vector<std::vector<ServingChoice>> every_one(const std::vector<Ways>& of) {
  std::vector<std::vector<ServingChoice>> all{{}};
  for (const Ways& ways : of) {
    std::vector<std::vector<ServingChoice>> longer;
    for (const std::vector<ServingChoice>& before : all) {
      for (const ServingChoice& choice : ways.choices) {
        longer.push_back(before);
        longer.back().push_back(choice);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Each takes the n-th of its own, or its last one.
std::vector<std::vector<ServingChoice>> alike(const std::vector<Ways>& of) {
  std::size_t models = 1;
  std::size_t others = 1;
  for (const Ways& ways : of) {
    std::size_t& most = ways.is_llm ? models : others;
    most = std::max(most, ways.choices.size());
  }
  std::vector<std::vector<ServingChoice>> all;
  for (std::size_t m = 0; m < models; ++m) {
    for (std::size_t n = 0; n < others; ++n) {
      std::vector<ServingChoice>& chosen = all.emplace_back();
      for (const Ways& ways : of) {
        const std::size_t wanted = ways.is_llm ? m : n;
        chosen.push_back(ways.choices[std::min(wanted, ways.choices.size() - 1)]);
      }
    }
  }
  return all;
}

int gpus_of_all(const std::vector<ServingChoice>& serving) {
  int gpus = 0;
  for (const ServingChoice& choice : serving) gpus += choice.gpus.value_or(0);
  return gpus;
}

}  // namespace

void check_serving(const Scenario& base, const ServingWays& tried, Diagnostics& found) {
  for (const Workload& workload : base.workloads) {
    const bool serves = workload.kind == WorkloadKind::Service && !workload.llm;
    if (workload.count == 0 || !serves || !batches_of(workload, tried).empty()) continue;
    add_diagnostic(
        found, Code::SettingConflict, workload.name.where,
        fmt::format("no batch that \"{}\" may have is within the requests that its pods may work "
                    "on at a time",
                    workload.name.value),
        "--concurrency of the largest --max-batch or more, or --max-batch of 1 among them");
  }
}

void tell_idle_ways(const Scenario& base, const ServingWays& tried, Diagnostics& notes) {
  const auto has = [&](bool llm) {
    return std::ranges::any_of(base.workloads, [&](const Workload& workload) {
      return workload.count > 0 && workload.kind == WorkloadKind::Service &&
             workload.llm.has_value() == llm;
    });
  };
  if (!tried.tensor_parallel.empty() && !has(true)) {
    add_diagnostic(notes, Code::RequestNoEffect, {},
                   "--tensor-parallel is of language models, and no workload serves one",
                   "leave it out");
  }
  const bool batches =
      !tried.max_batches.empty() || !tried.max_delays.empty() || !tried.concurrencies.empty();
  if (batches && !has(false)) {
    add_diagnostic(
        notes, Code::RequestNoEffect, {},
        "--max-batch, --max-delay and --concurrency are of Services that are no language "
        "models, and there is none",
        "leave them out; a language model's batch is llm.maxSequences");
  }
}

std::vector<std::vector<ServingChoice>> serving_ways(const Scenario& base,
                                                     const std::vector<std::string>& workloads,
                                                     const InstanceType& type, ServingWays tried) {
  std::ranges::sort(tried.tensor_parallel);
  std::ranges::sort(tried.max_batches);
  std::ranges::sort(tried.max_delays);
  std::ranges::sort(tried.concurrencies);
  std::vector<Ways> of;
  double ways = 1;
  for (const std::string& name : workloads) {
    const Workload* const workload = base.find_workload(name);
    of.push_back(workload == nullptr ? Ways{false, {{}}} : ways_of(*workload, type, tried));
    ways *= static_cast<double>(of.back().choices.size());
  }
  auto all = ways <= static_cast<double>(kMostWays) ? every_one(of) : alike(of);
  const auto chooses_nothing = [](const ServingChoice& choice) {
    return choice == ServingChoice();
  };
  for (std::vector<ServingChoice>& serving : all) {
    if (std::ranges::all_of(serving, chooses_nothing)) serving.clear();
  }
  std::ranges::stable_sort(all, {}, gpus_of_all);
  return all;
}

}  // namespace slicewise::sim
