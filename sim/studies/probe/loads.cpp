#include "loads.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/nearest_name.hpp"

namespace slicewise::sim {
namespace {

using Kind = LoadTarget::Kind;

const Traffic& traffic_of(const Scenario& scenario, const LoadTarget& target) {
  return target.kind == Kind::PipelineTraffic ? scenario.pipelines[target.index].traffic
                                              : *scenario.workloads[target.index].traffic;
}

Traffic& traffic_of(Scenario& scenario, const LoadTarget& target) {
  return target.kind == Kind::PipelineTraffic ? scenario.pipelines[target.index].traffic
                                              : *scenario.workloads[target.index].traffic;
}

int scaled_count(int count, double factor) {
  return std::max(1, static_cast<int>(std::llround(count * factor)));
}

void scale(Rate& rate, double factor) { rate.per_second *= factor; }

void scale(Traffic& traffic, double factor) {
  scale(traffic.mean, factor);
  std::visit(
      models::Overloaded{
          [](std::monostate) {},
          [&](scenarios::Diurnal& diurnal) { scale(diurnal.peak, factor); },
          [&](scenarios::Bursts& bursts) { scale(bursts.rate, factor); },
          [&](std::vector<scenarios::RateStep>& steps) {
            for (scenarios::RateStep& step : steps) scale(step.rate, factor);
          },
          [&](scenarios::RequestTrace& trace) { trace.scale *= factor; },
          [&](scenarios::ClientTraffic& clients) { clients.scale *= factor; },
          [&](scenarios::ClosedLoop& loop) { loop.clients = scaled_count(loop.clients, factor); },
      },
      traffic.shape);
}

double requests_per_second(const Traffic& traffic) {
  const auto* trace = std::get_if<scenarios::RequestTrace>(&traffic.shape);
  if (trace == nullptr || trace->rows.size() < 2 || trace->rows.back().at.ns == 0) {
    return traffic.mean.per_second;
  }
  return trace->scale * static_cast<double>(trace->rows.size() - 1) /
         to_seconds(trace->rows.back().at);
}

// Whether the jobs of the workload are those that the target scales: all of one trace.
bool is_of(const Workload& workload, const LoadTarget& target) {
  return target.kind == Kind::Jobs && workload.trace && workload.trace->workload == target.name;
}

// Over the whole trace.
double jobs_per_hour(const Scenario& scenario, const LoadTarget& target) {
  double jobs = 0;
  Duration last;
  for (const Workload& workload : scenario.workloads) {
    if (!is_of(workload, target)) continue;
    jobs += workload.count;
    last = std::max(last, workload.trace->jobs->back().submitted);
  }
  const double hours_of_trace = std::max(to_seconds(last), 1.0) / 3600;
  return jobs * scenario.workloads[target.index].trace->scale / hours_of_trace;
}

Diagnostic unknown_path(const std::string& path, const std::vector<LoadTarget>& known) {
  std::vector<std::string> paths;
  paths.reserve(known.size());
  for (const LoadTarget& target : known) paths.push_back(target.path);
  const auto near = nearest_name(path, paths);
  return make_diagnostic(Code::PathUnknown, {}, fmt::format("no load at \"{}\"", path),
                         near ? fmt::format("did you mean {}?", *near)
                              : fmt::format("there is load at {}", fmt::join(paths, ", ")));
}

Diagnostic nothing_to_scale(const Scenario& scenario) {
  return make_diagnostic(
      Code::InputMissing, scenario.where,
      fmt::format("\"{}\" has no load that could grow", scenario.name),
      "give a Service or a pipeline `traffic`, a Notebook its users, or TraceJobs their trace");
}

}  // namespace

std::vector<LoadTarget> all_load_targets(const Scenario& scenario) {
  std::vector<LoadTarget> targets;
  const auto add = [&](Kind kind, std::size_t index, std::string_view list, std::string_view field,
                       const std::string& name) {
    targets.push_back({kind, index, fmt::format("{}.{}.{}", list, name, field), name});
  };
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    const Workload& workload = scenario.workloads[w];
    if (workload.count == 0) continue;
    const std::string& name = workload.name.value;
    if (workload.kind == WorkloadKind::Service && workload.traffic) {
      add(Kind::WorkloadTraffic, w, "workloads", "traffic", name);
    }
    if (workload.notebooks) add(Kind::Users, w, "workloads", "notebooks", name);
    const bool first_of_trace =
        workload.trace &&
        std::ranges::none_of(targets, [&](const LoadTarget& t) { return is_of(workload, t); });
    if (first_of_trace) add(Kind::Jobs, w, "workloads", "trace", workload.trace->workload);
  }
  for (std::size_t p = 0; p < scenario.pipelines.size(); ++p) {
    add(Kind::PipelineTraffic, p, "pipelines", "traffic", scenario.pipelines[p].name.value);
  }
  // Nothing times two is nothing.
  std::erase_if(targets, [&](const LoadTarget& t) { return load_of(scenario, t) <= 0; });
  return targets;
}

Expected<std::vector<LoadTarget>> load_targets(const Scenario& scenario,
                                               std::span<const std::string> paths) {
  std::vector<LoadTarget> known = all_load_targets(scenario);
  if (known.empty()) return tl::unexpected(Diagnostics{nothing_to_scale(scenario)});
  if (paths.empty()) {
    // Requests, else jobs, else users.
    for (const Kind kind : {Kind::Users, Kind::Jobs}) {
      const auto is_kind = [&](const LoadTarget& target) { return target.kind == kind; };
      if (!std::ranges::all_of(known, is_kind)) std::erase_if(known, is_kind);
    }
    return known;
  }
  std::vector<LoadTarget> chosen;
  Diagnostics found;
  for (const std::string& path : paths) {
    const auto target = std::ranges::find(known, path, &LoadTarget::path);
    if (target == known.end()) {
      found.push_back(unknown_path(path, known));
    } else if (!contains(chosen, path, &LoadTarget::path)) {
      chosen.push_back(*target);
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return chosen;
}

LoadUnit unit_of(const Scenario& scenario, const LoadTarget& target) {
  if (target.kind == Kind::Users) return LoadUnit::Users;
  if (target.kind == Kind::Jobs) return LoadUnit::JobsPerHour;
  return std::holds_alternative<scenarios::ClosedLoop>(traffic_of(scenario, target).shape)
             ? LoadUnit::Streams
             : LoadUnit::RequestsPerSecond;
}

double load_of(const Scenario& scenario, const LoadTarget& target) {
  if (target.kind == Kind::Users) return scenario.workloads[target.index].notebooks->users;
  if (target.kind == Kind::Jobs) return jobs_per_hour(scenario, target);
  const Traffic& traffic = traffic_of(scenario, target);
  const auto* loop = std::get_if<scenarios::ClosedLoop>(&traffic.shape);
  return loop != nullptr ? loop->clients : requests_per_second(traffic);
}

Scenario scaled(const Scenario& scenario, std::span<const LoadTarget> targets, double factor) {
  Scenario result = scenario;
  for (const LoadTarget& target : targets) {
    if (target.kind == Kind::Jobs) {
      for (Workload& workload : result.workloads) {
        if (is_of(workload, target)) workload.trace->scale *= factor;
      }
      continue;
    }
    if (target.kind != Kind::Users) {
      scale(traffic_of(result, target), factor);
      continue;
    }
    Workload& workload = result.workloads[target.index];
    const int users = scaled_count(workload.notebooks->users, factor);
    if (workload.count == workload.notebooks->users) workload.count = users;  // a pod for each
    workload.notebooks->users = users;
  }
  return result;
}

}  // namespace slicewise::sim
