#pragma once

#include "slicewise/diagnostics.hpp"

#include "law_fit.hpp"

// Rows that are in seconds among others in milliseconds.
namespace slicewise::sim::profile_fit {

// Of one setting: their mean would be a time that nobody measured.
void refuse_other_units(const Company& company, Diagnostics& problems);

// Of times that no sharing explains one is in another unit.
void note_other_units(const Company& company, Diagnostics& notes);

}  // namespace slicewise::sim::profile_fit
