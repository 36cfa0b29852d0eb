#pragma once

#include <cstddef>
#include <optional>

#include "slicewise/models/catalogue.hpp"

// What workloads like one are known to take of a GPU, where its own measurements do not tell.
namespace slicewise::sim::profile_fit {

struct ClassFigure {
  double value = 0;  // the median
  double least = 0;
  double most = 0;
  std::size_t profiles = 0;
};

// capacityShare of the catalogue's profiles next to this one: by batch and time alone, each as the
// logarithm of the ratio. Those whose figures were estimated do not count. nullopt: there are none.
std::optional<ClassFigure> capacity_of_class(const models::WorkloadProfile& like,
                                             const models::Catalogue& catalogue);

}  // namespace slicewise::sim::profile_fit
