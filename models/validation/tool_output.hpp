#pragma once

#include <optional>

#include "slicewise/diagnostics.hpp"

// What the tools of `slicewise calibrate` write and no time of a step follows from.
namespace slicewise::models {

// Why a file of such a tool cannot be read, and what to give instead; nullopt for any other file.
std::optional<Diagnostic> unusable_output(const SourceText& file);

}  // namespace slicewise::models
