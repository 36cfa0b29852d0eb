#include <algorithm>

#include <fmt/format.h>

#include "../document/yaml_text.hpp"
#include "bundle.hpp"
#include "guide.hpp"
#include "text_block.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Workload;
using scenarios::WorkloadKind;

// As a word of a shell, whatever is in it.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool is_deployment(const Workload& workload) {
  return workload.kind == WorkloadKind::Deployment || workload.kind == WorkloadKind::Service;
}

std::string selector_of(const PoolNodes& nodes) {
  return "eks.amazonaws.com/nodegroup=" + nodes.target.pool->name.value;
}

std::string script_title(const Bundle& bundle, std::string_view what) {
  return "#!/usr/bin/env bash\n" +
         comment(fmt::format("{} scenario variant {}, written by slicewise.", what,
                             yaml_scalar(bundle.scenario->name)));
}

std::string karpenter_lines(const Bundle& bundle, std::string_view verb) {
  if (!bundle.options->cluster.empty()) {
    return fmt::format("if [[ $karpenter == yes ]]; then kubectl {} -f karpenter.yaml; fi\n", verb);
  }
  return fmt::format(R"sh(if [[ $karpenter == yes ]]; then
  : "${{CLUSTER_NAME:?set it to the name of the cluster}}"
  sed "s/\${{CLUSTER_NAME}}/$CLUSTER_NAME/g" karpenter.yaml | kubectl {} -f -
fi
)sh",
                     verb);
}

constexpr std::string_view kArguments = R"sh(set -euo pipefail
cd "$(dirname "$0")"
karpenter=no
case ${1:-} in
  '') ;;
  --karpenter) karpenter=yes ;;
  *) echo "usage: $0 [--karpenter]" >&2; exit 2 ;;
esac
)sh";

std::string helm_lines(const Bundle& bundle) {
  std::string out = fmt::format(
      "helm repo add {0}\nhelm repo update {1}\n"
      "helm upgrade -i {2} {3} --version {4} -n {5} --create-namespace -f {6}\n",
      bundle.repository, bundle.repository.substr(0, bundle.repository.find(' ')), bundle.release,
      bundle.chart, shell_word(bundle.version), bundle.namespace_name, bundle.values);
  return out;
}

// After the labels: without them the DaemonSet has no pod to wait for.
std::string wait_line(const Bundle& bundle) {
  if (bundle.daemonset.empty()) return {};
  return fmt::format("kubectl -n {} rollout status daemonset/{} --timeout=10m\n",
                     bundle.namespace_name, bundle.daemonset);
}

// MIG layouts are not among them: their nodes are drained first, by hand, one by one.
std::string label_lines_of(const Bundle& bundle) {
  std::string out = comment(
      "Remembered for rollback.sh: the nodes that nobody else has labelled "
      "nvidia.com/gpu.present.");
  for (const PoolNodes& nodes : bundle.nodes) {
    out += fmt::format("kubectl get nodes -l {} -o name >>labelled-nodes.txt\n",
                       shell_word(selector_of(nodes) + ",!nvidia.com/gpu.present"));
    out += fmt::format("kubectl label nodes -l {} {} {} --overwrite\n",
                       shell_word(selector_of(nodes)), shell_word("nvidia.com/gpu.present=true"),
                       shell_word(fmt::format("{}={}", kConfigLabel, nodes.config)));
  }
  return out;
}

std::string deployment_calls(const Bundle& bundle, std::string_view function) {
  std::string out;
  for (const Workload& workload : bundle.scenario->workloads) {
    if (!is_deployment(workload)) continue;
    out += fmt::format("{} {} {}\n", function, shell_word(workload.namespace_name),
                       shell_word(workload.name.value));
  }
  return out;
}

constexpr std::string_view kPatchFunction = R"sh(
patch_deployment() {
  if kubectl -n "$1" get deployment "$2" >/dev/null 2>&1; then
    kubectl -n "$1" patch deployment "$2" --patch-file "pods/$1-$2.yaml"
  else
    echo "skipped: no Deployment $2 in namespace $1; pods/ is a kustomize component" >&2
  fi
}
)sh";

constexpr std::string_view kUndoFunction = R"sh(
undo_deployment() {
  if kubectl -n "$1" get deployment "$2" >/dev/null 2>&1; then
    kubectl -n "$1" rollout undo "deployment/$2"
  fi
}
)sh";

}  // namespace

