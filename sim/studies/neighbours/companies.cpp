#include "companies.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "slicewise/sim/metrics/time_summary.hpp"

#include "../../result/merge.hpp"
#include "../../result/unanswered.hpp"
#include "../probe/pool_homes.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Pipeline;

bool is_steady(const Traffic& traffic) {
  return std::holds_alternative<std::monostate>(traffic.shape);
}

Diagnostic left_out(const Pipeline& pipeline, const std::string& workload) {
  Diagnostic note = make_diagnostic(Code::SettingConflict, pipeline.where,
                                    fmt::format("the requests of pipeline \"{}\" are left out of "
                                                "\"{}\": its own traffic has another shape",
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

}  // namespace

Scenario taken_apart(const Scenario& scenario, Diagnostics& notes) {
  Scenario base = without_queues(scenario);
  tell_of_queues(scenario, "neighbours are simulated", notes);
  for (const Pipeline& pipeline : scenario.pipelines) take_apart(pipeline, base, notes);
  base.pipelines.clear();
  std::erase_if(base.workloads, [](const Workload& workload) { return workload.count == 0; });
  const auto is_service = [](const Workload& w) { return w.kind == WorkloadKind::Service; };
  if (std::ranges::any_of(base.workloads, is_service)) {
    base.fidelity = scenarios::Fidelity::Exact;  // alone as beside a Service
  }
  return base;
}

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

namespace {

std::optional<double> observed(NeighbourFigure figure, const WorkloadRecord& record) {
  constexpr double kP99 = 0.99;
  const Histogram& latency = record.requests.latency;
  const Histogram& slowdown = record.notebooks.slowdown;
  switch (figure) {
    case NeighbourFigure::LatencyP99:
      return latency.count() > 0 ? std::optional(to_seconds(latency.quantile(kP99))) : std::nullopt;
    case NeighbourFigure::LatencyMean:
      return latency.count() > 0 ? std::optional(to_seconds(latency.mean())) : std::nullopt;
    case NeighbourFigure::TimePerUnit: {
      const double units = static_cast<double>(record.units_done) + record.units_under_way;
      return units > 0 ? std::optional(to_seconds(record.pod_running) / units) : std::nullopt;
    }
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

double mean_value(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

void simulate_companies(std::vector<Companions>& companies, Simulations& simulations) {
  std::vector<const World*> worlds;
  worlds.reserve(companies.size());
  for (const Companions& company : companies) worlds.push_back(&company.world);
  simulations.run(worlds, [&](std::size_t c, auto records) {
    Companions& company = companies[c];
    std::vector<Replication> whole;
    for (std::optional<Replication>& record : records) {
      company.replications.push_back(record ? members_of(*record, company.world)
                                            : std::vector<Member>());
      if (record) whole.push_back(std::move(*record));
    }
    if (whole.empty()) return;
    VariantResult result = merge(company.world, whole);
    company.verdict = std::move(result.verdict);
    company.fault_victims = result.pods.fault_victims;
  });
}

NeighbourEffect effect_of(const Companions& company, const Companions& alone, std::size_t figure) {
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

std::optional<double> mean_figure(const Companions& company, std::size_t figure) {
  std::vector<double> values;
  for (const std::vector<Member>& members : company.replications) {
    if (!members.empty() && members.front().figures[figure]) {
      values.push_back(*members.front().figures[figure]);
    }
  }
  return values.empty() ? std::nullopt : std::optional(mean_value(values));
}

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

bool falls_behind(const Companions& company, std::size_t workload) {
  const std::size_t place = company.place_of(workload);
  return place < company.workloads.size() &&
         std::ranges::any_of(company.replications, [&](const std::vector<Member>& members) {
           return !members.empty() && members[place].falls_behind;
         });
}

}  // namespace slicewise::sim
