#include "slicewise/sim/neighbours.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/world.hpp"

#include "../../run/replications.hpp"
#include "companies.hpp"
#include "pairs_put_together.hpp"

namespace slicewise::sim {
namespace {

void fill_rows(const std::vector<Companions>& companies, NeighbourMatrix& matrix) {
  const std::size_t count = matrix.workloads.size();
  for (std::size_t w = 0; w < count; ++w) {
    const Companions& alone = companies[w];
    const std::vector<NeighbourFigure> figures = figures_of(alone.world.workloads.front());
    for (std::size_t f = 0; f < figures.size(); ++f) {
      NeighbourRow row{w, figures[f], mean_figure(alone, f), {}, {}};
      row.beside.resize(count);
      for (const Companions& company : companies) {
        if (company.workloads.size() != 2 || company.place_of(w) == 2) continue;
        const std::size_t other = company.workloads[1 - company.place_of(w)];
        row.beside[other] = effect_of(company, alone, f);
      }
      row.beside_all = effect_of(companies.back(), alone, f);
      matrix.rows.push_back(std::move(row));
    }
  }
}

bool meet_in_every_run(const Companions& pair) {
  return std::ranges::all_of(pair.replications, [](const std::vector<Member>& members) {
    return members.empty() || members.front().met[1];
  });
}

// Factors of queues that only grow would pass for what a neighbour does.
void note_overload(const Scenario& base, const std::vector<Companions>& companies,
                   Diagnostics& notes) {
  for (std::size_t w = 0; w < base.workloads.size(); ++w) {
    std::vector<std::string> beside;
    for (const Companions& company : companies) {
      if (company.workloads.size() != 2 || !falls_behind(company, w)) continue;
      const std::size_t other = company.workloads[1 - company.place_of(w)];
      beside.push_back(base.workloads[other].name.value);
    }
    const bool alone = falls_behind(companies[w], w);
    if (!alone && beside.empty() && !falls_behind(companies.back(), w)) continue;
    const std::string where = alone            ? "even alone"
                              : beside.empty() ? "beside all others"
                                               : fmt::format("beside {}", fmt::join(beside, ", "));
    add_diagnostic(
        notes, Code::QueueUnstable, base.workloads[w].name.where,
        fmt::format("requests of \"{}\" arrive faster than they are served {}: the latencies and "
                    "factors there only tell how long the run was",
                    base.workloads[w].name.value, where),
        "add replicas on more GPUs, or lower traffic.mean; max-load tells how much each bears");
  }
}

// Whose containers end with a neighbour's is not slow: no factor shows it.
void note_faults(const Scenario& base, const std::vector<Companions>& companies,
                 Diagnostics& notes) {
  for (const Companions& company : companies) {
    if (company.workloads.size() != 2 || company.fault_victims == 0) continue;
    const Workload& first = base.workloads[company.workloads[0]];
    const Workload& second = base.workloads[company.workloads[1]];
    const Workload& faulty = first.faults ? first : second;
    const auto victims = first.faults && second.faults
                             ? fmt::format("each other's")
                             : fmt::format("\"{}\"'s", (first.faults ? second : first).name.value);
    add_diagnostic(notes, Code::FaultShared, faulty.name.where,
                   fmt::format("fatal GPU faults of \"{}\" end {} containers, {:.3g} in a run: "
                               "what is lost by that is in no factor of latency",
                               faulty.name.value, victims, company.fault_victims),
                   "time-slicing and MIG confine a fault to its process");
  }
}

// How long the whole scenario runs, for companies that would never end; 0 where it says so itself.
Expected<Duration> length_of(const Scenario& base, const Catalogue& catalogue,
                             const RunOptions& options) {
  if (base.duration) return Duration{};
  auto world = build_world(base, catalogue);
  if (!world) return tl::unexpected(std::move(world.error()));
  RunOptions quiet = options;
  quiet.progress = nullptr;
  const auto result = simulate(*world, quiet);
  return result ? result->makespan.mean : Duration{};
}

Diagnostic too_few(const Scenario& scenario) {
  return make_diagnostic(
      Code::ValueRange, scenario.where,
      fmt::format("\"{}\" has fewer than two workloads with pods", scenario.name),
      "neighbours are workloads that share nodes: give it another one, or name another --variant");
}

}  // namespace

std::string_view figure_name(NeighbourFigure figure) {
  switch (figure) {
    case NeighbourFigure::LatencyP99:
      return "latencyP99";
    case NeighbourFigure::LatencyMean:
      return "latencyMean";
    case NeighbourFigure::TimePerUnit:
      return "timePerUnit";
    case NeighbourFigure::CellTime:
      return "cellTime";
  }
  return "latencyP99";
}

Expected<NeighbourMatrix> find_neighbours(const ScenarioSet& set, std::size_t variant,
                                          const Catalogue& catalogue,
                                          const NeighbourOptions& options) {
  const Scenario& scenario = set.variants[variant];
  NeighbourMatrix matrix;
  matrix.stamp = stamp_of(set, variant, catalogue);
  matrix.stamp.price_date.clear();
  const Scenario base = taken_apart(scenario, matrix.notes);
  if (base.workloads.size() < 2) return tl::unexpected(Diagnostics{too_few(scenario)});
  const Expected<Duration> length = length_of(base, catalogue, options.run);
  if (!length) return tl::unexpected(length.error());
  std::vector<Companions> companies;
  for (std::vector<std::size_t>& workloads : companies_of(base.workloads.size())) {
    Expected<World> world = build_world(with_only(base, workloads, *length), catalogue);
    if (!world) return tl::unexpected(std::move(world.error()));
    companies.push_back({std::move(workloads), std::move(*world), {}});
  }
  Simulations simulations(options.run);
  simulate_companies(companies, simulations);
  PairsPutTogether together;
  for (const Companions& company : companies) {
    if (company.workloads.size() != 2 || meet_in_every_run(company)) continue;
    together.add(base, company, *length, catalogue);
  }
  together.simulate(simulations);
  for (const Workload& workload : base.workloads) {
    matrix.workloads.push_back(workload.name.value);
  }
  matrix.interrupted = is_interrupted(options.run);
  matrix.verdict = companies.back().verdict;
  fill_rows(companies, matrix);
  together.fill(matrix);
  note_overload(base, companies, matrix.notes);
  note_faults(base, companies, matrix.notes);
  return matrix;
}

}  // namespace slicewise::sim
