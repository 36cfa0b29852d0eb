#include "slicewise/sim/neighbours.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/world.hpp"

#include "../../result/merge.hpp"
#include "../../result/unanswered.hpp"
#include "../../run/replications.hpp"
#include "../probe/loads.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Pipeline;
using scenarios::Scenario;
using scenarios::Traffic;
using scenarios::Workload;
using scenarios::WorkloadKind;

bool is_steady(const Traffic& traffic) {
  return std::holds_alternative<std::monostate>(traffic.shape);
}

Diagnostic left_out(const Pipeline& pipeline, const std::string& workload) {
  Diagnostic note = make_diagnostic(
      Code::SettingConflict, pipeline.where,
      fmt::format("the requests of pipeline \"{}\" are left out of \"{}\": its own traffic has "
                  "another shape",
                  pipeline.name.value, workload));
  note.severity = Severity::Note;
  return note;
}

// Requests of both at once can be added up where their rates are constant.
void add_traffic(Workload& workload, const Pipeline& pipeline, Diagnostics& notes) {
  if (!workload.traffic) {
    workload.traffic = pipeline.traffic;
  } else if (is_steady(*workload.traffic) && is_steady(pipeline.traffic)) {
    workload.traffic->mean.per_second += pipeline.traffic.mean.per_second;
  } else {
    notes.push_back(left_out(pipeline, workload.name.value));
  }
}

void take_apart(const Pipeline& pipeline, Scenario& scenario, Diagnostics& notes) {
  for (const Pipeline::Stage& stage : pipeline.stages) {
    for (Workload& workload : scenario.workloads) {
      if (workload.name.value == stage.workload.value) add_traffic(workload, pipeline, notes);
    }
  }
  Diagnostic note = make_diagnostic(
      Code::SettingConflict, pipeline.where,
      fmt::format("pipeline \"{}\" is taken apart: every stage has its requests as its own",
                  pipeline.name.value));
  note.severity = Severity::Note;
  notes.push_back(std::move(note));
}

// The scenario as all companies have it: only workloads that have pods, stages of pipelines with
// the pipelines' requests as their own, one engine for all. What is lost by that is noted.
Scenario taken_apart(const Scenario& scenario, Diagnostics& notes) {
  Scenario base = scenario;
  for (const Pipeline& pipeline : scenario.pipelines) take_apart(pipeline, base, notes);
  base.pipelines.clear();
  std::erase_if(base.workloads, [](const Workload& workload) { return workload.count == 0; });
  const auto is_service = [](const Workload& w) { return w.kind == WorkloadKind::Service; };
  if (std::ranges::any_of(base.workloads, is_service)) {
    base.fidelity = scenarios::Fidelity::Exact;  // alone as beside a Service
  }
  return base;
}

// Those workloads of `base` alone. Without a Job among them it lasts for `length`, unless the
// scenario says how long.
Scenario with_only(const Scenario& base, const std::vector<std::size_t>& workloads,
                   Duration length) {
  Scenario scenario = base;
  scenario.workloads.clear();
  for (const std::size_t w : workloads) scenario.workloads.push_back(base.workloads[w]);
  const auto is_job = [](const Workload& w) { return w.kind == WorkloadKind::Job; };
  if (!scenario.duration && std::ranges::none_of(scenario.workloads, is_job)) {
    scenario.duration = length;
  }
  return scenario;
}

// What is kept of a workload in one replication.
struct Member {
  std::vector<std::optional<double>> figures;  // as figures_of() names them
  std::vector<bool> met;                       // by member of the company
  std::vector<bool> ran_on;                    // a GPU of the pool
  bool falls_behind = false;                   // requests come faster than they are answered
};

// Workloads that are simulated together.
struct Company {
  std::vector<std::size_t> workloads;
  World world;
  std::vector<std::vector<Member>> replications;  // by replication, then by member; empty: not run

  std::size_t place_of(std::size_t workload) const {
    return static_cast<std::size_t>(std::ranges::find(workloads, workload) - workloads.begin());
  }
};

std::vector<NeighbourFigure> figures_of(const WorkloadModel& model) {
  switch (model.spec.kind) {
    case WorkloadKind::Service:
      return {NeighbourFigure::LatencyP99, NeighbourFigure::LatencyMean};
    case WorkloadKind::Notebook:
      if (model.spec.notebooks) return {NeighbourFigure::CellTime};
      break;
    case WorkloadKind::Job:
    case WorkloadKind::Deployment:
      break;
  }
  return {NeighbourFigure::TimePerUnit};
}

