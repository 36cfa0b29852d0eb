#include <algorithm>
#include <tuple>

#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

// What only the catalogue can tell, and of a file in which other things are wrong already.
namespace slicewise::sim {
namespace {

// Wrong by itself, whatever else of the file could not be read.
bool is_about_a_name(Code code) {
  switch (code) {
    case Code::InstanceUnknown:
    case Code::GpuUnknown:
    case Code::ProfileUnknown:
    case Code::RegionUnknown:
    case Code::PriceUnknown:
    case Code::MigUnsupported:
    case Code::MigConfigUnknown:
    case Code::ResourceNameMismatch:
    case Code::RequestTooLarge:
      return true;
    default:
      return false;
  }
}

bool same_place(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.where.file, a.where.line, a.where.column) ==
         std::tie(b.where.file, b.where.line, b.where.column);
}

// A place that is already known to be wrong says nothing more, and what has no place comes from a
// default that stands in for something unreadable.
bool is_news(const Diagnostic& d, const Diagnostics& known) {
  return is_about_a_name(d.code) && d.where.line > 0 &&
         std::ranges::none_of(known, [&](const Diagnostic& k) { return same_place(k, d); });
}

}  // namespace

Diagnostics check_names(const scenarios::LoadedScenario& loaded, const Catalogue& catalogue) {
  Diagnostics found = loaded.problems;
  for (Scenario scenario : loaded.set.variants) {
    // Their stages may name each other wrongly, and they name nothing of the catalogue.
    scenario.pipelines.clear();
    const auto world = build_world(scenario, catalogue);
    if (world) continue;
    for (const Diagnostic& d : world.error()) {
      if (is_news(d, found)) found.push_back(d);
    }
  }
  std::ranges::stable_sort(found, [](const Diagnostic& a, const Diagnostic& b) {
    const auto place = [](const Diagnostic& d) {
      return std::tuple(d.where.file.starts_with("--"), d.where.line, d.where.column);
    };
    return place(a) < place(b);
  });
  return found;
}

Diagnostics check_worlds(const ScenarioSet& set, const Catalogue& catalogue) {
  Diagnostics found;
  for (const Scenario& scenario : set.variants) {
    const auto world = build_world(scenario, catalogue);
    if (world) continue;
    for (const Diagnostic& d : world.error()) {
      const bool known = std::ranges::any_of(found, [&](const Diagnostic& other) {
        return other.code == d.code && other.where == d.where && other.message == d.message;
      });
      if (!known) found.push_back(d);
    }
  }
  return found;
}

}  // namespace slicewise::sim
