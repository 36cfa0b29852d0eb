#include "slicewise/reports/advice.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace slicewise::reports {
namespace {

constexpr std::string_view kResult = R"({"variants": [{
  "gpus": [{}, {"upRatio": 0.5}, {"gpuShare": 0.5}],
  "workloads": [{"name": "asr", "gpuBusyShare": 0.3, "waitSeconds": {"mean": 40},
                 "latencySeconds": {"p50": 0.1, "p95": 0.2, "p99": 0.3}}]}]})";

scenarios::RecordedWorkload recorded() {
  scenarios::RecordedWorkload asr;
  asr.name = "asr";
  asr.space = "voice";
  asr.pods_at_once = 3;
  asr.gpu_use = 0.25;
  asr.latency_p95 = from_seconds(0.1);
  return asr;
}

TEST(Deviations, AreOfFiguresThatBothHave) {
  const auto found = deviations({recorded()}, kResult);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].figure, "gpuUse");
  // 30 % of the time of two GPUs, by three pods.
  EXPECT_NEAR(found[0].simulated, 0.2, 1e-12);
  EXPECT_NEAR(found[0].off(), -0.2, 1e-12);
  EXPECT_EQ(found[1].figure, "latencyP95");
  EXPECT_NEAR(found[1].off(), 1, 1e-12);
}

TEST(Deviations, OfAWorkloadThatTheSimulationLacksThereAreNone) {
  scenarios::RecordedWorkload other = recorded();
  other.name = "tts";
  EXPECT_TRUE(deviations({other}, kResult).empty());
  EXPECT_TRUE(deviations({recorded()}, "no document").empty());
}

// Its pods were there when the run began: what they wait is nothing, by construction.
TEST(Deviations, OfWaitsAreOfPodsThatTheSimulationStarts) {
  scenarios::RecordedWorkload job = recorded();
  job.wait = from_seconds(45);
  const auto wait_of = [&](const std::string& kind, const std::string& mean) {
    const std::string result = R"({"variants": [{"workloads": [{"name": "asr", "kind": ")" + kind +
                               R"(", "waitSeconds": {"mean": )" + mean + "}}]}]}";
    const auto found = deviations({job}, result);
    return std::ranges::find(found, "wait", &Deviation::figure) != found.end();
  };
  EXPECT_FALSE(wait_of("Service", "0"));
  EXPECT_TRUE(wait_of("Service", "3"));
  EXPECT_TRUE(wait_of("Job", "0"));
}

TEST(UnplacedPods, AreThoseThatTheClusterHasPlaced) {
  constexpr std::string_view kPending = R"({"variants": [{"verdict": {"stands": false, "reasons": [
    {"cause": "podsPending", "workload": "asr", "brief": "2 Pending", "text": "2 of 2 pods of \"asr\" stayed Pending"},
    {"cause": "overloaded", "workload": "asr", "brief": "requests refused", "text": "too slow"}]}}]})";
  EXPECT_NE(unplaced_pods({{"asr", 2}}, kPending).find("in the cluster 2 of them have a node"),
            std::string::npos);
  EXPECT_EQ(unplaced_pods({{"tts", 2}}, kPending), "");
  EXPECT_EQ(unplaced_pods({{"asr", 2}}, kResult), "");
}

TEST(AdviceText, SaysThatNobodyKnowsHowFarItIsOffWithoutARecording) {
  Advice advice;
  advice.scenario = "prod";
  advice.plan_markdown = "THE PLAN\n";
  advice.how_to_record = "kubectl port-forward";
  const std::string text = advice_text(advice);
  EXPECT_NE(text.find("Nobody knows"), std::string::npos) << text;
  EXPECT_NE(text.find("kubectl port-forward"), std::string::npos);
  EXPECT_NE(text.find("THE PLAN"), std::string::npos);
  EXPECT_EQ(text.find('@'), std::string::npos) << text;
}

