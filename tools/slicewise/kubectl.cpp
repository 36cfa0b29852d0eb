#include "kubectl.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/decompress.hpp"

#include "process.hpp"

namespace slicewise::tools {
namespace {

struct Resource {
  std::string_view name;
  bool is_needed = true;  // else whoever may not read it does without
};

// Beside those of operators. A cluster may lack any.
constexpr std::array<Resource, 21> kResources = {{
    {"nodes"},
    {"deployments.apps"},
    {"statefulsets.apps"},
    {"daemonsets.apps"},
    {"jobs.batch"},
    {"cronjobs.batch"},
    {"notebooks.kubeflow.org"},
    {"pods"},
    {"services", false},
    {"horizontalpodautoscalers.autoscaling", false},
    {"scaledobjects.keda.sh", false},
    {"priorityclasses.scheduling.k8s.io", false},
    {"clusterqueues.kueue.x-k8s.io", false},
    {"localqueues.kueue.x-k8s.io", false},
    {"clusterpolicies.nvidia.com", false},
    {"nodepools.karpenter.sh", false},
    {"ec2nodeclasses.karpenter.k8s.aws", false},
    {"nodeoverlays.karpenter.sh", false},
    {"resourceclaims.resource.k8s.io", false},
    {"resourceclaimtemplates.resource.k8s.io", false},
    {"deviceclasses.resource.k8s.io", false},
}};
constexpr std::string_view kDaemonSets = "daemonsets.apps";

class Reader {
 public:
  explicit Reader(const Cluster& cluster) : words_{cluster.kubectl} {
    if (!cluster.context.empty()) words_.push_back("--context=" + cluster.context);
    if (!cluster.kubeconfig.empty()) words_.push_back("--kubeconfig=" + cluster.kubeconfig);
  }

  Expected<ClusterObjects> read() {
    // What it printed is there, though one API of many (metrics.k8s.io) does not answer.
    const auto known = ask({"api-resources", "--verbs=list", "-o", "name"});
    if (!known) return tl::unexpected(known.error());
    if (known->text.text.empty()) return failed(*known);
    if (!known->failure.empty()) do_without(*known);
    std::set<std::string> there;
    std::istringstream names(known->text.text);
    for (std::string name; names >> name;) there.insert(name);
    std::vector<Resource> wanted(kResources.begin(), kResources.end());
    const std::set<std::string> of_operators = scenarios::resources_with_pods();
    for (const std::string& name : of_operators) wanted.push_back({name});
    for (const Resource& resource : wanted) {
      if (!there.contains(std::string(resource.name))) continue;
      auto answer = ask({"get", std::string(resource.name), "--all-namespaces", "-o", "json"});
      if (!answer) return tl::unexpected(answer.error());
      if (!answer->failure.empty() && resource.is_needed) return failed(*answer);
      if (!answer->failure.empty()) {
        do_without(*answer);
        continue;
      }
      read_.texts.push_back(std::move(answer->text));
      if (resource.name != kDaemonSets) continue;
      if (auto maps = read_config_maps(); !maps) return tl::unexpected(maps.error());
    }
    return std::move(read_);
  }

 private:
  struct Answer {
    SourceText text;
    std::string failure;  // "" none
  };

  // Of the DaemonSets that were read last. Without them nobody knows how GPUs are shared.
  Expected<void> read_config_maps() {
    const SourceText daemon_sets = read_.texts.back();
    for (const auto& [space, name] : scenarios::config_maps_of_gpu_software(daemon_sets)) {
      auto map =
          ask({"get", "configmap", name, "--namespace", space, "--ignore-not-found", "-o", "json"});
      if (!map) return tl::unexpected(map.error());
      if (map->failure.find("Forbidden") != std::string::npos) {
        return failed(*map,
                      fmt::format("it says how GPUs are shared: a Role has to allow it (of the "
                                  "chart: configMaps: [{{namespace: {}, name: {}}}])",
                                  space, name));
      }
      if (!map->failure.empty()) return failed(*map);
      if (!map->text.text.empty()) read_.texts.push_back(std::move(map->text));
    }
    return {};
  }

  Expected<Answer> ask(const std::vector<std::string>& what) {
    std::vector<std::string> words = words_;
    words.insert(words.end(), what.begin(), what.end());
    const std::string command = fmt::format("{}", fmt::join(words, " "));
    auto output = output_of(std::move(words), left_);
    if (!output) return failed({{command, ""}, output.error()});
    left_ -= output->text.size();
    return Answer{{command, std::move(output->text)}, std::move(output->failure)};
  }

  static tl::unexpected<Diagnostics> failed(
      const Answer& answer,
      const std::string& help = "advise -f FILE reads what kubectl get -o json printed") {
    return failure(Code::FileUnreadable, {},
                   fmt::format("{}: {}", answer.text.name, answer.failure), help);
  }

  void do_without(const Answer& answer) {
    read_.notes.push_back(
        fmt::format("without what is not there of {}: {}", answer.text.name, answer.failure));
  }

  std::vector<std::string> words_;
  std::size_t left_ = scenarios::kLargestUnpacked;
  ClusterObjects read_;
};

}  // namespace

Expected<ClusterObjects> objects_of(const Cluster& cluster) { return Reader(cluster).read(); }

std::string current_context(const Cluster& cluster) {
  if (!cluster.context.empty()) return cluster.context;
  std::vector<std::string> words = {cluster.kubectl, "config", "current-context"};
  if (!cluster.kubeconfig.empty()) words.push_back("--kubeconfig=" + cluster.kubeconfig);
  constexpr std::size_t kLongest = 4'096;
  const auto output = output_of(std::move(words), kLongest);
  if (!output || !output->failure.empty()) return {};
  return output->text.substr(0, output->text.find('\n'));
}

std::string port_forward(const std::vector<SourceText>& objects) {
  for (const SourceText& text : objects) {
    const auto pod = scenarios::pod_that_runs("prometheus/prometheus", text);
    if (!pod) continue;
    return fmt::format("kubectl --namespace {} port-forward pod/{} 9090",
                       pod->first.empty() ? "default" : pod->first, pod->second);
  }
  return {};
}

}  // namespace slicewise::tools
