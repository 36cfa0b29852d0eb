#pragma once

#include <string>
#include <string_view>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

namespace slicewise::reports {

// `slicewise explain profile NAME`: every figure of a catalogue profile with its provenance and
// source, what follows on MIG slices and beside copies of itself on its own GPU, and what the
// roofline rule makes of it on the others. An unknown name is a PROFILE_UNKNOWN diagnostic.
Expected<std::string> explain_profile(const models::Catalogue& catalogue, std::string_view name,
                                      const TextStyle& style);

}  // namespace slicewise::reports
