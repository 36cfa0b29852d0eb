#include "task.hpp"

namespace slicewise::gpu_probe {

void to_json(nlohmann::json& out, const Task& task) {
  out = {{"kernel", task.kernel ? name_of(*task.kernel) : "none"},
         {"workingSet", task.working_set},
         {"runMs", task.run_ms},
         {"launchUs", task.launch_us},
         {"pauseUs", task.pause_us},
         {"blocksPerSm", task.blocks_per_sm},
         {"allocate", task.allocate}};
}

void from_json(const nlohmann::json& in, Task& task) {
  task.kernel = kernel_called(in.at("kernel").get<std::string>());
  in.at("workingSet").get_to(task.working_set);
  in.at("runMs").get_to(task.run_ms);
  in.at("launchUs").get_to(task.launch_us);
  in.at("pauseUs").get_to(task.pause_us);
  in.at("blocksPerSm").get_to(task.blocks_per_sm);
  in.at("allocate").get_to(task.allocate);
}

void to_json(nlohmann::json& out, const Outcome& outcome) {
  out = {{"active", nlohmann::json::array()}, {"unitsPerSecond", outcome.units_per_second},
         {"latencyUs", outcome.latency_us},   {"meanLatencyUs", outcome.mean_latency_us},
         {"launchUs", outcome.launch_us},     {"freeBytes", outcome.free_bytes},
         {"allocated", outcome.allocated}};
  for (const Interval& interval : outcome.active) {
    out["active"].push_back({interval.from, interval.to});
  }
}

void from_json(const nlohmann::json& in, Outcome& outcome) {
  for (const nlohmann::json& interval : in.at("active")) {
    outcome.active.push_back({interval.at(0), interval.at(1)});
  }
  in.at("unitsPerSecond").get_to(outcome.units_per_second);
  in.at("latencyUs").get_to(outcome.latency_us);
  in.at("meanLatencyUs").get_to(outcome.mean_latency_us);
  in.at("launchUs").get_to(outcome.launch_us);
  in.at("freeBytes").get_to(outcome.free_bytes);
  in.at("allocated").get_to(outcome.allocated);
}

}  // namespace slicewise::gpu_probe
