#include "some_workloads.hpp"

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

scenarios::Scenario SomeWorkloads::with(std::span<const std::string> names) const {
  scenarios::Scenario some = none_;
  for (const scenarios::Workload& workload : all_.workloads) {
    if (contains(names, workload.name.value)) {
      some.workloads.push_back(workload);
    }
  }
  return some;
}

}  // namespace slicewise::sim
