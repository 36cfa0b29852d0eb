#include "inputs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/load.hpp"

#include "input_fields.hpp"
#include "loads.hpp"
#include "scaled_input.hpp"

namespace slicewise::sim {
namespace {

using scenarios::InputKind;
using InputOwner = InputPlace::Owner;

bool is_load_input(InputKind kind) {
  return kind == InputKind::Traffic || kind == InputKind::Users;
}

LoadTarget load_target_of(const Scenario& scenario, const InputPlace& place) {
  const std::vector<LoadTarget> targets = all_load_targets(scenario);
  return *std::ranges::find(targets, place.input.path, &LoadTarget::path);
}

// Of a rate per second.
double input_load(const Scenario& scenario, const LoadTarget& target) {
  const bool hourly = unit_of(scenario, target) == LoadUnit::JobsPerHour;
  return load_of(scenario, target) / (hourly ? 3600 : 1);
}

void add_load_inputs(const Scenario& scenario, std::vector<InputPlace>& places) {
  for (const LoadTarget& target : all_load_targets(scenario)) {
    InputPlace place;
    const bool users = target.kind == LoadTarget::Kind::Users;
    place.input.kind = users ? InputKind::Users : InputKind::Traffic;
    place.input.path = target.path;
    const bool rate = is_rate(unit_of(scenario, target));
    place.input.value = {input_load(scenario, target),
                         rate ? AmountUnit::PerSecond : AmountUnit::Count};
    place.owner = target.kind == LoadTarget::Kind::PipelineTraffic ? InputOwner::Pipeline
                                                                   : InputOwner::Workload;
    place.index = target.index;
    places.push_back(std::move(place));
  }
}

// A recorded job is one unit of work, of as many seconds as it ran.
double mean_run_s(const scenarios::RecordedJobs& trace) {
  double sum = 0;
  for (const auto& job : *trace.jobs) sum += to_seconds(job.run);
  return trace.jobs->empty() ? 0 : sum / static_cast<double>(trace.jobs->size());
}

std::optional<scenarios::Provenance> basis_in(const WorkloadField& field,
                                              const Workload& resolved) {
  const bool recorded = resolved.trace && field.kind == InputKind::UnitTime;
  return recorded ? std::nullopt : basis_of(field, resolved);
}

// The jobs of one trace are many workloads and one input: of their figures the mean job's.
std::optional<double> value_of_all(const World& world, const std::string& given_name,
                                   const WorkloadField& field) {
  double sum = 0;
  double pods = 0;
  for (const WorkloadModel& model : world.workloads) {
    if (model.spec.count == 0 || model.spec.given_name() != given_name) continue;
    auto value = value_of(field, model.spec, world);
    if (!value) continue;
    if (field.kind == InputKind::UnitTime) *value *= mean_run_s(*model.spec.trace);
    sum += *value * model.spec.count;
    pods += model.spec.count;
  }
  return pods > 0 ? std::optional(sum / pods) : std::nullopt;
}

bool first_of_its_name(const World& world, std::size_t index) {
  const auto same = [&](const WorkloadModel& model) {
    return model.spec.count > 0 &&
           model.spec.given_name() == world.workloads[index].spec.given_name();
  };
  return std::ranges::find_if(world.workloads, same) - world.workloads.begin() ==
         static_cast<std::ptrdiff_t>(index);
}

void add_workload_inputs(const World& world, std::size_t index, std::vector<InputPlace>& places) {
  const Workload& resolved = world.workloads[index].spec;
  if (resolved.count == 0 || !first_of_its_name(world, index)) return;
  const auto fields = workload_fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto value = resolved.trace ? value_of_all(world, resolved.given_name(), fields[f])
                                      : value_of(fields[f], resolved, world);
    if (!value) continue;
    places.push_back({{fields[f].kind,
                       fmt::format("workloads.{}.{}", resolved.given_name(), fields[f].path),
                       {*value, scenarios::workload_unit(fields[f].path)},
                       basis_in(fields[f], resolved)},
                      InputOwner::Workload,
                      index,
                      f});
  }
}

void add_pool_inputs(const Scenario& scenario, const World& world, std::size_t index,
                     std::vector<InputPlace>& places) {
  const PoolModel& pool = world.pools[index];
  const auto fields = pool_fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto value = fields[f].read(scenario.node_pools[index], pool, world);
    if (!value) continue;
    places.push_back({{fields[f].kind,
                       fmt::format("nodePools.{}.{}", pool.name, fields[f].path),
                       {*value, unit_of(fields[f])},
                       fields[f].basis(scenario.node_pools[index], pool)},
                      InputOwner::Pool,
                      index,
                      f});
  }
}