TEST(AdviceText, HasARowForEachDeviation) {
  Advice advice;
  advice.recorded_from = "http://p";
  advice.deviations = deviations({recorded()}, kResult);
  const std::string text = advice_text(advice);
  EXPECT_NE(text.find("| voice/asr | GPU in use by a pod | 25% | 20% | -20% |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("| voice/asr | latency p95 | 100 ms | 200 ms | +100% |"), std::string::npos)
      << text;
}

scenarios::NodePool pool_of(const std::string& name, int nodes) {
  scenarios::NodePool pool;
  pool.name.value = name;
  pool.instance_type.value = "g5.xlarge";
  pool.nodes = nodes;
  return pool;
}

// The advice saved nothing to who followed it: no step named a group.
TEST(AdviceText, NamesTheNodesThatComeAndGoWithACommandForEach) {
  using enum scenarios::NodeMaker;
  Advice advice;
  advice.files = {{"apply/apply.sh", ""}, {"apply/eksctl.yaml", ""}};
  advice.groups = {{ManagedGroup, "Voice", "g5.xlarge", {"voice", "voice-2"}, 3, 3},
                   {ManagedGroup, "same", "g5.xlarge", {"same"}, 1, 1},
                   {ManagedGroup, "tuning", "g5.xlarge", {"tuning"}, 1, 1},
                   {Eksctl, "more", "g5.xlarge", {"more"}, 1, 1},
                   {Eksctl, "old", "g5.xlarge", {"old"}, 2, 2},
                   {Karpenter, "burst", "g6.xlarge", {"burst"}, 0, 4},
                   {Other, "", "p3.8xlarge", {"p3-8xlarge"}, 1, 1}};
  advice.option.emplace();
  advice.option->region = "eu-central-1";
  advice.option->node_pools = {pool_of("voice", 1), pool_of("voice-2", 1), pool_of("same", 1),
                               pool_of("more", 2), pool_of("new", 2)};
  const std::string text = advice_text(advice);
  const std::string cluster = "\"$CLUSTER_NAME\" --region 'eu-central-1'";
  EXPECT_NE(text.find("3. First these nodes:\n"
                      "   - node group `new`, 2 nodes of g5.xlarge, new: `envsubst '$CLUSTER_NAME' "
                      "<apply/eksctl.yaml | eksctl create nodegroup -f - --include 'new' "
                      "--install-nvidia-plugin=false`\n"
                      "   - node group `more`, 1 -> 2 nodes: `eksctl scale nodegroup --cluster " +
                      cluster +
                      " --name 'more' --nodes-min 2 --nodes-max 2 --nodes 2`\n"
                      "4. `apply/apply.sh` applies"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "until then nothing is saved:\n"
          "   - node group `Voice`, 3 -> 2 nodes: `aws eks update-nodegroup-config "
          "--cluster-name " +
          cluster +
          " --nodegroup-name 'Voice' --scaling-config minSize=2,maxSize=2,desiredSize=2`\n"
          "   - node group `tuning`, 1 node, away: `aws eks update-nodegroup-config "
          "--cluster-name " +
          cluster +
          " --nodegroup-name 'tuning' --scaling-config minSize=0,maxSize=1,desiredSize=0`; when "
          "all "
          "of this stays, `aws eks delete-nodegroup --cluster-name " +
          cluster +
          " --nodegroup-name 'tuning'`\n"
          "   - node group `old`, 2 nodes, away: `eksctl drain nodegroup --cluster " +
          cluster + " --name 'old' && eksctl scale nodegroup --cluster " + cluster +
          " --name 'old' --nodes-min 0 --nodes-max 1 --nodes 0`; when all of this stays, `eksctl "
          "delete nodegroup --cluster " +
          cluster +
          " --name 'old'`\n"
          "   - NodePool `burst`, 0 to 4 nodes, away: `kubectl get nodepool 'burst' -o yaml "
          ">'burst-before.yaml' && kubectl delete nodepool 'burst'`, of "
          "which there are no nodes with GPUs now, unless it makes nodes without GPUs as well: "
          "then "
          "take the GPU types out of its requirements\n"
          "   - nodes of p3.8xlarge, in no group, 1 node, away: by whoever made them\n"
          "6. The way back: first the nodes that went, until they are Ready:\n"
          "   - node group `Voice`: `aws eks update-nodegroup-config --cluster-name " +
          cluster +
          " --nodegroup-name 'Voice' --scaling-config minSize=3,maxSize=3,desiredSize=3`\n"
          "   - node group `tuning`: `aws eks update-nodegroup-config --cluster-name " +
          cluster +
          " --nodegroup-name 'tuning' --scaling-config minSize=1,maxSize=1,desiredSize=1`\n"
          "   - node group `old`: `eksctl scale nodegroup --cluster " +
          cluster +
          " --name 'old' --nodes-min 2 --nodes-max 2 --nodes 2`\n"
          "   - NodePool `burst`: `sed -E '/^ +(resourceVersion|uid):/d' 'burst-before.yaml' | "
          "kubectl apply -f -`\n"
          "   Then `apply/rollback.sh`"),
      std::string::npos)
      << text;
}

// Without --karpenter there were no nodes for the pods that apply.sh patched.
TEST(AdviceText, NamesTheCallThatMakesNodePools) {
  Advice advice;
  advice.files = {{"apply/apply.sh", ""}, {"apply/eksctl.yaml", ""}, {"apply/karpenter.yaml", ""}};
  advice.option.emplace();
  advice.option->node_pools = {pool_of("new", 1)};
  EXPECT_NE(advice_text(advice).find("4. `apply/apply.sh` applies"), std::string::npos);
  advice.option->node_pools.front().labels["karpenter.sh/nodepool"] = "new";
  const std::string text = advice_text(advice);
  for (const char* step :
       {"NodePool `new`, 1 node of g5.xlarge, new", "6. `apply/rollback.sh --karpenter`",
        "4. `apply/apply.sh --karpenter` applies"}) {
    EXPECT_NE(text.find(step), std::string::npos) << text;
  }
}

TEST(AdviceText, LeavesNodesOfANodePoolToKarpenter) {
  Advice advice;
  advice.files = {{"apply/apply.sh", ""}, {"apply/karpenter.yaml", ""}};
  advice.groups = {{scenarios::NodeMaker::Karpenter, "gpu", "g5.xlarge", {"gpu"}, 3, 3}};
  advice.option.emplace();
  advice.option->node_pools = {pool_of("gpu", 2), pool_of("new", 1)};
  const std::string text = advice_text(advice);
  EXPECT_NE(
      text.find("NodePool `new`, 1 node of g5.xlarge, new: `apply/apply.sh --karpenter` makes"),
      std::string::npos);
  EXPECT_NE(text.find("NodePool `gpu`, 3 -> 2 nodes: `apply/apply.sh --karpenter` limits it so"),
            std::string::npos);
  for (const char* step :
       {"4. `apply/apply.sh --karpenter` applies", "6. `apply/rollback.sh --karpenter`"}) {
    EXPECT_NE(text.find(step), std::string::npos) << text;
  }
  advice.option->node_pools = {pool_of("gpu", 3)};
  const std::string kept = advice_text(advice);
  EXPECT_NE(kept.find("4. `apply/apply.sh --karpenter` applies"), std::string::npos) << kept;
  EXPECT_NE(kept.find("3. No nodes have to be there first.\n4. "), std::string::npos);
  EXPECT_NE(kept.find("5. No nodes go.\n6. "), std::string::npos);
}

// Karpenter drains all nodes of a NodePool that goes, those for CPU work with them.
TEST(AdviceText, WarnsOfNodesWithoutGpusOfANodePoolThatGoes) {
  Advice advice;
  advice.files = {{"apply/apply.sh", ""}, {"apply/karpenter.yaml", ""}};
  advice.groups = {{scenarios::NodeMaker::Karpenter, "general", "g5.xlarge", {"general"}, 2, 2}};
  advice.option.emplace();
  const std::string text = advice_text(advice);
  EXPECT_NE(text.find("kubectl delete nodepool 'general'`, unless it makes nodes without GPUs as "
                      "well: then take the GPU types out of its requirements\n"),
            std::string::npos)
      << text;
  advice.groups.front().makes_others = true;
  const std::string known = advice_text(advice);
  EXPECT_EQ(known.find("delete nodepool"), std::string::npos) << known;
  EXPECT_NE(known.find("by hand, since it makes nodes without GPUs as well"), std::string::npos);
  // None of its nodes is to go.
  advice.groups.front().nodes = 0;
  EXPECT_EQ(advice_text(advice).find("`general`"), std::string::npos);
  EXPECT_NE(text.find("4. `apply/apply.sh` applies"), std::string::npos) << text;
}

// The nodes of a pod that nobody had changed went, and it stayed Pending.
TEST(AdviceText, SaysBeforeNodesGoWhatIsLeftByHand) {
  Advice advice;
  advice.files = {{"apply/apply.sh", ""}};
  advice.groups = {{scenarios::NodeMaker::ManagedGroup, "tuning", "g5.xlarge", {"tuning"}, 1, 1}};
  advice.option.emplace();
  scenarios::Workload& tuning = advice.option->workloads.emplace_back();
  tuning.name.value = "finetune";
  tuning.namespace_name = "research";
  tuning.manifest.kind = "PyTorchJob";
  const std::string text = advice_text(advice);
  const std::size_t left = text.find(
      "   - PyTorchJob finetune in namespace research, see pods/research-finetune.yaml\n");
  ASSERT_NE(left, std::string::npos) << text;
  EXPECT_LT(text.find("5. First by hand"), left);
  EXPECT_LT(left, text.find("node group `tuning`, 1 node, away"));
}

// apply.sh of a bundle by claims makes no NodePool, and takes no such argument.
TEST(AdviceText, NamesNoCallThatTheBundleDoesNotHave) {
  Advice advice;
  advice.files = {{"apply/apply.sh", ""}};
  advice.groups = {{scenarios::NodeMaker::Karpenter, "gpu", "g5.xlarge", {"gpu"}, 3, 3}};
  advice.option.emplace();
  advice.option->node_pools = {pool_of("gpu", 2)};
  EXPECT_EQ(advice_text(advice).find("--karpenter"), std::string::npos) << advice_text(advice);
}

TEST(AdviceText, SaysBeforeThePlanWhatIsAPlaceholder) {
  Advice advice;
  advice.plan_markdown = "THE PLAN\n";
  advice.placeholders = {"rank", "embed"};
  advice.assumed_pools = {"gpu"};
  const std::string text = advice_text(advice);
  EXPECT_LT(text.find("**rank, embed**"), text.find("THE PLAN"));
  EXPECT_LT(text.find("**gpu** were made up"), text.find("THE PLAN"));
  EXPECT_NE(text.find("## Nothing is to be applied yet"), std::string::npos) << text;
  EXPECT_EQ(text.find('@'), std::string::npos) << text;
  advice.placeholders.clear();
  EXPECT_EQ(advice_text(advice).find("no recommendation"), std::string::npos);
}

sim::Plan plan_with_a_path() {
  sim::Plan plan;
  sim::PlanOption option;
  option.pools.emplace_back();
  option.pools.front().instance_type = "g5.xlarge";
  option.pools.front().nodes = 3;
  option.figures.monthly = from_dollars(1'200);
  plan.today = option;
  plan.today->pools.clear();  // a plan without a path does not know them
  plan.path.emplace().now = option;
  option.figures.monthly = from_dollars(400);
  option.pools.front().nodes = 1;
  plan.options.push_back(option);
  return plan;
}

TEST(AdviceMetrics, TellTodayFromTheBest) {
  Advice advice;
  advice.scenario = "a\"b";
  advice.deviations = deviations({recorded()}, kResult);
  advice.read_at_unix_s = 1'764'433'800;
  const std::string text = advice_metrics(plan_with_a_path(), advice);
  EXPECT_NE(text.find(R"(slicewise_advice_timestamp_seconds{cluster="a\"b"} 1764433800)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(slicewise_advice_assumed_workloads{cluster="a\"b"} 0)"),
            std::string::npos);
  EXPECT_NE(text.find(R"(slicewise_advice_monthly_usd{cluster="a\"b",pools="today"} 1200)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(slicewise_advice_monthly_usd{cluster="a\"b",pools="best"} 400)"),
            std::string::npos);
  EXPECT_NE(
      text.find(R"(pools="today",pool="1",instance_type="g5.xlarge",strategy="exclusive"} 3)"),
      std::string::npos);
  EXPECT_NE(text.find(R"(namespace="voice",workload="asr",figure="latencyP95"} 1)"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(AdviceMetrics, OfPlaceholdersNothingIsTheBestAndOfMadeUpPoolsNoneAreTodays) {
  Advice advice;
  advice.placeholders = {"rank"};
  const std::string guessed = advice_metrics(plan_with_a_path(), advice);
  EXPECT_EQ(guessed.find("pools=\"best\""), std::string::npos) << guessed;
  EXPECT_NE(guessed.find("pools=\"today\""), std::string::npos);
  EXPECT_NE(guessed.find("slicewise_advice_assumed_workloads{cluster=\"\"} 1"), std::string::npos);
  advice.placeholders.clear();
  advice.assumed_pools = {"gpu"};
  const std::string made_up = advice_metrics(plan_with_a_path(), advice);
  EXPECT_EQ(made_up.find("pools=\"today\""), std::string::npos) << made_up;
  EXPECT_NE(made_up.find("pools=\"best\""), std::string::npos);
}

// What a file changes of an object, as the API server would; "" before: it is new.
std::pair<std::string, std::string> applied(const std::string& there, const std::string& file,
                                            const std::string& path = "karpenter.yaml") {
  const AppliedObjects found =
      applied_objects(scenarios::cluster_objects({"there.yaml", there}), {{path, file, false}});
  return {found.before.empty() ? "" : found.before[0].text, found.after[0].text};
}

TEST(AppliedObjects, AreMergedAsKubectlDoes) {
  const auto [before, after] = applied(R"(kind: List
items:
- kind: Deployment
  metadata: {name: a, namespace: team, uid: 1, annotations: }
  spec: {replicas: 1, list: [1], containers: [{name: c, limits: {gpu: 1, cpu: 1}}, {name: d}]}
  status: {ready: 1}
)",
                                       R"(# words
kind: Deployment
metadata: {name: a, namespace: team}
spec: {list: [3], containers: [{name: c, limits: {gpu: null, shared: 1}}]}
)",
                                       "pods/team-a.yaml");
  const std::string was = R"(---
kind: Deployment
metadata:
  annotations: null
  name: a
  namespace: team
spec:
  containers:
  - limits:
      cpu: 1
      gpu: 1
    name: c
  - name: d
  list:
  - 1
  replicas: 1
)";
  EXPECT_EQ(before, was);
  EXPECT_EQ(files_diff({{"a", was}}, {{"a", after}}, "today", "apply"), R"(--- today/a
+++ apply/a
@@ -8,9 +8,9 @@
   containers:
   - limits:
       cpu: 1
-      gpu: 1
+      shared: 1
     name: c
   - name: d
   list:
-  - 1
+  - 3
   replicas: 1
)");
}

// What others have set stays.
TEST(AppliedObjects, WhatWasAppliedBeforeAndIsNotSaidIsGone) {
  const std::string there = R"(kind: NodePool
metadata:
  name: p
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec": {"limits": {"gpu": 4}}}'}
spec: {limits: {gpu: 4, nodes: 4}, budgets: [1]}
)";
  const auto file = [](const std::string& name) {
    return fmt::format("kind: NodePool\nmetadata: {{name: {}}}\nspec: {{limits: {{nodes: 2}}}}\n",
                       name);
  };
  EXPECT_EQ(applied(there, file("p")).second,
            "---\nkind: NodePool\nmetadata:\n  name: p\nspec:\n  budgets:\n  - 1\n  limits:\n"
            "    nodes: 2\n");
  EXPECT_EQ(
      applied(there, file("q")),
      std::pair(std::string(), std::string("---\nkind: NodePool\nmetadata:\n  name: q\nspec:\n"
                                           "  limits:\n    nodes: 2\n")));
}

