#include <algorithm>
#include <map>
#include <string>

#include "slicewise/sim/pool_choice.hpp"

#include "merge.hpp"

// How far off the models have been where as much was known.
namespace slicewise::sim {
namespace {

using models::Evidence;

// `steady`: nothing but batch work is beside it. Of figures that were carried over from another GPU
// nobody published how far off they are when it is shared, nor of language models in turns.
Evidence evidence_in(const WorkloadModel& model, std::size_t pool, const std::string& mode,
                     bool steady) {
  const scenarios::Workload& spec = model.spec;
  const scenarios::Measured& m = *spec.measured;
  if (m.provenance == scenarios::Provenance::Assumed) return Evidence::Nothing;
  if (model.on_pool[pool].is_carried_over()) return Evidence::Nothing;
  if (spec.llm && mode != "MPS") return Evidence::Nothing;
  const bool turns = mode == "time-slicing";
  if (m.sensitivity && m.pressure && !turns) return Evidence::Pairs;
  if (turns && steady && m.turn_use && m.gpu_busy) return Evidence::Neighbour;
  const bool has_capacity = m.capacity_share && !model.capacity_is_borrowed;
  if (has_capacity && m.norm_p) return Evidence::Settings;
  const bool busy = has_capacity || m.sm_active || m.gpu_busy || m.gpu_util;
  return busy ? Evidence::Utilisation : Evidence::TimeAlone;
}

// As published rows name ways of sharing; of others there are none.
std::string mode_of(Strategy strategy) {
  const scenarios::SharingStrategy& way = described(strategy);
  return std::string(way.mode.empty() ? way.key : way.mode);
}

// What is known of the workloads that share GPUs in one way.
struct Together {
  Evidence least = Evidence::Pairs;
  int workloads = 0;
  bool requests = true;  // Services alone
};

// Of rows from no more than is known. Instances of MIG keep unlike neighbours apart, and batch work
// has host phases of its own beside which rows of requests say nothing.
models::ExpectedError error_of(const Together& company, const std::string& mode) {
  const bool unlike = company.workloads > 1 && mode != "MIG";
  const auto& known = models::published_errors();
  for (auto least = static_cast<int>(company.least); least > 0; --least) {
    const auto of_mode = [&](const std::string& rows) {
      return std::ranges::find_if(known, [&](const models::ExpectedError& error) {
        return error.mode == rows && error.unlike == unlike &&
               static_cast<int>(error.evidence) == least;
      });
    };
    auto found = company.requests ? of_mode(mode + " of requests") : known.end();
    if (found == known.end()) found = of_mode(mode);
    if (found != known.end()) return *found;
  }
  return {company.least, mode, unlike, 0, 0, 0};
}

bool runs_batches_only(const World& world, std::size_t pool) {
  return std::ranges::all_of(world.workloads, [&](const WorkloadModel& model) {
    return !model.on_pool[pool].schedulable || scenarios::runs_batches(model.spec.kind);
  });
}

void add_sharers(const World& world, std::size_t pool, Together& company) {
  for (const WorkloadModel& model : world.workloads) {
    if (!model.on_pool[pool].schedulable) continue;
    company.least = std::min(company.least, evidence_of(world, model, pool));
    ++company.workloads;
    company.requests = company.requests && model.spec.kind == scenarios::WorkloadKind::Service;
  }
}

}  // namespace

Evidence evidence_of(const World& world, const WorkloadModel& model, std::size_t pool) {
  return evidence_in(model, pool, mode_of(world.pools[pool].strategy),
                     runs_batches_only(world, pool));
}

models::ExpectedError expected_error(const World& world, std::size_t pool) {
  Together company;
  add_sharers(world, pool, company);
  return error_of(company, mode_of(world.pools[pool].strategy));
}

std::vector<models::ExpectedError> expected_errors(const World& world) {
  std::map<std::string, Together> companies;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    if (world.pools[p].strategy == Strategy::Exclusive) continue;
    const auto runs_here = [&](const WorkloadModel& m) { return m.on_pool[p].schedulable; };
    if (std::ranges::none_of(world.workloads, runs_here)) continue;
    add_sharers(world, p, companies[mode_of(world.pools[p].strategy)]);
  }
  std::vector<models::ExpectedError> out;
  out.reserve(companies.size());
  for (const auto& [mode, company] : companies) out.push_back(error_of(company, mode));
  return out;
}

}  // namespace slicewise::sim
