// A fleet that fills two GPUs, and how its parts are asked about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../demo.hpp"
#include "studies/plan/fleet_model.hpp"
#include "studies/probe/probe.hpp"

namespace slicewise::sim {

// s1, s3 and s5 of 4.6 GiB, s2 and s4 of 7: together on GPUs of 14.7.
inline scenarios::Scenario three_small_and_two_large() {
  std::vector<scenarios::Workload> services;
  for (const std::int64_t mebibytes_each : {4'700, 7'200, 4'700, 7'200, 4'700}) {
    services.push_back(
        demo::service(1, 1, milliseconds(5), scenarios::ServiceTime::Law::Deterministic));
    services.back().name.value = "s" + std::to_string(services.size());
    services.back().measured->device.value = "T4";
    services.back().gpu_memory.resident = mebibytes(mebibytes_each);
  }
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), services);
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.duration = seconds(60);
  return scenario;
}

inline PlanSpace unshared_or_in_turns_on_t4() {
  PlanSpace space;
  space.types = {demo::catalogue().find_instance("g4dn.xlarge")};
  space.purchases = {"on-demand"};
  space.strategies = {Strategy::Exclusive, Strategy::TimeSlicing};
  return space;
}

struct FiveServices {
  scenarios::Scenario scenario = three_small_and_two_large();
  PlanSpace space = unshared_or_in_turns_on_t4();
  ProbeBatch probes{probe_threads(scenario, demo::catalogue(), {})};
  BlockSearch search{scenario, demo::catalogue(), space, probes};
  FleetModel model{search, {{"s1"}, {"s2"}, {"s3"}, {"s4"}, {"s5"}}};

  FiveServices() = default;
  FiveServices(const FiveServices&) = delete;
  FiveServices& operator=(const FiveServices&) = delete;
};

}  // namespace slicewise::sim
