#include "tolerations.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/sim/world.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::ChartValues;
using scenarios::Scenario;
using scenarios::Toleration;

// The lists that are to be others than the chart's.
std::vector<scenarios::TolerationList> needed_lists(const Scenario& scenario,
                                                    ChartValues::Chart chart) {
  std::vector<scenarios::TolerationList> lists = scenarios::usual_tolerations(chart);
  std::erase_if(lists, [&](scenarios::TolerationList& one) {
    const std::size_t usual = one.list.size();
    for (const scenarios::NodePool& pool : scenario.node_pools) {
      one.list = tolerating(std::move(one.list), pool);
    }
    return one.list.size() == usual;
  });
  return lists;
}

}  // namespace

json toleration_list(std::span<const Toleration> tolerations) {
  json out = json::array();
  for (const Toleration& toleration : tolerations) {
    json entry = {{"operator", toleration.op}};
    if (!toleration.key.empty()) entry["key"] = toleration.key;
    if (!toleration.value.empty()) entry["value"] = toleration.value;
    if (!toleration.effect.empty()) entry["effect"] = toleration.effect;
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<Toleration> tolerating(std::vector<Toleration> tolerations,
                                   const scenarios::NodePool& pool) {
  while (const scenarios::Taint* taint = scenarios::untolerated(pool.taints, tolerations)) {
    tolerations.push_back({taint->key, "Exists", "", taint->effect});
  }
  return tolerations;
}

std::string toleration_values(const Scenario& scenario, ChartValues::Chart chart) {
  json values;
  for (const scenarios::TolerationList& one : needed_lists(scenario, chart)) {
    std::string path = fmt::format("/{}", one.path);
    std::ranges::replace(path, '.', '/');
    values[json::json_pointer(path)] = toleration_list(one.list);
  }
  if (values.empty()) return {};
  return comment("What the chart tolerates by itself, and the taints of the node pools.") +
         yaml_text(values);
}

std::string toleration_flags(const Scenario& scenario, ChartValues::Chart chart) {
  std::string out;
  for (const scenarios::TolerationList& one : needed_lists(scenario, chart)) {
    out += fmt::format(" \\\n    --set-json '{}={}'", one.path, toleration_list(one.list).dump());
  }
  return out;
}

}  // namespace slicewise::reports
