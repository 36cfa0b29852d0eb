#include <algorithm>
#include <array>
#include <cstdint>

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

// More than any pod answers: no figure.
constexpr double kMostRequests = 1e12;

}  // namespace

Increase increase_of(std::vector<Sample> samples) {
  Increase increase;
  std::ranges::stable_sort(samples, {}, &Sample::at);
  const Sample* last = nullptr;
  for (const Sample& sample : samples) {
    increase.since_ns = std::min(increase.since_ns, sample.at);
    increase.until_ns = std::max(increase.until_ns, sample.at);
    // A counter that fell began anew.
    if (last != nullptr) {
      increase.count += sample.value - (sample.value < last->value ? 0 : last->value);
    }
    last = &sample;
  }
  return increase;
}

bool RequestCounters::add(const Labels& labels, const std::vector<Sample>& samples,
                          const SourceLocation& where) {
  const auto* const known = std::ranges::find(kCounters, labels.metric());
  if (known == kCounters.end()) return false;
  const auto counter = static_cast<std::size_t>(known - kCounters.begin());
  const PodName pod = pod_of(labels);
  // The proxy of the client counts the same requests.
  const bool is_of_client = counter == kIstio && labels["reporter"] == "source";
  if (pod.name.empty() || is_of_client) return true;
  Scrapes& scrapes =
      series_[{fmt::format("{}/{}", pod.space, pod.name), counter}][labels.key(kOfScrape)];
  Series& series = scrapes.try_emplace(labels.key(), Series{{}, where}).first->second;
  series.samples.insert(series.samples.end(), samples.begin(), samples.end());
  return true;
}

const RequestCounters::Series* RequestCounters::largest(const Scrapes& scrapes,
                                                        ImportReport& report) {
  const Series* best = nullptr;
  double most = 0;
  for (const auto& scraped : scrapes) {
    const Series& series = scraped.second;
    const double count = increase_of(series.samples).count;
    if (!(count < kMostRequests)) {
      report.skipped("counters of requests that count more than there can be", series.where);
    } else if (best == nullptr || count >= most) {
      best = &series;
      most = count;
    }
  }
  if (scrapes.size() > 1) {
    report.noted("counters of requests that were scraped several times: the largest counts",
                 [&] { return scrapes.begin()->second.where; });
  }
  return best;
}

std::map<std::string, RequestCount> RequestCounters::counts(ImportReport& report) const {
  std::map<std::string, RequestCount> counts;
  for (const auto& [of, all] : series_) {
    if (counts.contains(of.first)) continue;  // by a better counter
    RequestCount count{std::string(kCounters[of.second]), 0, INT64_MAX, 0};
    for (const auto& [labels, scrapes] : all) {
      const Series* best = largest(scrapes, report);
      if (best == nullptr) continue;
      const Increase increase = increase_of(best->samples);
      count.requests += increase.count;
      count.since_ns = std::min(count.since_ns, increase.since_ns);
      count.until_ns = std::max(count.until_ns, increase.until_ns);
    }
    if (count.until_ns > count.since_ns) counts.emplace(of.first, std::move(count));
  }
  return counts;
}

std::map<std::string, AnsweredSoFar> RequestCounters::answered(ImportReport& report) const {
  std::map<std::string, AnsweredSoFar> pods;
  for (const auto& [of, all] : series_) {
    if (pods.contains(of.first)) continue;  // by a better counter
    AnsweredSoFar so_far{kCounters[of.second], {}};
    for (const auto& [labels, scrapes] : all) {
      const Series* best = largest(scrapes, report);
      if (best == nullptr) continue;
      std::vector<Sample> samples = best->samples;
      std::ranges::stable_sort(samples, {}, &Sample::at);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const double more = i == 0 ? 0 : increase_of({samples[i - 1], samples[i]}).count;
        so_far.requests.push_back({samples[i].at, more});
      }
    }
    std::ranges::stable_sort(so_far.requests, {}, &Sample::at);
    double sum = 0;
    for (Sample& sample : so_far.requests) sample.value = sum += sample.value;
    pods.emplace(of.first, std::move(so_far));
  }
  return pods;
}

std::optional<double> AnsweredSoFar::at(std::int64_t time) const {
  const auto after = std::ranges::upper_bound(requests, time, {}, &Sample::at);
  if (after == requests.begin() || (after - 1)->at < time - kStale) return std::nullopt;
  return (after - 1)->value;
}

}  // namespace slicewise::scenarios
