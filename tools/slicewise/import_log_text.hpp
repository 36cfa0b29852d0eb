#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::tools {

// What an import read, left out, made up and put right, as notes.
std::string import_log_text(const scenarios::Imported& imported);

}  // namespace slicewise::tools
