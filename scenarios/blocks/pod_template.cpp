
#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../fields/check_scalar.hpp"
#include "../fields/node_values.hpp"
#include "../text/kubernetes_names.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kTolerationOperators[] = {"Equal", "Exists"};

bool is_extended(const Entry& entry) { return entry.key.find('/') != std::string::npos; }

void check_toleration(Toleration& toleration, const Node& map, Reading& reading) {
  if (toleration.op == "Exists" && !toleration.value.empty()) {
    reading.findings.add(Code::SettingConflict, value_place(map, "value"),
                         "a toleration with operator Exists has a value",
                         "Kubernetes wants the value left out, or operator Equal");
  }
  if (toleration.op == "Equal" && toleration.key.empty()) {
    reading.findings.add(Code::SettingConflict, map.where, "a toleration without a key",
                         "Kubernetes wants operator Exists when the key is empty");
  }
}

// A mapping, or Kubernetes' list.
void read_env(PodTemplate& pod, const Field& field, const Entry& entry, Reading& /*reading*/) {
  read_value(field, *entry.value, pod.env);
  for (const NodePtr& item : entry.value->items) {
    pod.env[text_at(item.get(), "name").value_or("")] = text_at(item.get(), "value").value_or("");
  }
}

// Kubernetes: an extended resource cannot be overcommitted, so its limit and request are equal.
void read_extended(const Node* requests, const Node* limits, PodTemplate& pod, Findings& findings) {
  if (limits != nullptr) {
    for (const Entry& entry : limits->entries) {
      if (!is_extended(entry)) continue;
      const auto count = extended_count(*entry.value);
      if (!count || *count == 0) continue;  // none is asked for
      pod.extended.push_back({{entry.key, entry.key_where}, *count, entry.value->where});
    }
  }
  if (requests == nullptr) return;
  for (const Entry& entry : requests->entries) {
    const auto request = is_extended(entry) ? extended_count(*entry.value) : std::nullopt;
    if (!request) continue;
    const Node* limit = limits == nullptr ? nullptr : limits->find(entry.key);
    if (limit == nullptr) {
      findings.add(
          Code::SettingConflict, entry.key_where,
          fmt::format("{} is requested without a limit", entry.key),
          "Kubernetes: limit must be set for non overcommitable resources; move it to limits");
    } else if (extended_count(*limit).value_or(*request) != *request) {
      findings.add(Code::SettingConflict, entry.value->where,
                   fmt::format("the request of {} differs from its limit", entry.key),
                   "remove the request: the limit is the request");
    }
  }
}

// Beside a GPU they would change nothing here.
void refuse_other_devices(PodTemplate& pod, Findings& findings) {
  if (pod.extended.size() < 2) return;
  std::erase_if(pod.extended, [&](const ExtendedRequest& request) {
    const std::string& name = request.name.value;
    if (!is_of_another_plugin(name)) return false;
    findings.add(
        Code::StrategyNotModelled, request.name.where,
        fmt::format("{} is no GPU: what other device plugins hand out is not simulated", name),
        "leave it out here; `slicewise check` says whether the nodes of files have it");
    return true;
  });
}

template <class Quantity>
void check_limit(const Node* requests, std::string_view key, std::optional<Quantity> request,
                 std::optional<Quantity> limit, const Node* limits, Findings& findings) {
  // What is absent is in order; compared like this, nothing is read that is not there.
  const Quantity asked = request.value_or(Quantity{});
  if (asked <= limit.value_or(asked)) return;
  findings.add(Code::SettingConflict, value_place(*limits, key),
               fmt::format("the {} limit is below the request", key),
               "Kubernetes refuses the pod: raise the limit or lower the request",
               fmt::format("requested on line {}", value_place(*requests, key).line));
}

