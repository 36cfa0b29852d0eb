#include "scaler.hpp"

#include <algorithm>

namespace slicewise::sim {
namespace {

// Interceptors and exporters are read about once a second. Source: KEDA HTTP add-on, "Scaling",
// granularity of the request rate.
constexpr Duration kLongestSamplePeriod = seconds(1);

int samples_in(Duration look) {
  const std::int64_t longest = kLongestSamplePeriod.ns;
  return static_cast<int>(std::max<std::int64_t>(1, (look.ns + longest - 1) / longest));
}

Duration sample_period(const scenarios::Autoscaling& scaling) {
  return nanoseconds(
      std::max<std::int64_t>(1, scaling.sync_period.ns / samples_in(scaling.sync_period)));
}

std::size_t samples_of_window(const scenarios::Autoscaling& scaling) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, scaling.window.ns / sample_period(scaling).ns));
}

}  // namespace

Scaler::Scaler(const ClusterState& cluster, WorkloadId id, std::uint32_t of_service)
    : workload(id),
      service(of_service),
      model(&cluster.world->workloads[index(id)]),
      sample_period(sim::sample_period(settings())),
      samples_per_look(samples_in(settings().sync_period)),
      next_sample(TimePoint{} + model->spec.submit_at + sample_period),
      metric(samples_of_window(settings())),
      controller(settings(), settings().min_replicas),
      wish(controller.wanted()) {
  for (std::uint32_t p = 0; p < cluster.pods.size(); ++p) {
    if (cluster.pods[p].workload == id) pods.push_back(p);
  }
  wanted.reserve(pods.size());
  leaving.reserve(pods.size());
  for (int nth = 0; nth < wish && nth < static_cast<int>(pods.size()); ++nth) {
    wanted.push_back(pods[static_cast<std::size_t>(nth)]);
  }
  if (settings().metric == scenarios::Autoscaling::Metric::GpuUtilization) {
    busy_before.resize(cluster.domains.size());
  }
}

}  // namespace slicewise::sim
