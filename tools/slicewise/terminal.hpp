#pragma once

#include <string_view>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

#include "commands.hpp"

// Standard output and standard error: data goes to the first, everything else to the second.
namespace slicewise::tools {

bool is_terminal(int file_descriptor);

// How to write on a stream: colour only on a terminal and only when NO_COLOR and TERM allow it,
// COLUMNS or the terminal's width, Unicode when the locale is UTF-8.
reports::TextStyle style_for(int file_descriptor, ColorChoice color);

// Prints to standard error. Text need not end with a newline.
void print_error(std::string_view text);

// "error: message" and "help: ..." on standard error; returns ExitCode::Usage.
ExitCode usage_error(std::string_view message, std::string_view help);

// Diagnostics on standard error; --quiet leaves the notes and warnings out.
void print_diagnostics(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
                       const CommonFlags& flags, Severity least = Severity::Note);

// Prints the errors of a failed step and returns the exit code that goes with them.
ExitCode fail(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
              const CommonFlags& flags);

}  // namespace slicewise::tools
