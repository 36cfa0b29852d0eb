#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "command_tree.hpp"

namespace slicewise::tools {

// "; did you mean "run"?", or "" when nothing is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

// What to say about an argument that `verb`, called as `full_name`, does not take.
UsageError unknown_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& argument);

// What to say where `message` says that an argument or a flag of `verb` is missing.
UsageError missing_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& message);

}  // namespace slicewise::tools