void finish_pod_template(PodTemplate& pod, const Node& map, Reading& reading) {
  Findings& findings = reading.findings;
  const Node* resources = block(&map, "resources");
  const Node* requests = block(resources, "requests");
  const Node* limits = block(resources, "limits");
  const auto cpu_request = cpu_at(requests, "cpu");
  const auto memory_request = bytes_at(requests, "memory");
  pod.cpu_where = pod.where;
  pod.cpu_limit = cpu_at(limits, "cpu");
  pod.memory_limit = bytes_at(limits, "memory");
  pod.cpu_request = cpu_request ? *cpu_request : pod.cpu_limit.value_or(Millicores{});
  pod.memory_request = memory_request ? *memory_request : pod.memory_limit.value_or(Bytes{});
  if (cpu_request) {
    pod.cpu_where = value_place(*requests, "cpu");
  } else if (pod.cpu_limit) {
    pod.cpu_where = value_place(*limits, "cpu");
  }
  check_limit(requests, "cpu", cpu_request, pod.cpu_limit, limits, findings);
  check_limit(requests, "memory", memory_request, pod.memory_limit, limits, findings);
  read_extended(requests, limits, pod, findings);
  refuse_other_devices(pod, findings);
}

constexpr Field kResourceNamesFields[] = {
    plain(T::Cpu, "cpu", "500m",
          "vCPUs of the container: a share of the node, in whole or thousandths (m)."),
    plain(T::Bytes, "memory", "4Gi",
          "Host memory of the container; the memory of the GPU is gpuMemory."),
    plain(T::Integer, kGpuResource, "1",
          "GPUs or replicas of a shared GPU, in whole units; a renamed or MIG resource "
          "(nvidia.com/gpu.shared, nvidia.com/mig-1g.5gb) is written the same way."),
};
constexpr FieldList kResourceNames = list(kResourceNamesFields);

constexpr Field kResourcesFields[] = {
    plain(T::Resources, "requests", "{cpu: 500m, memory: 4Gi}",
          "What the scheduler reserves: cpu, memory and extended resources.")
        .of(kResourceNames),
    plain(T::Resources, "limits", "{nvidia.com/gpu: 1}",
          "The most a container may use. A limit without a request is the request too.")
        .of(kResourceNames),
};
constexpr FieldList kResources = list(kResourcesFields);

constexpr Field kTolerationFields[] = {
    field<&Toleration::key>("key", kGpuTaint, "Key of the taint; all keys when absent."),
    field<&Toleration::op>("operator", "Exists", "Equal compares the value, Exists does not.")
        .one_of(kTolerationOperators),
    field<&Toleration::value>("value", "present", "Value of the taint."),
    field<&Toleration::effect>("effect", "NoSchedule", "Effect; all effects when absent.")
        .one_of(kTaintEffects),
};
constexpr FieldList kToleration = block<Toleration, &check_toleration>(kTolerationFields);

constexpr Field kVariableFields[] = {
    plain(T::Text, "name", "TF_FORCE_GPU_ALLOW_GROWTH", "Name of the variable.")
        .needed()
        .positive(),
    plain(T::Text, "value", "\"true\"", "Its value, always text."),
};
constexpr FieldList kVariable = list(kVariableFields);

constexpr Word kImageArchitectures[] = {{kArchitectures[0], Architecture::Amd64},
                                        {kArchitectures[1], Architecture::Arm64}};

constexpr Field kSelectorFields[] = {
    field<&PodAffinityTerm::match_labels>("matchLabels", "{gpu-memory: large}",
                                          "Labels of the pods; all pods when empty.")
        .needed(),
};
constexpr FieldList kSelector = block<PodAffinityTerm>(kSelectorFields);

constexpr Field kNamespacesOfTerm = field<&PodAffinityTerm::namespaces>(
    "namespaces", "[team-a, team-b]", "Namespaces of these pods; the pod's own when absent.");

