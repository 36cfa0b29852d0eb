#include "request_binary.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "request_trace.hpp"

namespace slicewise::scenarios {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "SWREQ001";
constexpr std::int64_t kWithTokens = 1;
constexpr std::int64_t kNoOrigin = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kHead = 32;
constexpr std::int64_t kLatest = 9'200'000'001'000'000'000;  // as in text

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

template <class T>
T at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

tl::unexpected<Diagnostics> damaged(const SourceText& source, std::string message) {
  return tl::unexpected(Diagnostics{
      make_diagnostic(Code::TraceFormat, {.file = source.name, .line = 0}, std::move(message),
                      "write the trace anew with `slicewise import`")});
}

}  // namespace

std::string request_binary(const RequestLog& log) {
  std::string bytes(kMagic);
  append(bytes, static_cast<std::int64_t>(log.rows.size()));
  append(bytes, log.has_tokens ? kWithTokens : 0);
  append(bytes, log.origin_unix_s.value_or(kNoOrigin));
  for (const auto& row : log.rows) append(bytes, row.at.ns);
  if (!log.has_tokens) return bytes;
  for (const auto& row : log.rows) append(bytes, row.input_tokens);
  for (const auto& row : log.rows) append(bytes, row.output_tokens);
  return bytes;
}

bool is_binary_requests(std::string_view bytes) { return bytes.starts_with(kMagic); }

Expected<RequestLog> read_request_binary(const SourceText& source) {
  const std::string_view bytes = source.text;
  if (bytes.size() < kHead) return damaged(source, "the binary trace is cut short");
  const auto rows = at<std::int64_t>(bytes, 8);
  const auto flags = at<std::int64_t>(bytes, 16);
  const std::size_t width = flags == kWithTokens ? 16 : 8;
  if ((flags != 0 && flags != kWithTokens) || rows < 0 ||
      static_cast<std::uint64_t>(rows) != (bytes.size() - kHead) / width ||
      (bytes.size() - kHead) % width != 0) {
    return damaged(source, "the binary trace is not as long as its head says");
  }
  RequestLog log;
  log.has_tokens = flags == kWithTokens;
  const auto origin = at<std::int64_t>(bytes, 24);
  if (origin != kNoOrigin) log.origin_unix_s = origin;
  const auto count = static_cast<std::size_t>(rows);
  log.rows.resize(count);
  std::int64_t before = 0;
  for (std::size_t row = 0; row < count; ++row) {
    RequestTrace::Row& here = log.rows[row];
    here.at = Duration{at<std::int64_t>(bytes, kHead + 8 * row)};
    if (log.has_tokens) {
      here.input_tokens = at<std::int32_t>(bytes, kHead + 8 * count + 4 * row);
      here.output_tokens = at<std::int32_t>(bytes, kHead + 12 * count + 4 * row);
    }
    if (here.at.ns < before || here.at.ns > kLatest || here.input_tokens < 0 ||
        here.input_tokens > kMostTokens || here.output_tokens < 0 ||
        here.output_tokens > kMostTokens) {
      return damaged(source, "the binary trace has times out of order, or numbers that cannot be");
    }
    before = here.at.ns;
  }
  return log;
}

}  // namespace slicewise::scenarios
