#include "kubectl.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/decompress.hpp"

#include "process.hpp"

namespace slicewise::tools {
namespace {

using nlohmann::json;

// Beside those of operators. A cluster may lack any.
constexpr std::array kResources = std::to_array<std::string_view>(
    {"nodes", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch",
     "cronjobs.batch", "notebooks.kubeflow.org", "pods", "services",
     "horizontalpodautoscalers.autoscaling", "scaledobjects.keda.sh",
     "priorityclasses.scheduling.k8s.io", "clusterqueues.kueue.x-k8s.io",
     "localqueues.kueue.x-k8s.io", "clusterpolicies.nvidia.com", "nodepools.karpenter.sh",
     "ec2nodeclasses.karpenter.k8s.aws", "nodeoverlays.karpenter.sh"});
constexpr std::string_view kDaemonSets = "daemonsets.apps";

tl::unexpected<Diagnostics> failed(const std::string& command, const std::string& why) {
  return tl::unexpected(
      Diagnostics{make_diagnostic(Code::FileUnreadable, {}, fmt::format("{}: {}", command, why),
                                  "advise -f FILE reads what kubectl get -o json printed")});
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
      for (const auto& [space, name] : config_maps(objects.back().text)) {
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

  // Those that the device plugin and mig-manager mount: their settings.
  static std::set<std::pair<std::string, std::string>> config_maps(const std::string& daemon_sets) {
    std::set<std::pair<std::string, std::string>> maps;
    const json list = json::parse(daemon_sets, nullptr, false);
    if (!list.is_object()) return maps;
    const auto below = [](const json& object, const char* path) {
      const json::json_pointer pointer(path);
      return object.contains(pointer) ? object[pointer] : json();
    };
    for (const json& item : below(list, "/items")) {
      const std::string containers = below(item, "/spec/template/spec/containers").dump();
      if (containers.find("k8s-device-plugin") == std::string::npos &&
          containers.find("k8s-mig-manager") == std::string::npos) {
        continue;
      }
      for (const json& volume : below(item, "/spec/template/spec/volumes")) {
        const json name = below(volume, "/configMap/name");
        const json space = below(item, "/metadata/namespace");
        if (name.is_string() && space.is_string()) {
          maps.emplace(space.get<std::string>(), name.get<std::string>());
        }
      }
    }
    return maps;
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
    if (text.text.find("prometheus/prometheus") == std::string::npos) continue;
    const json list = json::parse(text.text, nullptr, false);
    if (!list.is_object() || !list.contains("items")) continue;
    for (const json& item : list["items"]) {
      if (item.value("kind", "") != "Pod" ||
          item.value("spec", json::object()).dump().find("prometheus/prometheus") ==
              std::string::npos) {
        continue;
      }
      const json metadata = item.value("metadata", json::object());
      return fmt::format("kubectl --namespace {} port-forward pod/{} 9090",
                         metadata.value("namespace", "default"), metadata.value("name", ""));
    }
  }
  return {};
}

}  // namespace slicewise::tools
