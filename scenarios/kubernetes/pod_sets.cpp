#include "pod_sets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

namespace slicewise::scenarios::manifests {
namespace {

using enum PodPurpose;

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr std::string_view kRay = "ray.io";
constexpr std::string_view kKserve = "serving.kserve.io";
constexpr std::string_view kNim = "apps.nvidia.com";
constexpr std::string_view kLws = "leaderworkerset.x-k8s.io";

constexpr std::array<std::string_view, 1> kItself = {""};
constexpr std::array<std::string_view, 12> kModelServers = {
    "model",  "huggingface", "triton",  "pytorch", "tensorflow", "onnx",
    "paddle", "sklearn",     "xgboost", "pmml",    "lightgbm",   "mlflow"};
constexpr std::array<std::string_view, 3> kExplainers = {"art", "alibi", "aix"};

constexpr PodSet replicated(std::string_view kind) {
  return {.kind = kind, .pods = "spec.template", .counts = {"spec.replicas"}};
}

// Sources: API types of kubeflow/training-operator (pkg/apis/kubeflow.org/v1) and mpi-operator.
constexpr PodSet of_kubeflow(std::string_view kind, KeyPath specs) {
  return {.kind = kind,
          .group = kKubeflow,
          .purpose = Ends,
          .at = specs,
          .pods = "template",
          .counts = {"replicas"},
          .works_together = true};
}

// Source: ray-project/kuberay, ray-operator/apis/ray/v1. A RayJob starts once all of its cluster is
// there.
constexpr PodSet ray_head(std::string_view kind, PodPurpose purpose, KeyPath group) {
  return {.kind = kind,
          .group = kRay,
          .purpose = purpose,
          .at = group,
          .suffix = "head",
          .pods = "template",
          .works_together = purpose == Ends};
}
constexpr PodSet ray_workers(std::string_view kind, PodPurpose purpose, KeyPath groups) {
  return {.kind = kind,
          .group = kRay,
          .purpose = purpose,
          .at = groups,
          .named_by = "groupName",
          .pods = "template",
          .counts = {"replicas", "numOfHosts"},
          .fewest = "minReplicas",
          .most = "maxReplicas",
          .by_default = 0,
          .works_together = purpose == Ends};
}

// Source: kserve/kserve, pkg/apis/serving/v1beta1.
constexpr PodSet kserve_component(KeyPath component, std::string_view suffix,
                                  std::span<const std::string_view> containers) {
  return {.kind = "InferenceService",
          .group = kKserve,
          .purpose = Serves,
          .at = component,
          .suffix = suffix,
          .is_bare_spec = true,
          .containers = containers,
          .fewest = "minReplicas",
          .most = "maxReplicas"};
}

constexpr PodSet llm_leader(KeyPath at, std::string_view suffix) {
  return {.kind = "LLMInferenceService",
          .group = kKserve,
          .purpose = Serves,
          .at = at,
          .suffix = suffix,
          .pods = "template",
          .is_bare_spec = true,
          .counts = {"replicas"}};
}
constexpr PodSet llm_workers(KeyPath at, std::string_view suffix) {
  return {.kind = "LLMInferenceService",
          .group = kKserve,
          .purpose = Serves,
          .at = at,
          .suffix = suffix,
          .pods = "worker",
          .is_bare_spec = true,
          .counts = {"replicas"},
          .group_size = "parallelism.data",
          .ranks_each = "parallelism.dataLocal",
          .stages = "parallelism.pipeline",
          .leader = "worker"};
}

constexpr std::array kPodSets = {
    PodSet{.kind = "Pod"}, replicated("Deployment"), replicated("StatefulSet"),
    replicated("ReplicaSet"), replicated("ReplicationController"),
    PodSet{.kind = "DaemonSet", .pods = "spec.template"}, replicated("Notebook"),
    PodSet{.kind = "Job",
           .purpose = Ends,
           .pods = "spec.template",
           .counts = {"spec.parallelism"},
           .backoff_limit = "spec.backoffLimit",
           .completions = "spec.completions",
           .succeeded = "status.succeeded"},
    PodSet{.kind = "CronJob",
           .purpose = Ends,
           .pods = "spec.jobTemplate.spec.template",
           .counts = {"spec.jobTemplate.spec.parallelism"},
           .backoff_limit = "spec.jobTemplate.spec.backoffLimit",
           .cron = "spec",
           .completions = "spec.jobTemplate.spec.completions"},
    // Source: knative.dev/serving, pkg/apis/serving/v1.
    PodSet{.kind = "Service",
           .group = "serving.knative.dev",
           .purpose = Serves,
           .pods = "spec.template"},
    // Source: volcano-sh/apis, pkg/apis/batch/v1alpha1.
    PodSet{.kind = "Job",
           .group = "batch.volcano.sh",
           .purpose = Ends,
           .at = "spec.tasks[]",
           .named_by = "name",
           .pods = "template",
           .counts = {"replicas"},
           .works_together = true},
    // Source: kubernetes-sigs/jobset, api/jobset/v1alpha2.
    PodSet{.kind = "JobSet",
           .group = "jobset.x-k8s.io",
           .purpose = Ends,
           .at = "spec.replicatedJobs[]",
           .named_by = "name",
           .pods = "template.spec.template",
           .counts = {"replicas", "template.spec.parallelism"},
           .backoff_limit = "template.spec.backoffLimit",
           .completions = "template.spec.completions",
           .works_together = true},
    of_kubeflow("PyTorchJob", "spec.pytorchReplicaSpecs{}"),
    of_kubeflow("TFJob", "spec.tfReplicaSpecs{}"), of_kubeflow("MPIJob", "spec.mpiReplicaSpecs{}"),
    of_kubeflow("XGBoostJob", "spec.xgbReplicaSpecs{}"),
    of_kubeflow("PaddleJob", "spec.paddleReplicaSpecs{}"),
    of_kubeflow("JAXJob", "spec.jaxReplicaSpecs{}"),
    // Source: kubeflow/trainer, pkg/apis/trainer/v1alpha1.
    PodSet{.kind = "TrainJob",
           .group = "trainer.kubeflow.org",
           .purpose = Ends,
           .pods = "spec.trainer",
           .is_bare_spec = true,
           .containers = kItself,
           .resources = "resourcesPerNode",
           .counts = {"spec.trainer.numNodes"},
           .works_together = true},
    ray_head("RayCluster", Works, "spec.headGroupSpec"),
    ray_workers("RayCluster", Works, "spec.workerGroupSpecs[]"),
    ray_head("RayService", Serves, "spec.rayClusterConfig.headGroupSpec"),
    ray_workers("RayService", Serves, "spec.rayClusterConfig.workerGroupSpecs[]"),
    ray_head("RayJob", Ends, "spec.rayClusterSpec.headGroupSpec"),
    ray_workers("RayJob", Ends, "spec.rayClusterSpec.workerGroupSpecs[]"),
    kserve_component("spec.predictor", "predictor", kModelServers),
    kserve_component("spec.transformer", "transformer", {}),
    kserve_component("spec.explainer", "explainer", kExplainers),
    PodSet{.kind = "InferenceService",
           .group = kKserve,
           .purpose = Serves,
           .at = "spec.predictor",
           .suffix = "worker",
           .pods = "workerSpec",
           .is_bare_spec = true,
           .counts = {"minReplicas"},
           .group_size = "workerSpec.pipelineParallelSize",
           .leader = "workerSpec"},
    // Source: kserve/kserve, pkg/apis/serving/v1alpha2.
    llm_leader("spec", ""), llm_workers("spec", "worker"), llm_leader("spec.prefill", "prefill"),
    llm_workers("spec.prefill", "prefill-worker"),
    // Source: NVIDIA/k8s-nim-operator, api/apps/v1alpha1. A node each for the stages of a pipeline.
    PodSet{.kind = "NIMService",
           .group = kNim,
           .purpose = Serves,
           .pods = "spec",
           .is_bare_spec = true,
           .containers = kItself,
           .counts = {"spec.replicas", "spec.multiNode.parallelism.pipeline"}},
    PodSet{.kind = "NIMPipeline",
           .group = kNim,
           .purpose = Serves,
           .at = "spec.services[]",
           .named_by = "name",
           .pods = "spec",
           .is_bare_spec = true,
           .containers = kItself,
           .counts = {"spec.replicas", "spec.multiNode.parallelism.pipeline"}},
    // Source: kubernetes-sigs/lws, api/leaderworkerset/v1.
    PodSet{.kind = "LeaderWorkerSet",
           .group = kLws,
           .purpose = Serves,
           .at = "spec",
           .suffix = "leader",
           .pods = "leaderWorkerTemplate.leaderTemplate",
           .counts = {"replicas"},
           .works_together = true},
    PodSet{.kind = "LeaderWorkerSet",
           .group = kLws,
           .purpose = Serves,
           .at = "spec",
           .suffix = "worker",
           .pods = "leaderWorkerTemplate.workerTemplate",
           .counts = {"replicas"},
           .group_size = "leaderWorkerTemplate.size",
           .leader = "leaderWorkerTemplate.leaderTemplate"}};

}  // namespace

std::span<const PodSet> pod_sets() { return kPodSets; }

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

PodPurpose purpose_of_kind(std::string_view kind) {
  const auto sets = manifests::pod_sets();
  const auto found = std::ranges::find(sets, kind, &manifests::PodSet::kind);
  return found == sets.end() ? PodPurpose::Unsaid : found->purpose;
}

std::set<std::string> resources_with_pods() {
  // As apimachinery derives a resource from its kind (meta.UnsafeGuessKindToResource).
  const auto plural = [](std::string_view kind) {
    std::string name = lower_case(kind);
    if (name.ends_with('s')) return name + "es";
    if (!name.ends_with('y')) return name + "s";
    name.pop_back();
    return name + "ies";
  };
  std::set<std::string> names;
  for (const manifests::PodSet& set : manifests::pod_sets()) {
    if (!set.group.empty()) names.insert(fmt::format("{}.{}", plural(set.kind), set.group));
  }
  return names;
}

}  // namespace slicewise::scenarios
