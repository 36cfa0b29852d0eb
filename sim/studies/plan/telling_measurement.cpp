#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "slicewise/lookup.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../../result/merge.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

// Of a time that nobody measured, or how sharing changes it where nobody published how far off such
// predictions are: as far as flips look.
constexpr double kUnknownFactor = 2;

// The workload of "workloads.asr.requestGpuTime", whose time the input is; nullptr for others.
const WorkloadModel* timed_by(std::string_view input, const World& world) {
  return find_if_or_null(world.workloads, [&](const WorkloadModel& model) {
    const std::string path = "workloads." + model.spec.given_name() + ".";
    return input == path + "requestGpuTime" || input == path + "unitTime";
  });
}

// Whoever else is in the pool, where a GPU has one pod of the workload; "": its own copies.
std::string neighbour_of(const WorkloadModel& model, std::size_t pool, const World& world) {
  if (model.spec.count > 1) return "";
  const auto other = std::ranges::find_if(world.workloads, [&](const WorkloadModel& m) {
    return &m != &model && m.on_pool[pool].schedulable && m.spec.count > 0;
  });
  return other == world.workloads.end() ? "" : other->spec.given_name();
}

// What would be measured of the workload; nullopt: it was, or nothing is in doubt.
std::optional<TellingMeasurement> in_doubt(const WorkloadModel& model, const World& world) {
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    if (!model.on_pool[p].schedulable) continue;
    const PoolModel& pool = world.pools[p];
    TellingMeasurement out;
    out.workload = model.spec.given_name();
    out.gpu = pool.gpu->name;
    if (evidence_of(world, model, p) == models::Evidence::Nothing) return out;
    if (pool.strategy == Strategy::Exclusive) return std::nullopt;
    out.strategy = strategy_name(pool.strategy);
    out.beside = neighbour_of(model, p, world);
    if (model.spec.count == 1 && out.beside.empty()) return std::nullopt;
    // Its profile was fitted to just that.
    if (out.beside.empty() && model.capacity_is_fitted && !pool.takes_turns()) return std::nullopt;
    const models::ExpectedError error = expected_error(world, p);
    if (error.rows > 0) out.error_percent = error.ninth_decile_percent;
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TellingMeasurement> telling_measurement(const World& world,
                                                      const std::vector<Flip>& flips) {
  std::optional<TellingMeasurement> best;
  double most = 0;
  for (const Flip& flip : flips) {
    const WorkloadModel* model = timed_by(flip.input, world);
    auto found = model == nullptr ? std::nullopt : in_doubt(*model, world);
    if (!found || flip.factor <= 0 || flip.factor == 1) continue;
    found->factor = flip.factor;
    const double doubt = found->error_percent ? 1 + *found->error_percent / 100 : kUnknownFactor;
    const double hangs = portable_log(doubt) / std::abs(portable_log(flip.factor));
    if (hangs <= most) continue;
    most = hangs;
    best = std::move(found);
  }
  return best;
}

}  // namespace slicewise::sim