constexpr Field kAffinityTermFields[] = {
    field<&PodAffinityTerm::topology_key>(
        "topologyKey", "kubernetes.io/hostname",
        "Where the two meet, or do not: on a node, or on all with one value of a label of pools.")
        .positive()
        .needed(),
    inner("labelSelector", "{matchLabels: {gpu-memory: large}}", "Which pods.")
        .needed()
        .of(kSelector),
    kNamespacesOfTerm,
};
constexpr FieldList kAffinityTerm = block<PodAffinityTerm>(kAffinityTermFields);

// Of which the pods would rather be near, or far.
constexpr Field kPreferredPodsFields[] = {
    field<&PodAffinityTerm::topology_key>(
        "topologyKey", "topology.kubernetes.io/zone",
        "Near: on a node of the same pool label, or kubernetes.io/hostname, on the same node.")
        .positive()
        .needed(),
    inner("labelSelector", "{matchLabels: {app: cache}}", "Which pods.").needed().of(kSelector),
    kNamespacesOfTerm,
};
constexpr FieldList kPreferredPods = block<PodAffinityTerm>(kPreferredPodsFields);

constexpr Field kPreferredTermFields[] = {
    field<&PodAffinityTerm::weight>("weight", "100",
                                    "What each such pod that is near adds, or takes away.")
        .between(1, 100)
        .needed(),
    inner("podAffinityTerm",
          "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: cache}}}",
          "Which pods, and what is near.")
        .needed()
        .of(kPreferredPods),
};
constexpr FieldList kPreferredTerm = block<PodAffinityTerm>(kPreferredTermFields);

constexpr std::string_view kRequiredRules = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferredRules = "preferredDuringSchedulingIgnoredDuringExecution";

constexpr Word kNodeOperators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

void check_node_requirement(NodeRequirement& requirement, const Node& map, Reading& reading) {
  const std::string_view mistake = mistake_in(requirement);
  if (mistake.empty()) return;
  reading.findings.add(Code::SettingConflict, value_place(map, "operator"), std::string(mistake),
                       "Kubernetes refuses the pod");
}

constexpr Field kNodeRequirementFields[] = {
    field<&NodeRequirement::key>("key", "karpenter.sh/capacity-type", "A label of nodes.")
        .positive()
        .needed(),
    field<&NodeRequirement::op>("operator", "In", "How the label compares with the values.")
        .one_of(kNodeOperators)
        .needed(),
    field<&NodeRequirement::values>("values", "[spot]",
                                    "Of In and NotIn some, of Gt and Lt one integer, else none."),
};
constexpr FieldList kNodeRequirement =
    block<NodeRequirement, &check_node_requirement>(kNodeRequirementFields);

constexpr Field kPreferenceFields[] = {
    field<&PreferredNodes::requirements>(
        "matchExpressions", "[{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]",
        "Labels of these nodes, which have to meet all of it.")
        .needed()
        .of(kNodeRequirement),
};
constexpr FieldList kPreference = block<PreferredNodes>(kPreferenceFields);

constexpr Field kPreferredNodesFields[] = {
    field<&PreferredNodes::weight>("weight", "80", "What a node adds that has these labels.")
        .between(1, 100)
        .needed(),
    inner("preference",
          "{matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}",
          "Which nodes.")
        .needed()
        .of(kPreference),
};
constexpr FieldList kPreferredNodes = block<PreferredNodes>(kPreferredNodesFields);

constexpr Field kNodeTermFields[] = {
    field<&NodeTerm::requirements>(
        "matchExpressions", "[{key: team, operator: In, values: [vision, audio]}]",
        "Labels of the nodes, which have to meet all of it; without any no node does.")
        .needed()
        .of(kNodeRequirement),
};
constexpr FieldList kNodeTerm = block<NodeTerm>(kNodeTermFields);

constexpr Field kRequiredNodesFields[] = {
    field<&PodTemplate::node_affinity>(
        "nodeSelectorTerms",
        "[{matchExpressions: [{key: team, operator: In, values: [vision, audio]}]}]",
        "Nodes that meet one of these.")
        .needed()
        .of(kNodeTerm),
};
constexpr FieldList kRequiredNodes = block<PodTemplate>(kRequiredNodesFields);

