#pragma once

#include <string_view>
#include <utility>

#include "slicewise/sim/describe.hpp"

// What screens and the page call figures of a replay. A quantile stands right of the mean that it
// belongs to.
namespace slicewise::sim {

inline Field finished_jobs(Field field, int priority) {
  return std::move(field).column("FINISHED", priority, "", "Finished");
}

inline Field mean_wait(Field field, std::string_view part = {}) {
  return std::move(field).column("WAIT MEAN", 0, part, "Wait");
}

inline Field waits(Field field, int p50, int p90) {
  return mean_wait(std::move(field), "mean")
      .column("P50", p50, "p50")
      .column("P90", p90, "p90")
      .column("P99", 0, "p99", "Wait p99");
}

inline Field mean_completion(Field field, std::string_view part = {}) {
  return std::move(field).column("COMPLETION MEAN", 0, part, "Completion");
}

inline Field mean_slowdown(Field field, std::string_view part = {}) {
  return std::move(field).column("SLOWDOWN MEAN", 0, part, "Slowdown");
}

}  // namespace slicewise::sim
