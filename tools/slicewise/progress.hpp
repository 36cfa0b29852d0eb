#pragma once

#include <chrono>
#include <string>

#include "commands.hpp"

namespace slicewise::tools {

// How far a run is, how fast and how long still, on standard error: a bar that is redrawn in place
// (Tty), a line every ten seconds (Plain), or nothing. Auto is a bar when standard error is a
// terminal and --quiet is absent.
class Progress {
 public:
  // `unit`: what is counted.
  Progress(ProgressChoice choice, bool quiet, std::string unit = "replications");

  void update(int done, int total);
  // Removes the bar.
  void finish();

 private:
  ProgressChoice choice_;
  std::string unit_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point next_line_;
  std::chrono::steady_clock::time_point next_bar_;
};

// "12/100 jobs", and once some are done ", 3.4/s, 26 s left", by the mean rate so far.
std::string progress_text(int done, int total, const std::string& unit,
                          std::chrono::duration<double> elapsed);

}  // namespace slicewise::tools
