#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/units.hpp"

#include "commands.hpp"

// Standard output and standard error: data goes to the first, everything else to the second.
namespace slicewise::tools {

struct Host;

bool is_terminal(int file_descriptor);

// How to write on a stream: colour only on a terminal and only when NO_COLOR and TERM allow it,
// COLUMNS or the terminal's width, Unicode when the locale is UTF-8.
reports::TextStyle style_for(int file_descriptor, ColorChoice color);

// Prints to standard error what may hold foreign names. Text need not end with a newline.
void print_error(std::string_view text);

// "error: message" and "help: ..." on standard error; returns ExitCode::Usage.
ExitCode usage_error(std::string_view message, std::string_view help);

// Diagnostics on standard error; --quiet leaves the notes and warnings out.
void print_diagnostics(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
                       const CommonFlags& flags, Severity least = Severity::Note);

// Prints the errors of a failed step and returns the exit code that goes with them.
ExitCode fail(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
              const CommonFlags& flags);

// How far a run is, how fast and how long still, on standard error: a bar that is redrawn in place
// (Tty), a line every ten seconds (Plain), or nothing. Auto is nothing with --quiet, a bar on a
// terminal, and elsewhere lines that become fewer: after 10 seconds, 30, 70, and so on.
class Progress {
 public:
  enum class Total : std::uint8_t { Known, Grows };  // Grows: what is done next depends on results

  // `unit`: what is counted.
  Progress(ProgressChoice choice, bool quiet, std::string unit = "replications",
           Total total = Total::Known);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // `also`: what else is said of it now.
  void update(std::int64_t done, std::int64_t total, std::string_view also = "");
  // A line above the bar that stays. In Auto the last one of the first seconds waits until they are
  // over: who is answered at once needs none.
  void say(const std::string& line);
  // The end: removes the bar, and says nothing more of what waits.
  void finish();

 private:
  bool begins() const;
  void print(const std::string& line);  // in place of the bar
  void remove_bar();
  void tell_later();

  bool auto_;
  ProgressChoice choice_;
  std::string unit_;
  Total total_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::seconds between_lines_{10};
  std::chrono::steady_clock::time_point next_line_;
  std::chrono::steady_clock::time_point next_bar_;
  std::mutex mutex_;     // of what is on the screen and of what waits
  std::string waiting_;  // to be said
  bool finished_ = false;
  std::condition_variable wake_;
  std::thread teller_;  // says what waits when the first seconds are over
  Host* host_;          // of the thread that began it
};

// "12/100 jobs", and once some are done " in 4 s, 3.4/s, 26 s left", by the mean rate so far; of a
// total that grows "12/24+ simulations in 4 s, 3.4/s".
std::string progress_text(std::int64_t done, std::int64_t total, const std::string& unit,
                          std::chrono::duration<double> elapsed, Progress::Total kind);

// Where a run of recorded jobs has got to: "at 2017-10-03 14:00", or "on day 12" of a trace without
// dates. `since`: the start of the trace, in its own time.
std::string simulated_time(const std::optional<std::int64_t>& origin_unix_s, Duration since);

// From the first call on, Ctrl-C or SIGTERM sets the flag that is returned instead of ending the
// program. The same signal once more ends it at once. Of a Host it is its flag.
const std::atomic<bool>& catch_interrupt();

}  // namespace slicewise::tools
