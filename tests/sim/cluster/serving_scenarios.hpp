#pragma once

#include <utility>
#include <vector>

#include "../demo.hpp"

// Services on nodes with one V100 each, and what one run of them says.
namespace slicewise::sim::serving {

inline scenarios::NodePool small_nodes(int nodes = 1) {
  scenarios::NodePool pool = demo::pool(0, nodes);
  pool.instance_type.value = "p3.2xlarge";  // 1 V100, 8 vCPU
  return pool;
}

// Arrivals stop after `length`, and the run lasts until all are through.
inline scenarios::Scenario until_done(std::vector<scenarios::Workload> services, Duration length,
                                      int nodes = 1) {
  for (scenarios::Workload& service : services) {
    if (!service.traffic) continue;
    const Rate rate = service.traffic->mean;
    service.traffic->shape = std::vector<scenarios::RateStep>{{{}, rate}, {length, {}}};
  }
  scenarios::Scenario s = demo::scenario(small_nodes(nodes), std::move(services));
  s.duration = length + hours(1);
  return s;
}

inline Replication replicate(const scenarios::Scenario& s) {
  const World world = demo::world(s);
  return run_replication(world, 0, nullptr);
}

inline double mean_s(const Histogram& h) { return to_seconds(h.mean()); }

}  // namespace slicewise::sim::serving
