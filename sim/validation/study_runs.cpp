#include "study_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "slicewise/models/calibration.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {
namespace {

using models::Calibration;
using models::MeasuredPair;
using models::MeasuredRow;
using models::MeasuredTime;

MeasuredTime measured_time(const StudyInput& input, const MeasuredRow& row, int size) {
  return {share_of(input, row), row.active_threads, row.clients, size, row.time};
}

// Two different places are needed to tell T0 from W.
bool can_be_fitted(const StudyInput& input, const RowGroup& group) {
  const MeasuredRow* first = nullptr;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (!group.fit[i]) continue;
    const MeasuredRow& row = *group.rows[i];
    if (first == nullptr) {
      first = &row;
    } else if (row.clients != first->clients || row.active_threads != first->active_threads ||
               share_of(input, row).compute != share_of(input, *first).compute) {
      return true;
    }
  }
  return false;
}

// The groups that one calibration is made for; its sizes are their positions.
using Family = std::vector<const RowGroup*>;

Calibration calibrate_family(const StudyInput& input, const Family& family) {
  std::vector<MeasuredTime> points;
  for (std::size_t size = 0; size < family.size(); ++size) {
    const RowGroup& group = *family[size];
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      if (group.fit[i]) {
        points.push_back(measured_time(input, *group.rows[i], static_cast<int>(size)));
      }
    }
  }
  models::CalibrationOptions options;
  options.norms = input.study.norms;
  options.bandwidth_share = input.study.bandwidth_share;
  options.one_fixed_part = input.study.one_fixed_part;
  return models::calibrate(points, options);
}

void predict_family(const StudyInput& input, const Family& family, StudyPoints& out) {
  const Calibration calibration = calibrate_family(input, family);
  for (std::size_t size = 0; size < family.size(); ++size) {
    const RowGroup& group = *family[size];
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const MeasuredTime where = measured_time(input, *group.rows[i], static_cast<int>(size));
      out.points.push_back(point_of(input, group, i, models::predicted_time(calibration, where)));
    }
  }
}

// What `predict` says of each row of the groups that have one to start from.
template <class Predict>
StudyPoints run_groups(const StudyInput& input, Predict predict) {
  StudyPoints out;
  for (const RowGroup& group : row_groups(input)) {
    if (group.reference == nullptr) {
      out.left_out += static_cast<int>(group.rows.size());
      continue;
    }
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      out.points.push_back(point_of(input, group, i, predict(group, *group.rows[i])));
    }
  }
  return out;
}

// u is given: the isolated row fixes the scale, nothing is fitted.
StudyPoints run_given_law(const StudyInput& input) {
  models::ClientLaw law;
  law.capacity_share = *input.study.capacity_share;
  law.bandwidth_share = input.study.bandwidth_share.value_or(0);
  law.norm_p = input.study.norms.front();
  return run_groups(input, [&](const RowGroup& group, const MeasuredRow& row) {
    const double stretch =
        models::stretch_of(law, share_of(input, row), row.active_threads, row.clients);
    return from_seconds(to_seconds(group.reference->time) * stretch);
  });
}

std::vector<Family> families(const StudyInput& input, const std::vector<RowGroup>& groups,
                             int& left_out) {
  std::vector<Family> result;
  for (const RowGroup& group : groups) {
    if (!can_be_fitted(input, group)) {
      left_out += static_cast<int>(group.rows.size());
      continue;
    }
    const auto same = std::ranges::find_if(result, [&group](const Family& family) {
      return family.front()->workload == group.workload;
    });
    if (same == result.end() || input.study.own_norm) {
      result.push_back({&group});
    } else {
      same->push_back(&group);
    }
  }
  return result;
}

// The rule "fit: every other row; check: the rest".
bool fits_alternating(std::size_t row) { return row % 2 == 0; }

bool has_utilisation(const MeasuredPair& pair) {
  return pair.first_utilisation && pair.second_utilisation;
}

// Two points, one per job.
void add_pair(const MeasuredPair& pair, PointRole role, const Speeds& predicted, StudyPoints& out) {
  constexpr double kHalf = 0.5;
  out.points.push_back({pair.first, "beside " + pair.second, role, true, pair.first_speed,
                        predicted[0], kHalf, 1.0});
  out.points.push_back({pair.second, "beside " + pair.first, role, true, pair.second_speed,
                        predicted[1], kHalf, 1.0});
}

}  // namespace

StudyPoints run_law(const StudyInput& input) {
  if (input.study.capacity_share) return run_given_law(input);
  const std::vector<RowGroup> groups = row_groups(input);
  StudyPoints out;
  for (const Family& family : families(input, groups, out.left_out)) {
    predict_family(input, family, out);
  }
  return out;
}

namespace {

Speeds overlapped_speeds(double first_duty, double second_duty, double overhead) {
  const double duties = first_duty + second_duty;
  return {1 / models::overlapped_slowdown(first_duty, duties, overhead),
          1 / models::overlapped_slowdown(second_duty, duties, overhead)};
}

// d that makes two equal jobs run at `speed`; speed falls as d grows.
double duty_from(double speed, double overhead) {
  constexpr int kHalvings = 50;
  double low = 0;
  double high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (overlapped_speeds(middle, middle, overhead)[0] > speed ? low : high) = middle;
  }
  return (low + high) / 2;
}

