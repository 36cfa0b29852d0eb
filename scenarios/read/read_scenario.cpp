#include "read_scenario.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "../traces/client_rates.hpp"
#include "node_values.hpp"
#include "pipeline_rules.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, Fidelity> kFidelities[] = {{"auto", Fidelity::Auto},
                                                                 {"exact", Fidelity::Exact}};
constexpr std::pair<std::string_view, ScorePolicy> kScorePolicies[] = {
    {"LeastAllocated", ScorePolicy::LeastAllocated},
    {"MostAllocated", ScorePolicy::MostAllocated},
};

void check_end(const Node& spec, const Scenario& scenario, Findings& findings) {
  const Entry* duration = spec.entry("duration");
  if (duration != nullptr && spec.entry("until") != nullptr) {
    const SourceLocation first = duration->key_where;
    const SourceLocation second = spec.entry("until")->key_where;
    const bool in_order = first.line <= second.line;
    findings.add(Code::SettingConflict, in_order ? second : first,
                 "duration and until are both set", "a run has one end: remove one of the two");
  }
  if (scenario.duration && scenario.warmup >= *scenario.duration) {
    findings.add(Code::SettingConflict, value_place(spec, "warmup"),
                 "warmup is not shorter than duration",
                 "nothing would be left to measure: shorten warmup");
  }
}

std::optional<InputKind> kind_of(const Node& word) {
  const auto* const found = std::ranges::find(kInputKinds, word.text);
  if (word.kind != Node::Kind::Text || found == std::end(kInputKinds)) return std::nullopt;
  return static_cast<InputKind>(found - std::begin(kInputKinds));
}

// One word or a list of them.
std::vector<InputKind> kinds_at(const Node& parent, std::string_view key) {
  std::vector<InputKind> kinds;
  const Node* node = parent.find(key);
  if (node == nullptr) return kinds;
  if (const auto kind = kind_of(*node)) kinds.push_back(*kind);
  for (const NodePtr& item : node->items) {
    if (const auto kind = kind_of(*item)) kinds.push_back(*kind);
  }
  return kinds;
}

std::optional<Sensitivity> read_sensitivity(const Node& spec, Findings& findings) {
  const Node* node = block(&spec, "sensitivity");
  if (node == nullptr) return std::nullopt;
  Sensitivity sensitivity;
  sensitivity.where = key_place(spec, "sensitivity");
  sensitivity.vary = kinds_at(*node, "vary");
  sensitivity.by = percent_at(node, "by").value_or(sensitivity.by);
  if (sensitivity.by >= 1) {
    findings.add(Code::ValueRange, value_place(*node, "by"),
                 "an input that is varied by 100% would be gone", "write less, 20% for example");
  }
  return sensitivity;
}

// What clients ask for in this run is known once its length is.
void set_mean_of_clients(Traffic& traffic, std::optional<Duration> run) {
  const auto* clients = std::get_if<ClientTraffic>(&traffic.shape);
  if (clients != nullptr) traffic.mean = mean_rate(*clients, run);
}

}  // namespace

Scenario read_scenario(const Node& spec, Findings& findings, TraceFiles& traces) {
  Scenario scenario;
  scenario.where = spec.where;
  scenario.region = text_at(&spec, "region").value_or(scenario.region);
  scenario.region_where = value_place(spec, "region");
  scenario.duration = duration_at(&spec, "duration");
  scenario.warmup = duration_at(&spec, "warmup").value_or(scenario.warmup);
  if (const auto seed = integer_at(&spec, "seed")) {
    scenario.seed = static_cast<std::uint64_t>(*seed);
  }
  if (const auto replications = integer_at(&spec, "replications")) {
    scenario.replications = static_cast<int>(*replications);
  }
  scenario.fidelity = word_at(&spec, "fidelity", kFidelities).value_or(scenario.fidelity);
  scenario.score_policy = word_at(block(&spec, "scheduler"), "scorePolicy", kScorePolicies)
                              .value_or(scenario.score_policy);
  scenario.starts_at = week_time_at(&spec, "startsAt").value_or(scenario.starts_at);
  scenario.sensitivity = read_sensitivity(spec, findings);
  check_end(spec, scenario, findings);
  if (const Node* pools = blocks(&spec, "nodePools")) {
    for (const NodePtr& pool : pools->items) {
      if (pool->kind == Node::Kind::Map) {
        scenario.node_pools.push_back(read_node_pool(*pool, findings));
      }
    }
  }
  scenario.provisioner = read_provisioner(spec, findings);
  check_node_ranges(scenario, findings);
  if (const Node* workloads = blocks(&spec, "workloads")) {
    for (const NodePtr& workload : workloads->items) {
      if (workload->kind == Node::Kind::Map) {
        scenario.workloads.push_back(read_workload(*workload, findings, traces));
      }
    }
  }
  if (const Node* pipelines = blocks(&spec, "pipelines")) {
    for (const NodePtr& pipeline : pipelines->items) {
      if (pipeline->kind == Node::Kind::Map) {
        scenario.pipelines.push_back(read_pipeline(*pipeline, findings, traces));
      }
    }
  }
  for (Workload& workload : scenario.workloads) {
    if (workload.traffic) set_mean_of_clients(*workload.traffic, scenario.duration);
  }
  for (Pipeline& pipeline : scenario.pipelines) {
    set_mean_of_clients(pipeline.traffic, scenario.duration);
  }
  check_pipelines(scenario, findings);
  read_planning(spec, scenario, findings);
  scenario.policies = read_policies(spec, scenario, findings);
  return scenario;
}

}  // namespace slicewise::scenarios
