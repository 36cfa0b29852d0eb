#pragma once

#include <vector>

#include "variants.hpp"

namespace slicewise::scenarios {

// Every combination of the values of `sweep` for every variant, named "after/replicas=2". A variant
// that lacks a path is kept once without it, with a note.
std::vector<Variant> expand_sweep(std::vector<Variant> variants, const Entry& sweep,
                                  Findings& findings, Diagnostics& notes);

}  // namespace slicewise::scenarios