Speeds serial_speeds(double first_duty, double second_duty, double overhead) {
  constexpr double kLeastDuty = 1e-6;  // a job with d = 0 would have no GPU phase at all
  const std::array<LoopingClient, 2> jobs = {
      LoopingClient{1 - first_duty, std::max(first_duty, kLeastDuty)},
      LoopingClient{1 - second_duty, std::max(second_duty, kLeastDuty)}};
  const ClosedSolution solution = solve_closed_network(jobs, overhead);
  return {solution.cycles_per_second[0], solution.cycles_per_second[1]};
}

// The two constants between utilisation and speed.
struct UtilisationLaw {
  double busy_of_utilisation = scenarios::kBusyOfGpuUtil;
  double norm_p = models::kOverlappedNorm;
};

Speeds speeds_by(const UtilisationLaw& law, const MeasuredPair& pair, double overhead) {
  const double first = law.busy_of_utilisation * *pair.first_utilisation;
  const double second = law.busy_of_utilisation * *pair.second_utilisation;
  const double demand = (first + second) * (1 + overhead);
  return {1 / models::slowdown(first, demand, law.norm_p),
          1 / models::slowdown(second, demand, law.norm_p)};
}

double error_of(const UtilisationLaw& law, const std::vector<MeasuredPair>& pairs,
                double overhead) {
  double error = 0;
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    if (!fits_alternating(row) || !has_utilisation(pairs[row])) continue;
    const Speeds speeds = speeds_by(law, pairs[row], overhead);
    error += std::abs(speeds[0] / pairs[row].first_speed - 1) +
             std::abs(speeds[1] / pairs[row].second_speed - 1);
  }
  return error;
}

UtilisationLaw refitted(const StudyInput& input, double overhead) {
  constexpr int kFirstPercent = 50;
  constexpr int kLastPercent = 100;
  constexpr double kPercent = 0.01;
  UtilisationLaw best;
  double least = std::numeric_limits<double>::infinity();
  for (const double norm_p : input.study.norms) {
    for (int percent = kFirstPercent; percent <= kLastPercent; ++percent) {
      const UtilisationLaw law{percent * kPercent, norm_p};
      const double error = error_of(law, input.source.pairs, overhead);
      if (error < least) {
        least = error;
        best = law;
      }
    }
  }
  return best;
}

// `predict(pair)` gives the speeds, `role(row)` what the row is for.
template <class Predict, class Role>
StudyPoints run_by_utilisation(const StudyInput& input, Predict predict, Role role) {
  StudyPoints out;
  for (std::size_t row = 0; row < input.source.pairs.size(); ++row) {
    const MeasuredPair& pair = input.source.pairs[row];
    if (has_utilisation(pair)) {
      add_pair(pair, role(row), predict(pair), out);
    } else {
      ++out.left_out;
    }
  }
  return out;
}

PointRole always_checks(std::size_t /*row*/) { return PointRole::Check; }

PointRole alternating_role(std::size_t row) {
  return fits_alternating(row) ? PointRole::Fit : PointRole::Check;
}

std::map<std::string, double> duties_from_equals(const StudyInput& input, double overhead) {
  std::map<std::string, double> duty;
  for (const MeasuredPair& pair : input.source.pairs) {
    if (pair.first != pair.second) continue;
    duty[pair.first] = duty_from((pair.first_speed + pair.second_speed) / 2, overhead);
  }
  return duty;
}

// As much of its turns as speed x duty beside the job says, which uses all of its own.
std::map<std::string, models::TurnTaker> takers_beside(const std::string& job,
                                                       const StudyInput& input, double overhead) {
  const std::map<std::string, double> duty = duties_from_equals(input, overhead);
  std::map<std::string, models::TurnTaker> takers;
  const auto add = [&](const std::string& other, double speed, double speed_of_job) {
    const auto found = duty.find(other);
    if (found == duty.end()) return;
    takers[other] = {found->second, speed * found->second / (speed_of_job * duty.at(job))};
  };
  for (const MeasuredPair& pair : input.source.pairs) {
    if (pair.first == job) add(pair.second, pair.second_speed, pair.first_speed);
    if (pair.second == job) add(pair.first, pair.first_speed, pair.second_speed);
  }
  return takers;
}

Speeds speeds_in_turns(const models::TurnTaker& first, const models::TurnTaker& second,
                       double overhead) {
  const std::array<models::TurnTaker, 2> takers = {first, second};
  Speeds speeds{};
  for (std::size_t i = 0; i < takers.size(); ++i) {
    speeds[i] = 1 / models::overlapped_slowdown(takers[i].duty, models::demand_in_turns(takers, i),
                                                overhead);
  }
  return speeds;
}

}  // namespace

