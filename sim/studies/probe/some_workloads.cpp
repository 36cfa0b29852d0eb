#include "some_workloads.hpp"

#include <algorithm>

namespace slicewise::sim {

scenarios::Scenario SomeWorkloads::with(std::span<const std::string> names) const {
  scenarios::Scenario some = none_;
  for (const scenarios::Workload& workload : all_.workloads) {
    if (std::ranges::find(names, workload.name.value) != names.end()) {
      some.workloads.push_back(workload);
    }
  }
  return some;
}

}  // namespace slicewise::sim
