#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "slicewise/sim/figure_text.hpp"
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
  const Workload& spec = model.spec;
  const scenarios::Measured& m = *spec.measured;
  if (m.provenance == scenarios::Provenance::Assumed) return Evidence::Nothing;
  if (model.on_pool[pool].is_carried_over()) return Evidence::Nothing;
  if (spec.llm && mode != "MPS") return Evidence::Nothing;
  const bool turns = mode == "time-slicing";
  if (m.sensitivity && m.pressure && !turns) {
    return model.has_one_neighbour ? Evidence::CoLocation : Evidence::Pairs;
  }
  if (turns && steady && m.turn_use && m.gpu_busy) return Evidence::Neighbour;
  const bool has_capacity = m.capacity_share && !model.capacity_is_borrowed;
  if (has_capacity && m.norm_p) return Evidence::Settings;
  if (model.capacity_is_fitted && !turns) return Evidence::CoLocation;
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
  bool requests = true;    // Services alone
  bool tails = false;      // a Service that is no language model
  bool kernels = true;     // take turns: lengths are known of all, and no threads are limited
  bool host_work = false;  // of requests, beside which published rows say nothing
};

// MIG keeps requests apart, and of other ways nobody measured a tail.
bool has_tails(const std::string& mode) { return mode == "MPS" || mode == "time-slicing"; }

bool sends_requests(const WorkloadModel& model) {
  return model.spec.kind == WorkloadKind::Service && !model.spec.llm;
}

// Published requests kept the GPU busy for more than nine tenths of their time alone.
bool has_host_work(const scenarios::Workload& spec) {
  constexpr std::int64_t kMost = 10;  // a tenth
  const std::optional<scenarios::ServiceTime>& gpu = spec.measured->request_gpu_time;
  if (spec.kind != scenarios::WorkloadKind::Service || !gpu) return false;
  const scenarios::Serving& serving = spec.serving;
  const Duration host =
      serving.cpu_before + serving.cpu_after + serving.cpu_between * (serving.bursts - 1);
  return host.ns > (gpu->mean + host).ns / kMost;
}

constexpr const char* kWithHostWork = " with host work";

// Of the first of these modes that has rows from no more than is known; else without rows.
models::ExpectedError error_in(const Together& company, bool unlike,
                               const std::vector<std::string>& modes) {
  for (auto least = static_cast<int>(company.least); least > 0; --least) {
    // One other setting is not several.
    const bool several = company.least != Evidence::CoLocation;
    if (static_cast<Evidence>(least) == Evidence::Settings && !several) continue;
    for (const std::string& mode : modes) {
      for (const models::ExpectedError& error : models::published_errors()) {
        if (error.mode == mode && error.unlike == unlike &&
            static_cast<int>(error.evidence) == least) {
          return error;
        }
      }
    }
  }
  return {company.least, modes.back(), unlike, 0, 0, 0};
}

// Instances of MIG keep unlike neighbours apart, and batch work has host phases of its own beside
// which rows of requests say nothing.
models::ExpectedError error_of(const Together& company, const std::string& mode) {
  const bool unlike = company.workloads > 1 && mode != "MIG";
  if (company.requests && company.host_work && mode != "MIG") {
    return {company.least, mode + " of requests" + kWithHostWork, unlike, 0, 0, 0};
  }
  if (!company.requests) return error_in(company, unlike, {mode});
  return error_in(company, unlike, {mode + " of requests", mode});
}

// Of p99. Rows are of kernels that take turns under MPS.
models::ExpectedError tail_error_of(Together company, const std::string& mode) {
  const models::Evidence least = company.least;
  if (mode == "MPS" && !company.kernels) company.least = Evidence::Nothing;
  const std::string of = mode + ", p99 of requests" + (company.host_work ? kWithHostWork : "");
  models::ExpectedError error = error_in(company, company.workloads > 1, {of});
  if (error.rows == 0) error.evidence = least;
  return error;
}

bool runs_batches_only(const World& world, std::size_t pool) {
  return std::ranges::all_of(world.workloads, [&](const WorkloadModel& model) {
    return !model.on_pool[pool].schedulable || !model.spec.uses_gpu() ||
           scenarios::runs_batches(model.spec.kind);
  });
}

