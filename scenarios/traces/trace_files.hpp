#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../text/findings.hpp"

namespace slicewise::scenarios {

// Of a window of a client, see ClientWindow.
inline constexpr double kMostRate = 1e6;
inline constexpr double kMostVariation = 1e4;

inline constexpr std::int64_t kSecond = 1'000'000'000;              // in ns
inline constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;  // 2096: what a trace can hold

// When a line of a trace happened, in nanoseconds since any point that the whole trace shares:
// seconds ("12.5", 0 .. 9.2e9), or date and time in ISO 8601 ("2023-11-16 18:17:03.9799600",
// "2023-11-16T18:17:03Z", "...+01:00"; years 1970 .. 2260, UTC without a zone), then since 1970.
// Below a nanosecond it is cut off. nullopt when it is neither.
std::optional<std::int64_t> parse_trace_time(std::string_view text);

// The files that a scenario names, each read once however many variants ask for it.
class TraceFiles {
 public:
  // `scenario` is the path of the scenario file: others are relative to its folder, those of
  // standard input ("-") to the working directory.
  TraceFiles(const std::string& scenario, const FileReader& read_file);

  // nullptr after reporting why it cannot be read.
  const SourceText* find(const Located<std::string>& path, Findings& findings);

  // The same as jobs, parsed once. What is wrong with them is reported at their own lines.
  std::shared_ptr<const JobTrace> find_jobs(const Located<std::string>& path, Findings& findings);

  // What is worth knowing of the files, and is no mistake.
  Diagnostics& notes() { return notes_; }

  // The files that could be read, in order of path.
  std::vector<SourceText> take();

 private:
  std::string folder_;
  const FileReader& read_file_;
  std::map<std::string, Expected<SourceText>> files_;  // by path as written
  std::map<std::string, std::shared_ptr<const JobTrace>> jobs_;
  Diagnostics notes_;
};

// Tokens of the longest prompt or answer that is believed.
inline constexpr std::int32_t kMostTokens = 100'000'000;

// Reads a CSV file with a header, one request a line, into rows, has_tokens, blocks and skipped of
// `trace`.
// Rows come in order of time, `at` counts from the first within the window. What cannot be read is
// reported with its place in the file (the first few lines of it); columns that nobody asked for
// and lines that were not in order are notes.
void read_request_trace(const SourceText& csv, RequestTrace& trace, Findings& findings,
                        Diagnostics& notes);

// Requests in binary, little-endian: 8 bytes "SWREQ001"; i64 rows; i64 flags (1: with tokens, 3:
// and blocks of prompts); i64 what `at` counts from, in seconds since 1970 (INT64_MIN: not known);
// then columns: i64 `at` in ns, with tokens i32 of the prompt, i32 of the answer, and with blocks
// u32 of the prompt's last one; then i64 tokens of a block, i64 blocks, and of each, 0 included,
// u32 of the one before it.
std::string request_binary(const RequestLog& log);

// Whether these bytes start like one.
bool is_binary_requests(std::string_view bytes);

// TRACE_FORMAT where the bytes are damaged: cut short, out of order, times or tokens that cannot
// be. REQUIRES: is_binary_requests.
Expected<RequestLog> read_request_binary(const SourceText& source);

// Rates of clients, window by window, as CSV:
//
//   client,at_s,rate,law,variation
//   0,0,0.25,Gamma,1.5
//   0,600,0,,0
//
// `at_s` counts from the midnight that the file starts with, in whole seconds; `rate` is in
// requests per second; `law` (Exponential, Gamma, Weibull) and `variation` (coefficient of
// variation) are of the gaps between the requests of the window, and of no interest where the rate
// is 0. Columns go by name; others are passed over. A window lasts as long as the shortest step
// between two of a client (10 minutes when no client has two); a client without a window at some
// time asks for nothing then.

// Windows of a file that gives none to compare: what ServeGen has.
inline constexpr Duration kUsualWindow = seconds(600);

std::optional<ClientWindow::Law> law_called(std::string_view name);

// Puts windows in order of client and time and finds out how long they are. False when two windows
// of a client start together: `twice` is the first such.
bool arrange_windows(ClientRates& rates, ClientWindow& twice);

std::string client_rates_csv(const ClientRates& rates);

// Every bad line is reported at its place, the first few with their text. `where` is of the name of
// the file in the scenario.
ClientRates read_client_rates(const SourceText& csv, Findings& findings);

// Where the last window of the file ends.
Duration end_of(const ClientTraffic& traffic);

// Over `run`, or to the end of the file.
Rate mean_rate(const ClientTraffic& traffic, std::optional<Duration> run);

}  // namespace slicewise::scenarios
