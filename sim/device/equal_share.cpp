#include "slicewise/sim/device/equal_share.hpp"

namespace slicewise::sim {

std::vector<SharedRate> time_sliced_rates(std::uint32_t sharers, const models::TimeSlice& slice) {
  std::vector<SharedRate> rates = {{slice.turn, slice.turn}};
  for (std::int64_t n = 2; n <= sharers; ++n) {
    rates.push_back({slice.turn, (slice.turn + slice.switch_cost) * n});
  }
  return rates;
}

// Rates are rounded up, so that what ends at a whole nanosecond never seems to end after it.
EqualShare::EqualShare(std::uint32_t gpus, std::span<const SharedRate> rates)
    : most_(static_cast<std::uint32_t>(rates.size())),
      rates_{0},
      heads_(gpus),
      keys_(std::size_t{gpus} * rates.size()) {
  assert(!rates.empty());
  for (const SharedRate& rate : rates) {
    assert(rate.work.ns > 0 && rate.work <= rate.time);
    const Int128 scaled = static_cast<Int128>(rate.work.ns) << kFraction;
    rates_.push_back(static_cast<std::int64_t>((scaled + (rate.time.ns - 1)) / rate.time.ns));
  }
}

std::uint32_t EqualShare::find(std::uint32_t gpu, std::uint32_t job) const {
  std::uint32_t place = 0;
  while (place < sharers(gpu) && job_of(jobs(gpu)[place]) != job) ++place;
  assert(place < sharers(gpu));
  return place;
}

Duration EqualShare::left(std::uint32_t gpu, std::uint32_t job, TimePoint now) const {
  return whole(tag_of(jobs(gpu)[find(gpu, job)]) - virtual_time(heads_[gpu], now));
}

Duration EqualShare::cancel(std::uint32_t gpu, std::uint32_t job, TimePoint now) {
  Head& head = heads_[gpu];
  const std::uint32_t place = find(gpu, job);
  settle(head, now);
  Int128* const of_gpu = jobs(gpu);
  const Duration rest = whole(tag_of(of_gpu[place]) - head.virtual_time);
  std::copy(of_gpu + place + 1, of_gpu + head.sharers, of_gpu + place);
  --head.sharers;
  return rest;
}

}  // namespace slicewise::sim
