#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "imported_scenario.hpp"

// Which nodes an imported scenario has, and which language models vLLM serves on them.
namespace slicewise::scenarios {
namespace {

constexpr std::string_view kThreePods = R"(
kind: Deployment
metadata: {name: asr}
spec: {replicas: 3, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)";

TEST(ImportK8s, InstanceTypesAreGuessedByWhatTheCallerKnowsOfThem) {
  const auto with = [](const std::string& count, const std::string& kind =
                                                     "{key: karpenter.k8s.aws/instance-gpu-name, "
                                                     "operator: In, values: [l4]}") {
    ImportOptions options;
    options.instances = {
        {"g6.xlarge", "l4", 1}, {"g6.12xlarge", "l4", 4}, {"g6.24xlarge", "l4", 4}};
    const std::string pool = R"(
kind: NodePool
metadata: {name: gpus}
spec: {template: {spec: {requirements: [)" +
                             kind + R"(,
  {key: karpenter.k8s.aws/instance-gpu-count, operator: In, values: [)" +
                             count + R"(]}]}}}
)";
    return k8s({pool, std::string(kThreePods)}, options).scenario.node_pools.at(0);
  };
  EXPECT_EQ(with("'1'").instance_type.value, "g6.xlarge");
  EXPECT_EQ(with("'4', '1'").instance_type.value, "g6.xlarge");
  EXPECT_EQ(with("'2'").instance_type.value, "g6.12xlarge");
  EXPECT_EQ(with("'2'").nodes, 0);
  EXPECT_EQ(with("'2'").most_nodes, 100);
  EXPECT_EQ(with("'8'").instance_type.value, "g6.12xlarge");  // the most there are
  const std::string family = "{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}";
  EXPECT_EQ(with("'4'", family).instance_type.value, "g6.12xlarge");
}

std::string deployment(const std::string& name, const std::string& nodes, int gpus = 1) {
  return "---\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {template: {spec: {" +
         nodes + ",\n  containers: [{name: c, resources: {limits: {nvidia.com/gpu: " +
         std::to_string(gpus) + "}}}]}}}\n";
}

// Of what its allocatable says a node had what its labels, settings or type say.
TEST(ImportK8s, WhatANodeOffersIsWhatItHas) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}, {"g5.12xlarge", "a10g", 4}};
  const auto with = [&](const std::string& type, const std::string& gpus,
                        const std::string& labels = "", const std::string& more = "") {
    return k8s({"---\nkind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: " +
                type + labels + "}}\nstatus: {allocatable: {cpu: 3920m" + gpus + "}}\n" + more +
                "---" + std::string(kThreePods)},
               options);
  };
  constexpr const char* kStale =
      ", nvidia.com/gpu.replicas: '4', nvidia.com/gpu.product: NVIDIA-A10G-SHARED";
  constexpr const char* kOther = "sharing that files or labels say";
  const Written stale = with("g5.xlarge", ", nvidia.com/gpu: 1", kStale);
  EXPECT_FALSE(stale.scenario.node_pools.at(0).device_plugin);
  EXPECT_EQ(stale.said.count(kOther), 1);
  const Written shared = with("g5.xlarge", ", nvidia.com/gpu: 4", kStale);
  EXPECT_TRUE(shared.scenario.node_pools.at(0).device_plugin);
  EXPECT_EQ(shared.said.count(kOther), 0);
  const Written settings =
      with("g5.xlarge", ", nvidia.com/gpu: 1", "", "---\n" + std::string(kSharedValues));
  EXPECT_FALSE(settings.scenario.node_pools.at(0).device_plugin);
  EXPECT_EQ(settings.said.count(kOther), 1);
  const Written eight = with("g5.xlarge", ", nvidia.com/gpu: 8", kStale);
  EXPECT_EQ(eight.scenario.node_pools.at(0).device_plugin->time_slicing->resources.at(0).replicas,
            8);
  // One of four is gone, whole or shared.
  for (const char* labels : {"", kStale}) {
    const Written three = with(
        "g5.12xlarge", labels == kStale ? ", nvidia.com/gpu: 12" : ", nvidia.com/gpu: 3", labels);
    EXPECT_EQ(three.said.count("nodes that offer 3 of their 4 GPUs"), 1) << labels;
    EXPECT_EQ(three.scenario.node_pools.at(0).device_plugin.has_value(), labels == kStale);
    EXPECT_EQ(three.scenario.node_pools.at(0).allocatable.gpus, 3);
  }
  EXPECT_FALSE(
      with("g5.12xlarge", ", nvidia.com/gpu: 4").scenario.node_pools.at(0).allocatable.gpus);
}

// It was one pod, beside which two nodes had a free GPU each.
TEST(ImportK8s, ADaemonSetThatAsksForAGpuHasOneOfEachNode) {
  std::string files = "---" + std::string(kThreePods) +
                      "---\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {template: {metadata: "
                      "{labels: {app: agent}}, spec: {containers: [{name: c, image: x, resources: "
                      "{limits: {nvidia.com/gpu: 1}}}]}}}\n";
  for (const char* name : {"a", "b", "c"}) {
    files += fmt::format(
        "---\nkind: Node\nmetadata: {{name: {}, labels: {{node.kubernetes.io/instance-type: "
        "g5.xlarge}}}}\nstatus: {{allocatable: {{cpu: 3920m, nvidia.com/gpu: 1}}}}\n",
        name);
  }
  const Written result = k8s({files});
  ASSERT_TRUE(result.find("agent"));
  EXPECT_EQ(result.scenario.workloads.front().name.value, "agent") << "it is there before others";
  EXPECT_EQ(result.find("agent")->count, 3);
  ASSERT_EQ(result.find("agent")->pod.anti_affinity.size(), 1U);
  EXPECT_EQ(result.said.count("DaemonSets that ask for GPUs: a pod on each node"), 1);
}

// The nodes that were made up for the pods of others went to the DaemonSet.
TEST(ImportK8s, ADaemonSetHasOneOfTheNodesThatAreAssumed) {
  const Written result =
      k8s({std::string(kJob) +
           "---\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {template: {spec: {containers: "
           "[{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"});
  ASSERT_TRUE(result.find("agent"));
  EXPECT_EQ(result.find("agent")->count, 1);
  EXPECT_EQ(result.said.count("DaemonSets that ask for GPUs of nodes that come and go or are"), 1);
}

// Two of a controller on a node with a GPU, one on a node without, and one of a DaemonSet.
TEST(ImportK8s, PodsWithoutGpusOnNodesWithOneAreThere) {
  const auto node = [](const std::string& name, const std::string& type) {
    return "---\nkind: Node\nmetadata: {name: " + name +
           ", labels: {node.kubernetes.io/instance-type: " + type +
           "}}\nstatus: {allocatable: {nvidia.com/gpu: 1}}\n";
  };
  const auto pod = [](const std::string& name, const std::string& owner, const std::string& on) {
    return "---\nkind: Pod\nmetadata: {name: " + name +
           ", ownerReferences: [{controller: true, kind: " + owner + "}]}\nspec: {nodeName: " + on +
           ", containers: [{name: c, image: x, resources: {requests: {cpu: 500m, memory: "
           "1Gi}}}]}\n";
  };
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}};
  const std::string web = "StatefulSet, name: web";
  const Written result =
      k8s({"---" + std::string(kThreePods) + node("gpu", "g5.xlarge") + node("cpu", "m5.large") +
           pod("web-0", web, "gpu") + pod("web-1", web, "gpu") + pod("web-2", web, "cpu") +
           pod("agent", "DaemonSet, name: agent", "gpu")},
          options);
  ASSERT_TRUE(result.find("web-without-gpu"));
  EXPECT_EQ(result.find("web-without-gpu")->count, 2);
  EXPECT_FALSE(result.find("web-without-gpu")->uses_gpu());
  EXPECT_EQ(result.find("web-without-gpu")->pod.cpu_request, Millicores{500});
  EXPECT_EQ(result.said.count("pods without a GPU on nodes with one: they take"), 2);
  EXPECT_FALSE(result.find("agent-without-gpu"));
}

