#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/csv_lines.hpp"

#include "../text/scalars.hpp"
#include "../traces/prompt_blocks.hpp"
#include "importers.hpp"
#include "request_rows.hpp"

// Mooncake's requests: JSON lines whose stamps are batched.
namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kLatestStamp =
    9'100'000'000'000'000'000;  // leaves room to spread the last stamp

constexpr std::int32_t kBlockTokens = 512;

// Blocks of prompts as they come.
struct PromptReading {
  PromptNumbers numbers{kBlockTokens};
  std::vector<std::int64_t> hashes;  // of one request
  std::int64_t blocks = 0;           // of all
};

// One line: a flat object of numbers, texts and lists of numbers. Deeper values are refused, so
// that nothing recurses.
class RequestLine {
 public:
  RequestLine(std::string_view text, std::vector<std::int64_t>& hashes)
      : text_(text), hashes_(hashes) {
    hashes_.clear();
  }

  // What is wrong with it; "" when the request is whole.
  std::string_view read(LoggedRequest& request) {
    if (!take('{')) return "this is no JSON object";
    if (!take('}')) {
      do {
        std::string_view key;
        if (!take_text(key) || !take(':')) return "this is no JSON object";
        if (!take_value(key)) return "a value is no number, text or list of whole numbers";
      } while (take(','));
      if (!take('}')) return "this JSON object is not closed";
    }
    skip_blanks();
    if (at_ != text_.size()) return "something follows the JSON object";
    return store(request);
  }

 private:
  std::string_view store(LoggedRequest& request) const {
    const auto tokens = [](std::string_view text) {
      const auto count = whole_of(text);
      return count && *count >= 0 && *count <= kMostTokens ? *count : std::int64_t{-1};
    };
    const auto at = scaled_of(time_, 6);  // from ms
    if (!at || *at < 0 || *at > kLatestStamp)
      return "\"timestamp\" is missing, or no number of milliseconds";
    const std::int64_t input = tokens(input_);
    const std::int64_t output = tokens(output_);
    if (input < 0) return "\"input_length\" is missing, or no number of tokens";
    if (output < 0) return "\"output_length\" is missing, or no number of tokens";
    request = {Duration{*at}, static_cast<std::int32_t>(input), static_cast<std::int32_t>(output),
               0};
    return "";
  }

  bool take_value(std::string_view key) {
    skip_blanks();
    std::string_view value;
    if (at_ < text_.size() && text_[at_] == '"') return take_text(value);
    if (take('[')) return take_list(key == "hash_ids");
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
    value = text_.substr(begin, at_ - begin);
    if (key == "timestamp") time_ = value;
    if (key == "input_length") input_ = value;
    if (key == "output_length") output_ = value;
    return !value.empty();
  }

  bool take_list(bool of_blocks) {
    if (take(']')) return true;
    do {
      skip_blanks();
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      const auto id = whole_of(text_.substr(begin, at_ - begin));
      if (!id) return false;
      if (of_blocks) hashes_.push_back(*id);
    } while (take(','));
    return take(']');
  }

  bool take_text(std::string_view& text) {
    if (!take('"')) return false;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return false;
    text = text_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }

