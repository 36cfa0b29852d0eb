#include <array>
#include <map>
#include <optional>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/execution_law.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredPair;

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

}  // namespace slicewise::sim