StudyPoints run_pairs_beside_one(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  const std::string& job = input.study.fit.workloads.at(0);
  const auto takers = takers_beside(job, input, overhead);
  StudyPoints out;
  for (const MeasuredPair& pair : input.source.pairs) {
    const auto first = takers.find(pair.first);
    const auto second = takers.find(pair.second);
    if (first == takers.end() || second == takers.end()) {
      ++out.left_out;
      continue;
    }
    const bool given = pair.first == pair.second || pair.first == job || pair.second == job;
    add_pair(pair, given ? PointRole::Fit : PointRole::Check,
             speeds_in_turns(first->second, second->second, overhead), out);
  }
  return out;
}

StudyPoints run_pairs(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  const std::map<std::string, double> duty = duties_from_equals(input, overhead);
  StudyPoints out;
  for (const MeasuredPair& pair : input.source.pairs) {
    const auto first = duty.find(pair.first);
    const auto second = duty.find(pair.second);
    if (first == duty.end() || second == duty.end()) {
      ++out.left_out;
      continue;
    }
    add_pair(pair, pair.first == pair.second ? PointRole::Fit : PointRole::Check,
             overlapped_speeds(first->second, second->second, overhead), out);
  }
  return out;
}

StudyPoints run_pairs_from_utilisation(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  return run_by_utilisation(
      input, [&](const MeasuredPair& pair) { return speeds_by({}, pair, overhead); },
      always_checks);
}

StudyPoints run_refitted_pairs(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  const UtilisationLaw law = refitted(input, overhead);
  return run_by_utilisation(
      input, [&](const MeasuredPair& pair) { return speeds_by(law, pair, overhead); },
      alternating_role);
}

StudyPoints run_serial_pairs(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  return run_by_utilisation(
      input,
      [&](const MeasuredPair& pair) {
        return serial_speeds(scenarios::kBusyOfGpuUtil * *pair.first_utilisation,
                             scenarios::kBusyOfGpuUtil * *pair.second_utilisation, overhead);
      },
      always_checks);
}

namespace {

// Numbers jobs in the order in which they appear.
class JobNumbers {
 public:
  std::size_t of(const std::string& job) {
    return numbers_.emplace(job, numbers_.size()).first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, std::size_t> numbers_;
};

models::PairCalibration calibration_of(const StudyInput& input, JobNumbers& jobs) {
  std::vector<models::PairObservation> seen;
  for (std::size_t row = 0; row < input.source.pairs.size(); ++row) {
    const MeasuredPair& pair = input.source.pairs[row];
    const std::size_t first = jobs.of(pair.first);
    const std::size_t second = jobs.of(pair.second);
    if (!fits_alternating(row)) continue;
    seen.push_back({first, second, 1 / pair.first_speed});
    seen.push_back({second, first, 1 / pair.second_speed});
  }
  return models::calibrate_pairs(seen, jobs.size());
}

// nullopt when a figure of either job was never observed.
std::optional<Speeds> speeds_of(const models::PairCalibration& figures, std::size_t first,
                                std::size_t second) {
  const std::array<std::size_t, 2> jobs = {first, second};
  std::array<models::DomainClient, 2> clients;
  for (std::size_t side = 0; side < jobs.size(); ++side) {
    clients[side].sensitivity = figures.sensitivity[jobs[side]];
    clients[side].pressure = figures.pressure[jobs[side]];
    if (!clients[side].sensitivity || !clients[side].pressure) return std::nullopt;
  }
  Speeds speeds{};
  models::shared_speeds(clients, speeds);
  return speeds;
}

}  // namespace

StudyPoints run_calibrated_pairs(const StudyInput& input) {
  JobNumbers jobs;
  const models::PairCalibration figures = calibration_of(input, jobs);
  StudyPoints out;
  for (std::size_t row = 0; row < input.source.pairs.size(); ++row) {
    const MeasuredPair& pair = input.source.pairs[row];
    const auto speeds = speeds_of(figures, jobs.of(pair.first), jobs.of(pair.second));
    if (speeds) {
      add_pair(pair, alternating_role(row), *speeds, out);
    } else {
      ++out.left_out;
    }
  }
  return out;
}

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

}  // namespace

models::TimeSlice time_slice_of(const StudyInput& input) {
  if (input.gpu == nullptr) {
    throw std::runtime_error(
        fmt::format("study {}: GPU {} is not known", input.study.id, input.source.gpu));
  }
  const Duration formula = models::switch_cost(*input.gpu, input.study.cold_cache);
  return {input.gpu->time_slice, input.gpu->switch_cost.value_or(formula)};
}

double switch_overhead(const StudyInput& input) {
  const models::TimeSlice slice = time_slice_of(input);
  return to_seconds(slice.switch_cost) / to_seconds(slice.turn);
}

StudyPoints run_turns(const StudyInput& input) {
  const models::TimeSlice slice = time_slice_of(input);
  return run_groups(input, [&](const RowGroup& group, const MeasuredRow& row) {
    return looped_step(group.reference->time, row.clients, slice);
  });
}

StudyPoints run_bursts(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  return run_groups(input, [&](const RowGroup& group, const MeasuredRow& row) {
    return burst_step(group.reference->time, duty_of(input, group.workload), row.clients, overhead);
  });
}

}  // namespace slicewise::sim
