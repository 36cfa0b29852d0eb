#include "terminal.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/printable.hpp"

#include "host.hpp"

namespace slicewise::tools {
namespace {

constexpr int kDefaultWidth = 100;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool wants_color(int file_descriptor, ColorChoice color) {
  if (color != ColorChoice::Auto) {
    return color == ColorChoice::Always;
  }
  return is_terminal(file_descriptor) && environment("NO_COLOR").empty() &&
         environment("TERM") != "dumb";
}

int text_width(int file_descriptor) {
  const std::string_view columns = environment("COLUMNS");
  int width = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (error == std::errc() && end == columns.data() + columns.size() && width > 0) {
    return width;
  }
  winsize size{};
  if (ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return kDefaultWidth;
}

// The first of the three that is set decides, as setlocale() does.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = lower_case(environment(name));
    if (!value.empty()) {
      return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
  }
  return false;
}

void write_error(std::string_view text) {
  if (Host* const host = current_host()) {
    host->errors += text;
    if (!text.empty() && text.back() != '\n') host->errors += '\n';
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stderr);
}

}  // namespace

bool is_terminal(int file_descriptor) {
  return current_host() == nullptr && isatty(file_descriptor) == 1;
}

reports::TextStyle style_for(int file_descriptor, ColorChoice color) {
  if (current_host() != nullptr) return {};
  return {.color = wants_color(file_descriptor, color),
          .unicode = locale_is_utf8(),
          .width = text_width(file_descriptor)};
}

void print_error(std::string_view text) { write_error(printable(text, "\n")); }

ExitCode usage_error(std::string_view message, std::string_view help) {
  print_error("error: " + std::string(message));
  if (!help.empty()) {
    print_error("help: " + std::string(help));
  }
  return ExitCode::Usage;
}

void print_diagnostics(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
                       const CommonFlags& flags, Severity least) {
  if (Host* const host = current_host()) {
    host->diagnostics.insert(host->diagnostics.end(), diagnostics.begin(), diagnostics.end());
  }
  write_error(reports::diagnostics_text(diagnostics, sources, style_for(STDERR_FILENO, flags.color),
                                        flags.quiet ? Severity::Error : least));
}

ExitCode fail(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
              const CommonFlags& flags) {
  print_diagnostics(diagnostics, sources, flags);
  const bool unreadable = std::ranges::any_of(
      diagnostics, [](const Diagnostic& d) { return d.code == Code::FileUnreadable; });
  return unreadable ? ExitCode::FileAccess : ExitCode::InvalidInput;
}

namespace {

constexpr std::chrono::seconds kBeginning{2};
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
  if (quiet || current_host() != nullptr) return ProgressChoice::None;
  return is_terminal(STDERR_FILENO) ? ProgressChoice::Tty : ProgressChoice::Plain;
}

}  // namespace

Progress::Progress(ProgressChoice choice, bool quiet, std::string unit, Total total)
    : auto_(choice == ProgressChoice::Auto),
      choice_(resolve(choice, quiet)),
      unit_(std::move(unit)),
      total_(total),
      begun_(std::chrono::steady_clock::now()),
      next_line_(begun_ + between_lines_),
      next_bar_(begun_),
      host_(current_host()) {}

bool Progress::begins() const {
  return auto_ && std::chrono::steady_clock::now() < begun_ + kBeginning;
}

void Progress::update(std::int64_t done, std::int64_t total, std::string_view also) {
  if (host_ != nullptr) {
    if (host_->progress) host_->progress(done, total, unit_);
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const bool is_bar =
      choice_ == ProgressChoice::Tty && total > 0 && (now >= next_bar_ || done == total);
  const bool is_line = choice_ == ProgressChoice::Plain && now >= next_line_;
  if (!is_bar && !is_line) return;
  std::string text = progress_text(done, total, unit_, now - begun_, total_);
  if (!also.empty()) text += fmt::format(", {}", printable(also));
  if (is_bar) {
    std::fputs(("\r" + bar_beside(text, done, total) + text + "\x1b[K").c_str(), stderr);
    drawn_ = true;
    next_bar_ = now + kBetweenBars;
  } else {
    print_error(text);
    if (auto_) between_lines_ *= 2;
    next_line_ += between_lines_;
  }
}

void Progress::say(const std::string& line) {
  if (choice_ == ProgressChoice::None) return;
  const std::lock_guard lock(mutex_);
  if (!begins()) {
    waiting_.clear();
    return print(line);
  }
  waiting_ = line;
  if (host_ == nullptr && !teller_.joinable()) teller_ = std::thread(&Progress::tell_later, this);
}

void Progress::print(const std::string& line) {
  remove_bar();
  print_error(line);
}

void Progress::tell_later() {
  std::unique_lock lock(mutex_);
  const bool finished = wake_.wait_until(lock, begun_ + kBeginning, [this] { return finished_; });
  if (!finished && !waiting_.empty()) print(waiting_);
}

std::string progress_text(std::int64_t done, std::int64_t total, const std::string& unit,
                          std::chrono::duration<double> elapsed, Progress::Total kind) {
  const bool grows = kind == Progress::Total::Grows;
  std::string text = fmt::format("{}/{}{} {}", done, total, grows ? "+" : "", unit);
  if (done <= 0 || elapsed.count() <= 0) return text;
  const double per_second = static_cast<double>(done) / elapsed.count();
  text += " in " + time_text(elapsed.count()) + ", " + rate_text(per_second);
  if (done < total && !grows)
    text += ", " + time_text(static_cast<double>(total - done) / per_second) + " left";
  return text;
}

std::string simulated_time(const std::optional<std::int64_t>& origin_unix_s, Duration since) {
  constexpr std::int64_t kSecondsPerDay = 86'400;
  const std::int64_t elapsed_s = since.ns / seconds(1).ns;
  if (!origin_unix_s) return fmt::format("on day {}", elapsed_s / kSecondsPerDay + 1);
  const std::chrono::sys_seconds at{std::chrono::seconds(*origin_unix_s + elapsed_s)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  return fmt::format("at {:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count());
}

void Progress::remove_bar() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  }
}

void Progress::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    remove_bar();
  }
  wake_.notify_all();
  if (teller_.joinable()) teller_.join();
}

Progress::~Progress() { finish(); }

namespace {

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag = false;
  static_assert(std::atomic<bool>::is_always_lock_free,
                "a signal handler may only set such a flag");
  return flag;
}

extern "C" void on_interrupt(int /*signal*/) { interrupted() = true; }

}  // namespace

const std::atomic<bool>& catch_interrupt() {
  if (const Host* const host = current_host()) return *host->stop;
  const std::atomic<bool>& flag = interrupted();  // constructed before a signal can arrive
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);  // timeout(1), a Job's deadline
  return flag;
}

}  // namespace slicewise::tools
