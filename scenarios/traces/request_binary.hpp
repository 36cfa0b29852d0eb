#pragma once

#include <string>
#include <string_view>

#include "slicewise/scenarios/import.hpp"

// Requests in binary, little-endian: 8 bytes "SWREQ001"; i64 rows; i64 flags (1: with tokens); i64
// what `at` counts from, in seconds since 1970 (INT64_MIN: not known); then columns: i64 `at` in
// ns, and with tokens i32 of the prompt, i32 of the answer.
namespace slicewise::scenarios {

std::string request_binary(const RequestLog& log);

// Whether these bytes start like one.
bool is_binary_requests(std::string_view bytes);

// TRACE_FORMAT where the bytes are damaged: cut short, out of order, times or tokens that cannot
// be. REQUIRES: is_binary_requests.
Expected<RequestLog> read_request_binary(const SourceText& source);

}  // namespace slicewise::scenarios
