#include "progress.hpp"

#include <algorithm>
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

// As long as the line has room for: one that wraps could not be redrawn in place.
std::string bar_beside(const std::string& text, std::int64_t done, std::int64_t total) {
  constexpr int kLongest = 30;
  constexpr int kShortest = 5;
  constexpr int kAround = 4;  // "[", "] " and the cursor
  const int width = style_for(STDERR_FILENO, ColorChoice::Never).width;
  const int room = width - static_cast<int>(text.size()) - kAround;
  const int bar = width <= 0 ? kLongest : std::min(kLongest, room);
  if (bar < kShortest) return {};
  const auto filled = static_cast<std::size_t>(bar * done / total);
  return "[" + std::string(filled, '=') + std::string(static_cast<std::size_t>(bar) - filled, ' ') +
         "] ";
}

ProgressChoice resolve(ProgressChoice choice, bool quiet) {
  if (choice != ProgressChoice::Auto) {
    return choice;
  }
  return !quiet && is_terminal(STDERR_FILENO) ? ProgressChoice::Tty : ProgressChoice::None;
}

}  // namespace

Progress::Progress(ProgressChoice choice, bool quiet, std::string unit, Total total)
    : choice_(resolve(choice, quiet)),
      unit_(std::move(unit)),
      total_(total),
      begun_(std::chrono::steady_clock::now()),
      next_line_(begun_ + kBetweenLines),
      next_bar_(begun_) {}

void Progress::update(int done, int total) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_bar = choice_ == ProgressChoice::Tty && total > 0;
  if (is_bar && (now >= next_bar_ || done == total)) {
    const std::string text = progress_text(done, total, unit_, now - begun_, total_);
    std::fputs(("\r" + bar_beside(text, done, total) + text + "\x1b[K").c_str(), stderr);
    drawn_ = true;
    next_bar_ = now + kBetweenBars;
  } else if (choice_ == ProgressChoice::Plain && now >= next_line_) {
    print_error(progress_text(done, total, unit_, now - begun_, total_));
    next_line_ += kBetweenLines;
  }
}

std::string progress_text(int done, int total, const std::string& unit,
                          std::chrono::duration<double> elapsed, Progress::Total kind) {
  const bool grows = kind == Progress::Total::Grows;
  std::string text = fmt::format("{}/{}{} {}", done, total, grows ? "+" : "", unit);
  if (done <= 0 || elapsed.count() <= 0) return text;
  const double per_second = done / elapsed.count();
  text += " in " + time_text(elapsed.count()) + ", " + rate_text(per_second);
  if (done < total && !grows) text += ", " + time_text((total - done) / per_second) + " left";
  return text;
}

void Progress::finish() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  }
}

}  // namespace slicewise::tools