std::optional<double> observed(NeighbourFigure figure, const WorkloadRecord& record) {
  constexpr double kP99 = 0.99;
  const Histogram& latency = record.requests.latency;
  const Histogram& slowdown = record.notebooks.slowdown;
  switch (figure) {
    case NeighbourFigure::LatencyP99:
      return latency.count() > 0 ? std::optional(to_seconds(latency.quantile(kP99))) : std::nullopt;
    case NeighbourFigure::LatencyMean:
      return latency.count() > 0 ? std::optional(to_seconds(latency.mean())) : std::nullopt;
    case NeighbourFigure::TimePerUnit:
      return record.units_done > 0 ? std::optional(to_seconds(record.pod_running) /
                                                   static_cast<double>(record.units_done))
                                   : std::nullopt;
    case NeighbourFigure::CellTime:
      return slowdown.count() > 0 ? std::optional(static_cast<double>(slowdown.mean().ns) /
                                                  static_cast<double>(kUnitSlowdown.ns))
                                  : std::nullopt;
  }
  return std::nullopt;
}

// Marks the pools on whose GPUs the members were.
void mark_pools(const Replication& record, const World& world, std::vector<Member>& members) {
  for (Member& member : members) member.ran_on.resize(world.pools.size());
  std::size_t domain = 0;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    std::size_t of_node = 0;
    for (const NodeLayout& layout : world.pools[p].layouts) of_node += layout.domains.size();
    const std::size_t end =
        domain + of_node * static_cast<std::size_t>(world.pools[p].node_slots());
    for (; domain < end; ++domain) {
      for (const std::uint32_t pod : record.domains[domain].fullest) {
        members[workload_of_pod(world, pod)].ran_on[p] = true;
      }
    }
  }
}

std::vector<Member> members_of(const Replication& record, const World& world) {
  const std::size_t count = world.workloads.size();
  std::vector<Member> members(count);
  for (std::size_t w = 0; w < count; ++w) {
    for (const NeighbourFigure figure : figures_of(world.workloads[w])) {
      members[w].figures.push_back(observed(figure, record.workloads[w]));
    }
    const RequestRecord& requests = record.workloads[w].requests;
    members[w].falls_behind = queue_only_grows(unanswered(requests), requests.arrived, 1);
    for (std::size_t other = 0; other < count; ++other) {
      members[w].met.push_back(record.shared_domain[w * count + other] != 0);
    }
  }
  mark_pools(record, world, members);
  return members;
}

// All companies at once: whole replications are the unit of parallel work.
void simulate_companies(std::vector<Company>& companies, const RunOptions& options) {
  std::vector<const World*> worlds;
  worlds.reserve(companies.size());
  for (const Company& company : companies) worlds.push_back(&company.world);
  run_worlds(worlds, options, [&](std::size_t c, auto records) {
    for (const std::optional<Replication>& record : records) {
      companies[c].replications.push_back(record ? members_of(*record, companies[c].world)
                                                 : std::vector<Member>());
    }
  });
}

double mean_value(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Figure number `figure` of a workload in a company against that of the workload alone.
NeighbourEffect effect_of(const Company& company, const Company& alone, std::size_t figure) {
  const std::size_t place = company.place_of(alone.workloads.front());
  NeighbourEffect effect;
  std::vector<double> ratios;
  for (std::size_t r = 0; r < company.replications.size(); ++r) {
    if (company.replications[r].empty() || alone.replications[r].empty()) continue;
    const Member& member = company.replications[r][place];
    for (std::size_t other = 0; other < member.met.size(); ++other) {
      effect.shares_gpu = effect.shares_gpu || (other != place && member.met[other]);
    }
    const auto beside = member.figures[figure];
    const auto by_itself = alone.replications[r].front().figures[figure];
    if (beside && by_itself && *by_itself > 0) ratios.push_back(*beside / *by_itself);
  }
  if (ratios.empty()) return effect;
  effect.slowdown = mean_value(ratios);
  effect.ci95 = half_width_95(ratios);
  return effect;
}

std::optional<double> mean_figure(const Company& company, std::size_t figure) {
  std::vector<double> values;
  for (const std::vector<Member>& members : company.replications) {
    if (!members.empty() && members.front().figures[figure]) {
      values.push_back(*members.front().figures[figure]);
    }
  }
  return values.empty() ? std::nullopt : std::optional(mean_value(values));
}

// Each workload alone, then each pair, then all.
std::vector<std::vector<std::size_t>> companies_of(std::size_t count) {
  std::vector<std::vector<std::size_t>> companies;
  for (std::size_t w = 0; w < count; ++w) companies.push_back({w});
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) companies.push_back({a, b});
  }
  std::vector<std::size_t> all(count);
  for (std::size_t w = 0; w < count; ++w) all[w] = w;
  if (count > 2) companies.push_back(std::move(all));  // two are a pair already
  return companies;
}

