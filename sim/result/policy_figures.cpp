#include "policy_figures.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/policy.hpp"
#include "slicewise/scenarios/policy_figures.hpp"
#include "slicewise/sim/isolation.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

SeenFigure seen_truth(bool truth) { return {truth, truth ? "true" : "false"}; }

SeenFigure seen_number(double number) { return {number, fmt::format("{:.6g}", number)}; }

SeenFigure seen_money(std::optional<Usd> money) {
  if (!money) return {};
  // Divided, so that it is the very number that an assertion of as many decimals reads as.
  const double dollars = static_cast<double>(money->nano) / 1e9;
  return {dollars,
          dollars < 1 ? fmt::format("{:.4g} USD", dollars) : fmt::format("{:.2f} USD", dollars)};
}

SeenFigure seen_in_unit(const scenarios::FigureValue& value, double number) {
  return {number, figure_text(value)};
}

SeenFigure seen_share(double share) { return seen_in_unit(scenarios::Share{share}, share); }

SeenFigure seen_rate(double per_second) { return seen_in_unit(Rate{per_second}, per_second); }

SeenFigure seen_time(const std::optional<TimeSummary>& times, Duration TimeSummary::*quantile) {
  if (!times || times->count == 0) return {};
  const Duration time = *times.*quantile;
  return seen_in_unit(time, to_seconds(time));
}

// Each once.
SeenFigure seen_words(const VariantResult& result, std::string NodePoolResult::*word) {
  std::vector<std::string> words;
  for (const NodePoolResult& pool : result.node_pools) {
    if (std::ranges::find(words, pool.*word) == words.end()) words.push_back(pool.*word);
  }
  if (words.empty()) return {};
  std::string text = fmt::format("{}", fmt::join(words, ", "));
  return {std::move(words), std::move(text)};
}

int strength(Isolation::Memory level) { return static_cast<int>(level); }
int strength(Isolation::Compute level) { return static_cast<int>(level); }
int strength(Isolation::Fault level) {
  if (level == Isolation::Fault::Shared) return 0;
  return level == Isolation::Fault::Hardware ? 2 : 1;
}

// Of the pool that has least of it.
template <class Level>
SeenFigure weakest(const VariantResult& result, Level Isolation::*level) {
  const NodePoolResult* pool = nullptr;
  const auto rank = [&](const NodePoolResult& p) { return strength(isolation_of(p).*level); };
  for (const NodePoolResult& other : result.node_pools) {
    if (pool == nullptr || rank(other) < rank(*pool)) pool = &other;
  }
  if (pool == nullptr) return {};
  std::string word(level_name(isolation_of(*pool).*level));
  return {std::vector{word}, word};
}

bool all_pass(const WorkloadResult& workload) {
  return std::ranges::all_of(workload.objectives, &ObjectiveResult::pass);
}

SeenFigure objectives_of(const WorkloadResult& workload) {
  return workload.objectives.empty() ? SeenFigure{} : seen_truth(all_pass(workload));
}

SeenFigure all_objectives(const VariantResult& result) {
  const bool none = std::ranges::all_of(
      result.workloads, [](const WorkloadResult& w) { return w.objectives.empty(); });
  return none ? SeenFigure{} : seen_truth(std::ranges::all_of(result.workloads, all_pass));
}

double node_count_of(const VariantResult& result) {
  int nodes = 0;
  for (const NodePoolResult& pool : result.node_pools) nodes += pool.nodes;
  return nodes;
}

using OfResult = SeenFigure (*)(const VariantResult&);
using OfWorkload = SeenFigure (*)(const WorkloadResult&);

