#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/neighbours.hpp"
#include "slicewise/sim/world.hpp"

#include "../probe/simulations.hpp"

// Workloads that are simulated together, and what each of them is like in that company.
namespace slicewise::sim {

// The scenario as all companies have it: only workloads that have pods, stages of pipelines with
// the pipelines' requests as their own, one engine for all. What is lost by that is noted.
Scenario taken_apart(const Scenario& scenario, Diagnostics& notes);

// Those workloads of `base` alone. Without a Job among them it lasts for `length`, unless the
// scenario says how long.
Scenario with_only(const Scenario& base, const std::vector<std::size_t>& workloads,
                   Duration length);

// What is kept of a workload in one replication.
struct Member {
  std::vector<std::optional<double>> figures;  // as figures_of() names them
  std::vector<bool> met;                       // by member of the company
  std::vector<bool> ran_on;                    // a GPU of the pool
  bool falls_behind = false;                   // requests come faster than they are answered
};

// Workloads that are simulated together.
struct Companions {
  std::vector<std::size_t> workloads;
  World world;
  std::vector<std::vector<Member>> replications;  // by replication, then by member; empty: not run
  Verdict verdict{};                              // on the replications that were run
  double fault_victims = 0;                       // in one of them, on average

  std::size_t place_of(std::size_t workload) const {
    return static_cast<std::size_t>(std::ranges::find(workloads, workload) - workloads.begin());
  }
};

// Each workload alone, then each pair, then all.
std::vector<std::vector<std::size_t>> companies_of(std::size_t count);

// What is compared of a workload.
std::vector<NeighbourFigure> figures_of(const WorkloadModel& model);

void simulate_companies(std::vector<Companions>& companies, Simulations& simulations);

// Figure number `figure` of a workload in a company against that of the workload alone.
NeighbourEffect effect_of(const Companions& company, const Companions& alone, std::size_t figure);

// Of the first workload; nullopt: never observed.
std::optional<double> mean_figure(const Companions& company, std::size_t figure);

// In any of its runs; false of a workload of another company.
bool falls_behind(const Companions& company, std::size_t workload);

}  // namespace slicewise::sim
