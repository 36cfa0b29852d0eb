#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

#include "../text/decimal.hpp"
#include "importers.hpp"
#include "request_table.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kLatestStamp =
    9'100'000'000'000'000'000;  // leaves room to spread the last stamp

// Blocks of prompts (512 tokens each) that came before: what a cache without limit would hold.
class PrefixBlocks {
 public:
  void count(std::int64_t id) {
    ++blocks_;
    repeated_ += seen(id) ? 1 : 0;
  }
  std::int64_t blocks() const { return blocks_; }
  double repeated_percent() const {
    return 100.0 * static_cast<double>(repeated_) / static_cast<double>(blocks_);
  }

 private:
  bool seen(std::int64_t id) {
    constexpr std::int64_t kDense = std::int64_t{1} << 27U;  // ids count up from 0 in the traces
    if (id < 0 || id >= kDense) return !others_.insert(id).second;
    const auto place = static_cast<std::size_t>(id);
    if (place >= dense_.size()) dense_.resize(std::max(place + 1, 2 * dense_.size()));
    const bool known = dense_[place];
    dense_[place] = true;
    return known;
  }

  std::vector<bool> dense_;
  std::unordered_set<std::int64_t> others_;
  std::int64_t blocks_ = 0;
  std::int64_t repeated_ = 0;
};

// One line: a flat object of numbers, texts and lists of numbers. Deeper values are refused, so
// that nothing recurses.
class RequestLine {
 public:
  RequestLine(std::string_view text, PrefixBlocks& blocks) : text_(text), blocks_(blocks) {}

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
    request = {Duration{*at}, static_cast<std::int32_t>(input), static_cast<std::int32_t>(output)};
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
      if (of_blocks) blocks_.count(*id);
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
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
           c == 'E';
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
  PrefixBlocks& blocks_;
  std::size_t at_ = 0;
  std::string_view time_;
  std::string_view input_;
  std::string_view output_;
};

// The step that all times are multiples of, when it is so coarse that requests share their stamps
// (two and more to each on average); 0 when stamps are what they seem.
Duration step_of(const std::vector<LoggedRequest>& requests) {
  constexpr Duration kFinest = milliseconds(100);
  constexpr Duration kCoarsest = hours(1);
  std::int64_t step = 0;
  std::size_t stamps = 1;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const std::int64_t gap = (requests[i].at - requests[i - 1].at).ns;
    if (gap != 0) ++stamps;
    step = std::gcd(step, gap);
  }
  const bool shared = 2 * stamps <= requests.size();
  const bool is_step = Duration{step} >= kFinest && Duration{step} <= kCoarsest;
  return shared && is_step ? Duration{step} : Duration{};
}

// The n requests of one stamp come at equal distances within its step, in the order of the file.
std::int64_t spread(std::vector<LoggedRequest>& requests, Duration step) {
  std::int64_t moved = 0;
  for (std::size_t first = 0; first < requests.size();) {
    std::size_t last = first;
    while (last < requests.size() && requests[last].at == requests[first].at) ++last;
    const auto count = static_cast<Int128>(last - first);
    for (std::size_t i = first + 1; i < last; ++i) {
      const Int128 later = static_cast<Int128>(step.ns) * static_cast<Int128>(i - first) / count;
      requests[i].at += Duration{static_cast<std::int64_t>(later)};
      ++moved;
    }
    first = last;
  }
  return moved;
}

void read_lines(const SourceText& file, ImportReport& report, PrefixBlocks& blocks,
                std::vector<LoggedRequest>& requests) {
  std::string_view left = file.text;
  for (int line = 1; !left.empty(); ++line) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view text = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    report.read();
    LoggedRequest request;
    const std::string_view wrong = RequestLine(text, blocks).read(request);
    if (wrong.empty()) {
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
  PrefixBlocks blocks;
  std::vector<LoggedRequest> requests;
  for (const SourceText& file : files) read_lines(file, report, blocks, requests);
  std::ranges::stable_sort(requests, {}, &LoggedRequest::at);
  const SourceLocation start{files.front().name, 1, 1, 1};
  if (const Duration step = step_of(requests); step.ns > 0) {
    const std::int64_t moved = spread(requests, step);
    report.repaired(
        fmt::format("requests stamped together, in steps of {} ms: spread evenly over the step",
                    step.ns / milliseconds(1).ns),
        [&] { return SourceLocation(start); }, moved);
  }
  if (blocks.blocks() > 0) {
    report.note(fmt::format("hashes of prefixes are not modelled: {:.1f} % of {} blocks repeat an "
                            "earlier one; llm.prefixReuse stands for it",
                            blocks.repeated_percent(), blocks.blocks()),
                start);
  }
  return requests_imported(std::move(requests), std::nullopt, files.front(), options, report);
}

}  // namespace slicewise::scenarios
