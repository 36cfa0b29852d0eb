#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/device/closed_network.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredPair;

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
  double busy_of_utilisation = models::kBusyOfGpuUtil;
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

}  // namespace

bool fits_alternating(std::size_t row) { return row % 2 == 0; }

PointRole alternating_role(std::size_t row) {
  return fits_alternating(row) ? PointRole::Fit : PointRole::Check;
}

bool has_utilisation(const MeasuredPair& pair) {
  return pair.first_utilisation && pair.second_utilisation;
}

void add_pair(const MeasuredPair& pair, PointRole role, const Speeds& predicted, StudyPoints& out) {
  constexpr double kHalf = 0.5;
  out.points.push_back(
      {pair.first, "beside " + pair.second, role, pair.first_speed, predicted[0], kHalf, 1.0});
  out.points.push_back(
      {pair.second, "beside " + pair.first, role, pair.second_speed, predicted[1], kHalf, 1.0});
}

StudyPoints run_pairs(const StudyInput& input) {
  const double overhead = switch_overhead(input);
  std::map<std::string, double> duty;
  for (const MeasuredPair& pair : input.source.pairs) {
    if (pair.first != pair.second) continue;
    duty[pair.first] = duty_from((pair.first_speed + pair.second_speed) / 2, overhead);
  }
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
        return serial_speeds(models::kBusyOfGpuUtil * *pair.first_utilisation,
                             models::kBusyOfGpuUtil * *pair.second_utilisation, overhead);
      },
      always_checks);
}

}  // namespace slicewise::sim
