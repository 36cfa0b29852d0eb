#pragma once

#include <string>

#include "commands.hpp"

// The flags of an advice as the commands have them that make its files again.
namespace slicewise::tools {

// What each verb reads its input with.
std::string input_flags(const AdviseCommand& command, const CommonFlags& flags);
// ... and simulates it.
std::string shared_flags(const AdviseCommand& command, const CommonFlags& flags);
// ... and plans.
std::string plan_flags(const AdviseCommand& command, const CommonFlags& flags);

}  // namespace slicewise::tools
