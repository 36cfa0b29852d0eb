#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "prometheus.hpp"

// How many requests pods answer, by the counters of the usual servers.
namespace slicewise::scenarios {
namespace {

// The server's own before the mesh's, which counts health checks as well.
constexpr std::array<std::string_view, 4> kCounters = {
    "vllm:request_success_total", "nv_inference_request_success", "ts_inference_requests_total",
    "istio_requests_total"};
constexpr std::size_t kIstio = 3;

}  // namespace

bool RequestCounters::add(const Labels& labels, const std::vector<Sample>& samples) {
  const auto* const known = std::ranges::find(kCounters, labels.metric());
  if (known == kCounters.end()) return false;
  const auto counter = static_cast<std::size_t>(known - kCounters.begin());
  const PodName pod = pod_of(labels);
  // The proxy of the client counts the same requests.
  const bool is_of_client = counter == kIstio && labels["reporter"] == "source";
  if (pod.name.empty() || is_of_client) return true;
  auto& series = series_[{fmt::format("{}/{}", pod.space, pod.name), counter}][labels.key()];
  series.insert(series.end(), samples.begin(), samples.end());
  return true;
}

std::map<std::string, RequestCount> RequestCounters::counts() const {
  std::map<std::string, RequestCount> counts;
  for (const auto& [of, all] : series_) {
    if (counts.contains(of.first)) continue;  // by a better counter
    RequestCount count{std::string(kCounters[of.second]), 0, INT64_MAX, 0};
    for (const auto& [key, series] : all) {
      std::vector<Sample> samples = series;
      std::ranges::stable_sort(samples, {}, &Sample::at);
      const Sample* last = nullptr;
      for (const Sample& sample : samples) {
        count.since_ns = std::min(count.since_ns, sample.at);
        count.until_ns = std::max(count.until_ns, sample.at);
        // A counter that fell began anew.
        if (last != nullptr) {
          count.requests += sample.value - (sample.value < last->value ? 0 : last->value);
        }
        last = &sample;
      }
    }
    if (count.until_ns > count.since_ns) counts.emplace(of.first, std::move(count));
  }
  return counts;
}

}  // namespace slicewise::scenarios