constexpr Field kNodeAffinityFields[] = {
    inner(kRequiredRules,
          "{nodeSelectorTerms: [{matchExpressions: [{key: team, operator: In, values: [vision, "
          "audio]}]}]}",
          "Nodes that the pods need, beside those of nodeSelector.")
        .of(kRequiredNodes),
    field<&PodTemplate::preferences, &PodPreferences::nodes>(
        kPreferredRules,
        "[{weight: 80, preference: {matchExpressions: [{key: karpenter.sh/capacity-type, operator: "
        "In, values: [spot]}]}}]",
        "Nodes on which the pods would rather be. Karpenter takes the heaviest for required, and "
        "the next where no node has it.")
        .of(kPreferredNodes),
};
constexpr FieldList kNodeAffinity = block<PodTemplate>(kNodeAffinityFields);

constexpr Field kPodAffinityFields[] = {
    field<&PodTemplate::pod_affinity>(
        kRequiredRules,
        "[{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: cache}}}]",
        "Pods that these need near; the first of those that need each other may be anywhere.")
        .of(kAffinityTerm),
    field<&PodTemplate::preferences, &PodPreferences::affinity>(
        kPreferredRules,
        "[{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: "
        "{matchLabels: {app: cache}}}}]",
        "Pods that these would rather be near, whichever came first.")
        .of(kPreferredTerm),
};
constexpr FieldList kPodAffinity = block<PodTemplate>(kPodAffinityFields);

constexpr Field kPodAntiAffinityFields[] = {
    field<&PodTemplate::anti_affinity>(kRequiredRules,
                                       "[{topologyKey: kubernetes.io/hostname, labelSelector: "
                                       "{matchLabels: {gpu-memory: large}}}]",
                                       "Pods that are never near these, whichever came first.")
        .of(kAffinityTerm),
    field<&PodTemplate::preferences, &PodPreferences::anti_affinity>(
        kPreferredRules,
        "[{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: "
        "{matchLabels: {app: asr}}}}]",
        "Pods that these would rather be far from, whichever came first.")
        .of(kPreferredTerm),
};
constexpr FieldList kPodAntiAffinity = block<PodTemplate>(kPodAntiAffinityFields);

constexpr Field kAffinityFields[] = {
    inner(
        "nodeAffinity",
        "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 80, preference: "
        "{matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}]}",
        "Which nodes the pods need beside nodeSelector, and which they like.")
        .of(kNodeAffinity),
    inner("podAffinity",
          "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: "
          "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: cache}}}}]}",
          "Whose company the pods need, or like.")
        .of(kPodAffinity),
    inner("podAntiAffinity",
          "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
          "labelSelector: {matchLabels: {gpu-memory: large}}}]}",
          "Whose company the pods refuse, or dislike.")
        .of(kPodAntiAffinity),
};
constexpr FieldList kAffinity = block<PodTemplate>(kAffinityFields);

constexpr Word kWhenUnsatisfiable[] = {"ScheduleAnyway", "DoNotSchedule"};
constexpr Word kInclusionPolicies[] = {"Honor", "Ignore"};

constexpr Field kSpreadSelectorFields[] = {
    field<&TopologySpread::match_labels>("matchLabels", "{app: asr}",
                                         "Labels of the pods; none when empty.")
        .needed(),
};
constexpr FieldList kSpreadSelector = block<TopologySpread>(kSpreadSelectorFields);

