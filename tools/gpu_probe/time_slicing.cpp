#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "experiments.hpp"
#include "turns.hpp"

namespace slicewise::gpu_probe {
namespace {

constexpr std::size_t kSmall = std::size_t{1} << 20;

// A kernel that goes through its working set again and again; of compute alone without one.
Task busy(const Machine& machine, std::size_t working_set) {
  Task task;
  task.kernel = working_set == 0 ? Kernel::Compute : Kernel::Bandwidth;
  task.working_set = std::max(working_set, kSmall);
  task.run_ms = machine.run_ms;
  return without_mps(task);
}

double seconds(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(to - from) * 1e-9;
}

// What a turn loses to caches that others have filled: the time for which nothing was got done,
// dealt out to the turns after a pause.
std::optional<double> refill_us(const Outcome& outcome, double alone) {
  if (outcome.active.size() < 2 || alone <= 0) return std::nullopt;
  double active = 0;
  for (const Interval& turn : outcome.active) active += seconds(turn.from, turn.to);
  const double whole = seconds(outcome.active.front().from, outcome.active.back().to);
  const double lost = active - outcome.units_per_second * whole / alone;
  return 1e6 * std::max(0.0, lost) / static_cast<double>(outcome.active.size() - 1);
}

nlohmann::json shared_by(const Machine& machine, int processes, std::size_t working_set,
                         double alone) {
  const std::vector<Task> tasks(static_cast<std::size_t>(processes), busy(machine, working_set));
  std::vector<double> turns;
  std::vector<double> switches;
  std::vector<double> refills;
  double together = 0;
  for (const std::vector<Outcome>& run : run_together(machine, tasks)) {
    std::vector<std::vector<Interval>> active;
    for (const Outcome& outcome : run) {
      active.push_back(outcome.active);
      if (const auto refill = refill_us(outcome, alone)) refills.push_back(*refill);
    }
    const Turns seen = turns_of(active);
    turns.insert(turns.end(), seen.turn_us.begin(), seen.turn_us.end());
    switches.insert(switches.end(), seen.switch_us.begin(), seen.switch_us.end());
    together = std::max(together, seen.together);
  }
  const Spread change = spread_of(std::move(switches));
  Spread cost = spread_of(std::move(refills));
  for (double* figure : {&cost.median, &cost.low, &cost.high}) *figure += change.median;
  return {{"processes", processes},
          {"workingSetBytes", working_set},
          {"turnMicroseconds", spread_of(std::move(turns))},
          {"switchMicroseconds", change},
          {"costMicroseconds", cost},
          {"together", together}};
}

}  // namespace

nlohmann::json measure_time_slicing(const Machine& machine, std::size_t l2_bytes) {
  const std::size_t cache = std::bit_floor(std::max(l2_bytes, 4 * kSmall));
  nlohmann::json out = nlohmann::json::array();
  const double alone = speeds_alone(machine, busy(machine, 0)).median;
  for (int processes = 2; processes <= machine.most_processes; ++processes) {
    out.push_back(shared_by(machine, processes, 0, alone));
  }
  for (const std::size_t working_set : {cache / 4, cache, 4 * cache}) {
    const double whole = speeds_alone(machine, busy(machine, working_set)).median;
    out.push_back(shared_by(machine, 2, working_set, whole));
  }
  return out;
}

namespace {

double busy_part(const Outcome& outcome) {
  double busy_time = 0;
  for (const Interval& active : outcome.active) {
    busy_time += static_cast<double>(active.to - active.from);
  }
  const double whole = static_cast<double>(outcome.active.back().to - outcome.active.front().from);
  return whole > 0 ? busy_time / whole : 0;
}

// What a process that always asks for the GPU has of it beside `neighbour`.
nlohmann::json beside(const Machine& machine, const Task& neighbour) {
  std::vector<double> parts;
  std::vector<double> pauses;
  for (const std::vector<Outcome>& run :
       run_together(machine, {busy(machine, 0), without_mps(neighbour)})) {
    const std::vector<Interval>& active = run.front().active;
    if (active.empty()) continue;
    parts.push_back(busy_part(run.front()));
    constexpr double kPerNanosecond = 1e-3;
    for (std::size_t i = 1; i < active.size(); ++i) {
      pauses.push_back(static_cast<double>(active[i].from - active[i - 1].to) * kPerNanosecond);
    }
  }
  return {{"share", spread_of(std::move(parts))},
          {"pauseMicroseconds", spread_of(std::move(pauses))}};
}

}  // namespace

nlohmann::json measure_yielding(const Machine& machine) {
  constexpr int kShort = 200;
  Task idle;
  Task synchronising = busy(machine, 0);
  synchronising.launch_us = kShort;
  Task pausing = synchronising;
  pausing.pause_us = 10 * kShort;
  return {{"besideIdle", beside(machine, idle)},
          {"besideSynchronising", beside(machine, synchronising)},
          {"besidePausing", beside(machine, pausing)},
          {"kernelMicroseconds", kShort}};
}

}  // namespace slicewise::gpu_probe
