#include <algorithm>

#include "slicewise/scenarios/pod_file.hpp"

// Source: kubernetes component-helpers/resource/helpers.go.
namespace slicewise::scenarios {

void add_amounts(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    std::int64_t& total = sum[name];
    total = std::min(kMostAmount, total + std::min(amount, kMostAmount));
  }
}

Amounts reserved_amounts(const std::vector<ContainerAmounts>& containers) {
  const auto raise = [](Amounts& sum, const Amounts& other) {
    for (const auto& [name, amount] : other) sum[name] = std::max(sum[name], amount);
  };
  Amounts running;
  Amounts sidecars;
  Amounts most;
  for (const ContainerAmounts& container : containers) {
    if (!container.is_init) {
      add_amounts(running, container.amounts);
      continue;
    }
    Amounts starting = sidecars;
    add_amounts(starting, container.amounts);
    if (container.restarts_always) sidecars = starting;
    raise(most, starting);
  }
  add_amounts(running, sidecars);
  raise(running, most);
  return running;
}

Amounts reserved_amounts(const PodFile& pod) {
  std::vector<ContainerAmounts> containers;
  containers.reserve(pod.containers.size());
  for (const ContainerFile& container : pod.containers) {
    ContainerAmounts& one =
        containers.emplace_back(ContainerAmounts{{}, container.is_init, container.restarts_always});
    for (const ResourceAmount& amount : container.amounts) {
      one.amounts[amount.resource] = amount.amount;
    }
  }
  return reserved_amounts(containers);
}

}  // namespace slicewise::scenarios
