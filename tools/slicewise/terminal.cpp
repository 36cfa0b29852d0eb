#include "terminal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

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
    std::string value(environment(name));
    if (!value.empty()) {
      std::ranges::transform(value, value.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
      return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
  }
  return false;
}

}  // namespace

bool is_terminal(int file_descriptor) { return isatty(file_descriptor) == 1; }

reports::TextStyle style_for(int file_descriptor, ColorChoice color) {
  return {.color = wants_color(file_descriptor, color),
          .unicode = locale_is_utf8(),
          .width = text_width(file_descriptor)};
}

void print_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (!text.empty() && text.back() != '\n') {
    std::fputc('\n', stderr);
  }
}

ExitCode usage_error(std::string_view message, std::string_view help) {
  print_error("error: " + std::string(message));
  if (!help.empty()) {
    print_error("help: " + std::string(help));
  }
  return ExitCode::Usage;
}

void print_diagnostics(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
                       const CommonFlags& flags, Severity least) {
  print_error(reports::diagnostics_text(diagnostics, sources, style_for(STDERR_FILENO, flags.color),
                                        flags.quiet ? Severity::Error : least));
}

ExitCode fail(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
              const CommonFlags& flags) {
  print_diagnostics(diagnostics, sources, flags);
  const bool unreadable = std::ranges::any_of(
      diagnostics, [](const Diagnostic& d) { return d.code == Code::FileUnreadable; });
  return unreadable ? ExitCode::FileAccess : ExitCode::InvalidInput;
}

}  // namespace slicewise::tools