constexpr Field kTopologySpreadFields[] = {
    field<&TopologySpread::max_skew>(
        "maxSkew", "1",
        "How many more of the pods a domain may have than the one with the fewest; of "
        "ScheduleAnyway, the higher, the less differences matter.")
        .positive()
        .needed(),
    field<&TopologySpread::topology_key>(
        "topologyKey", "topology.kubernetes.io/zone",
        "The domains: the values of a label of pools, or kubernetes.io/hostname, nodes.")
        .positive()
        .needed(),
    field<&TopologySpread::when_unsatisfiable>(
        "whenUnsatisfiable", "ScheduleAnyway",
        "Pods wait for another domain, or have one all the same.")
        .one_of(kWhenUnsatisfiable)
        .needed(),
    field<&TopologySpread::min_domains>(
        "minDomains", "3", "Of DoNotSchedule: with fewer domains the fewest pods of one are none.")
        .positive(),
    field<&TopologySpread::node_affinity_policy>(
        "nodeAffinityPolicy", "Ignore",
        "Ignore counts nodes, too, that the pods do not select; Honor when absent.")
        .one_of(kInclusionPolicies),
    field<&TopologySpread::node_taints_policy>(
        "nodeTaintsPolicy", "Honor",
        "Honor leaves nodes out whose taints keep the pods off; Ignore when absent.")
        .one_of(kInclusionPolicies),
    inner("labelSelector", "{matchLabels: {app: asr}}", "Which pods count.")
        .needed()
        .of(kSpreadSelector),
};
constexpr FieldList kTopologySpread = block<TopologySpread>(kTopologySpreadFields);

constexpr Field kPodTemplateFields[] = {
    plain(T::Block, "resources", "{requests: {cpu: 500m}, limits: {nvidia.com/gpu: 1}}",
          "The container's resources block.")
        .of(kResources),
    field<&PodTemplate::claim>("resourceClaim", "asr-gpu",
                               "The claim of spec.resourceClaims by which the pods have their "
                               "devices, in place of nvidia.com/gpu.")
        .as(T::Name),
    field<&PodTemplate::tolerations>("tolerations", "[{key: nvidia.com/gpu, operator: Exists}]",
                                     "Taints that the pods tolerate, beside those that are named "
                                     "as an extended resource which they ask for: EKS adds these.")
        .of(kToleration),
    field<&PodTemplate::node_selector>("nodeSelector", "{team: vision}",
                                       "Node labels that the pods need."),
    field<&PodTemplate::image_architectures>(
        "imageArchitectures", "[amd64, arm64]",
        "CPUs that the images of the containers are built for; when absent those of nodeSelector "
        "kubernetes.io/arch, else amd64. On others the containers end with \"exec format error\".")
        .one_of(kImageArchitectures),
    field<&PodTemplate::host_ports>(
        "hostPorts", "[\"8000\", \"53/UDP\"]",
        "Ports of their node that the pods take (containers.ports.hostPort, or those of a pod with "
        "hostNetwork): one pod of a node has each.")
        .positive(),
    inner("affinity", "{podAntiAffinity: {...}}", "Of Kubernetes' rules those that are simulated.")
        .of(kAffinity),
    field<&PodTemplate::preferences, &PodPreferences::spread>(
        "topologySpreadConstraints",
        "[{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: "
        "ScheduleAnyway, labelSelector: {matchLabels: {app: asr}}}]",
        "How the pods are spread, in place of kube-scheduler's own way: by node with maxSkew 3 and "
        "by zone with maxSkew 5, for what has a ReplicaSet.")
        .of(kTopologySpread),
    field<&PodTemplate::labels>("labels", "{team: vision, user: ana}",
                                "Labels of the pods, by which --group-by splits the bill and rules "
                                "of other pods select them."),
    field<&PodTemplate::annotations>(
        "annotations", "{karpenter.sh/do-not-disrupt: \"true\"}",
        "Annotations of the pods. What keeps Karpenter or the Cluster Autoscaler from removing "
        "their node (cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\") is simulated."),
    read_by<PodTemplate, &read_env>(T::Environment, "env", "{TF_FORCE_GPU_ALLOW_GROWTH: \"true\"}",
                                    "Environment variables, as a mapping or as Kubernetes' list.")
        .of(kVariable),
};

}  // namespace

constinit const FieldList kPodTemplate =
    block<PodTemplate, &finish_pod_template>(kPodTemplateFields);

}  // namespace slicewise::scenarios
