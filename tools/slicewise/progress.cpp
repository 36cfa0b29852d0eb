#include "progress.hpp"

#include <cstdio>
#include <string>

#include <unistd.h>

#include "terminal.hpp"

namespace slicewise::tools {
namespace {

constexpr std::chrono::seconds kBetweenLines{10};

ProgressChoice resolve(ProgressChoice choice, bool quiet) {
  if (choice != ProgressChoice::Auto) {
    return choice;
  }
  return !quiet && is_terminal(STDERR_FILENO) ? ProgressChoice::Tty : ProgressChoice::None;
}

}  // namespace

Progress::Progress(ProgressChoice choice, bool quiet)
    : choice_(resolve(choice, quiet)),
      next_line_(std::chrono::steady_clock::now() + kBetweenLines) {}

void Progress::update(int done, int total) {
  const std::string count = std::to_string(done) + "/" + std::to_string(total) + " replications";
  if (choice_ == ProgressChoice::Tty && total > 0) {
    constexpr int kBarWidth = 30;
    const auto filled = static_cast<std::size_t>(kBarWidth) * static_cast<std::size_t>(done) /
                        static_cast<std::size_t>(total);
    const std::string bar = std::string(filled, '=') + std::string(kBarWidth - filled, ' ');
    std::fputs(("\r[" + bar + "] " + count).c_str(), stderr);
    drawn_ = true;
  } else if (choice_ == ProgressChoice::Plain && std::chrono::steady_clock::now() >= next_line_) {
    print_error(count);
    next_line_ += kBetweenLines;
  }
}

void Progress::finish() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  }
}

}  // namespace slicewise::tools