void add_sharers(const World& world, std::size_t pool, Together& company) {
  const bool limits_threads =
      std::ranges::any_of(world.pools[pool].kinds, [](const DomainKind& kind) {
        const auto* mps = std::get_if<models::Mps>(&kind.sharing);
        return mps != nullptr && mps->active_threads < 1;
      });
  for (const WorkloadModel& model : world.workloads) {
    if (!model.on_pool[pool].schedulable || !model.spec.uses_gpu()) continue;
    company.least = std::min(company.least, evidence_of(world, model, pool));
    ++company.workloads;
    company.requests = company.requests && model.spec.kind == WorkloadKind::Service;
    company.tails = company.tails || sends_requests(model);
    company.host_work = company.host_work || has_host_work(model.spec);
    company.kernels = company.kernels && model.spec.measured->kernel_time && !limits_threads;
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

models::ExpectedError expected_tail_error(const World& world, std::size_t pool) {
  Together company;
  add_sharers(world, pool, company);
  return tail_error_of(company, mode_of(world.pools[pool].strategy));
}

std::optional<Diagnostic> near_limit(const World& world, const std::string& workload,
                                     std::string_view objective,
                                     const scenarios::FigureValue& value,
                                     const scenarios::FigureValue& limit) {
  const auto* p99 = std::get_if<Duration>(&value);
  const auto* most = std::get_if<Duration>(&limit);
  const auto model = std::ranges::find(world.workloads, workload, &WorkloadModel::name);
  if (objective != "latencyP99" || p99 == nullptr || most == nullptr || p99->ns <= 0 ||
      model == world.workloads.end() || !sends_requests(*model)) {
    return std::nullopt;
  }
  models::ExpectedError error;
  bool is_known = true;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const std::string mode = mode_of(world.pools[p].strategy);
    if (!model->on_pool[p].schedulable || !has_tails(mode)) continue;
    models::ExpectedError here = expected_tail_error(world, p);
    if (here.rows == 0) {
      is_known = false;
      here = tail_error_of({Evidence::Utilisation, here.unlike ? 2 : 1}, mode);
    }
    if (here.ninth_decile_percent > error.ninth_decile_percent) error = here;
  }
  const double off = error.ninth_decile_percent / 100;
  const double ratio = to_seconds(*most) / to_seconds(*p99);  // of what would be measured
  if (error.rows == 0 || ratio < 1 / (1 + off) || ratio > 1 / std::max(1 - off, 1e-9)) {
    return std::nullopt;
  }
  return make_diagnostic(
      Code::TailNearLimit, model->spec.name.where,
      fmt::format("p99 of \"{}\" is {}, its limit {}: {}of p99 of {} published rows ({}, {}) half "
                  "were within {:.2g} %, nine of ten within {:.2g} %",
                  workload, figure_text(value), figure_text(limit),
                  is_known ? "" : "nobody published how far off it is; ", error.rows,
                  error.unlike ? "beside other workloads" : "copies",
                  models::evidence_words(error.evidence), error.median_percent,
                  error.ninth_decile_percent),
      "measured it may lie on the other side of its limit");
}

namespace {

// Those who share GPUs, by how they do.
std::map<std::string, Together> companies_of(const World& world) {
  std::map<std::string, Together> companies;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    if (world.pools[p].strategy == Strategy::Exclusive) continue;
    const auto runs_here = [&](const WorkloadModel& m) {
      return m.on_pool[p].schedulable && m.spec.uses_gpu();
    };
    if (std::ranges::none_of(world.workloads, runs_here)) continue;
    add_sharers(world, p, companies[mode_of(world.pools[p].strategy)]);
  }
  return companies;
}

}  // namespace

std::vector<UnsureGain> unsure_gains(const World& world,
                                     std::span<const Replication> replications) {
  std::vector<UnsureGain> out;
  for (const auto& [mode, company] : companies_of(world)) {
    double shared_ns = 0;
    double one_by_one_ns = 0;
    for (std::size_t p = 0; p < world.pools.size(); ++p) {
      if (mode_of(world.pools[p].strategy) != mode) continue;
      for (const Replication& r : replications) {
        shared_ns += r.pools[p].shared_ns;
        one_by_one_ns += r.pools[p].one_by_one_ns;
      }
    }
    if (shared_ns == 0) continue;
    const double gain = one_by_one_ns / shared_ns - 1;
    const models::ExpectedError error = error_of(company, mode);
    if (!models::may_be_gain_or_loss(gain, error)) continue;
    out.push_back({mode, gain, error.median_percent});
  }
  return out;
}

std::vector<models::ExpectedError> expected_errors(const World& world) {
  std::vector<models::ExpectedError> out;
  for (const auto& [mode, company] : companies_of(world)) {
    out.push_back(error_of(company, mode));
    if (company.tails && has_tails(mode)) {
      out.push_back(tail_error_of(company, mode));
    }
  }
  return out;
}

}  // namespace slicewise::sim
