#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/lint.hpp"

#include "export_of.hpp"

// What is exported, read as `check` reads the files of others.
namespace slicewise::reports {
namespace {

namespace fs = std::filesystem;

std::string text_in(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Codes of all errors and warnings.
std::set<std::string> blamed(const std::vector<SourceText>& sources,
                             const models::Catalogue& catalogue) {
  constexpr scenarios::PluginVersion kVersion{0, 20};
  scenarios::ClusterFiles files = scenarios::read_cluster_files(sources, kVersion);
  Diagnostics found = std::move(files.problems);
  std::ranges::move(sim::lint_cluster(files, catalogue, kVersion), std::back_inserter(found));
  std::set<std::string> codes;
  for (const Diagnostic& d : found) {
    if (d.severity != Severity::Note) codes.insert(std::string(info(d.code).name));
  }
  codes.erase("INSTANCE_RETIRED");  // of examples that measurements on a p3 are of
  return codes;
}

std::vector<SourceText> yaml_of(const ExportFiles& files) {
  std::vector<SourceText> sources;
  for (const ExportFile& file : files) {
    if (file.path.ends_with(".yaml")) sources.push_back({file.path, file.text});
  }
  return sources;
}

// What is left is what the example shows: pods that no node takes, and nodes that Karpenter does
// not start because nobody tells it what they offer.
const std::map<std::string, std::set<std::string>> kShown = {
    {"all-small", {"RESOURCE_NAME_MISMATCH"}},
    {"change-at-30m", {"RESOURCE_NAME_MISMATCH"}},
    {"no-overlay", {"KARPENTER_OVERPROVISIONS"}},
    {"renamed", {"NODES_NEVER_LAUNCHED"}},
    // Sizes of recorded-autoscaled that are no one NodePool: each with settings or a number of its
    // own.
    {"cluster-autoscaler", {"NODE_POOLS_TIE"}},
    {"fixed", {"NODE_POOLS_TIE"}},
    {"fixed-best-fit", {"NODE_POOLS_TIE"}},
    {"karpenter", {"NODE_POOLS_TIE"}},
    {"spot", {"NODE_POOLS_TIE"}},
};

TEST(CheckedBundles, OfAllExamplesAreClean) {
  const models::Catalogue catalogue = models::load_catalogue();
  const auto read = [](const std::string& path) -> Expected<SourceText> {
    return SourceText{path, text_in(path)};
  };
  int bundles = 0;
  std::set<std::string> shown;
  for (const auto& entry : fs::directory_iterator(SLICEWISE_SOURCE_DIR "/scenarios/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string path = entry.path().string();
    const auto set = scenarios::load_scenario({path, text_in(path)}, {}, read);
    ASSERT_TRUE(set) << path;
    for (const scenarios::Scenario& scenario : set->variants) {
      for (const NodeImage image : {NodeImage::Al2023, NodeImage::Bottlerocket}) {
        ExportOptions options;
        options.image = image;
        const auto files = render_bundle(scenario, catalogue, options);
        if (!files) continue;
        ++bundles;
        const std::set<std::string> codes = blamed(yaml_of(*files), catalogue);
        const auto known = kShown.find(scenario.name);
        if (codes.empty()) continue;
        shown.insert(scenario.name);
        EXPECT_EQ(codes, known == kShown.end() ? std::set<std::string>() : known->second)
            << path << " " << scenario.name;
      }
    }
  }
  EXPECT_GT(bundles, 150);
  EXPECT_EQ(shown.size(), kShown.size());
}

// The rules hold for everybody: the same file without its comment, and a setting that is stated.
TEST(CheckedBundles, AreBlamedForWhatOthersAreBlamedFor) {
  constexpr std::string_view kScenario = R"(apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: two}
spec:
  nodePools:
  - name: t4
    instanceType: g4dn.2xlarge
    devicePlugin:
      version: v1
      sharing: {timeSlicing: {$resources: [{name: nvidia.com/gpu, replicas: 4}]}}
  workloads:
  - name: job
    kind: Job
    count: 2
    podTemplate: {resources: {limits: {nvidia.com/gpu: @}}}
    gpuMemory: {resident: 1Gi}
    work: {units: 1}
    measured: {device: T4, unitTime: 1m, gpuBusy: 50%}
)";
  const models::Catalogue catalogue = models::load_catalogue();
  const auto codes_with = [&](std::string_view setting, std::string_view asked, bool comments) {
    std::string text(kScenario);
    text.replace(text.find('$'), 1, setting);
    text.replace(text.find('@'), 1, asked);
    const auto set = scenarios::load_scenario({"two.yaml", text});
    if (!set) return std::set<std::string>{set.error().front().message};
    std::vector<SourceText> sources = yaml_of(*render_bundle(set->variants[0], catalogue, {}));
    for (SourceText& source : sources) {
      const std::size_t object = source.text.find("\napiVersion: eksctl.io");
      if (!comments && object != std::string::npos) source.text.erase(0, object);
    }
    return blamed(sources, catalogue);
  };
  using Codes = std::set<std::string>;
  EXPECT_EQ(codes_with("", "1", true), Codes());
  EXPECT_EQ(codes_with("", "1", false), Codes{"TWO_DEVICE_PLUGINS"});
  EXPECT_TRUE(
      codes_with("failRequestsGreaterThanOne: false, ", "1", true).contains("FAIL_REQUESTS_UNSET"));
  EXPECT_TRUE(codes_with("", "2", true).contains("FAIL_REQUESTS_UNSET"));
}

scenarios::Scenario on_a_rack() {
  scenarios::NodePool pool = time_sliced("rack", "rack.v100x4", 4);
  scenarios::Scenario scenario = with_pool(std::move(pool));
  scenario.workloads = {asking("api", 4, "nvidia.com/gpu")};
  return scenario;
}

models::Catalogue with_a_rack() {
  models::Catalogue catalogue = models::load_catalogue();
  models::InstanceType rack = *catalogue.find_instance("p3.8xlarge");
  rack.name = "rack.v100x4";
  catalogue.instances.push_back(rack);
  return catalogue;
}

TEST(OtherClouds, AreRefusedWhereEc2WouldStartTheNodes) {
  const models::Catalogue catalogue = with_a_rack();
  for (const char* kind : {"karpenter", "eksctl", "terraform", "bundle", "argocd", "flux"}) {
    const auto files = kind_named(kind).render(on_a_rack(), catalogue, {});
    EXPECT_THAT(refusals(files), testing::Contains(testing::HasSubstr("EC2 starts no rack.v100x4")))
        << kind;
  }
  scenarios::Scenario elsewhere = on_a_rack();
  elsewhere.node_pools[0].instance_type.value = "g4dn.xlarge";
  elsewhere.region = "berlin";
  EXPECT_FALSE(render_karpenter(elsewhere, catalogue, {}));
  elsewhere.region = "us-gov-west-1";
  EXPECT_TRUE(render_karpenter(elsewhere, catalogue, {}));
}

// kubectl keeps the last of two objects of one name.
TEST(NodePoolNames, AreOfOnePoolEach) {
  scenarios::Scenario scenario = with_pool(whole_gpus("b", "g4dn.xlarge"));
  scenarios::NodePool labelled = whole_gpus("a", "g5.xlarge");
  labelled.labels["karpenter.sh/nodepool"] = "b";
  scenario.node_pools.push_back(labelled);
  const std::string text = text_of(render_karpenter(scenario, models::load_catalogue(), {}));
  for (const std::string name : {"a", "b"}) {
    EXPECT_THAT(text, testing::HasSubstr("nodes-min: \"1\"\n  name: " + name + "\n"));
  }
}

TEST(OtherClouds, TakeWhatHoldsForNodesOfAnyOrigin) {
  const models::Catalogue catalogue = with_a_rack();
  for (const char* kind : {"helm-values", "configmap", "gpu-operator", "kustomize", "pod-patch"}) {
    const std::string text = text_of(kind_named(kind).render(on_a_rack(), catalogue, {}));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("eks.amazonaws.com/nodegroup"))) << kind;
  }
}

TEST(OtherClouds, AreToldFromEc2ByTheNamesOfTypes) {
  const models::Catalogue catalogue = models::load_catalogue();
  for (const models::InstanceType& type : catalogue.instances) {
    const auto files = render_karpenter(with_pool(whole_gpus("pool", type.name)), catalogue, {});
    EXPECT_THAT(refusals(files), testing::Not(testing::Contains(testing::HasSubstr("EC2 starts"))));
  }
}

}  // namespace
}  // namespace slicewise::reports
