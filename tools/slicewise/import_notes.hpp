#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::tools {

// 8152 as "8,152".
std::string grouped(std::int64_t count);

// What an import read, left out, made up and put right, a sentence each.
std::vector<std::string> import_notes(const scenarios::Imported& imported);
// `result`: what the log's count of imported is of.
std::vector<std::string> import_notes(const scenarios::ImportLog& log, std::string_view result);

}  // namespace slicewise::tools
