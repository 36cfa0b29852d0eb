#include <algorithm>
#include <limits>
#include <map>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

// Who sat where, and what that did. A GPU is told by the pods on it when most of them were there.
namespace slicewise::sim {
namespace {

// The workload of a pod, and which of its pods it is: pods are numbered workload by workload.
struct PodOf {
  std::size_t workload;
  std::size_t nth;
};

PodOf pod_of(const World& world, std::uint32_t pod) {
  PodOf found{0, pod};
  while (found.nth >= static_cast<std::size_t>(world.workloads[found.workload].spec.count)) {
    found.nth -= static_cast<std::size_t>(world.workloads[found.workload++].spec.count);
  }
  return found;
}

// Beside one pod of a workload: of each workload, the most pods on a GPU of its own.
using Beside = std::vector<int>;

Beside beside(const World& world, const Replication& replication, std::size_t w) {
  const std::size_t workloads = world.workloads.size();
  Beside most(workloads);
  for (std::size_t other = 0; other < workloads; ++other) {
    most[other] = replication.shared_domain[w * workloads + other];  // perhaps at another time
  }
  for (const DomainRecord& domain : replication.domains) {
    Beside there(workloads);
    for (const std::uint32_t pod : domain.fullest) ++there[pod_of(world, pod).workload];
    if (there[w]-- == 0) continue;
    for (std::size_t other = 0; other < workloads; ++other) {
      most[other] = std::max(most[other], there[other]);
    }
  }
  return most;
}

// Nothing was answered of what came, or no job was finished.
constexpr Duration kNothingDone{std::numeric_limits<std::int64_t>::max()};

// What users feel of a replication; nullopt where nothing was to be seen.
std::optional<Duration> felt(WorkloadKind kind, const WorkloadRecord& record) {
  constexpr double kP95 = 0.95;
  if (kind == WorkloadKind::Service) {
    const Histogram& latency = record.requests.latency;
    if (latency.count() > 0) return latency.quantile(kP95);
    return record.requests.arrived > 0 ? std::optional(kNothingDone) : std::nullopt;
  }
  if (kind != WorkloadKind::Job) return std::nullopt;
  const auto summary = summarize(std::span(&record.completion, 1));
  return summary ? summary->p95 : kNothingDone;
}

// Whether its containers run kernels for some of their time: what does not disturbs nobody.
bool uses_the_gpu(std::size_t w, std::span<const Replication> replications) {
  constexpr double kSome = 0.01;
  Duration busy;
  Duration running;
  for (const Replication& r : replications) {
    busy += r.workloads[w].gpu_busy;
    running += r.workloads[w].pod_running;
  }
  return ratio(busy, running) > kSome;
}

Duration median(std::vector<Duration> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

using Placements = std::map<Beside, std::vector<Duration>>;

// Of every other placement; where placements differ run by run, their mean.
std::vector<double> usual_beside(const Placements& placements, const Beside& worst) {
  std::vector<double> mean(worst.size());
  for (const auto& [beside, values] : placements) {
    if (beside == worst) continue;
    for (std::size_t w = 0; w < worst.size(); ++w) {
      mean[w] += beside[w] / static_cast<double>(placements.size() - 1);
    }
  }
  return mean;
}

}  // namespace

std::size_t workload_of_pod(const World& world, std::uint32_t pod) {
  return pod_of(world, pod).workload;
}

std::vector<std::string> pods_at_fullest(const World& world, const DomainRecord& domain) {
  std::vector<std::uint32_t> pods = domain.fullest;
  std::ranges::sort(pods);
  std::vector<std::string> names;
  for (const std::uint32_t pod : pods) {
    const PodOf which = pod_of(world, pod);
    names.push_back(pod_name(world.workloads[which.workload], which.nth));
  }
  return names;
}

std::vector<GpuNeighbour> gpu_neighbours_of(const World& world, std::size_t w,
                                            std::span<const Replication> replications) {
  const std::size_t workloads = world.workloads.size();
  std::vector<GpuNeighbour> found;
  for (std::size_t other = 0; other < workloads; ++other) {
    const auto met = std::ranges::count_if(replications, [&](const Replication& r) {
      return r.shared_domain[w * workloads + other] != 0;
    });
    if (met > 0) found.push_back({world.workloads[other].name, static_cast<int>(met)});
  }
  return found;
}

std::optional<PlacementSpread> placement_spread(const World& world, std::size_t w,
                                                std::span<const Replication> replications) {
  constexpr double kWorthSaying = 1.5;  // less may be chance
  const WorkloadKind kind = world.workloads[w].spec.kind;
  Placements placements;
  for (const Replication& r : replications) {
    const auto value = felt(kind, r.workloads[w]);
    if (value) placements[beside(world, r, w)].push_back(*value);
  }
  if (placements.size() < 2) return std::nullopt;
  const auto worst = std::ranges::max_element(
      placements, {}, [](const auto& placement) { return median(placement.second); });
  std::vector<Duration> others;
  for (auto at = placements.begin(); at != placements.end(); ++at) {
    if (at != worst) others.insert(others.end(), at->second.begin(), at->second.end());
  }
  // Each run placed worst, against each that was not: of one run chance decides as well.
  if (to_seconds(std::ranges::min(worst->second)) <
      kWorthSaying * to_seconds(std::ranges::max(others))) {
    return std::nullopt;
  }
  const Duration at_worst = median(worst->second);
  PlacementSpread spread{kind == WorkloadKind::Service ? "latencyP95" : "jobCompletionP95",
                         median(others),
                         static_cast<int>(others.size()),
                         at_worst == kNothingDone ? std::nullopt : std::optional(at_worst),
                         static_cast<int>(worst->second.size()),
                         {}};
  const std::vector<double> usual = usual_beside(placements, worst->first);
  for (std::size_t other = 0; other < usual.size(); ++other) {
    if (worst->first[other] > usual[other] && uses_the_gpu(other, replications)) {
      spread.beside.push_back(world.workloads[other].name);
    }
  }
  return spread.beside.empty() ? std::nullopt : std::optional(std::move(spread));
}

}  // namespace slicewise::sim
