#include "node_values.hpp"
#include "random_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {

std::optional<Notebooks> read_notebooks(const Node& workload, Findings& findings) {
  const Node* node = block(&workload, "notebooks");
  if (node == nullptr) return std::nullopt;
  Notebooks notebooks;
  notebooks.where = key_place(workload, "notebooks");
  notebooks.users = int_at(node, "users").value_or(notebooks.users);
  notebooks.sessions_per_day =
      number_at(node, "sessionsPerDay").value_or(notebooks.sessions_per_day);
  if (notebooks.sessions_per_day <= 0) {
    findings.add(Code::ValueRange, value_place(*node, "sessionsPerDay"),
                 "sessionsPerDay must be more than zero");
  }
  notebooks.length = random_time_at(node, "length", findings).value_or(notebooks.length);
  if (const Node* peaks = blocks(node, "peaksAt")) {
    for (const NodePtr& item : peaks->items) {
      if (const auto at = parse_clock_time(item->text)) notebooks.peaks_at.push_back(*at);
    }
  }
  notebooks.spread = duration_at(node, "spread").value_or(hours(1));
  notebooks.utc_offset = utc_offset_at(node, "utcOffset").value_or(notebooks.utc_offset);
  notebooks.idle_cull = duration_at(node, "idleCull");
  notebooks.interval = random_time_at(node, "interval", findings).value_or(notebooks.interval);
  notebooks.gpu_time = random_time_at(node, "gpuTime", findings).value_or(notebooks.gpu_time);
  notebooks.memory = random_bytes_at(node, "memory", findings);
  return notebooks;
}

}  // namespace slicewise::scenarios
