#include "companies.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

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

}  // namespace

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

}  // namespace slicewise::sim
