#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/recorded_window.hpp"

#include "../text/kubernetes_names.hpp"
#include "prometheus.hpp"
#include "scenario_draft.hpp"

// What Prometheus recorded, as figures that a simulation has, too.
namespace slicewise::scenarios {
namespace {

std::optional<double> bound_of(std::string_view le) {
  if (le == "+Inf") return std::numeric_limits<double>::infinity();
  double bound = 0;
  const auto [end, error] = std::from_chars(le.data(), le.data() + le.size(), bound);
  constexpr double kLargest = 1e9;
  const bool is_number = error == std::errc() && end == le.data() + le.size();
  if (!is_number || !(bound >= 0 && bound <= kLargest)) return std::nullopt;
  return bound;
}

struct Pods {
  RecordedWorkload workload;
  Mean use;
  Mean wait_ns;
  Mean startup_ns;
  LatencyHistogram::Buckets latency;
};

}  // namespace

std::string histogram_of(const std::string& metric) {
  for (const std::string_view part : {"_bucket", "_sum", "_count"}) {
    if (metric.ends_with(part)) return metric.substr(0, metric.size() - part.size());
  }
  return metric;
}

LatencyHistogram::LatencyHistogram(const std::string& named)
    : bucket_(named.empty() ? std::string() : histogram_of(named) + "_bucket") {
  const std::string metric = histogram_of(named);
  if (metric.ends_with("_milliseconds") || metric.ends_with("_ms")) unit_ = 1e-3;
  if (metric.ends_with("_microseconds") || metric.ends_with("_us")) unit_ = 1e-6;
}

bool LatencyHistogram::add(const Labels& labels, const std::vector<Sample>& samples,
                           const SourceLocation& /*where*/) {
  if (bucket_.empty() || labels.metric() != bucket_) return false;
  const PodName pod = pod_of(labels);
  const auto bound = bound_of(labels["le"]);
  if (pod.name.empty() || !bound) return true;
  Scrape& scrape =
      series_[fmt::format("{}/{}", pod.space, pod.name)][labels.key(kOfScrape)][labels.key()];
  scrape.bound = *bound * unit_;
  scrape.samples.insert(scrape.samples.end(), samples.begin(), samples.end());
  return true;
}

std::map<std::string, LatencyHistogram::Buckets> LatencyHistogram::of_pods() const {
  std::map<std::string, Buckets> pods;
  for (const auto& [pod, counters] : series_) {
    for (const auto& [counter, scrapes] : counters) {
      double most = 0;
      for (const auto& [who, scrape] : scrapes) {
        most = std::max(most, increase_of(scrape.samples).count);
      }
      pods[pod][scrapes.begin()->second.bound] += most;
    }
  }
  return pods;
}

std::optional<Duration> LatencyHistogram::quantile(const Buckets& buckets, double q) {
  if (buckets.empty() || !(buckets.rbegin()->second > 0)) return std::nullopt;
  const double rank = q * buckets.rbegin()->second;
  double lower = 0;
  double below = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank) {
      // Of what is above the last bound nothing more is known.
      const double part = count > below ? (rank - below) / (count - below) : 1;
      const double at = std::isinf(bound) ? lower : lower + (bound - lower) * part;
      return from_seconds(at);
    }
    lower = bound;
    below = count;
  }
  return from_seconds(lower);
}

std::vector<RecordedWorkload> recorded_workloads(const std::vector<PodRecord>& pods,
                                                 const LatencyHistogram& latency) {
  const std::map<std::string, LatencyHistogram::Buckets> histograms = latency.of_pods();
  std::map<std::pair<std::string, std::string>, Pods> workloads;
  for (const PodRecord& pod : pods) {
    if (!asks_for_gpu(pod)) continue;
    const std::string work = pod.work.empty() ? "Pod/" + pod.name : pod.work;
    Pods& of = workloads[{pod.space, work}];
    of.workload.name = dns_name(work.substr(work.find('/') + 1), "pod");
    of.workload.space = dns_name(pod.space, "");
    of.workload.work = work;
    ++of.workload.pods;
    if (pod.gpu_permille) of.use.add(*pod.gpu_permille * 1e-3);
    if (pod.arrival && pod.working && *pod.working >= *pod.arrival) {
      of.wait_ns.add(static_cast<double>(*pod.working - *pod.arrival));
    }
    if (pod.scheduled && pod.working && *pod.working >= *pod.scheduled) {
      of.startup_ns.add(static_cast<double>(*pod.working - *pod.scheduled));
    }
    const auto histogram = histograms.find(fmt::format("{}/{}", pod.space, pod.name));
    if (histogram == histograms.end()) continue;
    for (const auto& [bound, count] : histogram->second) of.latency[bound] += count;
  }
  std::vector<RecordedWorkload> recorded;
  for (auto& [id, of] : workloads) {
    of.workload.gpu_use = of.use.value();
    if (const auto wait = of.wait_ns.value()) of.workload.wait = Duration{std::llround(*wait)};
    if (const auto startup = of.startup_ns.value()) {
      of.workload.startup = Duration{std::llround(*startup)};
    }
    of.workload.latency_p50 = LatencyHistogram::quantile(of.latency, 0.50);
    of.workload.latency_p95 = LatencyHistogram::quantile(of.latency, 0.95);
    of.workload.latency_p99 = LatencyHistogram::quantile(of.latency, 0.99);
    recorded.push_back(std::move(of.workload));
  }
  return recorded;
}

bool is_prometheus_answer(const SourceText& file) {
  constexpr std::size_t kHead = 300;
  const std::string_view head = std::string_view(file.text).substr(0, kHead);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '{') return false;
  return head.find("\"resultType\"") != head.npos || head.find("\"errorType\"") != head.npos;
}

}  // namespace slicewise::scenarios