  static bool is_plain(char c) {
    return is_lower_or_digit(c) || c == '-' || c == '+' || c == '.' || c == 'E';
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  std::string_view text_;
  std::vector<std::int64_t>& hashes_;
  std::size_t at_ = 0;
  std::string_view time_;
  std::string_view input_;
  std::string_view output_;
};

// Stamps closer than this are one: logs that batch their stamps write them a millisecond early or
// late.
constexpr Duration kStampJitter = milliseconds(5);

struct Stamp {
  Duration at;
  std::int64_t requests = 0;
};

// Those that differ by more than `jitter`.
std::vector<Stamp> stamps_of(const std::vector<LoggedRequest>& requests, Duration jitter) {
  std::vector<Stamp> stamps;
  for (const LoggedRequest& request : requests) {
    if (stamps.empty() || request.at - stamps.back().at > jitter) stamps.push_back({request.at});
    ++stamps.back().requests;
  }
  return stamps;
}

// Between those that several requests share: one alone may lie anywhere, batched or not.
std::vector<std::int64_t> gaps_between(const std::vector<Stamp>& stamps) {
  std::vector<std::int64_t> gaps;
  std::optional<Duration> last;
  for (const Stamp& stamp : stamps) {
    if (stamp.requests == 1) continue;
    if (last) gaps.push_back((stamp.at - *last).ns);
    last = stamp.at;
  }
  return gaps;
}

// The step that nearly all gaps are multiples of, give or take the jitter of both stamps; 0: none.
std::int64_t jittered_step(std::vector<std::int64_t> gaps) {
  constexpr std::int64_t kMostMissing = 6;  // the shortest gap may be of several steps
  std::ranges::sort(gaps);
  // A few stamps may lie anywhere.
  const std::int64_t shortest = gaps[gaps.size() / 20];
  for (std::int64_t part = 1; part <= kMostMissing; ++part) {
    const std::int64_t guess = shortest / part;
    if (Duration{guess} < milliseconds(100)) return 0;
    Int128 sum = 0;
    std::int64_t steps = 0;
    std::size_t fitting = 0;
    for (const std::int64_t gap : gaps) {
      const std::int64_t count = (gap + guess / 2) / guess;
      // Both stamps of the gap are off by the jitter, and so were those that the guess came from.
      const std::int64_t slack = 2 * kStampJitter.ns * (count + part) / part;
      if (count == 0 || 4 * slack > guess || std::abs(gap - count * guess) > slack) continue;
      sum += gap;
      steps += count;
      ++fitting;
    }
    if (fitting * 20 < gaps.size() * 19) continue;
    const auto mean = static_cast<std::int64_t>(sum / steps);
    constexpr std::int64_t kMillisecond = 1'000'000;
    return (mean + kMillisecond / 2) / kMillisecond * kMillisecond;
  }
  return 0;
}

// How stamps are batched: the step that they are multiples of, when it is so coarse that requests
// share their stamps (two and more to each on average), and by how much they miss it.
struct Batching {
  Duration step;  // 0: stamps are what they seem
  Duration jitter;
};

Batching batching_of(const std::vector<LoggedRequest>& requests) {
  const auto is_step = [](Duration step) { return step >= milliseconds(100) && step <= hours(1); };
  for (const Duration jitter : {Duration{}, kStampJitter}) {
    const std::vector<Stamp> stamps = stamps_of(requests, jitter);
    const std::vector<std::int64_t> gaps = gaps_between(stamps);
    if (gaps.empty() || 2 * stamps.size() > requests.size()) continue;
    std::int64_t step = 0;
    for (const std::int64_t gap : gaps) step = std::gcd(step, gap);
    if (jitter.ns > 0 && !is_step(Duration{step})) step = jittered_step(gaps);
    if (is_step(Duration{step})) return {Duration{step}, jitter};
  }
  return {};
}

// The n requests of one stamp come at equal distances within its step, in the order of the file.
std::int64_t spread(std::vector<LoggedRequest>& requests, const Batching& batching) {
  std::int64_t moved = 0;
  for (auto first = requests.begin(); first != requests.end();) {
    const Duration stamp = first->at;
    const auto last = std::find_if(first + 1, requests.end(), [&](const LoggedRequest& request) {
      return request.at - stamp > batching.jitter;
    });
    const auto count = static_cast<Int128>(last - first);
    for (auto request = first + 1; request != last; ++request) {
      const Int128 later = static_cast<Int128>(batching.step.ns) * (request - first) / count;
      request->at = stamp + Duration{static_cast<std::int64_t>(later)};
      ++moved;
    }
    first = last;
  }
  std::ranges::stable_sort(requests, {}, &LoggedRequest::at);  // some came between two stamps
  return moved;
}

// A hash for each block, the last of which may be shorter: of whole ones the server keeps what it
// computed.
void number_blocks(PromptReading& prompts, LoggedRequest& request, ImportReport& report,
                   const SourceLocation& where) {
  const auto whole = static_cast<std::size_t>(request.input_tokens / kBlockTokens);
  const std::size_t all = request.input_tokens % kBlockTokens == 0 ? whole : whole + 1;
  if (prompts.hashes.empty()) return;
  if (prompts.hashes.size() != all) {
    report.repaired(
        fmt::format("prompts whose hash_ids are not one for each {} tokens: taken without",
                    kBlockTokens),
        where);
    return;
  }
  for (std::size_t block = 0; block < whole; ++block) {
    request.prompt = prompts.numbers.number(request.prompt, prompts.hashes[block]);
  }
  prompts.blocks += static_cast<std::int64_t>(whole);
}

void read_lines(const SourceText& file, ImportReport& report, PromptReading& prompts,
                std::vector<LoggedRequest>& requests) {
  std::string_view left = file.text;
  for (int line = 1; !left.empty(); ++line) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view text = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    report.read();
    LoggedRequest request;
    const std::string_view wrong =
        text.size() > kLongestLine ? kLineTooLong : RequestLine(text, prompts.hashes).read(request);
    if (wrong.empty()) {
      number_blocks(prompts, request, report, {file.name, line, 1, 1});
      requests.push_back(request);
    } else {
      report.bad_row({file.name, line, 1, 1}, std::string(wrong));
    }
  }
}

}  // namespace

Expected<Imported> import_mooncake(std::span<const SourceText> files,
                                   const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  PromptReading prompts;
  std::vector<LoggedRequest> requests;
  for (const SourceText& file : files) read_lines(file, report, prompts, requests);
  std::ranges::stable_sort(requests, {}, &LoggedRequest::at);
  const SourceLocation start{files.front().name, 1, 1, 1};
  if (const Batching batching = batching_of(requests); batching.step.ns > 0) {
    const std::int64_t moved = spread(requests, batching);
    report.repaired(
        fmt::format("requests stamped together, in steps of {} ms{}: spread evenly over the step",
                    batching.step.ns / milliseconds(1).ns,
                    batching.jitter.ns > 0 ? ", give or take a few" : ""),
        start, moved);
  }
  if (prompts.blocks == 0) {
    return requests_imported(std::move(requests), std::nullopt, files.front(), options, report);
  }
  const std::int64_t repeated = prompts.blocks - prompts.numbers.count();
  report.note(
      fmt::format("{:.1f} % of {} whole blocks of prompts repeat an earlier one: a KV cache "
                  "without limit would find them",
                  100.0 * static_cast<double>(repeated) / static_cast<double>(prompts.blocks),
                  prompts.blocks),
      start);
  auto imported =
      requests_imported(std::move(requests), std::nullopt, files.front(), options, report);
  if (imported) std::get<RequestLog>(imported->content).blocks = prompts.numbers.take();
  return imported;
}

}  // namespace slicewise::scenarios
