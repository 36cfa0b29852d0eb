#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/lint.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "round_trip.hpp"

// Whatever example is exported and imported, the same is simulated. What Kubernetes has no place
// for is filled in from the example.
namespace slicewise::reports {
namespace {

namespace fs = std::filesystem;
using scenarios::NodePool;
using scenarios::Scenario;
using scenarios::Workload;

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void give_load(const Workload& given, Workload& again) {
  again.kind = given.kind;
  again.processes_per_pod = given.processes_per_pod;
  again.batch = given.batch;
  again.faults = given.faults;
  again.submit_at = given.submit_at;
  again.submit_interval = given.submit_interval;
  again.profile = given.profile;
  again.gpu_memory = given.gpu_memory;
  again.startup = given.startup;
  again.trace = given.trace;
  again.work = given.work;
  again.measured = given.measured;
  again.traffic = given.traffic;
  again.serving = given.serving;
  again.llm = given.llm;
  again.notebooks = given.notebooks;
  again.objectives = given.objectives;
  again.placeholder = given.placeholder;
}

// What a pool has of the hardware and of AWS.
void give_physics(const NodePool& given, NodePool& again) {
  again.gpu = given.gpu;
  again.daemon_sets = given.daemon_sets;
  if (given.spot && again.spot) {
    again.spot->interruptions = given.spot->interruptions;
    again.spot->notice = given.spot->notice;
  }
}

// The imported nodes and pods in the example's place.
Scenario with_cluster_of(const Scenario& again, const Scenario& given) {
  Scenario out = given;
  out.node_pools = again.node_pools;
  out.claims = again.claims;
  out.provisioner = again.provisioner;
  out.provisioner.start_up = given.provisioner.start_up;
  out.workloads = again.workloads;
  for (NodePool& pool : out.node_pools) {
    for (const NodePool& known : given.node_pools) {
      if (known.name.value == pool.name.value) give_physics(known, pool);
    }
  }
  for (Workload& workload : out.workloads) {
    const Workload* known = given.find_workload(workload.name.value);
    if (known != nullptr) give_load(*known, workload);
  }
  return out;
}

sim::VariantResult figures_of(Scenario scenario, const models::Catalogue& catalogue) {
  scenario.replications = 1;
  scenario.allow_pending = true;
  scenario.provisioner.start_up.variation = 0;  // drawn by the names of pools
  const auto world = sim::build_world(scenario, catalogue);
  if (!world) {
    ADD_FAILURE() << world.error().front().message;
    return {};
  }
  return sim::simulate(*world, {}).value();
}

// By "file variant", and why they are simulated in another way.
const std::map<std::string, std::string> kOther = {
    {"manual-sharing manual", "its pods ask for no GPU: nothing says that they use one"},
    {"karpenter-thrash cluster-autoscaler",
     "node groups get the label by which the autoscaler waits for the GPUs of a node"},
    {"recorded-autoscaled cluster-autoscaler", "types of one NodePool are groups of other names"},
    {"mig-change change-at-30m", "no object says when somebody will change a layout"},
};

// Node groups are not Karpenter's, nor NodePools the Cluster Autoscaler's.
bool starts_its_nodes(const std::vector<std::string>& kinds, const Scenario& scenario) {
  using Kind = scenarios::Provisioner::Kind;
  const Kind other = std::ranges::count(kinds, "eksctl") > 0      ? Kind::Karpenter
                     : std::ranges::count(kinds, "karpenter") > 0 ? Kind::ClusterAutoscaler
                                                                  : Kind::ManagedNodeGroup;
  return other == Kind::ManagedNodeGroup || scenario.provisioner.kind != other;
}

bool is_written(const Scenario& scenario, const std::vector<std::string>& kinds,
                const models::Catalogue& catalogue) {
  return std::ranges::all_of(kinds, [&](const std::string& name) {
    const auto kind = std::ranges::find(kExportKinds, name, &ExportKind::name);
    return kind->render(scenario, catalogue, {}).has_value();
  });
}

// Layouts of MIG are in a file of their own, where there are some.
std::vector<std::string> with_layouts(std::vector<std::string> kinds, const Scenario& scenario,
                                      const models::Catalogue& catalogue) {
  const bool is_bundle = kinds.front() == "bundle";
  if (!is_bundle && is_written(scenario, {"mig-parted"}, catalogue)) kinds.push_back("mig-parted");
  return kinds;
}

int expect_same_of_examples(const std::vector<std::string>& kinds, Duration longest) {
  const models::Catalogue catalogue = models::load_catalogue();
  const auto read = [](const std::string& path) -> Expected<SourceText> {
    return SourceText{path, text_in(path)};
  };
  scenarios::ImportOptions options;
  sim::take_catalogue(catalogue, options);
  int same = 0;
  for (const auto& entry : fs::directory_iterator(SLICEWISE_SOURCE_DIR "/scenarios/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string path = entry.path().string();
    const auto set = scenarios::load_scenario({path, text_in(path)}, {}, read);
    if (!set) {
      ADD_FAILURE() << path;
      continue;
    }
    for (Scenario given : set->variants) {
      if (!given.swept_value.empty()) continue;
      given.duration = std::min(given.duration.value_or(longest), longest);
      if (kOther.contains(entry.path().stem().string() + " " + given.name)) continue;
      if (!starts_its_nodes(kinds, given) || !is_written(given, kinds, catalogue)) continue;
      SCOPED_TRACE(path + " " + given.name);
      const Scenario read_back = read_again(given, with_layouts(kinds, given, catalogue), options);
      if (read_back.node_pools.empty()) continue;  // it said why
      const Scenario again = with_cluster_of(read_back, given);
      expect_same_figures(figures_of(given, catalogue), figures_of(again, catalogue));
      ++same;
    }
  }
  return same;
}

TEST(ExamplesRoundTrip, BundlesAreSimulatedAlike) {
  EXPECT_GT(expect_same_of_examples({"bundle"}, minutes(30)), 40);
}

TEST(ExamplesRoundTrip, NodeGroupsAndManifestsAreSimulatedAlike) {
  EXPECT_GT(expect_same_of_examples({"helm-values", "eksctl", "kustomize"}, minutes(30)), 40);
}

TEST(ExamplesRoundTrip, KarpentersNodesAndManifestsAreSimulatedAlike) {
  EXPECT_GT(expect_same_of_examples({"helm-values", "karpenter", "kustomize"}, minutes(30)), 40);
}

}  // namespace
}  // namespace slicewise::reports
