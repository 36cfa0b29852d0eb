#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/sim/gpu_room.hpp"

// What GPUs hold, and what a run would warn of, of a scenario that has not run.
namespace slicewise::sim {

namespace {

// Pools of which the same is to be said, in a few words.
std::string pools_text(const std::vector<std::string>& pools) {
  constexpr std::size_t kNamed = 3;
  const std::size_t named = std::min(kNamed, pools.size());
  std::string text = pools.size() == 1 ? "pool" : "pools";
  for (std::size_t p = 0; p < named; ++p) {
    text += fmt::format("{} \"{}\"", p == 0 ? "" : ",", pools[p]);
  }
  if (pools.size() > named) text += fmt::format(" and {} more", pools.size() - named);
  return text;
}

// Where the pods that may meet on a GPU do not fit it: once of all pools that are alike in that.
void warn_of(const World& world, const std::vector<GpuRoom>& rooms, Diagnostics& found) {
  std::vector<std::pair<Diagnostic, std::vector<std::string>>> warnings;
  for (const GpuRoom& room : rooms) {
    const bool greedy = !room.tenants.empty() && room.tenants.front().greedy;  // GPU_MEM_GREEDY
    if (!room.is_overcommitted() || room.safe == 0 || greedy) continue;
    const auto next = std::ranges::find(world.workloads, room.next_workload, &WorkloadModel::name);
    // Their users see the error and go on.
    if (next->spec.notebooks) continue;
    const SourceLocation& memory =
        next->spec.llm ? next->spec.llm->where : next->spec.gpu_memory.where;
    Diagnostic warning = make_diagnostic(
        Code::GpuOom, memory.line > 0 ? memory : next->spec.name.where, room_sentence(room),
        fmt::format("at most {} replicas, {}, or a limit for each process (MPS, MIG)", room.safe,
                    next->spec.llm ? "a lower memoryUtilization" : "less gpuMemory"));
    const auto same = std::ranges::find_if(warnings, [&](const auto& other) {
      return other.first.where == warning.where && other.first.message == warning.message;
    });
    if (same != warnings.end()) {
      same->second.push_back(room.pool);
    } else {
      warnings.emplace_back(std::move(warning), std::vector{room.pool});
    }
  }
  for (auto& [warning, pools] : warnings) {
    warning.message = fmt::format("{}: {}", pools_text(pools), warning.message);
    found.push_back(std::move(warning));
  }
}

Diagnostic never_starts(const std::string& workload, const SourceLocation& where) {
  Diagnostic never = make_diagnostic(
      Code::GpuOom, where,
      fmt::format("no pod of \"{}\" can ever start: no GPU that it may get has the memory",
                  workload));
  never.severity = Severity::Error;
  return never;
}

}  // namespace

std::vector<VariantRooms> rooms_before_run(const ScenarioSet& set, const Catalogue& catalogue,
                                           Diagnostics& found) {
  std::vector<VariantRooms> out;
  std::map<std::string, SourceLocation> dying;
  std::set<std::string> living;
  std::vector<std::pair<Diagnostic, std::size_t>> said;  // ... and in how many worlds
  for (const Scenario& scenario : set.variants) {
    auto world = build_world(scenario, catalogue);
    if (!world) continue;
    std::ranges::move(peaks_not_in_run(scenario), std::back_inserter(world->findings));
    for (const Diagnostic& d : world->findings) {
      if (d.severity == Severity::Note) continue;
      const auto same = std::ranges::find_if(said, [&](const auto& other) {
        return other.first.code == d.code && other.first.where == d.where &&
               other.first.message == d.message;
      });
      if (same == said.end()) {
        said.emplace_back(d, 1);
      } else {
        ++same->second;
      }
    }
    for (const WorkloadModel& model : world->workloads) {
      if (model.dies_at_start) dying.emplace(model.name, model.spec.name.where);
      if (!model.dies_at_start && model.spec.count > 0) living.insert(model.name);
    }
    out.push_back({world->name, gpu_rooms(*world)});
    warn_of(*world, out.back().rooms, found);
  }
  for (auto& [d, worlds] : said) {
    // Variants show what goes wrong beside what mends it.
    if (worlds < out.size() && d.code != Code::GpuOom) d.severity = Severity::Note;
    found.push_back(std::move(d));
  }
  for (const auto& [name, where] : dying) {
    if (!living.contains(name)) found.push_back(never_starts(name, where));
  }
  return out;
}

}  // namespace slicewise::sim
