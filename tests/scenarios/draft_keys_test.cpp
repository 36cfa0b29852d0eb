#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"

#include "import/importers.hpp"
#include "import/scenario_draft.hpp"

// Importers write the keys of fields as text. Every branch of every draft is written here, and read
// again: a field that is renamed, moved or taken away cannot leave a draft behind.
namespace slicewise::scenarios {
namespace {

using Kind = DraftWorkload::Kind;

void expect_known(const std::string& yaml, const std::string& what) {
  const FileReader no_file = [](const std::string& path) -> Expected<SourceText> {
    const bool rates = path.find("rates") != std::string::npos;
    return SourceText{path, rates ? "client,at_s,rate,law,variation\n0,0,1,Gamma,2\n0,600,0,,0\n"
                                  : "arrival_s,input_tokens,output_tokens\n0,100,10\n5,200,20\n"};
  };
  for (const Diagnostic& problem : read_scenario_file({"f.yaml", yaml}, {}, no_file).problems) {
    if (problem.severity != Severity::Error) continue;
    ADD_FAILURE() << what << ", line " << problem.where.line << ": " << problem.message << "\n"
                  << yaml;
  }
}

void expect_known(const DraftPool& pool, const DraftWorkload& workload, const std::string& what,
                  const std::optional<Provisioner>& provisioner = {}) {
  const ScenarioDraft draft{"d", "import k8s", "us-east-1", provisioner, {pool}, {workload}};
  expect_known(written(draft).yaml, what);
}

DraftWorkload workload_for(const std::string& resource, Kind kind) {
  DraftWorkload workload;
  workload.name = "w";
  workload.kind = kind;
  workload.resource = resource;
  return workload;
}

const std::string kGpu = "nvidia.com/gpu";

TEST(DraftKeys, OfWorkloadsAreThoseOfTheFields) {
  const DraftPool pool = assumed_pool(kGpu, 1, {}, {});
  for (const Kind kind : {Kind::Job, Kind::Deployment, Kind::Service, Kind::Notebook}) {
    DraftWorkload workload = workload_for(kGpu, kind);
    const std::string what = "kind " + std::to_string(static_cast<int>(kind));
    expect_known(pool, workload, what + " with nothing known");
    workload.gpu_permille = 385;
    workload.sm_permille = 214;
    workload.gpu_memory = gibibytes(2);
    workload.memory_is_measured = true;
    expect_known(pool, workload, what + " with use of the GPU");
    workload.run_time = minutes(7);
    workload.space = "team-a";
    workload.comment = "Deployment";
    workload.cpu_milli = 500;
    workload.memory_bytes = gibibytes(3).count;
    workload.priority = 10;
    workload.restart_policy = kind == Kind::Job ? "Never" : "";
    workload.tolerations = {{"a", "Equal", "b", "NoSchedule"}};
    workload.node_selector = {{"team", "vision"}};
    workload.labels = {{"team", "vision"}};
    workload.anti_affinity = {{{{"team", "vision"}}, {"team-a"}, std::string(kHostname), {}}};
    workload.pod_affinity = workload.anti_affinity;
    workload.node_affinity = {{{{"team", "Gt", {"1"}, {}}}, {}}};
    workload.preferences.affinity = {
        {{{"team", "vision"}}, {"team-a"}, std::string(kZoneLabel), {}, 50}};
    workload.preferences.anti_affinity = {{{{"team", "audio"}}, {}, std::string(kHostname), {}, 1}};
    workload.preferences.spread = {{2,
                                    std::string(kHostname),
                                    "DoNotSchedule",
                                    {{"team", "vision"}},
                                    {},
                                    3,
                                    "Ignore",
                                    "Honor"}};
    workload.preferences.nodes = {{80, {{"team", "In", {"vision", "audio"}, {}}}, {}}};
    workload.budget = DisruptionBudget{true, false, 1, {}, "vision-budget"};
    workload.environment = {{"TF_FORCE_GPU_ALLOW_GROWTH", "true"}};
    DraftPool labelled = pool;
    labelled.labels = {{"team", "vision"}};
    labelled.taints = {{"a", "b", "NoSchedule"}};
    expect_known(labelled, workload, what + " with all that there is");
  }
}

TEST(DraftKeys, OfPoolsAreThoseOfTheFields) {
  for (const std::string resource :
       {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb",
        "nvidia.com/mig-1g.10gb", "nvidia.com/gpu-10gb", "k8s.amazonaws.com/vgpu"}) {
    for (const std::optional<int> replicas : {std::optional<int>(), std::optional<int>(3)}) {
      expect_known(assumed_pool(resource, 1, replicas, {}), workload_for(resource, Kind::Job),
                   resource);
    }
  }
  DraftPool grows = assumed_pool(kGpu, 1, {}, {});
  grows.most_nodes = 4;
  grows.capacity_type = "spot";
  grows.falls_back = true;
  Provisioner provisioner;
  provisioner.kind = Provisioner::Kind::ClusterAutoscaler;
  provisioner.scan_interval = seconds(30);
  expect_known(grows, workload_for(kGpu, Kind::Job), "a pool that grows", provisioner);
}

// What the files of a cluster become, beyond what assumed pools have.
TEST(DraftKeys, OfClustersAreThoseOfTheFields) {
  const std::string pod =
      "kind: Pod\nmetadata: {name: p}\nspec: {tolerations: [{key: a, operator: Exists, effect: "
      "NoSchedule}, {key: b, operator: Equal, value: c}], containers: [{name: c, resources: "
      "{limits: "
      "{nvidia.com/gpu: 1}}}]}\n";
  const auto group = [](const std::string& settings) {
    return "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: "
           "us-west-2}\nmanagedNodeGroups:\n- name: gpus\n  instanceType: p4d.24xlarge\n  minSize: "
           "1\n"
           "  maxSize: 3\n  spot: true\n  labels: {team: vision}\n  bottlerocket: {settings: "
           "{kubelet-device-plugins: {nvidia: {" +
           settings + "}}}}\n";
  };
  const std::string karpenter =
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpus}\nspec:\n"
      "  limits: {nodes: 5}\n  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: "
      "30s}\n"
      "  template:\n    metadata: {labels: {nvidia.com/mig.config: mine}, annotations: {}}\n"
      "    spec:\n      taints: [{key: a, value: b, effect: NoSchedule}]\n      requirements:\n"
      "      - {key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}\n"
      "      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}\n";
  const std::string layouts =
      "version: v1\nmig-configs: {mine: [{devices: all, mig-enabled: true, mig-devices: {3g.20gb: "
      "2}}]}\n";
  const std::string shares =
      "version: v1\nflags: {migStrategy: single}\nsharing: {timeSlicing: {resources: [{name: "
      "nvidia.com/gpu, replicas: 4}]}}\n";
  const std::vector<std::vector<std::string>> clusters = {
      {pod},
      {pod, shares},
      {pod, group("device-sharing-strategy: mps, mps: {replicas: 4}")},
      {pod, group("device-sharing-strategy: time-slicing, time-slicing: {replicas: 4, "
                  "rename-by-default: true, fail-requests-greater-than-one: false}")},
      {pod, group("device-partitioning-strategy: mig, mig: {profile: {a100.40gb: 1g.5gb}}")},
      {pod, karpenter, layouts},
      {pod, karpenter, layouts, shares},
  };
  for (std::size_t n = 0; n < clusters.size(); ++n) {
    std::vector<SourceText> files;
    for (const std::string& text : clusters[n]) {
      files.push_back({"f" + std::to_string(files.size()) + ".yaml", text});
    }
    const auto imported = import_log(ImportKind::K8s, files, {});
    ASSERT_TRUE(imported) << n << ": " << imported.error().front().message;
    expect_known(scenario_of(*imported, ImportKind::K8s, {}).yaml, "cluster " + std::to_string(n));
  }
}

TEST(DraftKeys, OfRequestsAreThoseOfTheFields) {
  ImportOptions named;
  named.trace_path = "requests.csv";
  for (const bool has_tokens : {false, true}) {
    RequestLog log;
    log.rows = {{{}, 100, 10}, {seconds(5), 200, 20}};
    log.has_tokens = has_tokens;
    for (const ImportOptions& options : {ImportOptions(), named}) {
      expect_known(request_scenario({log, {}}, ImportKind::Azure, options), "requests");
    }
  }
}

TEST(DraftKeys, OfRatesOfClientsAreThoseOfTheFields) {
  ImportOptions named;
  named.trace_path = "rates.csv";
  ClientRates rates;
  rates.windows = {{0, {}, {1.0}}};
  rates.window = minutes(10);
  for (const TokenLengths& lengths :
       {TokenLengths{}, TokenLengths{100, 400, 900, 150}, TokenLengths{100, 100, 100, 100}}) {
    if (lengths.p50 > 0) rates.input = rates.output = lengths;
    expect_known(request_scenario({rates, {}}, ImportKind::ServeGen, named), "rates of clients");
  }
}

// And the trace that it asks for never has the name of the log.
TEST(DraftKeys, AReplayIsNamedAsItsLog) {
  JobTrace trace;
  trace.file = "logs/Sacct_May.csv";
  const std::string yaml = replay_scenario({trace, {}}, ImportKind::Sacct, {});
  EXPECT_NE(yaml.find("metadata: {name: sacct-may}"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("file: \"sacct-may-jobs.csv\""), std::string::npos) << yaml;
}

TEST(DraftKeys, OfAReplayAreThoseOfTheFields) {
  ImportOptions named;
  named.trace_path = "jobs.csv";
  for (const ImportOptions& options : {ImportOptions(), named}) {
    const std::string yaml = replay_scenario({JobTrace(), {}}, ImportKind::Openb, options);
    const auto read = read_replay_file({"replay.yaml", yaml});
    EXPECT_TRUE(read) << read.error().front().message << "\n" << yaml;
  }
}

}  // namespace
}  // namespace slicewise::scenarios