std::string apply_script(const Bundle& bundle) {
  std::string out = script_title(bundle, "Puts in place");
  out += commented(
      "\n"
      "  ./apply.sh               node groups that exist and are named like the pools "
      "(eksctl.yaml\n"
      "                           makes them)\n"
      "  ./apply.sh --karpenter   also the NodePools of karpenter.yaml\n"
      "\n");
  out += comment(
      "Deployments are patched; the name of their container must be the one of the patch in pods/. "
      "The pod template of a Job cannot be changed: create it from pods/. Then see VERIFY.md.");
  out += kArguments;
  if (!bundle.values.empty()) {
    out += "\n" + helm_lines(bundle) + label_lines_of(bundle) + wait_line(bundle);
  }
  out += "\n" + karpenter_lines(bundle, "apply");
  if (bundle.has_mig) {
    out += "echo 'MIG layouts: drain and label each node as mig-config.yaml says' >&2\n";
  }
  const std::string calls = deployment_calls(bundle, "patch_deployment");
  if (!calls.empty()) out += std::string(kPatchFunction) + calls;
  return out;
}

std::string rollback_script(const Bundle& bundle) {
  std::string out = script_title(bundle, "Takes back");
  out += commented(
      "\n"
      "  ./rollback.sh               Deployments, labels and the release of the chart\n"
      "  ./rollback.sh --karpenter   also deletes the NodePools, and with them their nodes\n"
      "\n");
  out += kArguments;
  const std::string calls = deployment_calls(bundle, "undo_deployment");
  if (!calls.empty()) out += std::string(kUndoFunction) + calls;
  out += "\n" + karpenter_lines(bundle, "delete --ignore-not-found");
  if (bundle.values.empty()) return out;
  for (const PoolNodes& nodes : bundle.nodes) {
    out += fmt::format("kubectl label nodes -l {} {}-\n", shell_word(selector_of(nodes)),
                       kConfigLabel);
  }
  out += R"sh(if [[ -s labelled-nodes.txt ]]; then
  while read -r node; do
    kubectl label "$node" nvidia.com/gpu.present- || echo "skipped: $node is gone" >&2
  done <labelled-nodes.txt
  rm labelled-nodes.txt
fi
)sh";
  return out +
         fmt::format(
             R"sh(# After a first install there is no revision before: then the release is removed.
revisions=$(helm history {0} -n {1} -o json | grep -o '"revision"' | wc -l)
if ((revisions > 1)); then
  helm rollback {0} -n {1}
else
  helm uninstall {0} -n {1}
fi
)sh",
             bundle.release, bundle.namespace_name);
}

std::string verify_guide(const Bundle& bundle) {
  std::string out = fmt::format(
      "# Is it in place?\n\nScenario variant {}, written by slicewise. What `kubectl` prints once "
      "everything has registered;\ndifferences are findings.\n",
      yaml_scalar(bundle.scenario->name));
  if (!bundle.daemonset.empty()) {
    out += fmt::format(
        "\n## The device plugin runs on every GPU node\n\n"
        "    kubectl -n {0} get daemonset {1}\n\nDESIRED and READY are the number of GPU nodes. 0 "
        "means that no node has the label nvidia.com/gpu.present=true\nor that of Node Feature "
        "Discovery.\n",
        bundle.namespace_name, bundle.daemonset);
  }
  out += "\n## The nodes offer the resources\n\n    kubectl describe node NODE\n";
  for (const PoolNodes& nodes : bundle.nodes) {
    out += "\n" + indented(expected_node_text(nodes.target, kNewestChartMinor), 4);
  }
  out +=
      "\nOf all nodes at once, with the count of each in the column:\n\n    kubectl get nodes -o "
      "custom-columns=NAME:.metadata.name";
  std::vector<std::string> columns;
  for (const PoolNodes& nodes : bundle.nodes) {
    for (const AdvertisedResource& resource : advertised(nodes.target)) {
      if (std::ranges::find(columns, resource.name) != columns.end()) continue;
      columns.push_back(resource.name);
    }
  }
  for (const std::string& column : columns) {
    std::string path = column;
    for (std::size_t at = 0; (at = path.find('.', at)) != std::string::npos; at += 2) {
      path.insert(at, "\\");
    }
    out += fmt::format(",{}:'.status.allocatable.{}'", column.substr(column.find('/') + 1), path);
  }
  out += "\n\n## The pods run\n\n";
  for (const Workload& workload : bundle.scenario->workloads) {
    const std::string& space = workload.namespace_name;
    if (is_deployment(workload)) {
      out += fmt::format("    kubectl -n {} get deployment {}     # READY {}/{}\n", space,
                         workload.name.value, workload.count, workload.count);
    } else {
      out += fmt::format("    kubectl -n {} get pods              # {} of {}\n", space,
                         workload.count, workload.name.value);
    }
  }
  return out +
         "\nPending: `kubectl describe pod` names what no node offers (slicewise explain "
         "RESOURCE_NAME_MISMATCH).\nUnexpectedAdmissionError: a container asks for more than one "
         "shared replica (slicewise explain REQUEST_TOO_LARGE).\n";
}

}  // namespace slicewise::reports
