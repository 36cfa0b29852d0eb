#pragma once

#include <chrono>

#include "commands.hpp"

namespace slicewise::tools {

// How far a run is, on standard error: a bar that is redrawn in place (Tty), a line every ten
// seconds (Plain), or nothing. Auto is a bar when standard error is a terminal and --quiet is
// absent.
class Progress {
 public:
  Progress(ProgressChoice choice, bool quiet);

  void update(int done, int total);
  // Removes the bar.
  void finish();

 private:
  ProgressChoice choice_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_line_;
};

}  // namespace slicewise::tools