// One pod of each, with its part of the requests or users.
Scenario one_pod_of_each(Scenario scenario) {
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    const double part = 1.0 / scenario.workloads[w].count;
    for (const LoadTarget& load : all_load_targets(scenario)) {
      if (load.index == w) scenario = scaled(scenario, std::span(&load, 1), part);
    }
    scenario.workloads[w].count = 1;
    scenario.workloads[w].trace.reset();  // one job of the mean length
    scenario.workloads[w].autoscaling.reset();
  }
  return scenario;
}

bool all_may_run(const World& world) {
  return std::ranges::all_of(world.workloads, [&](const WorkloadModel& workload) {
    return workload.on_pool.front().schedulable;
  });
}

// One pod of each of the workloads on one node of the pool that fills a GPU before it takes the
// next; nullopt where not all of them may run there.
std::optional<World> put_together(const Scenario& base, const std::vector<std::size_t>& workloads,
                                  std::size_t pool, Duration length,
                                  const models::Catalogue& catalogue) {
  Scenario scenario = one_pod_of_each(with_only(base, workloads, length));
  scenarios::NodePool node = base.node_pools[pool];
  node.nodes = 1;
  node.most_nodes.reset();
  node.capacity_type = scenarios::CapacityType::OnDemand;
  node.spot.reset();
  scenario.node_pools = {std::move(node)};
  Expected<World> world = build_world(scenario, catalogue);
  if (!world || !all_may_run(*world)) return std::nullopt;
  world->pools.front().allocation = scenarios::AllocationPolicy::Packed;
  return std::move(*world);
}

bool meet_in_every_run(const Company& pair) {
  return std::ranges::all_of(pair.replications, [](const std::vector<Member>& members) {
    return members.empty() || members.front().met[1];
  });
}

// Those on which both ran come first.
std::vector<std::size_t> pools_for(const Company& pair) {
  std::vector<std::size_t> pools(pair.world.pools.size());
  for (std::size_t p = 0; p < pools.size(); ++p) pools[p] = p;
  std::stable_partition(pools.begin(), pools.end(), [&](std::size_t p) {
    return std::ranges::any_of(pair.replications, [&](const std::vector<Member>& members) {
      return !members.empty() && members[0].ran_on[p] && members[1].ran_on[p];
    });
  });
  return pools;
}

// Pairs that the scheduler keeps apart, put on one GPU, and what they are held against.
class PairsPutTogether {
 public:
  // `apart`: the pair, simulated as the scheduler has it.
  void add(const Scenario& base, const Company& apart, Duration length,
           const models::Catalogue& catalogue) {
    const std::vector<std::size_t>& pair = apart.workloads;
    for (const std::size_t pool : pools_for(apart)) {
      auto world = put_together(base, pair, pool, length, catalogue);
      if (!world) continue;
      const auto first = held_against(base, pair[0], pool, length, catalogue);
      const auto second = held_against(base, pair[1], pool, length, catalogue);
      if (!first || !second) continue;
      pairs_.push_back({companies_.size(), {*first, *second}});
      companies_.push_back({pair, std::move(*world), {}});
      return;
    }
  }

  void simulate(const RunOptions& options) {
    if (!companies_.empty()) simulate_companies(companies_, options);
  }

  // Of those that then met.
  void fill(NeighbourMatrix& matrix) const {
    for (const Pair& pair : pairs_) {
      const Company& company = companies_[pair.company];
      for (std::size_t place = 0; place < 2; ++place) {
        const Company& alone = companies_[pair.alone[place]];
        const std::vector<NeighbourFigure> figures = figures_of(alone.world.workloads.front());
        for (NeighbourRow& row : matrix.rows) {
          if (row.workload != company.workloads[place]) continue;
          const auto figure = std::ranges::find(figures, row.figure) - figures.begin();
          NeighbourEffect effect = effect_of(company, alone, static_cast<std::size_t>(figure));
          if (!effect.shares_gpu || !effect.slowdown) continue;
          effect.put_together = true;
          row.beside[company.workloads[1 - place]] = effect;
        }
      }
    }
  }

 private:
  // What the workload is held against there, into companies_.
  std::optional<std::size_t> held_against(const Scenario& base, std::size_t workload,
                                          std::size_t pool, Duration length,
                                          const models::Catalogue& catalogue) {
    const auto known = alone_.find({workload, pool});
    if (known != alone_.end()) return known->second;
    auto world = put_together(base, {workload}, pool, length, catalogue);
    if (!world) return std::nullopt;
    companies_.push_back({{workload}, std::move(*world), {}});
    return alone_[{workload, pool}] = companies_.size() - 1;
  }

