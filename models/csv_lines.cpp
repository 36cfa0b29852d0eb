#include "slicewise/csv_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

// No library: libcsv takes twice the time (9 million values) and tells no columns of a line for
// messages, fast-cpp-csv-parser wants the columns when it is compiled; Debian 12 has no other.
namespace slicewise {
namespace {

constexpr std::string_view kBrokenQuote = "a quote that is not closed, or text after it";

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

void trim_front(std::string_view& text) {
  while (!text.empty() && is_space_or_tab(text.front())) text.remove_prefix(1);
}

std::string_view trimmed(std::string_view text) {
  trim_front(text);
  while (!text.empty() && is_space_or_tab(text.back())) text.remove_suffix(1);
  return text;
}

// Characters, not bytes, of UTF-8.
int length_of(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

char separator_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  char best = ',';
  for (const char c : {';', '|', '\t'}) {
    if (std::ranges::count(line, c) > std::ranges::count(line, best)) best = c;
  }
  return best;
}

CsvLines::CsvLines(const SourceText& source, CsvForm form)
    : source_(source), form_(form), left_(source.text) {
  if (left_.starts_with(kByteOrderMark)) left_.remove_prefix(kByteOrderMark.size());
}

bool CsvLines::next() {
  while (!left_.empty()) {
    const std::size_t end = std::min(left_.find('\n'), left_.size());
    text_ = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    ++line_;
    if (trimmed(text_).empty()) continue;
    values_.clear();
    flaw_ = text_.size() > kLongestLine ? kLineTooLong : std::string_view();
    if (!flaw_.empty()) return true;
    form_.separator == ' ' ? split_at_blanks() : split();
    return true;
  }
  return false;
}

// Values are a few characters long: looking at each costs less than a search does to start.
void CsvLines::split() {
  std::string_view rest = text_;
  while (true) {
    // A separator may be a tab itself.
    while (!rest.empty() && is_space_or_tab(rest.front()) && rest.front() != form_.separator) {
      rest.remove_prefix(1);
    }
    if (form_.quotes && rest.starts_with('"')) {
      values_.push_back(take_quoted(rest));
    } else {
      std::size_t end = 0;
      while (end < rest.size() && rest[end] != form_.separator) ++end;
      values_.push_back(trimmed(rest.substr(0, end)));
      rest.remove_prefix(end);
    }
    if (rest.empty()) return;
    rest.remove_prefix(1);
  }
}

std::string_view CsvLines::take_quoted(std::string_view& rest) {
  std::size_t close = 1;
  for (; close < rest.size(); ++close) {
    if (rest[close] != '"') continue;
    if (close + 1 == rest.size() || rest[close + 1] != '"') break;
    ++close;
  }
  std::string_view value = trimmed(rest);
  if (close >= rest.size()) {
    flaw_ = kBrokenQuote;
    rest = {};
    return value;
  }
  value = rest.substr(1, close - 1);
  rest.remove_prefix(close + 1);
  const std::size_t end = std::min(rest.find(form_.separator), rest.size());
  if (!trimmed(rest.substr(0, end)).empty()) flaw_ = kBrokenQuote;
  rest.remove_prefix(end);
  return value;
}

void CsvLines::split_at_blanks() {
  std::string_view rest = trimmed(text_);
  while (!rest.empty()) {
    std::size_t end = 0;
    while (end < rest.size() && !is_space_or_tab(rest[end])) ++end;
    values_.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
    trim_front(rest);
  }
}

std::string CsvLines::misfit(std::size_t columns) const {
  if (!flaw_.empty()) return std::string(flaw_);
  if (size() == columns) return "";
  return fmt::format("{} values where the header has {} columns", size(), columns);
}

SourceLocation CsvLines::place(std::size_t position) const {
  const std::string_view value = values_[position];
  const auto before = static_cast<std::size_t>(value.data() - text_.data());
  return {source_.name, line_, 1 + length_of(text_.substr(0, before)),
          std::max(1, length_of(value))};
}

SourceLocation CsvLines::place() const {
  return {source_.name, line_, 1, std::max(1, length_of(text_))};
}

std::string without_doubled_quotes(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    text += value[i];
    if (value[i] == '"' && i + 1 < value.size() && value[i + 1] == '"') ++i;
  }
  return text;
}

}  // namespace slicewise
