#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/lint.hpp"

namespace slicewise::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Not;

// One rule: documents that break it and documents, much alike, that do not.
struct RuleCase {
  std::string rule;  // "DP01", of the list of known configuration mistakes
  std::string code;
  std::string version = "0.20.0";
  std::string fires;
  std::string quiet;
};

std::string whole_text(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Lines "@name first the rest" stand for the snippet `name` with $1 and $2 replaced.
std::string expanded(const std::string& line, const std::map<std::string, std::string>& snippets) {
  std::istringstream words(line.substr(1));
  std::string name;
  std::string first;
  std::string rest;
  words >> name >> first;
  std::getline(words >> std::ws, rest);
  std::string text = snippets.at(name);
  for (const auto& [mark, value] : {std::pair("$1", first), std::pair("$2", rest)}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
      text.replace(at, 2, value);
      at += value.size();
    }
  }
  return text;
}

// "=== snippet NAME", "=== RULE CODE [VERSION]" and "=== but not" start the parts of rules.txt.
std::vector<RuleCase> rule_cases() {
  std::istringstream in(whole_text(fs::path(SLICEWISE_SOURCE_DIR) / "tests/sim/lint/rules.txt"));
  std::map<std::string, std::string> snippets;
  std::vector<RuleCase> cases;
  std::string ignored;
  std::string* part = &ignored;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("=== ")) {
      *part += (line.starts_with('@') ? expanded(line, snippets) : line + "\n");
      continue;
    }
    std::istringstream words(line.substr(4));
    std::string first;
    std::string second;
    words >> first >> second;
    if (first == "snippet") {
      part = &snippets[second];
    } else if (first == "but") {
      part = &cases.back().quiet;
    } else {
      cases.push_back({.rule = first, .code = second, .fires = {}, .quiet = {}});
      words >> cases.back().version;
      if (cases.back().version.empty()) cases.back().version = "0.20.0";
      part = &cases.back().fires;
    }
  }
  return cases;
}

const models::Catalogue& catalogue() {
  static const models::Catalogue loaded = models::load_catalogue();
  return loaded;
}

Diagnostics findings_in(const std::vector<SourceText>& sources, const std::string& version) {
  const auto plugin = *scenarios::plugin_version(version);
  scenarios::ClusterFiles files = scenarios::read_cluster_files(sources, plugin);
  Diagnostics found = files.problems;
  std::ranges::move(lint_cluster(files, catalogue(), plugin), std::back_inserter(found));
  return found;
}

std::set<std::string> codes_in(const Diagnostics& found) {
  std::set<std::string> codes;
  for (const Diagnostic& d : found) codes.emplace(info(d.code).name);
  return codes;
}

TEST(LintRules, EachFiresOnItsMistakeAndNotBesideIt) {
  for (const RuleCase& rule : rule_cases()) {
    SCOPED_TRACE(rule.rule + " " + rule.code);
    const auto fires = codes_in(findings_in({{"a.yaml", rule.fires}}, rule.version));
    EXPECT_THAT(fires, Contains(rule.code));
    EXPECT_THAT(fires, Not(Contains("YAML_SYNTAX")));
    const auto quiet = codes_in(findings_in({{"a.yaml", rule.quiet}}, rule.version));
    EXPECT_THAT(quiet, Not(Contains(rule.code)));
    EXPECT_THAT(quiet, Not(Contains("YAML_SYNTAX")));
  }
}

// EKS's API server adds the toleration of a taint that is named as what the pod asks for.
TEST(LintRules, ATaintThatEksToleratesIsANote) {
  const auto severity = [](const std::string& resource, const std::string& effect) {
    const auto found = findings_in(
        {{"a.yaml",
          "kind: ClusterConfig\n"
          "managedNodeGroups: [{name: g, instanceType: g5.xlarge, taints: [{key: nvidia.com/gpu, "
          "value: \"true\", effect: " +
              effect + "}]}]\n---\nkind: Pod\nmetadata: {name: p}\n" +
              "spec: {containers: [{name: c, resources: {limits: {" + resource + ": 1}}}]}\n"}},
        "0.20.0");
    const auto taint = std::ranges::find(found, Code::TaintNotTolerated, &Diagnostic::code);
    return taint == found.end() ? std::optional<Severity>() : taint->severity;
  };
  EXPECT_EQ(severity("nvidia.com/gpu", "NoSchedule"), Severity::Note);
  EXPECT_EQ(severity("nvidia.com/gpu", "NoExecute"), Severity::Error);
}

