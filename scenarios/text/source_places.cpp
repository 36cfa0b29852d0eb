#include "source_places.hpp"

#include <algorithm>
#include <cstdint>

namespace slicewise::scenarios {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

int code_points(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// Bytes of the character that starts with `lead`, 0 when none does.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Overlong forms, surrogates and characters above U+10FFFF show in the second byte.
bool second_byte_allowed(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
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
  return {file_, static_cast<int>(next - line_starts_.begin()),
          code_points(text_.substr(start, offset - start)) + 1,
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
    const auto lead = static_cast<unsigned char>(text[i]);
    const bool control =
        (lead < 0x20 && lead != '\t' && lead != '\n' && lead != '\r') || lead == 0x7F;
    const std::size_t length = sequence_length(lead);
    if (control || length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if (!is_continuation(text[i + k])) return i;
    }
    if (length > 1 && !second_byte_allowed(lead, static_cast<unsigned char>(text[i + 1]))) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace slicewise::scenarios