TEST(ImportK8s, PodsThatKeepNodesWithGpusAreNamed) {
  const auto said = [](const std::string& taints, const std::string& owner = "") {
    return k8s({"---" + std::string(kThreePods) +
                "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: "
                "{template: {spec: {" +
                taints +
                "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: "
                "[g5.xlarge]}]}}}\n---\nkind: Pod\nmetadata: {name: web" +
                owner + "}\nspec: {containers: [{name: c, image: x}]}\n"})
        .said.count("pods without a GPU that may get nodes");
  };
  EXPECT_EQ(said(""), 1);
  EXPECT_EQ(said("taints: [{key: nvidia.com/gpu, effect: NoSchedule}], "), 0);
  // A dump has the pods of DaemonSets, and static ones, beside what made them.
  const std::string node = ", ownerReferences: [{controller: true, kind: ";
  EXPECT_EQ(said("", node + "ReplicaSet, name: web}]"), 1);
  EXPECT_EQ(said("", node + "DaemonSet, name: aws-node}]"), 0);
  EXPECT_EQ(said("", node + "Node, name: ip-10-0-0-1}]"), 0);
}

// A run says that Karpenter starts none; without the selector it would start them.
TEST(ImportK8s, LabelsThatKarpenterDoesNotKnowBeforeANodeJoinsStaySelected) {
  const auto selected = [](const std::string& labels, const std::string& key) {
    const Written result =
        k8s({deployment("asr", "nodeSelector: {" + key + "}"),
             "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: "
             "{template: {metadata: {labels: {" +
                 labels +
                 "}}, spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, "
                 "values: [g5.xlarge]}]}}}\n"});
    return std::pair(result.find("asr")->pod.node_selector.size(),
                     result.said.count("labels that nodes of a scenario do not have"));
  };
  EXPECT_EQ(selected("", "nvidia.com/gpu.product: NVIDIA-A10G"), std::pair(1UL, 0L));
  EXPECT_EQ(selected("", "feature.node.kubernetes.io/x: y"), std::pair(0UL, 1L));
  EXPECT_EQ(selected("nvidia.com/gpu.count: \"1\"", "nvidia.com/gpu.count: \"1\""),
            std::pair(1UL, 0L));
}

