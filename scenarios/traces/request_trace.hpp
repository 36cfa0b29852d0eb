#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../text/findings.hpp"

namespace slicewise::scenarios {

// Tokens of the longest prompt or answer that is believed.
inline constexpr std::int32_t kMostTokens = 100'000'000;

// Reads a CSV file with a header, one request a line, into rows, has_tokens and skipped of `trace`.
// Rows come in order of time, `at` counts from the first within the window. What cannot be read is
// reported with its place in the file (the first few lines of it); columns that nobody asked for
// and lines that were not in order are notes.
void read_request_trace(const SourceText& csv, RequestTrace& trace, Findings& findings,
                        Diagnostics& notes);

// Requests in binary, little-endian: 8 bytes "SWREQ001"; i64 rows; i64 flags (1: with tokens); i64
// what `at` counts from, in seconds since 1970 (INT64_MIN: not known); then columns: i64 `at` in
// ns, and with tokens i32 of the prompt, i32 of the answer.
std::string request_binary(const RequestLog& log);

// Whether these bytes start like one.
bool is_binary_requests(std::string_view bytes);

// TRACE_FORMAT where the bytes are damaged: cut short, out of order, times or tokens that cannot
// be. REQUIRES: is_binary_requests.
Expected<RequestLog> read_request_binary(const SourceText& source);

}  // namespace slicewise::scenarios