// As scenarios::policy_figure knows them, but for headroom.
constexpr std::array kResultFigures = {
    std::pair<std::string_view, OfResult>{
        "cost.monthly", [](const VariantResult& r) { return seen_money(r.cost.monthly); }},
    std::pair<std::string_view, OfResult>{
        "cost.total", [](const VariantResult& r) { return seen_money(r.cost.ledger.total); }},
    std::pair<std::string_view, OfResult>{
        "cost.perJob", [](const VariantResult& r) { return seen_money(r.cost.per_job); }},
    std::pair<std::string_view, OfResult>{
        "cost.per1kInSlo",
        [](const VariantResult& r) { return seen_money(r.cost.per_1k_requests_in_slo); }},
    std::pair<std::string_view, OfResult>{
        "nodes", [](const VariantResult& r) { return seen_number(node_count_of(r)); }},
    std::pair<std::string_view, OfResult>{"pods.pending",
                                          [](const VariantResult& r) {
                                            return seen_number(
                                                static_cast<double>(r.pods.pending_max));
                                          }},
    std::pair<std::string_view, OfResult>{
        "pods.failed", [](const VariantResult& r) { return seen_number(r.pods.failed); }},
    std::pair<std::string_view, OfResult>{
        "pods.oomKills", [](const VariantResult& r) { return seen_number(r.pods.oom_kills); }},
    std::pair<std::string_view, OfResult>{
        "pods.restarts", [](const VariantResult& r) { return seen_number(r.pods.restarts); }},
    std::pair<std::string_view, OfResult>{
        "gpu.busy", [](const VariantResult& r) { return seen_share(gpu_busy_ratio(r)); }},
    std::pair<std::string_view, OfResult>{"slo.pass", &all_objectives},
    std::pair<std::string_view, OfResult>{
        "strategy",
        [](const VariantResult& r) { return seen_words(r, &NodePoolResult::strategy); }},
    std::pair<std::string_view, OfResult>{
        "instanceType",
        [](const VariantResult& r) { return seen_words(r, &NodePoolResult::instance_type); }},
    std::pair<std::string_view, OfResult>{
        "isolation.memory", [](const VariantResult& r) { return weakest(r, &Isolation::memory); }},
    std::pair<std::string_view, OfResult>{
        "isolation.compute",
        [](const VariantResult& r) { return weakest(r, &Isolation::compute); }},
    std::pair<std::string_view, OfResult>{
        "isolation.fault", [](const VariantResult& r) { return weakest(r, &Isolation::fault); }},
    std::pair<std::string_view, OfResult>{
        "sharedGpu", [](const VariantResult& r) { return seen_truth(r.pods_share_gpu); }},
    std::pair<std::string_view, OfResult>{
        scenarios::kNamespacesShareGpu,
        [](const VariantResult& r) { return seen_truth(r.namespaces_share_gpu); }},
};

constexpr std::array kWorkloadFigures = {
    std::pair<std::string_view, OfWorkload>{
        "latencyP50",
        [](const WorkloadResult& w) { return seen_time(w.latency, &TimeSummary::p50); }},
    std::pair<std::string_view, OfWorkload>{
        "latencyP95",
        [](const WorkloadResult& w) { return seen_time(w.latency, &TimeSummary::p95); }},
    std::pair<std::string_view, OfWorkload>{
        "latencyP99",
        [](const WorkloadResult& w) { return seen_time(w.latency, &TimeSummary::p99); }},
    std::pair<std::string_view, OfWorkload>{
        "completionP95",
        [](const WorkloadResult& w) { return seen_time(w.job_completion, &TimeSummary::p95); }},
    std::pair<std::string_view, OfWorkload>{
        "waitP95", [](const WorkloadResult& w) { return seen_time(w.wait, &TimeSummary::p95); }},
    std::pair<std::string_view, OfWorkload>{
        "goodput", [](const WorkloadResult& w) { return seen_rate(w.goodput_per_second); }},
    std::pair<std::string_view, OfWorkload>{
        "throughput", [](const WorkloadResult& w) { return seen_rate(w.throughput_per_second); }},
    std::pair<std::string_view, OfWorkload>{"availability",
                                            [](const WorkloadResult& w) {
                                              return w.requests
                                                         ? seen_share(w.requests->availability)
                                                         : SeenFigure{};
                                            }},
    std::pair<std::string_view, OfWorkload>{"slo.pass", &objectives_of},
};

template <class Known>
auto function_called(const Known& known, std::string_view name) {
  const auto found = std::ranges::find_if(known, [&](const auto& k) { return k.first == name; });
  return found == known.end() ? nullptr : found->second;
}

}  // namespace

SeenFigure see_figure(std::string_view name, const VariantResult& result,
                      std::optional<double> headroom) {
  if (name == "headroom") return headroom ? seen_number(*headroom) : SeenFigure{};
  const scenarios::WorkloadFigure of = scenarios::workload_figure(name);
  if (of.workload.empty()) {
    const OfResult see = function_called(kResultFigures, name);
    return see == nullptr ? SeenFigure{} : see(result);
  }
  const OfWorkload see = function_called(kWorkloadFigures, of.figure);
  const auto workload = std::ranges::find(result.workloads, of.workload, &WorkloadResult::name);
  return see == nullptr || workload == result.workloads.end() ? SeenFigure{} : see(*workload);
}

}  // namespace slicewise::sim
