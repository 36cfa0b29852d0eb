#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/sharing_law.hpp"
#include "slicewise/sim/device/closed_network.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredPair;

using Speeds = std::array<double, 2>;

// A job with d = 0 would have no GPU phase at all.
constexpr double kLeastDuty = 1e-6;

// d of a job whose GPU utilisation is known, and u where nothing else is.
// Source: fit over 1,388 pairs of training jobs on RTX 3090 (Lucid).
constexpr double kBusyOfUtilisation = 0.85;

// Speeds of two jobs with steps of one second that take turns.
Speeds turns_of(double first_duty, double second_duty, double overhead) {
  const std::array<LoopingClient, 2> jobs = {
      LoopingClient{1 - first_duty, std::max(first_duty, kLeastDuty)},
      LoopingClient{1 - second_duty, std::max(second_duty, kLeastDuty)}};
  const ClosedSolution solution = solve_closed_network(jobs, overhead);
  return {solution.cycles_per_second[0], solution.cycles_per_second[1]};
}

// d that makes two equal jobs run at `speed`; speed falls as d grows.
double duty_from(double speed, double overhead) {
  constexpr int kHalvings = 50;
  double low = 0;
  double high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (turns_of(middle, middle, overhead)[0] > speed ? low : high) = middle;
  }
  return (low + high) / 2;
}

void add_points(const MeasuredPair& pair, PointRole role, const Speeds& predicted,
                StudyPoints& out) {
  constexpr double kHalf = 0.5;
  out.points.push_back(
      {pair.first, "beside " + pair.second, role, pair.first_speed, predicted[0], kHalf, 1.0});
  out.points.push_back(
      {pair.second, "beside " + pair.first, role, pair.second_speed, predicted[1], kHalf, 1.0});
}

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

bool fits_alternating(std::size_t row) { return row % 2 == 0; }

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

template <class Predict>
StudyPoints run_by_utilisation(const StudyInput& input, Predict predict) {
  StudyPoints out;
  for (const MeasuredPair& pair : input.source.pairs) {
    if (!pair.first_utilisation || !pair.second_utilisation) {
      ++out.left_out;
      continue;
    }
    add_points(pair, PointRole::Check,
               predict(kBusyOfUtilisation * *pair.first_utilisation,
                       kBusyOfUtilisation * *pair.second_utilisation),
               out);
  }
  return out;
}

Speeds speeds_by_law(std::array<models::DomainClient, 2> clients) {
  Speeds speeds{};
  models::shared_speeds(clients, speeds);
  return speeds;
}

}  // namespace

StudyPoints run_pairs(const StudyInput& input) {
  const models::TimeSlice slice = time_slice_of(input);
  const double overhead = to_seconds(slice.switch_cost) / to_seconds(slice.turn);
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
    add_points(pair, pair.first == pair.second ? PointRole::Fit : PointRole::Check,
               turns_of(first->second, second->second, overhead), out);
  }
  return out;
}

StudyPoints run_calibrated_pairs(const StudyInput& input) {
  JobNumbers jobs;
  const models::PairCalibration figures = calibration_of(input, jobs);
  StudyPoints out;
  for (std::size_t row = 0; row < input.source.pairs.size(); ++row) {
    const MeasuredPair& pair = input.source.pairs[row];
    std::array<models::DomainClient, 2> clients;
    bool known = true;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t job = jobs.of(side == 0 ? pair.first : pair.second);
      clients[side].sensitivity = figures.sensitivity[job];
      clients[side].pressure = figures.pressure[job];
      known = known && clients[side].sensitivity && clients[side].pressure;
    }
    if (!known) {
      ++out.left_out;
      continue;
    }
    add_points(pair, fits_alternating(row) ? PointRole::Fit : PointRole::Check,
               speeds_by_law(clients), out);
  }
  return out;
}

StudyPoints run_pairs_from_utilisation(const StudyInput& input) {
  return run_by_utilisation(input, [&](double first, double second) {
    models::ClientLaw law;
    law.norm_p = input.study.norms.front();
    std::array<models::DomainClient, 2> clients;
    law.capacity_share = first;
    clients[0] = models::client_in(law, {}, 1);
    law.capacity_share = second;
    clients[1] = models::client_in(law, {}, 1);
    return speeds_by_law(clients);
  });
}

StudyPoints run_pairs_closed_network(const StudyInput& input) {
  return run_by_utilisation(input,
                            [](double first, double second) { return turns_of(first, second, 0); });
}

}  // namespace slicewise::sim