// A TrainJob's pods tolerate what its runtime says, be it in a file or not.
TEST(LintRules, TaintsAreHeldAgainstTheRuntimeOfATrainJob) {
  const auto is_kept_off = [](const std::string& runtime) {
    const auto found = findings_in(
        {{"a.yaml",
          "kind: ClusterConfig\nmanagedNodeGroups: [{name: g, instanceType: g5.xlarge, taints: "
          "[{key: dedicated, effect: NoSchedule}]}]\n---\napiVersion: "
          "trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: p}\nspec: {runtimeRef: "
          "{name: r}, trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}}\n" +
              runtime}},
        "0.20.0");
    return std::ranges::find(found, Code::TaintNotTolerated, &Diagnostic::code) != found.end();
  };
  const auto runtime = [](const std::string& spec) {
    return "---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\n"
           "metadata: {name: r}\nspec: {template: {spec: {replicatedJobs: [{name: node, template: "
           "{metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: "
           "{template: {spec: {" +
           spec + "containers: [{name: node, image: x}]}}}}}]}}}\n";
  };
  EXPECT_FALSE(is_kept_off(""));
  EXPECT_FALSE(is_kept_off(runtime("tolerations: [{key: dedicated, operator: Exists}], ")));
  EXPECT_TRUE(is_kept_off(runtime("")));
}

TEST(LintRules, EveryKnownMistakeHasACase) {
  std::set<std::string> rules;
  for (const RuleCase& rule : rule_cases()) rules.insert(rule.rule);
  for (const auto& [group, count] : {std::pair("DP", 18), std::pair("CM", 15), std::pair("MG", 17),
                                     std::pair("PD", 16), std::pair("MO", 5), std::pair("DR", 6)}) {
    for (int number = 1; number <= count; ++number) {
      EXPECT_THAT(rules,
                  Contains(group + std::string(number < 10 ? "0" : "") + std::to_string(number)));
    }
  }
}

TEST(LintRules, PointIntoBlocksOfText) {
  const std::string values =
      "config:\n  map:\n    four: |\n\n      sharing:\n        timeSlicing:\n          resources:\n"
      "            - {name: nvidia.com/gpu, replicas: 1}\n";
  const Diagnostics found = findings_in({{"values.yaml", values}}, "0.20.0");
  const auto replicas = std::ranges::find(found, Code::ReplicasTooFew, &Diagnostic::code);
  ASSERT_NE(replicas, found.end());
  EXPECT_EQ(replicas->where, (SourceLocation{"values.yaml", 8, 48, 1}));
}

std::string refusal_at(const std::string& version) {
  const std::string config =
      "version: v1\nsharing: {timeSlicing: {failRequestsGreaterThanOne: true, resources: [{name: "
      "nvidia.com/gpu, replicas: 4}]}}\n";
  const std::string pod =
      "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {limits: "
      "{nvidia.com/gpu: 2}}}]}\n";
  for (const Diagnostic& d : findings_in({{"c.yaml", config}, {"p.yaml", pod}}, version)) {
    if (d.code == Code::RequestTooLarge) return d.message;
  }
  return {};
}

TEST(LintRules, QuoteTheRefusalOfThePluginVersion) {
  EXPECT_THAT(refusal_at("0.20.0"),
              ::testing::HasSubstr("desc = invalid request: maximum request size for shared "
                                   "resources is 1; found 2, which is unexpected"));
  EXPECT_THAT(refusal_at("v0.14.5"),
              ::testing::HasSubstr("request for 'nvidia.com/gpu: 2' too large: maximum request "
                                   "size for shared resources is 1"));
}

// The plugin counts with 64 bits; no rule may multiply such a number.
TEST(LintRules, HugeNumbersOfReplicas) {
  const auto codes_of = [](const std::string& replicas) {
    return codes_in(findings_in({{"c.yaml",
                                  "version: v1\nsharing: {timeSlicing: {resources: [{name: "
                                  "nvidia.com/gpu, replicas: " +
                                      replicas + "}]}}\n"},
                                 {"n.yaml",
                                  "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: "
                                  "t4}\nspec: {template: {spec: {requirements: [{key: "
                                  "node.kubernetes.io/instance-type, operator: In, values: "
                                  "[g4dn.12xlarge]}]}}}\n"}},
                                "0.20.0"));
  };
  EXPECT_THAT(codes_of("99999999999999999999"), Contains("FIELD_TYPE"));
  EXPECT_THAT(codes_of("99999999999999999999"), Not(Contains("REPLICAS_TOO_FEW")));
  EXPECT_THAT(codes_of("9223372036854775807"), Not(Contains("FIELD_TYPE")));
}

