#include "source_places.hpp"

#include <algorithm>

#include "slicewise/printable.hpp"

namespace slicewise::scenarios {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

int code_points(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

}  // namespace

SourcePlaces::SourcePlaces(std::string file, std::string_view text)
    : file_(std::move(file)), text_(text), line_starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
}

SourceLocation SourcePlaces::at(std::size_t offset, std::size_t bytes) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t start = *(next - 1);
  std::size_t end = next == line_starts_.end() ? text_.size() : *next - 1;
  if (end > start && text_[end - 1] == '\r') --end;
  const std::size_t stop = std::max(offset, std::min(end, offset + bytes));
  // Lines of megabytes: what was counted for the place before it need not be counted again.
  const bool goes_on = last_.line_start == start && last_.offset <= offset;
  const Counted from = goes_on ? last_ : Counted{start, start, 0};
  last_ = {start, offset,
           from.characters + code_points(text_.substr(from.offset, offset - from.offset))};
  return {file_, static_cast<int>(next - line_starts_.begin()), last_.characters + 1,
          std::max(1, code_points(text_.substr(offset, stop - offset)))};
}

std::size_t SourcePlaces::scalar_bytes(std::size_t offset, std::string_view value) const {
  if (offset >= text_.size()) return 1;
  const char quote = text_[offset];
  if (quote == '|' || quote == '>') return 1;
  if (quote != '"' && quote != '\'') return std::max<std::size_t>(1, value.size());
  for (std::size_t i = offset + 1; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < text_.size() && text_[i + 1] == quote;
      if (!doubled) return i + 1 - offset;
      ++i;
    }
  }
  return text_.size() - offset;
}

std::size_t SourcePlaces::skip_properties(std::size_t offset) const {
  while (offset < text_.size() && (text_[offset] == '&' || text_[offset] == '!')) {
    const std::size_t blank = text_.find_first_of(" \t\r\n", offset);
    const std::size_t next = text_.find_first_not_of(" \t\r\n", blank);
    if (next == std::string_view::npos) break;
    offset = next;
  }
  return offset;
}

std::optional<std::size_t> first_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool control =
        (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
    const std::size_t length = character_length(text.substr(i));
    if (control || length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace slicewise::scenarios
