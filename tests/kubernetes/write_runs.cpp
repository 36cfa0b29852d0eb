// write_runs SCENARIO...: on standard output a line of JSON for each variant of these files: what
// its nodes advertise, what its pods ask for, and when each of them was created, bound to a node
// and ended in the first replication, for tests/kubernetes/scheduler. What kube-scheduler has no
// part in is left out, with the reason on standard error: other queues and placements, gangs, nodes
// that change.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/world.hpp"

namespace slicewise {
namespace {

using nlohmann::json;

constexpr int kMostPods = 300;

// One pod of the API: a place for a pod has a new one whenever the old has ended.
struct ApiPod {
  std::string name;
  TimePoint created;
  std::string node;  // "" while it is Pending
  TimePoint bound;
  std::optional<TimePoint> ended;
  bool evicted = false;
};

bool is_on_gpus(const sim::LaneInterval& interval) { return !interval.gpus.empty(); }

std::vector<ApiPod> api_pods(const sim::Recording& recording, const sim::RecordedPod& place) {
  std::vector<ApiPod> pods;
  const auto has_mark = [&](sim::LaneMark::Kind kind, TimePoint at) {
    return std::ranges::any_of(
        place.marks, [&](const auto& mark) { return mark.kind == kind && mark.at == at; });
  };
  const auto create = [&](TimePoint at) {
    const std::string again = pods.empty() ? "" : "-again-" + std::to_string(pods.size());
    pods.push_back({place.name + again, at, {}, {}, {}});
  };
  TimePoint until;  // of the last interval on a node
  bool open = false;
  const auto close = [&] {
    if (!open) return;
    pods.back().ended = until;
    pods.back().evicted = has_mark(sim::LaneMark::Kind::Evicted, until);
    open = false;
  };
  auto phase = sim::LanePhase::Pending;
  const auto starts_anew = [&](const sim::LaneInterval& next) {
    using Kind = sim::LaneMark::Kind;
    const bool loads =
        next.phase == sim::LanePhase::Pulling || next.phase == sim::LanePhase::Loading;
    const bool restarted = has_mark(Kind::OutOfMemory, next.from) ||
                           has_mark(Kind::GpuFault, next.from) ||
                           has_mark(Kind::FaultOfNeighbour, next.from);
    return phase == sim::LanePhase::Running && loads && !restarted;
  };
  for (const sim::LaneInterval& interval : place.intervals) {
    const bool waits = interval.phase == sim::LanePhase::Pending;
    const bool is_other = open && !pods.back().node.empty() &&
                          (waits || interval.from > until || starts_anew(interval) ||
                           has_mark(sim::LaneMark::Kind::Evicted, interval.from));
    phase = interval.phase;
    if (is_other) close();
    if (!waits && !is_on_gpus(interval)) continue;  // the Job controller waits
    if (!open) create(interval.from);
    open = true;
    if (waits) continue;
    if (pods.back().node.empty()) {
      pods.back().node = recording.gpus[interval.gpus.front()].node;
      pods.back().bound = interval.from;
    }
    until = interval.until;
  }
  const bool is_done = has_mark(sim::LaneMark::Kind::Done, until) ||
                       has_mark(sim::LaneMark::Kind::Failed, until) ||
                       until < TimePoint{} + recording.length;
  if (open && !pods.back().node.empty() && is_done) close();
  return pods;
}

json taints(const sim::PoolModel& pool) {
  json list = json::array();
  for (const scenarios::Taint& taint : pool.taints) {
    list.push_back({{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}});
  }
  return list;
}

json tolerations(const scenarios::PodTemplate& pod) {
  json list = json::array();
  for (const scenarios::Toleration& one : pod.tolerations) {
    list.push_back(
        {{"key", one.key}, {"operator", one.op}, {"value", one.value}, {"effect", one.effect}});
  }
  return list;
}

json affinity_terms(const std::vector<scenarios::PodAffinityTerm>& list) {
  json terms = json::array();
  for (const scenarios::PodAffinityTerm& term : list) {
    terms.push_back({{"topologyKey", term.topology_key},
                     {"labels", term.match_labels},
                     {"weight", term.weight}});
  }
  return terms;
}

json requirements(const std::vector<scenarios::NodeRequirement>& all) {
  json list = json::array();
  for (const scenarios::NodeRequirement& one : all) {
    list.push_back({{"key", one.key}, {"operator", one.op}, {"values", one.values}});
  }
  return list;
}

json preferred_nodes(const scenarios::PodTemplate& pod) {
  json list = json::array();
  for (const scenarios::PreferredNodes& nodes : pod.preferences.nodes) {
    list.push_back({{"weight", nodes.weight}, {"requirements", requirements(nodes.requirements)}});
  }
  return list;
}

json required_nodes(const scenarios::PodTemplate& pod) {
  json list = json::array();
  for (const scenarios::NodeTerm& term : pod.node_affinity) {
    list.push_back({{"requirements", requirements(term.requirements)}});
  }
  return list;
}

json host_ports(const scenarios::PodTemplate& pod) {
  json list = json::array();
  for (const auto& port : pod.host_ports) list.push_back(port.value);
  return list;
}

json spreads(const scenarios::PodTemplate& pod) {
  json list = json::array();
  for (const scenarios::TopologySpread& spread : pod.preferences.spread) {
    list.push_back({{"topologyKey", spread.topology_key},
                    {"labels", spread.match_labels},
                    {"maxSkew", spread.max_skew},
                    {"minDomains", spread.min_domains},
                    {"whenUnsatisfiable", spread.when_unsatisfiable},
                    {"nodeAffinityPolicy", spread.node_affinity_policy},
                    {"nodeTaintsPolicy", spread.node_taints_policy}});
  }
  return list;
}

json daemons(const sim::PoolModel& pool) {
  json list = json::array();
  for (const scenarios::DaemonSet& daemon : pool.daemon_sets) {
    list.push_back({{"name", daemon.name},
                    {"milliCPU", daemon.cpu_request.count},
                    {"memory", daemon.memory_request.count}});
  }
  return list;
}

json nodes(const sim::World& world, const sim::Recording& recording) {
  json list = json::array();
  for (const sim::RecordedNode& node : recording.nodes) {
    const sim::PoolModel& pool = world.pools[node.pool];
    json offers = json::object();
    for (std::size_t o = 0; o < pool.offers.size(); ++o) {
      offers[pool.offers[o].name] = pool.tickets_per_node(o, 0);
    }
    list.push_back({{"name", node.name},
                    {"pool", pool.name},
                    {"labels", pool.labels},
                    {"taints", taints(pool)},
                    {"milliCPU", pool.node_cpu().count},
                    {"memory", pool.node_memory().count},
                    {"pods", pool.max_pods + static_cast<int>(pool.daemon_sets.size())},
                    {"daemons", daemons(pool)},
                    {"extended", offers}});
  }
  return list;
}

json workloads(const sim::World& world) {
  json list = json::array();
  for (const sim::WorkloadModel& workload : world.workloads) {
    const scenarios::PodTemplate& pod = workload.spec.pod;
    json asked = json::object();
    if (workload.resource) asked[world.resources[index(*workload.resource)]] = workload.tickets;
    const bool replicas = workload.spec.kind == scenarios::WorkloadKind::Deployment ||
                          workload.spec.kind == scenarios::WorkloadKind::Service;
    list.push_back(
        {{"name", workload.name},
         {"isReplicaSet", replicas},
         {"priority", workload.spec.priority},
         {"neverPreempts", workload.spec.preemption_policy == scenarios::PreemptionPolicy::Never},
         {"milliCPU", pod.cpu_request.count},
         {"memory", pod.memory_request.count},
         {"extended", asked},
         {"labels", pod.labels},
         {"affinity", affinity_terms(pod.pod_affinity)},
         {"antiAffinity", affinity_terms(pod.anti_affinity)},
         {"likes", affinity_terms(pod.preferences.affinity)},
         {"dislikes", affinity_terms(pod.preferences.anti_affinity)},
         {"spreads", spreads(pod)},
         {"preferredNodes", preferred_nodes(pod)},
         {"requiredNodes", required_nodes(pod)},
         {"hostPorts", host_ports(pod)},
         {"nodeSelector", pod.node_selector},
         {"tolerations", tolerations(pod)}});
  }
  return list;
}

// In the scenario's order, which is that of their creation at an instant.
json pods(const sim::Recording& recording) {
  json list = json::array();
  for (const sim::RecordedPod& place : recording.pods) {
    std::string before;
    for (const ApiPod& pod : api_pods(recording, place)) {
      json one = {{"name", pod.name}, {"workload", place.workload}, {"created", pod.created.ns}};
      if (!before.empty()) one["replaces"] = before;
      before = pod.name;
      if (!pod.node.empty()) one.update({{"node", pod.node}, {"bound", pod.bound.ns}});
      if (pod.ended) one.update({{"ended", pod.ended->ns}, {"evicted", pod.evicted}});
      list.push_back(std::move(one));
    }
  }
  return list;
}

std::string out_of_scope(const sim::World& world) {
  if (world.placement) return "a placement policy of replay chooses the nodes";
  if (world.pod_queue != scenarios::PodQueue::Backfill) return "another queue";
  if (world.changes_nodes()) return "nodes come and go";
  int pods = 0;
  for (const sim::WorkloadModel& workload : world.workloads) {
    if (workload.pods_per_job > 1) return "gangs";
    if (workload.spec.autoscaling) return "replicas come and go";
    if (workload.spec.disruption_budget) return "budgets of disruption";
    const scenarios::PodPreferences& wants = workload.spec.pod.preferences;
    const scenarios::PodTemplate& pod = workload.spec.pod;
    for (const auto* terms :
         {&pod.pod_affinity, &pod.anti_affinity, &wants.affinity, &wants.anti_affinity}) {
      const auto names_spaces = [](const auto& term) { return !term.namespaces.empty(); };
      if (std::ranges::any_of(*terms, names_spaces)) return "affinity to other namespaces";
    }
    pods += workload.spec.count;
  }
  for (const sim::PoolModel& pool : world.pools) {
    if (!pool.layout_changes.empty()) return "MIG layouts change";
  }
  return pods > kMostPods ? std::to_string(pods) + " pods" : "";
}

void write_variant(const std::string& name, const scenarios::Scenario& scenario,
                   const models::Catalogue& catalogue) {
  const auto world = sim::build_world(scenario, catalogue);
  if (!world) {
    std::cerr << name << ": left out: " << world.error().front().message << '\n';
    return;
  }
  if (const std::string why = out_of_scope(*world); !why.empty()) {
    std::cerr << name << ": left out: " << why << '\n';
    return;
  }
  const sim::RecordingLimits all{
      .buckets = 1, .gpus = 4'096, .pods = kMostPods, .intervals_per_pod = 100'000};
  const auto recording = sim::record(*world, all);
  if (recording->left_out.any()) throw std::runtime_error(name + ": too large to be recorded");
  json messages = json::array();
  for (const sim::PendingReason& reason : sim::run_replication(*world, 0).pending_reasons) {
    messages.push_back(sim::pending_message(*world, reason));
  }
  std::cout << json{{"name", name},
                    {"mostAllocated", world->score_policy == scenarios::ScorePolicy::MostAllocated},
                    {"length", recording->length.ns},
                    {"nodes", nodes(*world, *recording)},
                    {"workloads", workloads(*world)},
                    {"pods", pods(*recording)},
                    {"messages", messages}}
            << '\n';
}

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool write_file(const std::string& file, const models::Catalogue& catalogue) {
  const auto read = [](const std::string& path) -> Expected<SourceText> {
    return SourceText{path, file_text(path)};
  };
  const auto set = scenarios::load_scenario({file, file_text(file)}, {}, read);
  if (!set) {
    for (const Diagnostic& d : set.error()) {
      std::cerr << file << ':' << d.where.line << ": " << d.message << '\n';
    }
    return false;
  }
  const std::string stem = std::filesystem::path(file).stem().string();
  for (const scenarios::Scenario& scenario : set->variants) {
    write_variant(stem + '/' + scenario.name, scenario, catalogue);
  }
  return true;
}

}  // namespace
}  // namespace slicewise

int main(int argc, char** argv) {
  const slicewise::models::Catalogue catalogue = slicewise::models::load_catalogue();
  bool good = true;
  for (int n = 1; n < argc; ++n) good &= slicewise::write_file(argv[n], catalogue);
  return good ? 0 : 1;
}
