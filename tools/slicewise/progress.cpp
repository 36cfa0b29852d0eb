#include "progress.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "terminal.hpp"

namespace slicewise::tools {
namespace {

constexpr std::chrono::seconds kBetweenLines{10};
constexpr std::chrono::milliseconds kBetweenBars{50};  // faster than the eye, cheap for the run

// Three digits: a study takes hours, a small scenario makes thousands of replications a second.
std::string rate_text(double per_second) {
  return per_second >= 100 ? fmt::format("{:.0f}/s", per_second)
                           : fmt::format("{:.3g}/s", per_second);
}

// "26 s", "3 min 05 s", "2 h 10 min".
std::string time_text(double left) {
  const auto seconds = static_cast<std::int64_t>(std::ceil(left));
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3'600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3'600, seconds % 3'600 / 60);
}

ProgressChoice resolve(ProgressChoice choice, bool quiet) {
  if (choice != ProgressChoice::Auto) {
    return choice;
  }
  return !quiet && is_terminal(STDERR_FILENO) ? ProgressChoice::Tty : ProgressChoice::None;
}

}  // namespace

Progress::Progress(ProgressChoice choice, bool quiet, std::string unit)
    : choice_(resolve(choice, quiet)),
      unit_(std::move(unit)),
      begun_(std::chrono::steady_clock::now()),
      next_line_(begun_ + kBetweenLines),
      next_bar_(begun_) {}

void Progress::update(int done, int total) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_bar = choice_ == ProgressChoice::Tty && total > 0;
  if (is_bar && (now >= next_bar_ || done == total)) {
    constexpr std::int64_t kBarWidth = 30;
    const auto filled = static_cast<std::size_t>(kBarWidth * done / total);
    const std::string bar = std::string(filled, '=') + std::string(kBarWidth - filled, ' ');
    const std::string text = progress_text(done, total, unit_, now - begun_);
    std::fputs(("\r[" + bar + "] " + text + "\x1b[K").c_str(), stderr);
    drawn_ = true;
    next_bar_ = now + kBetweenBars;
  } else if (choice_ == ProgressChoice::Plain && now >= next_line_) {
    print_error(progress_text(done, total, unit_, now - begun_));
    next_line_ += kBetweenLines;
  }
}

std::string progress_text(int done, int total, const std::string& unit,
                          std::chrono::duration<double> elapsed) {
  std::string text = fmt::format("{}/{} {}", done, total, unit);
  if (done <= 0 || elapsed.count() <= 0) return text;
  const double per_second = done / elapsed.count();
  text += ", " + rate_text(per_second);
  if (done < total) text += ", " + time_text((total - done) / per_second) + " left";
  return text;
}

void Progress::finish() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  }
}

}  // namespace slicewise::tools
