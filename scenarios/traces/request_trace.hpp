#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slicewise/scenarios/scenario.hpp"

#include "../text/findings.hpp"

namespace slicewise::scenarios {

// Tokens of the longest prompt or answer that is believed.
inline constexpr std::int32_t kMostTokens = 100'000'000;

// What is wanted of a trace file.
struct TraceChoice {
  Located<std::string> time_column;  // "" = by its usual names
  Located<std::string> input_column;
  Located<std::string> output_column;
  Duration from;  // of the window, since the first request of the file
  std::optional<Duration> length;
};

// Reads a CSV file with a header, one request a line, into rows, has_tokens and skipped of `trace`.
// Rows come in order of time, `at` counts from the first within the window. What cannot be read is
// reported with its place in the file (the first few lines of it); columns that nobody asked for
// and lines that were not in order are notes.
void read_request_trace(const SourceText& csv, const TraceChoice& choice, RequestTrace& trace,
                        Findings& findings, Diagnostics& notes);

}  // namespace slicewise::scenarios