// Keys that half of all programs have do not make a file one of NVIDIA's.
TEST(LintRules, FilesOfOthersAreLeftAlone) {
  for (const char* text :
       {"config: {name: web, port: 80}\nreplicaCount: 2\n", "config: {name: web}\n",
        "operator: {replicas: 2}\n", "driver: {enabled: true}\n", "flags: {debug: true}\n",
        "sharing: {enabled: true}\n", "version: \"3\"\nservices: {}\n", "version: v1.2\n",
        "mps: {enabled: true}\nimages: []\n"}) {
    EXPECT_EQ(codes_in(findings_in({{"a.yaml", text}}, "0.20.0")),
              std::set<std::string>{"KIND_NOT_CHECKED"})
        << text;
  }
  EXPECT_TRUE(findings_in({{"a.yaml", "kind: PrometheusRule\n"}}, "0.20.0").empty());
}

TEST(LintRules, FilesOfOurOwn) {
  const scenarios::PluginVersion version;
  const std::vector<SourceText> sources{
      {"s.yaml", "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\n"},
      {"r.yaml", "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\n"},
      {"p.json", R"({"apiVersion": "slicewise.dev/plan.v1alpha1", "kind": "Plan"})"}};
  const scenarios::ClusterFiles files = scenarios::read_cluster_files(sources, version);
  EXPECT_EQ(files.scenarios, std::vector<std::size_t>{0});
  EXPECT_EQ(files.replays, std::vector<std::size_t>{1});
  ASSERT_EQ(files.problems.size(), 1U);
  EXPECT_EQ(files.problems[0].code, Code::KindNotChecked);
  EXPECT_THAT(files.problems[0].help, ::testing::HasSubstr("slicewise export -f PLAN"));
}

