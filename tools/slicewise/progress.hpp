#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "commands.hpp"

namespace slicewise::tools {

// How far a run is, how fast and how long still, on standard error: a bar that is redrawn in place
// (Tty), a line every ten seconds (Plain), or nothing. Auto is a bar when standard error is a
// terminal and --quiet is absent.
class Progress {
 public:
  enum class Total : std::uint8_t { Known, Grows };  // Grows: what is done next depends on results

  // `unit`: what is counted.
  Progress(ProgressChoice choice, bool quiet, std::string unit = "replications",
           Total total = Total::Known);

  void update(int done, int total);
  // Removes the bar.
  void finish();

 private:
  ProgressChoice choice_;
  std::string unit_;
  Total total_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point next_line_;
  std::chrono::steady_clock::time_point next_bar_;
};

// "12/100 jobs", and once some are done " in 4 s, 3.4/s, 26 s left", by the mean rate so far; of a
// total that grows "12/24+ simulations in 4 s, 3.4/s".
std::string progress_text(int done, int total, const std::string& unit,
                          std::chrono::duration<double> elapsed, Progress::Total kind);

}  // namespace slicewise::tools