// They ran there: the plugin does not, or the GPU is broken.
TEST(ImportK8s, NodesThatOfferNoGpuRunNoPods) {
  const auto node = [](const std::string& gpus) {
    return "---\nkind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: "
           "g5.xlarge}}\nstatus: {allocatable: {cpu: "
           "3920m" +
           gpus + "}}\n";
  };
  const Written one = k8s({node("") + "---" + std::string(kThreePods)});
  EXPECT_TRUE(one.find("asr")->may_stay_pending);
  ASSERT_EQ(one.scenario.node_pools.size(), 1U) << "they cost what they do";
  EXPECT_EQ(one.find("asr")->pod.node_selector.size(), 1U);
  EXPECT_EQ(one.said.count("nodes with GPUs that offer none"), 1);
  const Written two = k8s({node(", nvidia.com/gpu: 0") + node(", nvidia.com/gpu: 1") + "---" +
                           std::string(kThreePods)});
  ASSERT_EQ(two.scenario.node_pools.size(), 2U);
  EXPECT_FALSE(two.find("asr")->may_stay_pending);
  const auto& selector = two.find("asr")->pod.node_selector;
  ASSERT_EQ(selector.size(), 1U);
  EXPECT_EQ(two.scenario.node_pools[1].labels.count(selector.begin()->first), 1U);
  EXPECT_EQ(two.scenario.node_pools[0].labels.count(selector.begin()->first), 0U);
}