// Bottlerocket's user data is TOML, which is refused as a whole for one wrong line.
TEST(LintRules, UserDataThatIsNoToml) {
  const std::string good =
      "# user data\n[settings]\nmotd = \"\"\"\nnot a key\n\"\"\"\n"
      "[settings.kubernetes]\nstatic-pods = [\n  { manifest = \"x\" }, # one\n]\n"
      "\"allowed-unsafe-sysctls\" = [ 'a', 'b' ]\nstart = 1979-05-27T07:32:00Z\n"
      "[settings.kubelet-device-plugins.nvidia]\ndevice-sharing-strategy = \"time-slicing\"\n"
      "time-slicing.replicas = 1_0\n";
  EXPECT_THAT(codes_in(findings_in({{"u.toml", good}}, "0.20.0")),
              ::testing::IsSubsetOf({"GPU_MEM_UNLIMITED"}));
  for (const auto& [line, code] :
       {std::pair("device-list-strategy uuid\n", "YAML_SYNTAX"),
        std::pair("pass-device-specs = yes\n", "YAML_SYNTAX"),
        std::pair("[settings.kubelet-device-plugins.nvidia\n", "YAML_SYNTAX"),
        std::pair("[# no name\n", "YAML_SYNTAX"),
        std::pair("replicas = 99999999999999999999\n", "YAML_SYNTAX"),
        std::pair("device-sharing-strategy = \"mps\"\n", "FIELD_DUPLICATE"),
        std::pair("mig.profile.a100.40gb = \"1g.5gb\"\n", "FIELD_UNKNOWN"),
        std::pair("pass-device-specs = \"true\"\n", "FIELD_TYPE")}) {
    const Diagnostics found = findings_in({{"u.toml", good + line}}, "0.20.0");
    const auto wrong = std::ranges::find_if(
        found, [&, want = code](const Diagnostic& d) { return info(d.code).name == want; });
    ASSERT_NE(wrong, found.end()) << line;
    EXPECT_EQ(wrong->where, (SourceLocation{"u.toml", 15, 1, 1})) << line;
  }
  // Lines that are wrong by themselves are all shown; a bomb ends the reading at once.
  EXPECT_EQ(findings_in({{"u.toml", "a b\n[settings]\nc d\n"}}, "0.20.0").size(), 2U);
  std::string bomb = "[settings";
  for (int i = 0; i < 100'000; ++i) bomb += ".a";
  EXPECT_EQ(findings_in({{"u.toml", bomb + "]\n"}}, "0.20.0").size(), 1U);
  EXPECT_EQ(findings_in({{"u.toml", "a = " + std::string(100'000, '[')}}, "0.20.0").size(), 1U);
}

// It makes the pod see less, not more.
TEST(LintRules, CudaVisibleDevicesIsAWarning) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x, "
      "env: [{name: "
      "CUDA_VISIBLE_DEVICES, value: '1'}], resources: {limits: {nvidia.com/gpu: 2}}}]}\n";
  const Diagnostics found = findings_in({{"p.yaml", pod}}, "0.20.0");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::VisibleDevicesSet);
  EXPECT_EQ(found.front().severity, Severity::Warning);
}

// 33.6 GiB of 22.1, and a pod of which no file says what it needs.
TEST(LintRules, TheMemoryLedgerOfManifests) {
  const auto pods = [](const std::string& name, int replicas, const std::string& memory) {
    return "kind: Deployment\nmetadata: {name: " + name + memory +
           "}\nspec: {replicas: " + std::to_string(replicas) +
           ", template: {spec: {containers: [{name: c, image: x, resources: {limits: "
           "{nvidia.com/gpu: 1}}}]}}}\n---\n";
  };
  const std::string pool =
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpus}\nspec: {template: "
      "{spec: {nodeClassRef: {group: karpenter.k8s.aws, name: class}, requirements: [{key: "
      "node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge, g6e.xlarge]}]}}}\n";
  const std::string config =
      "version: v1\nsharing: {timeSlicing: {failRequestsGreaterThanOne: true, resources: [{name: "
      "nvidia.com/gpu, replicas: 4}]}}\n";
  const auto files = scenarios::read_cluster_files(
      std::vector<SourceText>{
          {"c.yaml", config},
          {"p.yaml", pods("asr", 4, ", annotations: {slicewise.dev/gpu-memory: 8Gi}") +
                         pods("tts", 1, "") + pool}},
      {});
  EXPECT_EQ(cluster_room_lines(files, catalogue()),
            (std::vector<std::string>{
                "gpus: 2 per GPU: 2 x (8.0 + 0.4 GiB) of 22.1; a third lacks 3.1 GiB; up to 4 "
                "may meet there and run out of memory",
                "gpus: what tts needs of the GPU's memory is in no file: annotate the pods, "
                "slicewise.dev/gpu-memory: 4Gi"}));
}

// kubectl prints a ConfigMap's files as quoted text, and what was wrong inside of them stood at
// other objects, or below the end of the file.
TEST(LintRules, WhatStandsInAQuotedFileIsAtItsValue) {
  const std::string text =
      "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"c\"},\n"
      " \"data\": {\n"
      "  \"ts4\": \"version: v1\\nsharing:\\n  timeSlicing:\\n    resources:\\n    - name: "
      "nvidia.com/gpu\\n      replicas: 1\\n\"}}\n";
  const Diagnostics found = findings_in({{"c.json", text}}, "0.20.0");
  const auto few = std::ranges::find(found, Code::ReplicasTooFew, &Diagnostic::code);
  ASSERT_NE(few, found.end());
  for (const Diagnostic& d : found) EXPECT_EQ(d.where.line, 3) << d.message;
  EXPECT_EQ(few->where.column, 10);
}

// A pod with annotations and containers that ask for `gpus`, on a pool of the type whose GPUs
// are shared as `sharing` says; what check tells of memory.
Diagnostics memory_findings(const std::string& annotations, const std::string& gpus, int pods,
                            const std::string& sharing, const std::string& type = "g5.xlarge") {
  std::string containers;
  for (const char amount : gpus) {
    containers += std::string("{name: c") + amount +
                  ", image: x, resources: {limits: " + "{nvidia.com/gpu: " + amount + "}}}, ";
  }
  const std::string files =
      "kind: Deployment\nmetadata: {name: asr, annotations: {" + annotations +
      "}}\nspec: {replicas: " + std::to_string(pods) + ", template: {spec: {containers: [" +
      containers +
      "]}}}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpus}\nspec: "
      "{template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, name: class}, requirements: "
      "[{key: node.kubernetes.io/instance-type, operator: In, values: [" +
      type + "]}]}}}\n" + (sharing.empty() ? "" : "---\nversion: v1\nsharing: {" + sharing + "}\n");
  Diagnostics found = findings_in({{"a.yaml", files}}, "0.20.0");
  std::erase_if(found, [](const Diagnostic& d) {
    return d.code != Code::GpuOom && d.message.find("slicewise") == std::string::npos &&
           d.code != Code::UnitMissing && d.code != Code::UnitUnknown &&
           d.code != Code::ValueRange && d.code != Code::FieldType;
  });
  return found;
}
const std::string kFour = "timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}";

TEST(LintRules, APodThatFitsNowhereIsAnError) {
  for (const std::string& sharing :
       {std::string(), kFour,
        std::string("mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}")}) {
    const Diagnostics found = memory_findings("slicewise.dev/gpu-memory: 30Gi", "1", 2, sharing);
    ASSERT_EQ(found.size(), 1U) << sharing;
    EXPECT_EQ(found[0].severity, Severity::Error) << sharing;
    EXPECT_TRUE(found[0].message.starts_with("gpus: 0 per GPU: a p")) << found[0].message;
    EXPECT_EQ(found[0].message.find("may meet"), std::string::npos);
    EXPECT_EQ(found[0].help.find("at most"), std::string::npos);
  }
  EXPECT_TRUE(memory_findings("slicewise.dev/gpu-memory: 8Gi", "1", 2, "").empty());
}

// A g6f.xlarge has an eighth of an L4.
TEST(LintRules, APartOfAGpuHasAPartOfItsMemory) {
  const std::string annotation = "slicewise.dev/gpu-memory: 8Gi";
  EXPECT_TRUE(memory_findings(annotation, "1", 2, "", "g6.xlarge").empty());
  EXPECT_EQ(memory_findings(annotation, "1", 2, "", "g6f.xlarge").size(), 1U);
}

// Two pods with two of four replicas each: both fit.
TEST(LintRules, TheLedgerCountsRequests) {
  EXPECT_TRUE(memory_findings("slicewise.dev/gpu-memory: 8Gi", "2", 4, kFour).empty());
  EXPECT_EQ(memory_findings("slicewise.dev/gpu-memory: 8Gi", "1", 4, kFour).size(), 1U);
  // Two containers take two replicas and are two processes.
  const Diagnostics found = memory_findings("slicewise.dev/gpu-memory: 8Gi", "11", 4, kFour);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find("1 per GPU: 2 x (8.0 + 0.4 GiB)"), std::string::npos)
      << found[0].message;
  EXPECT_NE(found[0].message.find("up to 2 may meet"), std::string::npos) << found[0].message;
}

TEST(LintRules, AnnotationsOfOursAreJudged) {
  for (const auto& [annotation, severity, words] :
       {std::tuple{"traffic: abc", Severity::Error, "abc"},
        {"gpu-util: \"250\"", Severity::Error, "250"},
        {"request-gpu-time: 0s", Severity::Error, "more than zero"},
        {"gpu-memory: 8GB", Severity::Error, "8GB"},
        {"gpu-mem: 8Gi", Severity::Warning, "did you mean \"slicewise.dev/gpu-memory\"?"}}) {
    const Diagnostics found =
        memory_findings(std::string("slicewise.dev/") + annotation, "1", 1, kFour);
    ASSERT_EQ(found.size(), 1U) << annotation;
    EXPECT_EQ(found[0].severity, severity) << annotation;
    EXPECT_NE(found[0].message.find(words), std::string::npos) << found[0].message;
  }
  EXPECT_TRUE(memory_findings("slicewise.dev/traffic: 2/s, slicewise.dev/gpu-util: 40%, "
                              "slicewise.dev/kind: Deployment",
                              "1", 1, kFour)
                  .empty());
}

TEST(LintRules, AGreedyProgramLeavesNothingToOthers) {
  const std::string files =
      "kind: Deployment\nmetadata: {name: tf}\nspec: {replicas: 2, template: {spec: {containers: "
      "[{name: c, image: 'tensorflow/tensorflow:2', resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"
      "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpus}\nspec: {template: "
      "{spec: {nodeClassRef: {group: karpenter.k8s.aws, name: class}, requirements: [{key: "
      "node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}]}}}\n---\n"
      "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n";
  const auto read = scenarios::read_cluster_files(std::vector<SourceText>{{"a.yaml", files}}, {});
  EXPECT_EQ(
      cluster_room_lines(read, catalogue()),
      (std::vector<std::string>{"gpus: 1 per GPU: tf maps all free memory of 22.1 GiB; up to 2 "
                                "may meet there and run out of memory"}));
  EXPECT_EQ(codes_in(findings_in({{"a.yaml", files}}, "0.20.0")).count("GPU_OOM"), 0U);
}

// What the vendors' own programs accept has no errors: a false alarm is worse than a miss.
TEST(LintRules, AcceptedFilesHaveNoErrors) {
  const fs::path folder = fs::path(SLICEWISE_SHARED_DIR) / "config_examples";
  std::vector<fs::path> files{fs::path(SLICEWISE_SOURCE_DIR) /
                              "scenarios/examples/cluster/values.yaml"};
  if (fs::exists(folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
  }
  for (const fs::path& file : files) {
    for (const Diagnostic& d : findings_in({{file.string(), whole_text(file)}}, "0.20.0")) {
      EXPECT_NE(d.severity, Severity::Error)
          << file << ":" << d.where.line << " " << info(d.code).name << " " << d.message;
    }
  }
}

}  // namespace
}  // namespace slicewise::sim
