#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

constexpr Field kDaemonSetFields[] = {
    field<&DaemonSet::name>("name", "fluent-bit", "Name of the DaemonSet.").needed().positive(),
    field<&DaemonSet::cpu_request>("cpu", "100m", "CPU request of its pod, all containers."),
    field<&DaemonSet::memory_request>("memory", "128Mi", "Memory request of its pod."),
};

}  // namespace

constinit const FieldList kDaemonSet = block<DaemonSet>(kDaemonSetFields);

// aws-node: aws/amazon-vpc-cni-k8s charts/aws-vpc-cni/values.yaml, 25m for each of aws-node and
// aws-eks-nodeagent. kube-proxy: 100m, the add-on of EKS (kubectl describe node). Charts of
// NVIDIA/k8s-device-plugin 0.19.3 and NVIDIA/dcgm-exporter 4.2.3: `resources: {}`, a place for a
// pod and nothing else. Read 2026-11.
const std::vector<DaemonSet>& usual_daemon_sets() {
  static const std::vector<DaemonSet> usual = {{"aws-node", {50}, {}},
                                               {"kube-proxy", {100}, {}},
                                               {"nvidia-device-plugin", {}, {}},
                                               {"dcgm-exporter", {}, {}}};
  return usual;
}

}  // namespace slicewise::scenarios
