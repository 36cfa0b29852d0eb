#pragma once

#include <atomic>

namespace slicewise::tools {

// From the first call on, Ctrl-C sets the flag that is returned instead of ending the program. A
// second Ctrl-C ends it at once.
const std::atomic<bool>& catch_interrupt();

}  // namespace slicewise::tools
