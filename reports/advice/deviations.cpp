#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "slicewise/reports/advice.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

std::optional<double> number_at(const json& object, const json::json_pointer& path) {
  if (!object.contains(path) || !object[path].is_number()) return std::nullopt;
  return object[path].get<double>();
}

// GPUs that a pod keeps in use, as the recorded figure is: of all GPU time, over its pods.
std::optional<double> use_of_a_pod(const json& workload, const json& variant, std::int64_t pods) {
  const auto share = number_at(workload, "/gpuBusyShare"_json_pointer);
  if (!share || pods <= 0) return std::nullopt;
  double gpus = 0;
  for (const json& gpu : variant.value("gpus", json::array())) {
    gpus += gpu.value("gpuShare", 1.0) * gpu.value("upRatio", 1.0);
  }
  return *share * gpus / static_cast<double>(pods);
}

}  // namespace

double Deviation::off() const {
  return recorded == 0 ? simulated : (simulated - recorded) / recorded;
}

std::vector<Deviation> deviations(const std::vector<scenarios::RecordedWorkload>& recorded,
                                  std::string_view result) {
  std::vector<Deviation> found;
  const json document = json::parse(result, nullptr, false);
  if (!document.is_object() || document.value("variants", json::array()).empty()) return found;
  const json& variant = document["variants"][0];
  for (const json& workload : variant.value("workloads", json::array())) {
    for (const scenarios::RecordedWorkload& of : recorded) {
      if (workload.value("name", "") != of.name) continue;
      const auto add = [&](const char* figure, std::optional<double> seen,
                           std::optional<double> simulated, bool is_time) {
        if (!seen || !simulated) return;
        found.push_back({of.name, of.space, figure, *seen, *simulated, is_time});
      };
      const auto time = [](const std::optional<Duration>& d) {
        return d ? std::optional(to_seconds(*d)) : std::nullopt;
      };
      add("gpuUse", of.gpu_use, use_of_a_pod(workload, variant, of.pods_at_once), false);
      add("wait", time(of.wait), number_at(workload, "/waitSeconds/mean"_json_pointer), true);
      add("latencyP50", time(of.latency_p50),
          number_at(workload, "/latencySeconds/p50"_json_pointer), true);
      add("latencyP95", time(of.latency_p95),
          number_at(workload, "/latencySeconds/p95"_json_pointer), true);
      add("latencyP99", time(of.latency_p99),
          number_at(workload, "/latencySeconds/p99"_json_pointer), true);
    }
  }
  return found;
}

}  // namespace slicewise::reports
