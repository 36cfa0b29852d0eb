#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/node_pool.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/units.hpp"

// What pods ask for, where they may run and would rather run, and how many may be away at once.
namespace slicewise::scenarios {

struct Toleration {
  std::string key;           // "" with operator Exists tolerates everything
  std::string op = "Equal";  // or Exists
  std::string value;
  std::string effect;  // "" matches all effects
};
bool tolerates_any(std::span<const Toleration> tolerations, const Taint& taint);

// The first taint that keeps pods with these tolerations off a node; nullptr when they may run
// there. PreferNoSchedule keeps nobody off.
const Taint* untolerated(std::span<const Taint> taints, std::span<const Toleration> tolerations);

struct ExtendedRequest {
  Located<std::string> name;  // "nvidia.com/gpu"
  std::int64_t count = 1;
  SourceLocation count_where;
};

// Annotations of pods that keep Karpenter ("true") and the Cluster Autoscaler ("false") from
// removing their node.
inline const std::string kDoNotDisrupt = "karpenter.sh/do-not-disrupt";
inline const std::string kSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict";

// Pods and nodes of one pool find each other by it where a plan has several.
inline const std::string kPoolLabel = "slicewise.dev/pool";

inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

// Pods, and the domains of nodes that they are to share with others or not. Of a required
// podAntiAffinity: no domain has a pod with it and one that it selects.
struct PodAffinityTerm {
  std::map<std::string, std::string> match_labels;  // empty: every pod
  std::vector<std::string> namespaces;              // empty: the pod's own
  std::string topology_key;                         // the label of nodes that makes the domains
  SourceLocation where;
  int weight = 0;  // 1 to 100 of a preferred one

  bool operator==(const PodAffinityTerm& other) const {
    return match_labels == other.match_labels && namespaces == other.namespaces &&
           topology_key == other.topology_key && weight == other.weight;
  }
};

inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";

// The fewer pods that it selects are in the domain of a node, the better (ScheduleAnyway), or no
// domain has more than max_skew of them above that with the fewest (DoNotSchedule).
struct TopologySpread {
  int max_skew = 1;
  std::string topology_key;
  std::string when_unsatisfiable = "ScheduleAnyway";
  std::map<std::string, std::string> match_labels;  // in the pod's own namespace; empty: none
  SourceLocation where;
  int min_domains = 1;  // of DoNotSchedule: where fewer are there, the fewest pods are none
  // "Honor", "Ignore": whether nodes count only that the pods select, and whose taints they
  // tolerate; "" Honor of the one, Ignore of the other.
  std::string node_affinity_policy{};
  std::string node_taints_policy{};

  bool is_required() const { return when_unsatisfiable == kDoNotSchedule; }
  bool operator==(const TopologySpread& other) const {
    return max_skew == other.max_skew && topology_key == other.topology_key &&
           when_unsatisfiable == other.when_unsatisfiable && match_labels == other.match_labels &&
           min_domains == other.min_domains && node_affinity_policy == other.node_affinity_policy &&
           node_taints_policy == other.node_taints_policy;
  }
};

// Nodes with labels that meet all of it.
struct NodeTerm {
  std::vector<NodeRequirement> requirements;
  SourceLocation where;

  bool operator==(const NodeTerm& other) const { return requirements == other.requirements; }
};

// Nodes with labels that meet all of it.
struct PreferredNodes {
  int weight = 0;  // 1 to 100
  std::vector<NodeRequirement> requirements;
  SourceLocation where;

  bool operator==(const PreferredNodes& other) const {
    return weight == other.weight && requirements == other.requirements;
  }
};

// What pods would rather have: no node is refused for it but by a spread that is required.
struct PodPreferences {
  std::vector<PodAffinityTerm> affinity;
  std::vector<PodAffinityTerm> anti_affinity;
  std::vector<TopologySpread> spread;  // empty: as kube-scheduler does by itself
  std::vector<PreferredNodes> nodes{};

  bool operator==(const PodPreferences&) const = default;
  bool empty() const { return *this == PodPreferences{}; }
};

struct PodTemplate {
  Millicores cpu_request;
  std::optional<Millicores> cpu_limit;
  Bytes memory_request;
  std::optional<Bytes> memory_limit;      // host memory; carried to exports, not simulated
  std::vector<ExtendedRequest> extended;  // limits of extended resources
  Located<std::string> claim;             // of Scenario::claims, in place of these; "" none
  std::vector<Toleration> tolerations;
  std::map<std::string, std::string> node_selector;
  std::vector<NodeTerm> node_affinity{};         // required: one of them; empty: all nodes
  std::vector<PodAffinityTerm> pod_affinity{};   // required: all of them
  std::vector<PodAffinityTerm> anti_affinity{};  // required
  // Ports of their node that the pods take, "8000", "53/UDP": one pod of a node has each.
  std::vector<Located<std::string>> host_ports{};
  PodPreferences preferences{};
  std::vector<Architecture> image_architectures;  // empty: nobody says
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::map<std::string, std::string> env;  // TF_FORCE_GPU_ALLOW_GROWTH=true changes the allocator
  SourceLocation where;
  SourceLocation cpu_where;
};

// Keys of the labels by which pods select others that they want near or far.
std::set<std::string> selected_labels(std::span<const PodAffinityTerm> affinity,
                                      std::span<const PodAffinityTerm> anti_affinity,
                                      const PodPreferences& preferences);

// What a workload waits for before any Job of it is made, as a ReplicatedJob of a JobSet does.
struct StartDependency {
  enum class Status : std::uint8_t { Ready, Complete };
  Located<std::string> name;  // of a workload
  Status status = Status::Ready;
  SourceLocation where;
};

// A PodDisruptionBudget of the pods of a workload.
struct DisruptionBudget {
  bool keeps = false;  // minAvailable; else it is maxUnavailable
  bool is_percent = false;
  std::int64_t value = 0;
  SourceLocation where;
  std::string name{};  // of the object that the cluster has; "" exports write one

  bool operator==(const DisruptionBudget& other) const {
    return keeps == other.keeps && is_percent == other.is_percent && value == other.value &&
           name == other.name;
  }
  // Of so many pods that there should be, those that have to be ready. Parts are rounded up.
  std::int64_t kept_of(std::int64_t pods) const {
    const std::int64_t part = is_percent ? (value * pods + 99) / 100 : value;
    return keeps ? part : std::max<std::int64_t>(0, pods - part);
  }
};

}  // namespace slicewise::scenarios
