#pragma once

#include "slicewise/models/catalogue.hpp"

namespace slicewise::models {

// Read once for all tests.
inline const Catalogue& catalogue() {
  static const Catalogue loaded = load_catalogue();
  return loaded;
}

}  // namespace slicewise::models