  struct Pair {
    std::size_t company;               // into companies_
    std::array<std::size_t, 2> alone;  // likewise, of its first and second
  };
  std::vector<Company> companies_;
  std::vector<Pair> pairs_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> alone_;  // by workload and pool
};

void fill_rows(const std::vector<Company>& companies, NeighbourMatrix& matrix) {
  const std::size_t count = matrix.workloads.size();
  for (std::size_t w = 0; w < count; ++w) {
    const Company& alone = companies[w];
    const std::vector<NeighbourFigure> figures = figures_of(alone.world.workloads.front());
    for (std::size_t f = 0; f < figures.size(); ++f) {
      NeighbourRow row{w, figures[f], mean_figure(alone, f), {}, {}};
      row.beside.resize(count);
      for (const Company& company : companies) {
        if (company.workloads.size() != 2 || company.place_of(w) == 2) continue;
        const std::size_t other = company.workloads[1 - company.place_of(w)];
        row.beside[other] = effect_of(company, alone, f);
      }
      row.beside_all = effect_of(companies.back(), alone, f);
      matrix.rows.push_back(std::move(row));
    }
  }
}

// In any of its runs.
bool falls_behind(const Company& company, std::size_t workload) {
  const std::size_t place = company.place_of(workload);
  return place < company.workloads.size() &&
         std::ranges::any_of(company.replications, [&](const std::vector<Member>& members) {
           return !members.empty() && members[place].falls_behind;
         });
}

// Factors of queues that only grow would pass for what a neighbour does.
void note_overload(const Scenario& base, const std::vector<Company>& companies,
                   Diagnostics& notes) {
  for (std::size_t w = 0; w < base.workloads.size(); ++w) {
    std::vector<std::string> beside;
    for (const Company& company : companies) {
      if (company.workloads.size() != 2 || !falls_behind(company, w)) continue;
      const std::size_t other = company.workloads[1 - company.place_of(w)];
      beside.push_back(base.workloads[other].name.value);
    }
    const bool alone = falls_behind(companies[w], w);
    if (!alone && beside.empty() && !falls_behind(companies.back(), w)) continue;
    const std::string where = alone            ? "even alone"
                              : beside.empty() ? "beside all others"
                                               : fmt::format("beside {}", fmt::join(beside, ", "));
    notes.push_back(make_diagnostic(
        Code::QueueUnstable, base.workloads[w].name.where,
        fmt::format("requests of \"{}\" arrive faster than they are served {}: the latencies and "
                    "factors there only tell how long the run was",
                    base.workloads[w].name.value, where),
        "add replicas on more GPUs, or lower traffic.mean; max-load tells how much each bears"));
  }
}

// How long the whole scenario runs, for companies that would never end; 0 where it says so itself.
Expected<Duration> length_of(const Scenario& base, const models::Catalogue& catalogue,
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
      "neighbours are workloads that share nodes: give it another one, or name "
      "another --variant");
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

Expected<NeighbourMatrix> find_neighbours(const scenarios::ScenarioSet& set, std::size_t variant,
                                          const models::Catalogue& catalogue,
                                          const NeighbourOptions& options) {
  const Scenario& scenario = set.variants[variant];
  NeighbourMatrix matrix;
  matrix.stamp = stamp_of(set, variant, catalogue);
  matrix.stamp.price_date.clear();
  const Scenario base = taken_apart(scenario, matrix.notes);
  if (base.workloads.size() < 2) return tl::unexpected(Diagnostics{too_few(scenario)});
  const Expected<Duration> length = length_of(base, catalogue, options.run);
  if (!length) return tl::unexpected(length.error());
  std::vector<Company> companies;
  for (std::vector<std::size_t>& workloads : companies_of(base.workloads.size())) {
    Expected<World> world = build_world(with_only(base, workloads, *length), catalogue);
    if (!world) return tl::unexpected(std::move(world.error()));
    companies.push_back({std::move(workloads), std::move(*world), {}});
  }
  simulate_companies(companies, options.run);
  PairsPutTogether together;
  for (const Company& company : companies) {
    if (company.workloads.size() != 2 || meet_in_every_run(company)) continue;
    together.add(base, company, *length, catalogue);
  }
  together.simulate(options.run);
  for (const scenarios::Workload& workload : base.workloads) {
    matrix.workloads.push_back(workload.name.value);
  }
  matrix.interrupted = is_interrupted(options.run);
  fill_rows(companies, matrix);
  together.fill(matrix);
  note_overload(base, companies, matrix.notes);
  return matrix;
}

}  // namespace slicewise::sim
