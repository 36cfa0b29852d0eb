#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/models/measurements.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/calibration.hpp"
#include "slicewise/sim/device/fluid.hpp"
#include "slicewise/sim/device/round_robin.hpp"

#include "../metrics/nearest_rank.hpp"
#include "profile_parts.hpp"
#include "study_runs.hpp"

// Requests of processes that share a GPU, on the engines that requests of Services run on: kernels
// on the GPU, then the host's part. A process sends the next as soon as one is answered, or as they
// came.
namespace slicewise::sim {
namespace {

using models::MeasuredCompany;
using models::MeasuredProcess;

constexpr int kWarmUp = 20;
constexpr int kCounted = 200;  // answers of the slowest; all others have more

// What is known of a process: its time alone, and how it uses the GPU.
struct KnownProcess {
  Duration kernels;
  Duration host;
  models::ClientLaw law;
  double sigma = 0;  // of the logarithm of `kernels` from request to request
};

class Loop {
 public:
  Loop(const KnownProcess& process, std::span<const Duration> due)
      : kernels_(process.kernels), host_(process.host), sigma_(process.sigma), due_(due) {
    sleep_until({});
  }

  Duration kernels(RandomStream& chance) const {
    if (sigma_ <= 0) return kernels_;
    const double drawn = portable_exp(sigma_ * chance.normal() - sigma_ * sigma_ / 2);
    return std::max(nanoseconds(1), from_seconds(to_seconds(kernels_) * drawn));
  }
  TimePoint wakes_at() const { return wakes_at_; }  // kNever while kernels run
  void start() { wakes_at_ = kNever; }
  void kernels_done(TimePoint now) {
    const TimePoint t = now + host_;
    if (++answers_ == kWarmUp) first_ = t;
    last_ = t;
    if (!due_.empty()) latencies_.push_back(t - (TimePoint{} + due_[latencies_.size()]));
    sleep_until(t);
  }
  bool is_done() const { return answers_ >= kWarmUp + kCounted; }
  Duration mean_time() const { return {(last_ - first_).ns / (answers_ - kWarmUp)}; }
  // Of the requests that were answered until then.
  void add_latencies(TimePoint end, std::vector<Duration>& to) const {
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      if (TimePoint{} + due_[i] + latencies_[i] <= end) to.push_back(latencies_[i]);
    }
  }

 private:
  // Until there is something to do.
  void sleep_until(TimePoint t) {
    wakes_at_ = t;
    if (due_.empty()) return;
    const std::size_t next = latencies_.size();
    wakes_at_ = next < due_.size() ? std::max(t, TimePoint{} + due_[next]) : kNever;
  }

