#pragma once

#include "slicewise/models/catalogue.hpp"

namespace slicewise::sim {

// The catalogue without anything laid over it.
inline const models::Catalogue& shipped() {
  static const models::Catalogue loaded = models::load_catalogue();
  return loaded;
}

}  // namespace slicewise::sim
