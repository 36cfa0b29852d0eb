#include "traffic.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/portable_math.hpp"

namespace slicewise::sim {

void RequestQueue::push(Request request) {
  if (count_ == ring_.size()) {
    std::vector<Request> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
  }
  ring_[(head_ + count_) & (ring_.size() - 1)] = request;
  ++count_;
}

void RequestQueue::pop() {
  head_ = (head_ + 1) & (ring_.size() - 1);
  --count_;
}

Traffic::Traffic(const WorkloadModel& workload, std::uint64_t seed, std::uint32_t replication,
                 std::uint32_t entity)
    : workload_(workload),
      mean_gap_s_(1.0 / workload.spec.traffic->mean.per_second),
      arrivals_(seed, replication, entity, Purpose::Arrival),
      service_(seed, replication, entity, Purpose::Service),
      routing_(seed, replication, entity, Purpose::Routing) {
  schedule_next();
}

void Traffic::schedule_next() {
  const bool poisson = workload_.spec.traffic->gaps == scenarios::Traffic::Gaps::Poisson;
  const double gap_ns = mean_gap_s_ * (poisson ? arrivals_.exponential() : 1.0) * 1e9;
  next_ = next_ + nanoseconds(std::llround(gap_ns));
}

Request Traffic::take(Duration mean) {
  using Law = scenarios::ServiceTime::Law;
  const scenarios::ServiceTime& law = *workload_.spec.measured->request_gpu_time;
  double factor = 1;
  if (law.law == Law::Exponential) factor = service_.exponential();
  if (law.law == Law::LogNormal) {
    factor = portable_exp(law.sigma * service_.normal() - law.sigma * law.sigma / 2);
  }
  const double work_ns = static_cast<double>(mean.ns) * factor + 0.5;
  const Request request{next_,
                        nanoseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(work_ns)))};
  schedule_next();
  return request;
}

}  // namespace slicewise::sim