  Duration kernels_;
  Duration host_;
  double sigma_;
  std::span<const Duration> due_;
  std::vector<Duration> latencies_;
  TimePoint wakes_at_;
  TimePoint first_;
  TimePoint last_;
  std::int64_t answers_ = 0;
};

// Until `is_over` the time of what happens next.
template <class Engine, class Over>
std::vector<Loop> run_loops(Engine gpu, std::vector<Loop> loops, std::uint64_t seed, Over is_over) {
  RandomStream chance(seed, 0, 0, Purpose::Wait);
  while (true) {
    const auto waking = std::ranges::min_element(loops, {}, &Loop::wakes_at);
    const TimePoint now = std::min(waking->wakes_at(), gpu.next().at);
    if (is_over(now, loops)) return loops;
    gpu.advance(now);
    if (gpu.next().at == now) {
      const std::uint32_t context = gpu.complete();
      if constexpr (std::is_same_v<Engine, RoundRobin>) gpu.yield(context);
      loops[context].kernels_done(now);
    } else {
      const auto context = static_cast<std::uint32_t>(waking - loops.begin());
      gpu.start(context, waking->kernels(chance));
      if constexpr (std::is_same_v<Engine, Fluid>) gpu.wait_by_chance(context, chance);
      waking->start();
    }
  }
}

constexpr std::uint64_t kSeed = 42;

// From the time alone, and how busy the GPU is.
KnownProcess known_of(const MeasuredProcess& process) {
  KnownProcess known;
  known.kernels = from_seconds(to_seconds(process.alone) * process.gpu_active.value_or(1));
  known.host = process.alone - known.kernels;
  scenarios::Measured counted;
  counted.gpu_util = process.gpu_active.value_or(1);
  counted.sm_active = process.sm_active;
  known.law.capacity_share = scenarios::capacity_share(counted, false);
  known.law.bandwidth_share = models::kDefaultBandwidthShare;
  known.law.norm_p = models::kDefaultNorm;
  known.law.kernel_time = process.kernel_time;
  // The host takes as long each time.
  const double longer = to_seconds(process.alone) / to_seconds(known.kernels);
  const double variance = portable_exp(process.time_sigma * process.time_sigma) - 1;
  known.sigma = std::sqrt(portable_log(1 + longer * longer * variance));
  return known;
}

// From a profile, as a Service takes it.
KnownProcess known_of(const models::WorkloadProfile& profile) {
  KnownProcess known;
  known.kernels = from_seconds(to_seconds(*profile.solo_step) *
                               profile.request_duty.value_or(profile.duty.value_or(1)));
  known.host = *profile.solo_step - known.kernels;
  known.law.capacity_share = profile.capacity_share.value_or(1);
  known.law.bandwidth_share = profile.bandwidth_share.value_or(models::kDefaultBandwidthShare);
  known.law.norm_p = profile.norm_p.value_or(models::kDefaultNorm);
  known.law.sensitivity = profile.sensitivity;
  known.law.pressure = profile.pressure;
  known.law.copies_by_law = profile.capacity_share.has_value();
  known.law.kernel_time = profile.kernel_time.value_or(Duration{});
  return known;
}

template <class Over>
std::vector<Loop> run_company(const StudyInput& input, const std::vector<KnownProcess>& processes,
                              const MeasuredCompany& company, std::uint64_t seed, Over is_over) {
  const auto contexts = static_cast<std::uint32_t>(processes.size());
  std::vector<Loop> loops;
  loops.reserve(contexts);
  for (std::uint32_t i = 0; i < contexts; ++i) {
    loops.emplace_back(processes[i], company.processes[i].due);
  }
  if (company.in_turns) {
    const models::TimeSlice slice = time_slice_of(input);
    return run_loops(RoundRobin(contexts, slice, slice.switch_cost), std::move(loops), seed,
                     is_over);
  }
  Fluid gpu(contexts);
  for (std::uint32_t i = 0; i < contexts; ++i) {
    gpu.set_client(i, models::client_in(processes[i].law, {}, 1));
  }
  return run_loops(std::move(gpu), std::move(loops), seed, is_over);
}

std::vector<KnownProcess> known_from_alone(const MeasuredCompany& company) {
  std::vector<KnownProcess> known;
  known.reserve(company.processes.size());
  for (const MeasuredProcess& process : company.processes) known.push_back(known_of(process));
  return known;
}

bool asks_about(const StudyInput& input, const MeasuredCompany& company) {
  return company.in_turns == (input.study.mode == "time-slicing");
}

}  // namespace

StudyPoints run_requests(const StudyInput& input) {
  StudyPoints out;
  const auto all_done = [](TimePoint, const std::vector<Loop>& loops) {
    return std::ranges::all_of(loops, &Loop::is_done);
  };
  for (const MeasuredCompany& company : input.source.companies) {
    if (!asks_about(input, company)) continue;
    const std::vector<MeasuredProcess>& all = company.processes;
    const std::vector<Loop> loops =
        run_company(input, known_from_alone(company), company, kSeed, all_done);
    const bool unlike = all.front().workload != all.back().workload;
    for (std::size_t i = 0; i < (unlike ? all.size() : 1); ++i) {
      const double alone = milliseconds_of(all[i].alone);
      out.points.push_back({all[i].workload,
                            unlike ? "beside " + all[all.size() - 1 - i].workload
                                   : fmt::format("{} processes", all.size()),
                            PointRole::Check, unlike, milliseconds_of(all[i].time),
                            milliseconds_of(loops[i].mean_time()),
                            alone * static_cast<double>(all.size()), alone});
    }
  }
  return out;
}

