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

// Beside those of operators. A cluster may lack any.
constexpr std::array<std::string_view, 21> kResources = {
    "nodes",
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "notebooks.kubeflow.org",
    "pods",
    "services",
    "horizontalpodautoscalers.autoscaling",
    "scaledobjects.keda.sh",
    "priorityclasses.scheduling.k8s.io",
    "clusterqueues.kueue.x-k8s.io",
    "localqueues.kueue.x-k8s.io",
    "clusterpolicies.nvidia.com",
    "nodepools.karpenter.sh",
    "ec2nodeclasses.karpenter.k8s.aws",
    "nodeoverlays.karpenter.sh",
    "resourceclaims.resource.k8s.io",
    "resourceclaimtemplates.resource.k8s.io",
    "deviceclasses.resource.k8s.io",
};
constexpr std::string_view kDaemonSets = "daemonsets.apps";

tl::unexpected<Diagnostics> failed(const std::string& command, const std::string& why) {
  return failure(Code::FileUnreadable, {}, fmt::format("{}: {}", command, why),
                 "advise -f FILE reads what kubectl get -o json printed");
}

class Reader {
 public:
  explicit Reader(const Cluster& cluster) : words_{cluster.kubectl} {
    if (!cluster.context.empty()) words_.push_back("--context=" + cluster.context);
    if (!cluster.kubeconfig.empty()) words_.push_back("--kubeconfig=" + cluster.kubeconfig);
  }

  Expected<std::vector<SourceText>> read() {
    const auto known = ask({"api-resources", "--verbs=list", "-o", "name"});
    if (!known) return tl::unexpected(known.error());
    std::set<std::string> there;
    std::istringstream names(known->text);
    for (std::string name; names >> name;) there.insert(name);
    std::vector<std::string> wanted(kResources.begin(), kResources.end());
    std::ranges::copy(scenarios::resources_with_pods(), std::back_inserter(wanted));
    std::vector<SourceText> objects;
    for (const std::string& resource : wanted) {
      if (!there.contains(resource)) continue;
      auto answer = ask({"get", resource, "--all-namespaces", "-o", "json"});
      if (!answer) return tl::unexpected(answer.error());
      objects.push_back(std::move(*answer));
      if (resource != kDaemonSets) continue;
      for (const auto& [space, name] : scenarios::config_maps_of_gpu_software(objects.back())) {
        auto map = ask(
            {"get", "configmap", name, "--namespace", space, "--ignore-not-found", "-o", "json"});
        if (!map) return tl::unexpected(map.error());
        if (!map->text.empty()) objects.push_back(std::move(*map));
      }
    }
    return objects;
  }

 private:
  Expected<SourceText> ask(const std::vector<std::string>& what) {
    std::vector<std::string> words = words_;
    words.insert(words.end(), what.begin(), what.end());
    const std::string command = fmt::format("{}", fmt::join(words, " "));
    auto text = output_of(std::move(words), left_);
    if (!text) return failed(command, text.error());
    left_ -= text->size();
    return SourceText{command, std::move(*text)};
  }

  std::vector<std::string> words_;
  std::size_t left_ = scenarios::kLargestUnpacked;
};

}  // namespace

Expected<std::vector<SourceText>> objects_of(const Cluster& cluster) {
  return Reader(cluster).read();
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
