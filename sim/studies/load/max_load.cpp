#include "slicewise/sim/max_load.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/world.hpp"

#include "../probe/simulations.hpp"
#include "load_search.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Objective;
using scenarios::Scenario;

// A test needs two replications, and a handful more to be worth much where figures scatter.
constexpr int kFewestReplications = 2;
constexpr int kMoreReplications = 4;

// A scenario whose load is scaled, and the effort that a probe may take.
struct Subject {
  Scenario base;
  std::vector<LoadTarget> targets;
  int replications = kFewestReplications;
  int most_replications = kFewestReplications;
};

struct Probed {
  LoadProbe probe;
  VariantResult result;
};

void leave_out_throughput(std::vector<Objective>& objectives, const std::string& name,
                          Diagnostics& notes) {
  const auto first =
      std::ranges::find(objectives, scenarios::Figure::Throughput, &Objective::figure);
  if (first == objectives.end()) return;
  notes.push_back(make_diagnostic(
      Code::SettingConflict, first->where,
      fmt::format("the throughput objective of \"{}\" is left out: it says how much load there "
                  "must be, not how much there may be",
                  name)));
  notes.back().severity = Severity::Note;
  std::erase_if(objectives,
                [](const Objective& o) { return o.figure == scenarios::Figure::Throughput; });
}

Diagnostics without_throughput(Subject& subject) {
  Diagnostics notes;
  for (const LoadTarget& target : subject.targets) {
    const bool pipeline = target.kind == LoadTarget::Kind::PipelineTraffic;
    leave_out_throughput(pipeline ? subject.base.pipelines[target.index].objectives
                                  : subject.base.workloads[target.index].objectives,
                         target.name, notes);
  }
  return notes;
}

bool has_objectives(const Scenario& scenario) {
  return std::ranges::any_of(scenario.workloads,
                             [](const auto& w) { return w.count > 0 && !w.objectives.empty(); }) ||
         std::ranges::any_of(scenario.pipelines,
                             [](const auto& p) { return !p.objectives.empty(); });
}

Diagnostic no_objective(const Scenario& scenario) {
  return make_diagnostic(
      Code::InputMissing, scenario.where,
      fmt::format("\"{}\" has no objective that a load could miss", scenario.name),
      "give a workload one, for example `slo: {latencyP99: 300ms}`");
}

// More replications while the verdict stays open. nullopt: interrupted.
std::optional<Probed> probe_at(const World& world, double factor, const Subject& subject,
                               Simulations& simulations) {
  Probed probed;
  const auto judge = [&](const Simulated& simulated) {
    probed.probe = judge_probe(factor, simulated.pooled, simulated.singles);
    return probed.probe.verdict != LoadVerdict::Undecided;
  };
  auto simulated = simulations.until(world, subject.replications, subject.most_replications, judge);
  if (!simulated) return std::nullopt;
  probed.result = std::move(simulated->pooled);
  return probed;
}

std::vector<double> loads_of(const Subject& subject, const Scenario& scenario) {
  std::vector<double> loads;
  for (const LoadTarget& target : subject.targets) loads.push_back(load_of(scenario, target));
  return loads;
}

void keep(Probed&& probed, MaxLoad& found) {
  const std::size_t here = found.probes.size();
  const LoadProbe& probe = probed.probe;
  if (probe.verdict == LoadVerdict::Passes &&
      (!found.passed || probe.factor > found.probes[*found.passed].factor)) {
    found.passed = here;
    found.at_passed = std::move(probed.result);
  }
  if (probe.verdict == LoadVerdict::Fails &&
      (!found.failed || probe.factor < found.probes[*found.failed].factor)) {
    found.failed = here;
    found.binding = binding_objective(probe);
  }
  found.probes.push_back(std::move(probed.probe));
}

// Probes until the interval is narrow enough. Where counts make two loads equal, the earlier probe
// speaks for both.
Expected<void> search(const Subject& subject, const models::Catalogue& catalogue,
                      const MaxLoadOptions& options, MaxLoad& found) {
  LoadSearch search(options.precision, options.most);
  Simulations simulations(options.run);
  std::vector<std::vector<double>> loads;  // of each probe
  while (const std::optional<double> factor = search.next()) {
    const Scenario scenario = scaled(subject.base, subject.targets, *factor);
    std::vector<double> load = loads_of(subject, scenario);
    if (const auto same = std::ranges::find(loads, load); same != loads.end()) {
      search.record(*factor, found.probes[static_cast<std::size_t>(same - loads.begin())].verdict);
      continue;
    }
    Expected<World> world = build_world(scenario, catalogue);
    if (!world) return tl::unexpected(std::move(world.error()));
    std::optional<Probed> probed = probe_at(*world, *factor, subject, simulations);
    if (!probed) {
      found.interrupted = true;
      break;
    }
    const PodCounts& pods = probed->result.pods;
    found.nothing_runs = loads.empty() && pods.submitted > 0 && pods.running_max == 0;
    search.record(*factor, probed->probe.verdict);
    loads.push_back(std::move(load));
    keep(std::move(*probed), found);
    if (found.nothing_runs) break;
  }
  return {};
}

// Fills in `found.loads`.
void describe_loads(const Subject& subject, MaxLoad& found) {
  const auto at = [&](std::optional<std::size_t> probe, const LoadTarget& target) {
    return probe ? std::optional(load_of(
                       scaled(subject.base, subject.targets, found.probes[*probe].factor), target))
                 : std::nullopt;
  };
  for (const LoadTarget& target : subject.targets) {
    found.loads.push_back({target.path, target.name, unit_of(subject.base, target),
                           load_of(subject.base, target), at(found.passed, target),
                           at(found.failed, target)});
  }
}

}  // namespace

std::string_view unit_name(LoadUnit unit) {
  switch (unit) {
    case LoadUnit::RequestsPerSecond:
      return "requests/s";
    case LoadUnit::Users:
      return "users";
    case LoadUnit::Streams:
      return "streams";
  }
  return "requests/s";
}

std::optional<double> MaxLoad::width() const {
  if (!passed || !failed) return std::nullopt;
  // Counts that differ by one differ by more than their factors may.
  const ScaledLoad& load = loads.front();
  return *load.failed / *load.passed - 1;
}

Expected<MaxLoad> find_max_load(const scenarios::ScenarioSet& set, std::size_t variant,
                                const models::Catalogue& catalogue, const MaxLoadOptions& options) {
  Subject subject;
  subject.base = set.variants[variant];
  auto targets = load_targets(subject.base, options.scale);
  if (!targets) return tl::unexpected(std::move(targets.error()));
  subject.targets = std::move(*targets);
  subject.replications = std::max(kFewestReplications, subject.base.replications);
  subject.most_replications =
      std::max(subject.replications,
               options.most_replications.value_or(kMoreReplications * subject.replications));
  MaxLoad found;
  found.stamp = stamp_of(set, variant, catalogue);
  found.stamp.replications = subject.replications;
  found.most_replications = subject.most_replications;
  found.precision = options.precision;
  found.most = options.most;
  found.notes = without_throughput(subject);
  if (!has_objectives(subject.base)) return tl::unexpected(Diagnostics{no_objective(subject.base)});
  if (auto searched = search(subject, catalogue, options, found); !searched) {
    return tl::unexpected(std::move(searched.error()));
  }
  describe_loads(subject, found);
  return found;
}

}  // namespace slicewise::sim
