#include <stdexcept>

#include <fmt/format.h>

#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/device/round_robin.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

// The mean time of a step of `step` GPU time when `clients` processes loop over it without a
// pause, on the engine that requests run on.
Duration looped_step(Duration step, int clients, models::TimeSlice slice) {
  constexpr int kWarmUpRounds = 4;
  constexpr int kMeasuredRounds = 40;
  const auto contexts = static_cast<std::uint32_t>(clients);
  RoundRobin gpu(contexts, slice, slice.switch_cost);
  std::vector<TimePoint> started(contexts);
  for (std::uint32_t context = 0; context < contexts; ++context) gpu.start(context, step);
  Duration total;
  std::int64_t counted = 0;
  for (std::uint32_t done = 0; done < contexts * (kWarmUpRounds + kMeasuredRounds); ++done) {
    gpu.advance(gpu.next().at);
    const std::uint32_t context = gpu.complete();
    if (done >= contexts * kWarmUpRounds) {
      total += gpu.now() - started[context];
      ++counted;
    }
    started[context] = gpu.now();
    gpu.start(context, step);
  }
  return {total.ns / counted};
}

Duration burst_step(Duration step, double duty, int clients, double overhead) {
  const double seconds = to_seconds(step);
  const std::vector<LoopingClient> all(static_cast<std::size_t>(clients),
                                       {(1 - duty) * seconds, duty * seconds});
  return from_seconds(1 / solve_closed_network(all, overhead).cycles_per_second.front());
}

double duty_of(const StudyInput& input, const std::string& workload) {
  const auto found = input.study.duty.find(workload);
  if (found == input.study.duty.end()) {
    throw std::runtime_error(fmt::format("study {}: no duty of {}", input.study.id, workload));
  }
  return found->second;
}

template <class Predict>
StudyPoints run_groups(const StudyInput& input, Predict predict) {
  StudyPoints out;
  for (const RowGroup& group : row_groups(input)) {
    if (group.reference == nullptr) {
      out.left_out += static_cast<int>(group.rows.size());
      continue;
    }
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      out.points.push_back(point_of(input, group, i, predict(group, group.rows[i]->clients)));
    }
  }
  return out;
}

}  // namespace

models::TimeSlice time_slice_of(const StudyInput& input) {
  if (input.gpu == nullptr) {
    throw std::runtime_error(
        fmt::format("study {}: GPU {} is not known", input.study.id, input.source.gpu));
  }
  return {input.gpu->time_slice, models::switch_cost(*input.gpu, input.study.cold_cache)};
}

double switch_overhead(const StudyInput& input) {
  const models::TimeSlice slice = time_slice_of(input);
  return to_seconds(slice.switch_cost) / to_seconds(slice.turn);
}

StudyPoints run_turns(const StudyInput& input) {
  const models::TimeSlice slice = time_slice_of(input);
  return run_groups(input, [&](const RowGroup& group, int clients) {
    return looped_step(group.reference->time, clients, slice);
  });
}

StudyPoints run_bursts(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  return run_groups(input, [&](const RowGroup& group, int clients) {
    return burst_step(group.reference->time, duty_of(input, group.workload), clients, overhead);
  });
}

}  // namespace slicewise::sim