namespace {

// 99 of 100 of the requests that were answered in time took no longer; nullopt: none was.
std::optional<double> p99_ms(std::vector<Duration> latencies) {
  if (latencies.empty()) return std::nullopt;
  std::ranges::sort(latencies);
  return milliseconds_of(nearest_rank(latencies, 0.99));
}

// Where each request takes so long, whoever else is there.
std::optional<double> p99_without_model(const MeasuredCompany& company,
                                        const MeasuredProcess& process, Duration each) {
  std::vector<Duration> latencies;
  Duration free;
  for (const Duration due : process.due) {
    free = std::max(free, due) + each;
    if (free <= company.length) latencies.push_back(free - due);
  }
  return p99_ms(std::move(latencies));
}

std::vector<KnownProcess> known_from_profiles(const MeasuredCompany& company,
                                              const FittedProfiles& fitted) {
  std::vector<KnownProcess> known;
  for (const MeasuredProcess& process : company.processes) {
    const auto of_it = std::ranges::find_if(fitted.profiles, [&](const FittedProfile& f) {
      return f.profile.title == process.workload;
    });
    if (of_it == fitted.profiles.end()) throw std::runtime_error("no profile: " + process.workload);
    known.push_back(known_of(of_it->profile));
  }
  return known;
}

FittedProfiles fitted_elsewhere(const StudyInput& input) {
  auto fitted =
      profile_fit::fit_all(models::shipped_measurements(input.source.alone, input.catalogue),
                           input.catalogue, {}, false);
  if (!fitted) throw std::runtime_error(input.source.alone + ": " + fitted.error()[0].message);
  return std::move(*fitted);
}

}  // namespace

namespace {

// Those of a user, whose requests came at random: so many that a hundredth of them are many queues,
// unless they came so seldom that others would have answered millions.
MeasuredCompany with_arrivals(MeasuredCompany company, std::uint64_t seed) {
  constexpr double kRequests = 5'000;
  constexpr double kLongest = 10'000;  // seconds
  std::uint32_t entity = 0;
  for (MeasuredProcess& process : company.processes) {
    ++entity;
    if (process.requests_per_second <= 0) continue;
    const double length = std::min(kRequests / process.requests_per_second, kLongest);
    company.length = from_seconds(length);
    RandomStream gaps(seed, 0, entity, Purpose::Arrival);
    for (double t = 0; (t += gaps.exponential() / process.requests_per_second) < length;) {
      process.due.push_back(from_seconds(t));
    }
  }
  return company;
}

}  // namespace

StudyPoints run_arrivals(const StudyInput& input) {
  constexpr std::uint64_t kRuns = 10;
  const bool calibrated = input.study.evidence == models::Evidence::Pairs;
  const FittedProfiles fitted = calibrated ? fitted_elsewhere(input) : FittedProfiles{};
  StudyPoints out;
  for (const MeasuredCompany& measured : input.source.companies) {
    if (!asks_about(input, measured)) continue;
    MeasuredCompany company = with_arrivals(measured, kSeed);
    const std::vector<MeasuredProcess>& all = company.processes;
    const TimePoint end = TimePoint{} + company.length;
    const auto is_over = [&](TimePoint now, const std::vector<Loop>&) { return now > end; };
    const std::vector<KnownProcess> known =
        calibrated ? known_from_profiles(company, fitted) : known_from_alone(company);
    std::vector<std::vector<Duration>> latencies(all.size());
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      company = with_arrivals(measured, kSeed + run);
      const std::vector<Loop> loops = run_company(input, known, company, kSeed + run, is_over);
      for (std::size_t i = 0; i < all.size(); ++i) loops[i].add_latencies(end, latencies[i]);
    }
    const bool unlike = all.back().due.empty();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::optional<double> predicted = p99_ms(std::move(latencies[i]));
      if (!predicted) continue;
      const auto count = static_cast<std::int64_t>(all.size());
      out.points.push_back({all[i].workload,
                            (unlike ? "p99 beside " + all.back().workload
                                    : fmt::format("p99 of {} processes, #{}", all.size(), i + 1)),
                            PointRole::Check, unlike, milliseconds_of(all[i].p99), *predicted,
                            p99_without_model(company, all[i], {all[i].alone.ns * count}),
                            p99_without_model(company, all[i], all[i].alone)});
    }
  }
  return out;
}

}  // namespace slicewise::sim
