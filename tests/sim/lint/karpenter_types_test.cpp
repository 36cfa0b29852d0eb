#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/lint.hpp"

// Which instance types Karpenter would start for a NodePool, as `import k8s` has it.
namespace slicewise::sim {
namespace {

// The text of the scenario for pods of so many GPUs, and what the import left out.
std::pair<std::string, std::string> imported(const std::string& requirements, int gpus,
                                             const models::Catalogue& catalogue) {
  scenarios::ImportOptions options;
  take_catalogue(catalogue, options);
  const SourceText file{"f.yaml",
                        "kind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: "
                        "{requirements: [" +
                            requirements +
                            "]}}}\n---\nkind: Deployment\nmetadata: {name: w}\n"
                            "spec: {template: {spec: {containers: [{resources: {limits: "
                            "{nvidia.com/gpu: " +
                            std::to_string(gpus) + "}}}]}}}\n"};
  const auto result = scenarios::import_log(scenarios::ImportKind::K8s, {&file, 1}, options);
  if (!result) return {result.error().front().message, {}};
  std::string skipped;
  for (const scenarios::ImportRemark& remark : result->log.remarks) {
    if (remark.kind == scenarios::ImportRemark::Kind::Skipped) skipped += remark.what;
  }
  return {scenarios::scenario_of(*result, scenarios::ImportKind::K8s, options).yaml, skipped};
}

std::string type_of(const std::string& requirements, const models::Catalogue& catalogue,
                    int gpus = 1) {
  const std::string yaml = imported(requirements, gpus, catalogue).first;
  const std::size_t at = yaml.find("instanceType: \"") + 15;
  return yaml.substr(at, yaml.find('"', at) - at);
}

std::string karpenters(const std::string& label, const std::string& rest) {
  return "{key: karpenter.k8s.aws/instance-" + label + ", operator: " + rest + "}";
}

// 1g.20gb of an H100 is there four times, profiles of an A30 are quarters.
TEST(ThoroughImportedMig, NodesAreAsManyAsTheCatalogueSays) {
  const models::Catalogue catalogue = models::load_catalogue();
  scenarios::ImportOptions options;
  take_catalogue(catalogue, options);
  const auto yaml_of = [&](const std::string& type, const std::string& layout,
                           const std::string& resource, int pods) {
    const SourceText file{"f.yaml",
                          "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: "
                          "c, region: us-east-1}\n"
                          "managedNodeGroups: [{name: p, instanceType: " +
                              type + ", labels: {nvidia.com/mig.config: " + layout +
                              "}}]\n---\nkind: Deployment\nmetadata: {name: w}\nspec: {replicas: " +
                              std::to_string(pods) +
                              ", template: {spec: {containers: [{resources: {limits: {" + resource +
                              ": 1}}}]}}}\n"};
    const auto result = scenarios::import_log(scenarios::ImportKind::K8s, {&file, 1}, options);
    return result ? scenarios::scenario_of(*result, scenarios::ImportKind::K8s, options).yaml
                  : result.error().front().message;
  };
  int layouts = 0;
  for (const scenarios::InstanceGpus& type : options.instances) {
    for (const auto& [layout, counts] : options.mig_layouts[type.name]) {
      for (const auto& [resource, count] : counts) {
        ++layouts;
        const int all = static_cast<int>(type.count) * count;
        EXPECT_NE(yaml_of(type.name, layout, resource, all).find("nodes: 1"), std::string::npos)
            << type.name << layout << resource;
        EXPECT_NE(yaml_of(type.name, layout, resource, all + 1).find("nodes: 2"), std::string::npos)
            << type.name << layout << resource;
      }
    }
  }
  EXPECT_GT(layouts, 50);
  // Of nodes that no file has, of a type that has the profile.
  const auto made_up = [&](const std::string& resource) {
    const SourceText file{"f.yaml",
                          "kind: Pod\nmetadata: {name: w}\nspec: {containers: [{resources: "
                          "{limits: {" +
                              resource + ": 1}}}]}\n"};
    const auto result = scenarios::import_log(scenarios::ImportKind::K8s, {&file, 1}, options);
    return scenarios::scenario_of(*result, scenarios::ImportKind::K8s, options).yaml;
  };
  EXPECT_NE(made_up("nvidia.com/mig-1g.5gb").find("p4d.24xlarge"), std::string::npos);
  EXPECT_NE(made_up("nvidia.com/mig-1g.18gb").find("\"p5e"), std::string::npos);
  EXPECT_NE(made_up("nvidia.com/mig-1g.24gb").find("\"g7e."), std::string::npos);
  EXPECT_NE(made_up("nvidia.com/mig-1g.5gb.shared").find("{name: nvidia.com/mig-1g.5gb, replicas"),
            std::string::npos);
}

TEST(KarpenterTypes, TheCheapestThatMeetsAllRequirementsIsTaken) {
  const models::Catalogue catalogue = models::load_catalogue();
  const std::string large = karpenters("gpu-memory", "Gt, values: [\"20000\"]");
  EXPECT_EQ(type_of(large, catalogue), "g6.xlarge");
  EXPECT_EQ(type_of(large + ", " + karpenters("family", "NotIn, values: [g6, gr6]"), catalogue),
            "g5.xlarge");
  EXPECT_EQ(
      type_of(large + ", " + karpenters("family", "NotIn, values: [g5, g6, gr6, g7]"), catalogue),
      "g6e.xlarge");
  // Nodes with other numbers of GPUs are not started, whatever the pods ask for.
  const std::string one = karpenters("family", "In, values: [g6]") + ", " +
                          karpenters("gpu-count", "In, values: [\"1\"]");
  EXPECT_EQ(type_of(one, catalogue, 4), "g6.xlarge");
  // EC2 says 22,888 MiB of an L4, and nvidia-smi 23,034.
  EXPECT_EQ(type_of(karpenters("gpu-memory", "Gte, values: [\"22888\"]"), catalogue), "g6.xlarge");
  EXPECT_NE(type_of(karpenters("gpu-memory", "Gt, values: [\"22888\"]"), catalogue), "g6.xlarge");
  EXPECT_EQ(type_of(karpenters("category", "In, values: [gr]"), catalogue), "gr6.4xlarge");
  EXPECT_EQ(type_of(karpenters("gpu-name", "In, values: [rtx-pro-server-6000]"), catalogue),
            "g7e.2xlarge");
  EXPECT_EQ(type_of(karpenters("gpu-name", "In, values: [t4]") + ", " +
                        karpenters("cpu", "Lte, values: [\"48\"]") + ", " +
                        karpenters("gpu-count", "Gt, values: [\"1\"]"),
                    catalogue),
            "g4dn.12xlarge");
}

// Karpenter starts a node for what waits: of each size the cheapest that has room.
TEST(KarpenterTypes, NodePoolsThatLeaveTheTypeOpenHaveNodesForAllPods) {
  const models::Catalogue catalogue = models::load_catalogue();
  const auto pod = [](const std::string& name, int gpus, const std::string& memory) {
    return "---\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec: {template: {spec: {containers: [{resources: {requests: {memory: " + memory +
           "}, limits: {nvidia.com/gpu: " + std::to_string(gpus) + "}}}]}}}\n";
  };
  scenarios::ImportOptions options;
  take_catalogue(catalogue, options);
  const SourceText file{
      "f.yaml",
      "kind: NodePool\nmetadata: {name: p}\nspec: {limits: {nvidia.com/gpu: 8}, template: {spec: "
      "{requirements: [" +
          karpenters("family", "In, values: [g6]") + "]}}}\n" + pod("one", 1, "8Gi") +
          pod("large", 1, "100Gi") + pod("four", 4, "8Gi") + pod("two", 2, "8Gi")};
  const auto result = scenarios::import_log(scenarios::ImportKind::K8s, {&file, 1}, options);
  ASSERT_TRUE(result);
  const std::string yaml =
      scenarios::scenario_of(*result, scenarios::ImportKind::K8s, options).yaml;
  std::string types;
  for (std::size_t at = yaml.find("instanceType: "); at != std::string::npos;
       at = yaml.find("instanceType: ", at + 1)) {
    types += yaml.substr(at + 15, yaml.find('"', at + 15) - at - 15) + " " +
             yaml.substr(yaml.find("max: ", at), 6) + ", ";
  }
  EXPECT_EQ(types,
            "g6.xlarge max: 8, g6.8xlarge max: 8, g6.12xlarge max: 2, g6.2xlarge max: 8, "
            "g6.4xlarge max: 8, g6.16xlarge max: 8, g6.24xlarge max: 2, g6.48xlarge max: 1, ");
}

TEST(KarpenterTypes, NamedTypesThatOtherRequirementsRuleOutAreNotTaken) {
  const models::Catalogue catalogue = models::load_catalogue();
  const std::string named =
      "{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge, g6.xlarge]}, ";
  EXPECT_EQ(type_of(named + karpenters("family", "NotIn, values: [g5]"), catalogue), "g6.xlarge");
}

TEST(KarpenterTypes, NodePoolsThatCannotHaveGpusAreLeftOut) {
  const models::Catalogue catalogue = models::load_catalogue();
  const std::string general = karpenters("category", "In, values: [c, m, r]");
  EXPECT_EQ(imported(general, 1, catalogue).second, "node pools without GPUs");
  EXPECT_EQ(imported(karpenters("gpu-count", "DoesNotExist"), 1, catalogue).second,
            "node pools without GPUs");
  EXPECT_EQ(imported(karpenters("generation", "Gt, values: [\"2\"]"), 1, catalogue).second, "");
}

// Of g6f EC2 says 0 GPUs: the cheapest with an L4, and Karpenter never starts it for them.
TEST(KarpenterTypes, PartsOfGpusCountWhereAnOverlaySaysSo) {
  const models::Catalogue catalogue = models::load_catalogue();
  const auto with = [&](const std::string& requirements, const std::string& overlay = {}) {
    const std::string pool =
        "kind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {requirements: [" +
        requirements + "]}}}\n";
    const std::string pod =
        "---\nkind: Deployment\nmetadata: {name: w}\nspec: {template: {spec: {containers: [{name: "
        "c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
    const std::vector<SourceText> files{{"f.yaml", pool + pod + overlay}};
    scenarios::ImportOptions options;
    take_catalogue(catalogue, options);
    const auto result = scenarios::import_log(scenarios::ImportKind::K8s, files, options);
    const std::string yaml =
        result ? scenarios::scenario_of(*result, scenarios::ImportKind::K8s, options).yaml : "";
    const std::size_t at = yaml.find("instanceType: \"") + 15;
    std::string found = yaml.substr(at, yaml.find('"', at) - at);
    for (const Diagnostic& told :
         lint_cluster(scenarios::read_cluster_files(files, {}), catalogue, {})) {
      if (told.code == Code::GpuCountZero) found += ", none started";
    }
    return found;
  };
  const auto overlay = [](const std::string& family) {
    return "---\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {requirements: [" +
           karpenters("family", "In, values: [" + family + "]") +
           "], capacity: {nvidia.com/gpu: \"1\"}}\n";
  };
  const std::string l4 = karpenters("gpu-name", "In, values: [l4]");
  EXPECT_EQ(with(l4), "g6.xlarge");
  EXPECT_EQ(with(l4, overlay("g6f")), "g6f.large");
  EXPECT_EQ(with(l4, overlay("g5")), "g6.xlarge");
  const std::string few = l4 + ", " + karpenters("gpu-memory", "Lt, values: [\"12000\"]");
  EXPECT_EQ(with(few), "g6f.large, none started");
  EXPECT_EQ(with(few, overlay("g6f")), "g6f.large");
  EXPECT_EQ(with(few, overlay("g6")), "g6f.large, none started");
  // Karpenter's label says 0, whatever the overlay.
  const std::string one = l4 + ", " + karpenters("gpu-count", "In, values: [\"1\"]");
  EXPECT_EQ(with(one, overlay("g6f")), "g6.xlarge");
}

// us-east-1 was asked what nodes cost, wherever they were.
TEST(KarpenterTypes, TypesCostWhatTheyDoWhereTheNodesAre) {
  models::Catalogue catalogue = models::load_catalogue();
  const auto set_price = [&](const char* type, double usd) {
    catalogue.prices.set(type, "eu-west-1", models::PurchaseOption::OnDemand,
                         {{from_dollars(usd)}, {}});
  };
  set_price("g6.xlarge", 2.0);
  set_price("g5.xlarge", 1.0);
  const auto in_region = [&](const std::string& more, const std::string& of_pod = {},
                             const std::string& flag = {}) {
    scenarios::ImportOptions options;
    take_catalogue(catalogue, options);
    options.region = flag;
    const SourceText file{
        "f.yaml",
        "kind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {requirements: [" +
            karpenters("family", "In, values: [g5, g6]") +
            (more.starts_with("{key") ? ", " + more : "") +
            "]}}}\n---\nkind: Deployment\nmetadata: {name: w}\nspec: {template: {spec: {" + of_pod +
            "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n" +
            (more.starts_with("---") ? more : "")};
    const auto result = scenarios::import_log(scenarios::ImportKind::K8s, {&file, 1}, options);
    if (!result) return result.error().front().message;
    const std::string yaml =
        scenarios::scenario_of(*result, scenarios::ImportKind::K8s, options).yaml;
    const auto text_of = [&](const std::string& key) {
      const std::size_t at = yaml.find(key) + key.size();
      return yaml.substr(at, yaml.find('\n', at) - at);
    };
    const std::string type = text_of("instanceType: \"");
    return text_of("  region: ") + " " + type.substr(0, type.find('"'));
  };
  const std::string assumed = "us-east-1  # TODO: Assumed: whose prices count g6.xlarge";
  EXPECT_EQ(in_region(""), assumed);
  const std::string here = "\"eu-west-1\" g5.xlarge";
  EXPECT_EQ(in_region("", "", "eu-west-1"), here);
  EXPECT_EQ(in_region("---\nkind: ClusterConfig\nmetadata: {name: c, region: eu-west-1}\n"), here);
  EXPECT_EQ(
      in_region("---\nkind: Node\nmetadata: {name: n, labels: {topology.kubernetes.io/region: "
                "eu-west-1}}\n"),
      here);
  EXPECT_EQ(in_region("{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1b]}"),
            here);
  EXPECT_EQ(in_region("", "nodeSelector: {topology.kubernetes.io/zone: eu-west-1c}, "), here);
  EXPECT_EQ(in_region("", "nodeSelector: {topology.kubernetes.io/zone: rack-7}, "), assumed);
  // The flag is right where both speak, and prices that nobody knows choose nothing.
  EXPECT_EQ(in_region("---\nkind: ClusterConfig\nmetadata: {name: c, region: us-west-2}\n", "",
                      "eu-west-1"),
            here);
  EXPECT_EQ(in_region("", "", "moon-1"), "\"moon-1\" g6.xlarge");
}

// g5g.xlarge is the cheapest of all; images are for amd64 where nobody says otherwise.
TEST(KarpenterTypes, TheArchitectureIsTheCataloguesToSay) {
  models::Catalogue catalogue = models::load_catalogue();
  const std::string any = karpenters("category", "In, values: [g]");
  const std::string arm = any + ", {key: kubernetes.io/arch, operator: In, values: [arm64]}";
  EXPECT_EQ(type_of(arm, catalogue), "g5g.xlarge");
  EXPECT_EQ(type_of(any, catalogue), "g4dn.xlarge");
  std::erase_if(catalogue.instances, [](const auto& type) { return type.family == "g5g"; });
  EXPECT_EQ(imported(arm, 1, catalogue).second, "node pools without GPUs");
}

}  // namespace
}  // namespace slicewise::sim