TEST(FilesDiff, IsWhatDiffUWouldSay) {
  const ExportFiles before = {
      {"a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"}, {"gone", "x\n"}, {"same", "s\n"}};
  const ExportFiles after = {
      {"a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n"}, {"new", "y\n"}, {"same", "s\n"}};
  EXPECT_EQ(files_diff(before, after, "today", "apply"),
            "--- today/a\n+++ apply/a\n"
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
            "@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n"
            "--- today/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"
            "--- /dev/null\n+++ apply/new\n@@ -0,0 +1,1 @@\n+y\n");
  EXPECT_EQ(files_diff(before, before, "today", "apply"), "");
}

TEST(FilesDiff, ChangesThatAreNearAreOneHunk) {
  const std::string diff = files_diff({{"a", "1\n2\n3\n4\n5\n6\n7\n8\n"}},
                                      {{"a", "one\n2\n3\n4\n5\n6\n7\neight\n"}}, "o", "n");
  EXPECT_NE(diff.find("@@ -1,8 +1,8 @@"), std::string::npos) << diff;
}

TEST(FilesDiff, ChangesThatAreFarApartAreHunksOfTheirOwn) {
  std::string text;
  for (int line = 1; line <= 30; ++line) text += std::to_string(line) + "\n";
  std::string changed = text;
  changed.replace(changed.find("\n3\n"), 3, "\nthree\n");
  changed.replace(changed.find("\n28\n"), 4, "\nlast\n");
  const std::string diff = files_diff({{"a", text}}, {{"a", changed}}, "o", "n");
  EXPECT_NE(diff.find("@@ -1,6 +1,6 @@"), std::string::npos) << diff;
  EXPECT_NE(diff.find("@@ -25,6 +25,6 @@"), std::string::npos) << diff;
}

}  // namespace
}  // namespace slicewise::reports
