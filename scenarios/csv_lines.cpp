#include "csv_lines.hpp"

#include <algorithm>

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Characters, not bytes, of UTF-8.
int length_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

CsvLines::CsvLines(const SourceText& source) : source_(source), left_(source.text) {
  if (left_.starts_with(kBom)) left_.remove_prefix(kBom.size());
}

bool CsvLines::next() {
  while (!left_.empty()) {
    const std::size_t end = std::min(left_.find('\n'), left_.size());
    text_ = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    ++line_;
    if (trimmed(text_).empty()) continue;
    split();
    return true;
  }
  return false;
}

void CsvLines::split() {
  values_.clear();
  broken_ = false;
  std::string_view rest = text_;
  while (true) {
    std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view value = trimmed(rest.substr(0, end));
    if (value.starts_with('"')) {
      const std::size_t open = rest.find('"');
      const std::size_t close = rest.find('"', open + 1);
      broken_ = broken_ || close == std::string_view::npos;
      if (close != std::string_view::npos) {
        end = std::min(rest.find(',', close), rest.size());
        value = rest.substr(open + 1, close - open - 1);
        broken_ = broken_ || !trimmed(rest.substr(close + 1, end - close - 1)).empty();
      }
    }
    values_.push_back(value);
    if (end == rest.size()) return;
    rest.remove_prefix(end + 1);
  }
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

}  // namespace slicewise::scenarios
