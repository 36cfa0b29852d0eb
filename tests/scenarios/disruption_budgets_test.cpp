#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "objects_read.hpp"

// PodDisruptionBudgets: how many pods they let go is what kube-controller-manager would say.
namespace slicewise::scenarios {
namespace {

std::string labelled(const std::string& kind, const std::string& replicas) {
  const bool job = kind == "Job";
  return "apiVersion: " + std::string(job ? "batch/v1" : "apps/v1") + "\nkind: " + kind +
         "\nmetadata: {name: a}\nspec:\n  " + (job ? "parallelism: " : "replicas: ") + replicas +
         (job ? "\n" : "\n  selector: {matchLabels: {app: a}}\n") +
         "  template:\n    metadata: {labels: {app: a}}\n    spec: {" +
         (job ? "restartPolicy: Never, " : "") + "containers: [" + kGpuContainer + "]}\n";
}

std::string budget(const std::string& terms, const std::string& app = "matchLabels: {app: a}") {
  return "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {" +
         terms + ", selector: {" + app + "}}\n";
}

// Whether no pod may ever go, and what `check` says of that.
struct LetGo {
  bool never;
  std::string told;
};
LetGo let_go(const std::string& text) {
  const ObjectsRead read = objects_read(text);
  LetGo found{};
  found.never =
      read.said.count(
          "pods of a workload that no PodDisruptionBudget lets go: simulated nodes are drained all "
          "the same, unless the annotation karpenter.sh/do-not-disrupt keeps them") > 0;
  for (const Workload& one : read.scenario.workloads) {
    // What nobody asked for would get into the pods' patches.
    EXPECT_TRUE(one.pod.annotations.empty());
    const auto& budget = one.disruption_budget;
    EXPECT_FALSE(found.never && budget);
    found.never = found.never || (budget && budget->kept_of(one.count) >= one.count);
  }
  for (const Diagnostic& d : read.problems) {
    if (d.code == Code::BudgetAllowsNone) found.told += d.message;
  }
  return found;
}

TEST(DisruptionBudgets, SomeLetNoPodGo) {
  struct Case {
    std::string kind, replicas, terms;
    bool never;
    std::string told;
  };
  const std::string none_of_2 =
      "minAvailable is 2 of 2 pods of \"a\": none of them may ever be evicted";
  const std::string no_share =
      "the budget can tell no share of pods that no Deployment has: it never lets one of Job \"a\" "
      "go";
  const std::vector<Case> cases = {
      {"Deployment", "2", "minAvailable: 1", false, ""},
      {"Deployment", "2", "minAvailable: 2", true, none_of_2},
      {"StatefulSet", "1", "minAvailable: 1", true,
       "minAvailable is 1 of 1 pod of \"a\": none of them may ever be evicted"},
      // Both parts are rounded up: 2 of 3 stay, 1 of 3 goes.
      {"Deployment", "3", "minAvailable: 50%", false, ""},
      {"Deployment", "1", "minAvailable: 50%", true,
       "minAvailable is 50% of 1 pod of \"a\": none of them may ever be evicted"},
      {"Deployment", "3", "maxUnavailable: 10%", false, ""},
      // Who writes it wants it.
      {"Deployment", "3", "maxUnavailable: 0", true, ""},
      {"Deployment", "3", "minAvailable: 100%", true, ""},
      {"Deployment", "3", "maxUnavailable: 00%", true, ""},
      {"Job", "2", "minAvailable: 1", false, ""},
      {"Job", "2", "maxUnavailable: 1", true, no_share},
      {"Job", "2", "minAvailable: 50%", true, no_share}};
  for (const Case& one : cases) {
    const LetGo found = let_go(labelled(one.kind, one.replicas) + budget(one.terms));
    EXPECT_EQ(found.never, one.never) << one.kind << one.terms;
    EXPECT_EQ(found.told, one.told) << one.kind << one.terms;
  }
}

TEST(DisruptionBudgets, TheySelectAsSelectorsDo) {
  const std::string pods = labelled("Deployment", "1");
  const std::string all = "minAvailable: 1";
  EXPECT_TRUE(let_go(pods + budget(all, "")).never);
  EXPECT_FALSE(let_go(pods + budget(all, "matchLabels: {app: b}")).never);
  EXPECT_TRUE(
      let_go(pods + budget(all, "matchExpressions: [{key: app, operator: NotIn, values: [b]}]"))
          .never);
  EXPECT_FALSE(
      let_go(pods + budget(all, "matchExpressions: [{key: app, operator: DoesNotExist}]")).never);
  std::string elsewhere = budget(all);
  elsewhere.replace(elsewhere.find("name: b"), 7, "name: b, namespace: other");
  EXPECT_FALSE(let_go(pods + elsewhere).never);
  EXPECT_EQ(
      objects_read(pods + elsewhere).said.count("PodDisruptionBudgets of pods that are not here"),
      1);
}

TEST(DisruptionBudgets, TwoOfOnePodLetItNeverGo) {
  const std::string pods = labelled("Deployment", "3");
  const std::string one = budget("maxUnavailable: 1");
  EXPECT_FALSE(let_go(pods + one + one).never);  // in two files
  std::string other = budget("maxUnavailable: 2", "");
  other.replace(other.find("name: b"), 7, "name: c");
  const LetGo found = let_go(pods + one + other);
  EXPECT_TRUE(found.never);
  EXPECT_EQ(found.told,
            "another PodDisruptionBudget selects the pods of \"a\", too: the API then evicts none "
            "of them");
}

// As many as the autoscaler may make: then one can go.
TEST(DisruptionBudgets, AnAutoscalerMayMakeOneTooMany) {
  const std::string scaler =
      "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: "
      "{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 2}\n";
  EXPECT_EQ(let_go(labelled("Deployment", "1") + scaler + budget("minAvailable: 1")).told, "");
}

TEST(DisruptionBudgets, AScheduleMayLeaveOneTooFew) {
  const auto told = [](const std::string& more, const std::string& terms) {
    return let_go(
               labelled("Deployment", "1") +
               "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: "
               "s}\nspec: {scaleTargetRef: {name: a}, minReplicaCount: 1, triggers: [{type: cron, "
               "metadata: {timezone: UTC, start: 0 8 * * *, end: 0 20 * * *, desiredReplicas: "
               "\"6\"}}" +
               more + "]}\n" + budget(terms))
        .told;
  };
  const std::string none =
      "minAvailable is 3 of 1 pod of \"a\": none of them may ever be evicted while its schedule "
      "keeps no more";
  EXPECT_EQ(told("", "minAvailable: 3"), none);
  EXPECT_EQ(told(", {type: cpu, metadata: {value: \"50\"}}", "minAvailable: 3"), none);
  EXPECT_EQ(told("", "maxUnavailable: 1"), "");
}

// Of one workload they are simulated; of several together nobody says in a scenario.
TEST(DisruptionBudgets, AreReadAsTheWorkloadsOwn) {
  const std::string pods = labelled("Deployment", "3");
  const auto read = [&](const std::string& text) {
    return objects_read(text).scenario.workloads.at(0).disruption_budget;
  };
  EXPECT_EQ(read(pods + budget("maxUnavailable: 40%")),
            (DisruptionBudget{false, true, 40, {}, "b"}));
  EXPECT_EQ(read(pods + budget("minAvailable: 2")), (DisruptionBudget{true, false, 2, {}, "b"}));
  std::string other = labelled("Deployment", "3");
  other.replace(other.find("name: a"), 7, "name: z");
  const ObjectsRead both = objects_read(pods + "---\n" + other + budget("maxUnavailable: 1"));
  EXPECT_FALSE(both.scenario.workloads.at(0).disruption_budget);
  EXPECT_EQ(
      both.said.count("not simulated: PodDisruptionBudgets of several workloads, or of shares "
                      "of lone pods: a drain takes all pods of a node at once"),
      1);
}

}  // namespace
}  // namespace slicewise::scenarios