void add_node_ready(const Scenario& scenario, std::vector<InputPlace>& places) {
  const auto grows = [](const NodePool& pool) { return pool.most_nodes.has_value(); };
  const Duration ready = scenario.provisioner.start_up.whole();
  if (std::ranges::none_of(scenario.node_pools, grows) || ready.ns == 0) return;
  InputPlace place;
  place.input = {InputKind::NodeReady,
                 std::string(kNodeReady),
                 {to_seconds(ready), AmountUnit::Seconds},
                 std::nullopt};
  place.owner = InputOwner::Scenario;
  places.push_back(std::move(place));
}

std::vector<InputPlace> all_inputs(const Scenario& scenario, const World& world) {
  std::vector<InputPlace> places;
  add_load_inputs(scenario, places);
  for (std::size_t w = 0; w < world.workloads.size(); ++w) add_workload_inputs(world, w, places);
  for (std::size_t p = 0; p < world.pools.size(); ++p) add_pool_inputs(scenario, world, p, places);
  add_node_ready(scenario, places);
  return places;
}

// "measured.requestGpuTime" and "requestGpuTime" name all of the kind, a whole path one of them.
bool is_named_by(const std::string& word, const VariedInput& input) {
  return word == scenarios::word_of(input.kind) || word == input.path;
}

Diagnostic unknown_input(const std::string& word, const std::vector<InputPlace>& known,
                         const Scenario& scenario) {
  const bool is_kind = contains(scenarios::kInputKinds, word);
  if (is_kind) {
    return make_diagnostic(Code::PathUnknown, {},
                           fmt::format("\"{}\" has no {} to vary", scenario.name, word));
  }
  std::vector<std::string> words;
  std::vector<std::string> kinds;
  for (const InputPlace& place : known) {
    words.push_back(place.input.path);
    const std::string kind(scenarios::word_of(place.input.kind));
    if (!contains(kinds, kind)) kinds.push_back(kind);
  }
  words.insert(words.end(), kinds.begin(), kinds.end());
  const auto near = nearest_name(word, words);
  return make_diagnostic(
      Code::PathUnknown, {}, fmt::format("no input at \"{}\"", word),
      near ? fmt::format("did you mean {}?", *near)
           : fmt::format("the scenario has {}, or a path of one of them", fmt::join(kinds, ", ")));
}

}  // namespace

Expected<std::vector<InputPlace>> choose_inputs(const Scenario& scenario, const World& world,
                                                std::span<const std::string> words) {
  std::vector<InputPlace> known = all_inputs(scenario, world);
  if (words.empty()) return known;
  Diagnostics found;
  for (const std::string& word : words) {
    const auto named = [&](const InputPlace& place) { return is_named_by(word, place.input); };
    if (std::ranges::none_of(known, named)) {
      found.push_back(unknown_input(word, known, scenario));
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  std::erase_if(known, [&](const InputPlace& place) {
    return std::ranges::none_of(words,
                                [&](const std::string& w) { return is_named_by(w, place.input); });
  });
  return known;
}

double value_at(const Scenario& scenario, const InputPlace& place, double factor) {
  if (is_load_input(place.input.kind)) {
    const LoadTarget target = load_target_of(scenario, place);
    return input_load(scaled(scenario, std::span(&target, 1), factor), target);
  }
  const double value = place.input.value.value * factor;
  return place.input.value.unit == AmountUnit::Ratio ? std::min(1.0, value) : value;
}

Expected<World> world_at(const Scenario& scenario, const Catalogue& catalogue,
                         const InputPlace& place, double factor) {
  if (place.owner != InputOwner::Pool) {
    return build_world(scaled_input(scenario, place.input.path, factor, catalogue), catalogue);
  }
  const PoolField& field = pool_fields()[place.field];
  // A price stands in the price book, which all worlds share.
  const bool is_price = field.kind == InputKind::Price;
  const double value = value_at(scenario, place, factor);
  Scenario changed = scenario;
  if (!is_price) scenarios::set_amount(changed.node_pools[place.index], field.path, value);
  Expected<World> built = build_world(changed, catalogue);
  if (built && is_price) {
    built->pools[place.index].price.usd = {from_dollars(value)};
  }
  return built;
}

}  // namespace slicewise::sim