// They were g5.xlarge, whatever the pods selected.
TEST(ImportK8s, NodesThatNoFileHasAreOfTheTypeThatPodsSelect) {
  ImportOptions options;
  options.instances = {
      {"g4dn.xlarge", "t4", 1}, {"g4dn.12xlarge", "t4", 4}, {"g6.xlarge", "l4", 1}};
  const Written result =
      k8s({deployment("open", "nodeSelector: {team: a}"),
           deployment("named", "nodeSelector: {node.kubernetes.io/instance-type: g6e.xlarge}"),
           deployment("large", "nodeSelector: {karpenter.k8s.aws/instance-family: g4dn}", 4),
           deployment("small", "nodeSelector: {nvidia.com/gpu.product: Tesla-T4}"),
           deployment("affine",
                      "affinity: {nodeAffinity: {"
                      "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                      "[{matchExpressions: [{key: karpenter.k8s.aws/instance-gpu-name, "
                      "operator: In, values: [l4]}]}]}}}")},
          options);
  std::vector<std::string> types;
  for (const NodePool& pool : result.scenario.node_pools) {
    types.push_back(pool.instance_type.value + " x " + std::to_string(pool.nodes));
  }
  // The two T4 Deployments have nodes of one kind, and "open" is counted with the first.
  EXPECT_EQ(types,
            (std::vector<std::string>{"g6e.xlarge x 2", "g4dn.12xlarge x 2", "g6.xlarge x 1"}));
  ASSERT_EQ(result.scenario.workloads.size(), 5U);
  EXPECT_EQ(
      result.scenario.workloads[1].pod.node_selector,
      (std::map<std::string, std::string>{{"node.kubernetes.io/instance-type", "g6e.xlarge"}}));
  EXPECT_TRUE(result.scenario.workloads[0].pod.node_selector.empty());
}

// Of Kubernetes' terms the empty one matches no node: the other ones decide.
TEST(ImportK8s, EmptyTermsOfNodeAffinityMatchNoNode) {
  ImportOptions options;
  options.instances = {{"g4dn.xlarge", "t4", 1}, {"g6.xlarge", "l4", 1}};
  const auto with = [&](const std::string& terms) {
    return k8s({deployment("w",
                           "affinity: {nodeAffinity: {"
                           "requiredDuringSchedulingIgnoredDuringExecution: "
                           "{nodeSelectorTerms: [" +
                               terms + "]}}}")},
               options);
  };
  const std::string l4 =
      "{matchExpressions: [{key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: "
      "[l4]}]}";
  for (const char* empty : {"{}, ", "~, ", "{matchExpressions: []}, "}) {
    const Written result = with(empty + l4);
    EXPECT_EQ(result.scenario.node_pools.at(0).instance_type.value, "g6.xlarge") << empty;
    EXPECT_EQ(result.said.count("affinity is empty"), 0) << empty;
  }
  EXPECT_EQ(with("{}").said.count("affinity is empty"), 1);
}

// Pods of eight GPUs were to run on nodes of one, because others had come first.
TEST(ImportK8s, NodesThatNoFileHasAreLargeEnoughForEachPod) {
  ImportOptions options;
  options.instances = {
      {"g5.xlarge", "a10g", 1}, {"g5.12xlarge", "a10g", 4}, {"g5.48xlarge", "a10g", 8}};
  const Written result =
      k8s({deployment("one", "hostIPC: false"), deployment("eight", "hostIPC: false", 8),
           deployment("two", "hostIPC: false", 2)},
          options);
  std::vector<std::string> types;
  for (const NodePool& pool : result.scenario.node_pools) {
    types.push_back(pool.instance_type.value + " x " + std::to_string(pool.nodes));
  }
  EXPECT_EQ(types, (std::vector<std::string>{"g5.xlarge x 1", "g5.48xlarge x 2"}));
}

// Pods of 20 GiB waited for good on nodes of 16.
TEST(ImportK8s, NodesThatNoFileHasHaveTheCpuAndMemoryOfThePods) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1, Millicores{3'000}, gibibytes(14)},
                       {"g5.4xlarge", "a10g", 1, Millicores{15'000}, gibibytes(60)},
                       {"g5.2xlarge", "a10g", 1, Millicores{7'000}, gibibytes(29)},
                       {"p5.48xlarge", "h100-80gb", 8, Millicores{190'000}, gibibytes(1'900)}};
  const auto pods = [](const std::string& name, const std::string& requests) {
    return "---\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec: {template: {spec: {containers: [{name: c, resources: {limits: "
           "{nvidia.com/gpu: "
           "1}, requests: {" +
           requests + "}}}]}}}\n";
  };
  const Written result =
      k8s({pods("small", "cpu: 1, memory: 4Gi"), pods("large", "cpu: 4, memory: 20Gi"),
           pods("again", "cpu: 2, memory: 8Gi"), pods("huge", "cpu: 400"),
           pods("other", "memory: 100Gi")},
          options);
  std::vector<std::string> types;
  for (const NodePool& pool : result.scenario.node_pools) {
    types.push_back(pool.instance_type.value);
  }
  EXPECT_EQ(types, (std::vector<std::string>{"g5.xlarge", "g5.2xlarge", "p5.48xlarge"}))
      << "nothing holds huge, and no g5 the last";
}

TEST(ImportK8s, NodesThatNoFileHasShareAsThePluginIsSet) {
  const Written result =
      k8s({std::string(kSharedValues),
           deployment("named", "nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}")});
  ASSERT_EQ(result.scenario.node_pools.size(), 1U);
  EXPECT_EQ(result.scenario.node_pools[0].instance_type.value, "g6.xlarge");
  EXPECT_TRUE(result.scenario.node_pools[0].device_plugin);
}

VllmArguments started_by(const std::string& command,
                         const std::string& image = "vllm/vllm-openai") {
  ContainerFile container;
  container.image = image;
  container.command = command;
  const auto arguments = vllm_arguments(container);
  EXPECT_TRUE(arguments) << command;
  return arguments.value_or(VllmArguments());
}

TEST(VllmArguments, AreReadAsTheyAreWritten) {
  const VllmArguments plain = started_by("--model a/B --max-num-seqs 64 --port 80");
  EXPECT_EQ(plain.model, "a/B");
  EXPECT_EQ(plain.memory_percent, 92);
  EXPECT_EQ(plain.max_sequences, 64);
  EXPECT_FALSE(plain.max_batched_tokens);
  const VllmArguments shell = started_by(
      "sh -c vllm serve 'a/B' \\\n --gpu-memory-utilization=0.455 --max-num-batched-tokens=4096",
      "registry/mine");
  EXPECT_EQ(shell.model, "a/B");
  EXPECT_EQ(shell.memory_percent, 45.5);
  EXPECT_EQ(shell.max_batched_tokens, 4096);
  EXPECT_EQ(started_by("--gpu-memory-utilization 1").memory_percent, 100);
  for (const char* wrong : {"--gpu-memory-utilization 1.5", "--gpu-memory-utilization -0.5",
                            "--gpu-memory-utilization", "--gpu-memory-utilization x"}) {
    EXPECT_EQ(started_by(wrong).memory_percent, 92) << wrong;
  }
  EXPECT_EQ(started_by("vllm serve --port 80").model, "");
  const VllmArguments shared = started_by(
      "--model a/B -tp 4 --pipeline-parallel-size=2 --quantization awq_marlin "
      "--kv-cache-dtype fp8_e5m2");
  EXPECT_EQ(shared.tensor_parallel_size, 4);
  EXPECT_EQ(shared.pipeline_parallel_size, 2);
  EXPECT_EQ(shared.data_parallel_size, 1);
  EXPECT_EQ(shared.quantization, "awq_marlin");
  EXPECT_TRUE(shared.has_fp8_cache);
  EXPECT_FALSE(shared.spans_pods);
  EXPECT_TRUE(started_by("--enable-prefix-caching").prefix_caching);
  EXPECT_FALSE(started_by("--no-enable-prefix-caching --block-size 32").prefix_caching);
  EXPECT_EQ(started_by("--no-enable-prefix-caching --block-size 32").block_size, 32);
  EXPECT_FALSE(started_by("--tensor_parallel_size $(GPUS)").tensor_parallel_size);
  EXPECT_TRUE(started_by("--distributed-executor-backend ray").spans_pods);
  const VllmArguments with_underscores = started_by(
      "--model_id=a/B_c --gpu_memory_utilization=0.45 --max_num_seqs 64 "
      "--max_num_batched_tokens=8192 --kv_cache_dtype fp8 --no_enable_prefix_caching");
  EXPECT_EQ(with_underscores.model, "a/B_c") << "no flag's underscore";
  EXPECT_EQ(with_underscores.memory_percent, 45);
  EXPECT_EQ(with_underscores.max_sequences, 64);
  EXPECT_EQ(with_underscores.max_batched_tokens, 8192);
  EXPECT_TRUE(with_underscores.has_fp8_cache);
  EXPECT_FALSE(with_underscores.prefix_caching);
  EXPECT_FALSE(with_underscores.max_model_len);
  for (const auto& [written, length] : std::initializer_list<std::pair<const char*, int>>{
           {"8192", 8192}, {"32k", 32'000}, {"32K", 32'768}, {"25.6k", 25'600}, {"auto", 0}}) {
    EXPECT_EQ(started_by(std::string("--max_model_len=") + written).max_model_len, length);
  }
  ContainerFile other;
  other.command = "python serve.py";
  EXPECT_FALSE(vllm_arguments(other));
}

std::string served(const std::string& name, const std::string& container) {
  return "---\nkind: Deployment\nmetadata: {name: " + name +
         "}\nspec: {template: {spec: {containers: [{name: c, image: vllm/vllm-openai, " +
         container + ", resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
}

std::string vllm(const std::string& name, const std::string& model, const std::string& more = "") {
  return served(name, "args: [--model, " + model + more + "]");
}

bool says(const Written& result, std::string_view what) {
  return std::ranges::any_of(result.said.log.remarks, [&](const ImportRemark& remark) {
    return remark.what.find(what) != std::string::npos;
  });
}

// 0.9 up to 0.20, 0.92 since (vLLM PR 38284): the image's tag says which it is.
TEST(VllmArguments, ShareOfTheMemoryIsThatOfTheVersion) {
  for (const char* newer : {"", ":latest", ":v0.21.0", ":v0.30.1-cu130", ":nightly-x", ":v1.0.0"}) {
    EXPECT_EQ(started_by("", std::string("vllm/vllm-openai") + newer).memory_percent, 92) << newer;
  }
  for (const char* older : {":v0.20.2", ":v0.11.0@sha256:0.99", ":0.9.1", "@sha256:ab"}) {
    EXPECT_EQ(started_by("", std::string("vllm/vllm-openai") + older).memory_percent, 90) << older;
  }
  EXPECT_EQ(started_by("vllm serve", "mine:v0.30.0").memory_percent, 90) << "its own version";
}

// They were services of 2 GiB and 30 ms a request.
TEST(ImportK8s, WhatVllmServesIsALanguageModelOfTheCatalogue) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}};
  options.llm_models = {"llama-2-7b-fp16/a100-80gb", "llama-3-8b-fp16/a100-80gb",
                        "llama-3-8b-fp16/a10g", "mine/l4"};
  const Written result =
      k8s({vllm("chat", "meta-llama/Llama-3.1-8B-Instruct",
                ", --gpu-memory-utilization, '0.45', --max-num-seqs, '32'"),
           vllm("old", "meta-llama/Llama-2-7b-chat-hf", ", --no-enable-prefix-caching"),
           vllm("own", "/models/mine"), vllm("new", "mistralai/Mistral-7B-v0.3"),
           served("first", "args: [meta-llama/Llama-2-7b-chat-hf, --port, '80']"),
           served("router", "command: [a/router], args: [meta-llama/Llama-2-7b-chat-hf]")},
          options);
  const auto& workloads = result.scenario.workloads;
  ASSERT_EQ(workloads.size(), 6U);
  ASSERT_TRUE(workloads[0].llm);
  EXPECT_EQ(workloads[0].llm->model.value, "llama-3-8b-fp16/a10g");
  EXPECT_DOUBLE_EQ(workloads[0].llm->memory_utilization, 0.45);
  EXPECT_EQ(workloads[0].llm->max_sequences, 32);
  EXPECT_TRUE(workloads[0].llm->prefix_caching);
  ASSERT_TRUE(workloads[1].llm);
  EXPECT_FALSE(workloads[1].llm->prefix_caching);
  EXPECT_EQ(workloads[1].llm->model.value, "llama-2-7b-fp16/a100-80gb") << "to be carried over";
  ASSERT_TRUE(workloads[2].llm);
  EXPECT_EQ(workloads[2].llm->model.value, "mine/l4");
  EXPECT_FALSE(workloads[3].llm);
  EXPECT_TRUE(workloads[4].llm) << "the image runs `vllm serve`";
  EXPECT_FALSE(workloads[5].llm);
  EXPECT_TRUE(says(result, "mistralai/Mistral-7B-v0.3"));
  EXPECT_TRUE(says(result, "vLLM: no file says which language model it serves"));
}

// Servers read it in the checkpoint's config.json: they were simulated in 16 bits, and ran out of
// memory.
TEST(ImportK8s, ACheckpointsNameSaysHowItIsQuantised) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}};
  options.llm_models = {"llama-3-8b-fp16/a10g", "mine-awq/a10g"};
  const auto import = [&](const std::string& model, const std::string& more = "") {
    return k8s({vllm("chat", model, more)}, options);
  };
  const std::string llama = "a/Meta-Llama-3.1-8B-Instruct";
  struct Case {
    std::string name;
    std::string flags;
    std::string quantization;
  };
  for (const Case& one :
       {Case{llama, "", ""},
        {llama + "-AWQ-INT4", "", "INT4"},
        {llama + "-GPTQ", "", "INT4"},
        {llama + "-FP8-dynamic", "", "FP8"},
        {llama + "-quantized.w4a16", ", --quantization, compressed-tensors", "INT4"},
        {llama + "-bnb-4bit", "", "INT4"},
        {llama, ", --quantization=bitsandbytes", "INT4"},
        {llama, ", -q, fp8", "FP8"},
        {"a/mine-awq", ", --quantization, awq", ""}}) {
    const Written result = import(one.name, one.flags);
    ASSERT_TRUE(result.scenario.workloads[0].llm) << one.name;
    EXPECT_EQ(result.scenario.workloads[0].llm->quantization, one.quantization) << one.name;
    const bool is_slow = one.name.ends_with("4bit") || one.flags.ends_with("bitsandbytes");
    EXPECT_EQ(says(result, "whose kernels are faster"), is_slow) << one.name;
  }
  for (const Case& one : {Case{llama + "-quantized.w8a8", "", ""},
                          {llama + "-GPTQ-Int8", ", --quantization, gptq_marlin", ""},
                          {llama, ", --quantization, of-tomorrow", ""}}) {
    const Written result = import(one.name, one.flags);
    EXPECT_FALSE(result.scenario.workloads[0].llm) << one.name;
    EXPECT_TRUE(says(result, "quantised as none that is simulated, " + one.name)) << one.name;
  }
}

// vLLM starts with none that does not fit: its command or the checkpoint says how long it is.
TEST(ImportK8s, TheLongestRequestIsWrittenWhereTheCatalogueDoesNotKnowIt) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}};
  options.llm_models = {"llama-3-8b-fp16/a10g"};
  const auto length = [&](const std::string& name, const std::string& flags) {
    const Written result = k8s({vllm("chat", name, flags)}, options);
    return result.scenario.workloads.at(0).llm.value().max_model_len;
  };
  EXPECT_EQ(length("a/Llama-3.1-8B", ", --max-model-len=16k"), 16'000);
  EXPECT_EQ(length("a/Llama-3.1-8B", ""), 131'072);
  EXPECT_EQ(length("a/Llama-3.1-8B", ", --max-model-len, auto"), std::nullopt);
  EXPECT_EQ(length("a/Meta-Llama-3-8B", ""), std::nullopt);
  EXPECT_TRUE(says(k8s({vllm("chat", "a/Meta-Llama-3-8B", ", --cpu-offload-gb, '8'")}, options),
                   "--cpu-offload-gb: not simulated"));
}

TEST(ImportK8s, OtherServersOfLanguageModelsAreReadAsWell) {
  ImportOptions options;
  options.instances = {{"g5.12xlarge", "a10g", 4}};
  options.llm_models = {"llama-3-8b-fp16/a10g"};
  const auto server = [](const std::string& name, const std::string& container, int gpus) {
    return "---\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec: {template: {spec: {containers: [{name: c, " + container +
           ", resources: {limits: {nvidia.com/gpu: " + std::to_string(gpus) + "}}}]}}}\n";
  };
  const Written result =
      k8s({server("sglang",
                  "image: lmsysorg/sglang, args: [--model-path, meta-llama/Llama-3.1-8B-Instruct, "
                  "--tp, '2', --mem-fraction-static, '0.8', --max-running-requests, '64', "
                  "--disable-radix-cache]",
                  2),
           server("tgi",
                  "image: ghcr.io/huggingface/text-generation-inference, env: [{name: MODEL_ID, "
                  "value: meta-llama/Meta-Llama-3-8B}, {name: QUANTIZE, value: awq}]",
                  4),
           server("nim", "image: 'nvcr.io/nim/meta/llama3-8b-instruct:1.0.3'", 1),
           server("kserve", "image: own, args: ['--model_id=meta-llama/Meta-Llama-3-8B']", 1),
           server("half", "image: lmsysorg/sglang, args: [--model-path, a/Llama-3-8B]", 2),
           server("unsaid", "image: lmsysorg/sglang", 1),
           server("renamed", "image: own, command: [/opt/nim/start-server.sh]", 1),
           server("alone",
                  "image: lmsysorg/sglang, args: [--model-path, a/Llama-3-8B, --nnodes, '1']", 1)},
          options);
  const auto& workloads = result.scenario.workloads;
  ASSERT_EQ(workloads.size(), 8U);
  for (std::size_t w = 0; w < 4; ++w) {
    ASSERT_TRUE(workloads[w].llm) << workloads[w].name.value;
    EXPECT_EQ(workloads[w].llm->model.value, "llama-3-8b-fp16/a10g");
  }
  EXPECT_EQ(workloads[0].llm->tensor_parallel_size, 2);
  EXPECT_DOUBLE_EQ(workloads[0].llm->memory_utilization, 0.8);
  EXPECT_EQ(workloads[0].llm->max_sequences, 64);
  EXPECT_FALSE(workloads[0].llm->prefix_caching);
  EXPECT_EQ(workloads[1].llm->tensor_parallel_size, 4) << "all that it has";
  EXPECT_EQ(workloads[1].llm->quantization, "INT4");
  EXPECT_FALSE(workloads[4].llm) << "on one of its two";
  EXPECT_FALSE(workloads[5].llm);
  EXPECT_FALSE(workloads[6].llm) << "the image says no model";
  EXPECT_TRUE(workloads[7].llm);
  EXPECT_TRUE(std::ranges::any_of(result.said.log.remarks, [](const ImportRemark& remark) {
    return remark.what.find("SGLang: simulated with vLLM's way of batching") != std::string::npos;
  }));
}

TEST(ImportK8s, WhatVllmSharesAmongGpusIsSharedAmongThem) {
  ImportOptions options;
  options.instances = {{"p4de.24xlarge", "a100-80gb", 8}};
  options.llm_models = {"llama-3-70b-fp16/a100-80gb"};
  const auto on_four = [](std::string text) {
    const std::string one = "nvidia.com/gpu: 1";
    return text.replace(text.find(one), one.size(), "nvidia.com/gpu: 4");
  };
  const std::string model = "meta-llama/Llama-3.3-70B-Instruct";
  const Written result =
      k8s({on_four(vllm("chat", model, ", -tp, '4', --quantization, fp8, --kv-cache-dtype, fp8")),
           on_four(vllm("idle", model)), on_four(vllm("stages", model, ", -tp, '2', -pp, '2'"))},
          options);
  const auto& workloads = result.scenario.workloads;
  ASSERT_EQ(workloads.size(), 3U);
  ASSERT_TRUE(workloads[0].llm);
  EXPECT_EQ(workloads[0].llm->model.value, "llama-3-70b-fp16/a100-80gb");
  EXPECT_EQ(workloads[0].llm->tensor_parallel_size, 4);
  EXPECT_EQ(workloads[0].llm->quantization, "FP8");
  EXPECT_EQ(workloads[0].llm->kv_cache_dtype, "FP8");
  EXPECT_FALSE(workloads[1].llm) << "on one of its four";
  EXPECT_FALSE(workloads[2].llm) << "pipelines are not simulated";
}

// Karpenter starts no node for them, however they are written.
TEST(ImportK8s, LabelsThatNodesGetLateAreKeptInAffinity) {
  const auto kept = [](const std::string& op) {
    const Written result = k8s(
        {"kind: Deployment\nmetadata: {name: asr}\nspec: {template: {spec: {affinity: "
         "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
         "[{matchExpressions: [{key: nvidia.com/gpu.product, operator: " +
         op +
         ", values: [NVIDIA-A10G]}]}]}}}, containers: [{name: c, resources: {limits: "
         "{nvidia.com/gpu: 1}}}]}}}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: "
         "{name: g}\nspec: {template: {spec: {requirements: [{key: "
         "node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}]}}}\n"});
    return result.find("asr")->pod.node_affinity.size();
  };
  EXPECT_EQ(kept("In"), 1U);
  EXPECT_EQ(kept("NotIn"), 0U);
}

// Those of nos, which labels its nodes.
TEST(ImportK8s, NodesOfNosHaveItsSlices) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1, {}, {}, gibibytes(22)}};
  const auto slices_of = [&](const std::string& offered, const std::string& mode) {
    const Written read =
        k8s({"kind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: "
             "g5.xlarge, nos.nebuly.com/gpu-partitioning: " +
             mode + "}}\nstatus: {allocatable: {cpu: 3920m" + offered +
             "}}\n---\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: "
             "{limits: {nvidia.com/gpu-6gb: 1}}}]}\n---\nkind: Pod\nmetadata: {name: q}\nspec: "
             "{containers: [{name: c, resources: {limits: {nvidia.com/gpu-10gb: 1}}}]}\n"},
            options);
    std::vector<std::string> slices;
    const auto& nos = read.scenario.node_pools.at(0).nos;
    if (nos) {
      for (const auto& slice : nos->slices) slices.push_back(slice.value);
    }
    std::ranges::sort(slices);
    return std::pair(slices, read.said.count("slices of nos (MPS), which it cuts by what waits: "
                                             "those that pods ask for"));
  };
  using Slices = std::vector<std::string>;
  EXPECT_EQ(slices_of(", nvidia.com/gpu-6gb: 2, nvidia.com/gpu-10gb: 1", "mps"),
            std::pair(Slices({"10gb", "6gb", "6gb"}), 0L));
  // Not cut yet: 6 and 10, and of the 6 that are left one more.
  EXPECT_EQ(slices_of(", nvidia.com/gpu: 1", "mps"), std::pair(Slices({"10gb", "6gb", "6gb"}), 1L));
}

}  // namespace
}  // namespace slicewise::scenarios
