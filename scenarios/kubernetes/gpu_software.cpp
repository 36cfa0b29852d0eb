#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "manifest_reader.hpp"

// Who runs the device plugin: DaemonSets of a cluster, and releases that values are for.
namespace slicewise::scenarios::manifests {
namespace {

std::string name_in_space(std::string_view space, std::string_view name) {
  return fmt::format("{}/{}", namespace_of(space), name);
}

// Comments as words: commands in them go over several lines.
std::vector<std::string> commented_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) continue;
    std::istringstream parts(line.substr(1));
    for (std::string word; parts >> word;) {
      if (word != "\\") words.push_back(std::move(word));
    }
  }
  return words;
}

}  // namespace

void read_plugin_daemon(Context& context, const Node& object, const PodFile& pod) {
  // Of the same image, beside it.
  for (const std::string_view other : {"gpu-feature-discovery", "mps-control-daemon"}) {
    if (pod.object.ends_with(other)) return;
  }
  const Node* meta = object.find("metadata");
  const auto label = [&](std::string_view key) { return text_below(meta, {"labels", key}); };
  const auto annotation = [&](std::string_view key) {
    return text_below(meta, {"annotations", key});
  };
  // As Helm and the GPU Operator label what they make.
  constexpr std::string_view kChart = "nvidia-device-plugin-";
  const std::string chart = label("helm.sh/chart");
  PluginDaemonFile daemon{name_in_space(pod.space, pod.object), {}, {}, false, pod.where};
  if (chart.starts_with(kChart)) {
    std::string release = annotation("meta.helm.sh/release-name");
    if (release.empty()) {
      // As the chart makes the name.
      constexpr std::string_view kSuffix = "-nvidia-device-plugin";
      release = pod.object;
      if (release.ends_with(kSuffix)) release.resize(release.size() - kSuffix.size());
    }
    const std::string space = annotation("meta.helm.sh/release-namespace");
    daemon.release = name_in_space(space.empty() ? pod.space : space, release);
    daemon.chart_version = chart.substr(kChart.size());
  }
  // Of a list that left its labels out.
  if (chart.empty() && daemon.name == "nvidia-device-plugin/nvdp-nvidia-device-plugin") {
    daemon.release = "nvidia-device-plugin/nvdp";
  }
  daemon.is_of_operator = pod.owner.starts_with("ClusterPolicy/") ||
                          label("app.kubernetes.io/managed-by") == "gpu-operator" ||
                          (!chart.empty() && daemon.chart_version.empty());
  // Several of its containers may have the image.
  std::vector<PluginDaemonFile>& known = context.files.plugin_daemons;
  if (known.empty() || known.back().name != daemon.name) known.push_back(std::move(daemon));
}

void read_chart_commands(const SourceText& source, ChartValues& chart) {
  const std::vector<std::string> words = commented_words(source.text);
  const auto at = [&](std::size_t w) { return w < words.size() ? words[w] : std::string(); };
  constexpr std::size_t kLongest = 9;  // of helm's command, until the namespace
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (at(w) == "helm" && at(w + 1) == "upgrade" && at(w + 2) == "-i" &&
        at(w + 4).ends_with("/nvidia-device-plugin")) {
      std::size_t space = w;
      while (space < w + kLongest && at(space) != "-n") ++space;
      if (at(space) == "-n") chart.release = fmt::format("{}/{}", at(space + 1), at(w + 3));
    }
    if (at(w) == "kubectl" && at(w + 1) == "-n" && at(w + 3) == "delete" &&
        at(w + 4) == "daemonset") {
      chart.takes_away.insert(fmt::format("{}/{}", at(w + 2), at(w + 5)));
    }
  }
}

}  // namespace slicewise::scenarios::manifests
