#pragma once

#include <string>

namespace slicewise::reports {

// Which kind of `slicewise export --to` is of use on which nodes, from the table of kinds.
std::string export_topic();

}  // namespace slicewise::reports
