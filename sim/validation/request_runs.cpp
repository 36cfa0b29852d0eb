#include <algorithm>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/device/fluid.hpp"
#include "slicewise/sim/device/round_robin.hpp"

#include "study_runs.hpp"

// Processes that send a request whenever one is answered, on the engines that requests of Services
// run on: kernels on the GPU, then the host's part.
namespace slicewise::sim {
namespace {

using models::MeasuredCompany;
using models::MeasuredProcess;

constexpr int kWarmUp = 20;
constexpr int kCounted = 200;  // answers of the slowest; all others have more

class Loop {
 public:
  explicit Loop(const MeasuredProcess& process)
      : kernels_(from_seconds(to_seconds(process.alone) * process.gpu_active.value_or(1))),
        host_(process.alone - kernels_) {}

  Duration kernels() const { return kernels_; }
  Duration host() const { return host_; }
  TimePoint wakes_at() const { return wakes_at_; }
  void sleep_until(TimePoint t) { wakes_at_ = t; }
  void answered(TimePoint t) {
    if (++answers_ == kWarmUp) first_ = t;
    last_ = t;
  }
  bool is_done() const { return answers_ >= kWarmUp + kCounted; }
  Duration mean_time() const { return {(last_ - first_).ns / (answers_ - kWarmUp)}; }

 private:
  Duration kernels_;
  Duration host_;
  TimePoint wakes_at_;  // kNever while kernels run
  TimePoint first_;
  TimePoint last_;
  std::int64_t answers_ = 0;
};

template <class Engine>
std::vector<Duration> mean_times(Engine gpu, std::vector<Loop> loops) {
  constexpr std::uint64_t kSeed = 42;
  RandomStream chance(kSeed, 0, 0, Purpose::Wait);
  while (!std::ranges::all_of(loops, &Loop::is_done)) {
    const auto waking = std::ranges::min_element(loops, {}, &Loop::wakes_at);
    const TimePoint now = std::min(waking->wakes_at(), gpu.next().at);
    gpu.advance(now);
    if (gpu.next().at == now) {
      const std::uint32_t context = gpu.complete();
      Loop& loop = loops[context];
      if constexpr (std::is_same_v<Engine, RoundRobin>) gpu.yield(context);
      loop.answered(now + loop.host());
      loop.sleep_until(now + loop.host());
    } else {
      const auto context = static_cast<std::uint32_t>(waking - loops.begin());
      gpu.start(context, waking->kernels());
      if constexpr (std::is_same_v<Engine, Fluid>) gpu.wait_by_chance(context, chance);
      waking->sleep_until(kNever);
    }
  }
  std::vector<Duration> times;
  times.reserve(loops.size());
  for (const Loop& loop : loops) times.push_back(loop.mean_time());
  return times;
}

models::DomainClient client_of(const MeasuredProcess& process) {
  models::ClientLaw law;
  scenarios::Measured counted;
  counted.gpu_util = process.gpu_active.value_or(1);
  counted.sm_active = process.sm_active;
  law.capacity_share = scenarios::capacity_share(counted, false);
  law.bandwidth_share = models::kDefaultBandwidthShare;
  law.norm_p = models::kDefaultNorm;
  law.kernel_time = process.kernel_time;
  return models::client_in(law, {}, 1);
}

std::vector<Duration> predicted(const StudyInput& input, const MeasuredCompany& company) {
  const auto contexts = static_cast<std::uint32_t>(company.processes.size());
  std::vector<Loop> loops(company.processes.begin(), company.processes.end());
  if (company.in_turns) {
    const models::TimeSlice slice = time_slice_of(input);
    return mean_times(RoundRobin(contexts, slice, slice.switch_cost), std::move(loops));
  }
  Fluid gpu(contexts);
  for (std::uint32_t i = 0; i < contexts; ++i) gpu.set_client(i, client_of(company.processes[i]));
  return mean_times(std::move(gpu), std::move(loops));
}

}  // namespace

StudyPoints run_requests(const StudyInput& input) {
  StudyPoints out;
  for (const MeasuredCompany& company : input.source.companies) {
    if (company.in_turns != (input.study.mode == "time-slicing")) continue;
    const std::vector<MeasuredProcess>& all = company.processes;
    const std::vector<Duration> times = predicted(input, company);
    const bool unlike = all.front().workload != all.back().workload;
    for (std::size_t i = 0; i < (unlike ? all.size() : 1); ++i) {
      const double alone = milliseconds_of(all[i].alone);
      out.points.push_back({all[i].workload,
                            unlike ? "beside " + all[all.size() - 1 - i].workload
                                   : fmt::format("{} processes", all.size()),
                            PointRole::Check, unlike, milliseconds_of(all[i].time),
                            milliseconds_of(times[i]), alone * static_cast<double>(all.size()),
                            alone});
    }
  }
  return out;
}

}  // namespace slicewise::sim
