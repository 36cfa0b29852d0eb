#include "toml_reader.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace slicewise::scenarios::manifests {
namespace {

constexpr int kDeepestValue = 16;
constexpr std::size_t kMostTomlProblems = 20;
constexpr std::size_t kLongestTomlKey = 60;  // shown of a user's word

bool is_bare_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

class TomlReader {
 public:
  TomlReader(const SourceText& source, Diagnostics& found)
      : source_(source), text_(source.text), found_(found) {}

  std::vector<TomlValue> read() {
    while (skip_to_next_line_with_text()) {
      const std::size_t start = at_;
      const SourceLocation where = place(start);
      const bool good = peek() == '[' ? read_header() : read_pair(table_, 0);
      if (good && ends_line()) continue;
      refuse(where);
      at_ = std::min(text_.find('\n', std::max(at_, start)), text_.size());
    }
    return std::move(values_);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
  }
  void skip_comment() {
    if (peek() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  }
  // Blanks, line ends and comments, as they may stand between lines and inside lists.
  void skip_all() {
    for (std::size_t before = text_.size() + 1; before != at_;) {
      before = at_;
      skip_blanks();
      skip_comment();
      if (peek() == '\n') ++at_;
    }
  }
  bool skip_to_next_line_with_text() {
    skip_all();
    return at_ < text_.size();
  }
  bool ends_line() {
    skip_blanks();
    skip_comment();
    return at_ >= text_.size() || peek() == '\n';
  }

  // Each place is counted from the one before: places only move on.
  SourceLocation place(std::size_t offset) {
    for (; counted_ < offset && counted_ < text_.size(); ++counted_) {
      const auto c = static_cast<unsigned char>(text_[counted_]);
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if ((c & 0xC0U) != 0x80U) {
        ++column_;
      }
    }
    return {source_.name, line_, column_, 1};
  }

  void refuse(const SourceLocation& where) {
    if (++problems_ > kMostTomlProblems) return;
    found_.push_back(make_diagnostic(
        Code::YamlSyntax, where, "this is no TOML: [table] or key = value on each line",
        "text stands in quotes, numbers and true do not; the whole file is refused"));
  }

  void note_twice(const std::vector<std::string>& path, const SourceLocation& where,
                  bool is_table) {
    std::string name;
    for (const std::string& part : path) {
      name += (name.empty() ? "" : ".") + part;
      name += '\0';  // "a.b" in quotes is not a.b
    }
    const bool is_new = seen_.insert(name + (is_table ? "]" : "=")).second;
    if (is_new || ++problems_ > kMostTomlProblems) return;
    std::erase(name, '\0');
    found_.push_back(
        make_diagnostic(Code::FieldDuplicate, where,
                        fmt::format("\"{}\" is there twice", name.substr(0, kLongestTomlKey)),
                        "keep one of them; the whole file is refused"));
  }

  bool read_header() {
    const SourceLocation where = place(at_);
    const bool is_list = take("[[");
    if (!is_list) take("[");
    std::vector<std::string> path;
    skip_blanks();
    if (!read_key(path)) return false;
    skip_blanks();
    if (!take(is_list ? "]]" : "]")) return false;
    if (!is_list) note_twice(path, where, true);
    table_ = std::move(path);
    if (is_list) table_.push_back(fmt::format("[{}]", lists_++));
    return true;
  }

  bool read_key(std::vector<std::string>& path) {
    do {
      skip_blanks();
      std::string part;
      if (peek() == '"' || peek() == '\'') {
        if (!read_line_text(part)) return false;
      } else {
        while (is_bare_key(peek())) part += text_[at_++];
        if (part.empty()) return false;
      }
      path.push_back(std::move(part));
      skip_blanks();
    } while (take("."));
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion): bounded by kDeepestValue
  bool read_pair(const std::vector<std::string>& table, int depth) {
    const SourceLocation where = place(at_);
    std::vector<std::string> path = table;
    if (!read_key(path) || !take("=")) return false;
    skip_blanks();
    note_twice(path, where, false);
    TomlValue value{std::move(path), TomlValue::Kind::Other, {}, where};
    const bool is_table = peek() == '{';
    if (!read_value(value, depth)) return false;
    if (!is_table) values_.push_back(std::move(value));
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion): bounded by kDeepestValue
  bool read_value(TomlValue& value, int depth) {
    if (depth > kDeepestValue) return false;
    switch (peek()) {
      case '"':
      case '\'':
        value.kind = TomlValue::Kind::Text;
        return read_text(value.text);
      case '[':
        return read_list(depth);
      case '{':
        return read_inline_table(value.path, depth);
      default:
        return read_bare(value);
    }
  }

  bool read_text(std::string& text) {
    const std::string_view quotes = peek() == '"' ? "\"\"\"" : "'''";
    if (!take(quotes)) return read_line_text(text);
    for (std::size_t n = at_; n < text_.size(); ++n) {
      if (text_[n] == '\\' && quotes[0] == '"') {
        ++n;
      } else if (text_.substr(n).starts_with(quotes)) {
        text = std::string(text_.substr(at_, n - at_));
        at_ = n + quotes.size();
        return true;
      }
    }
    return false;
  }

  bool read_line_text(std::string& text) {
    const char quote = text_[at_];
    for (std::size_t n = at_ + 1; n < text_.size() && text_[n] != '\n'; ++n) {
      if (text_[n] == '\\' && quote == '"') {
        ++n;
      } else if (text_[n] == quote) {
        text = std::string(text_.substr(at_ + 1, n - at_ - 1));
        at_ = n + 1;
        return true;
      }
    }
    return false;
  }

  // NOLINTNEXTLINE(misc-no-recursion): bounded by kDeepestValue
  bool read_list(int depth) {
    take("[");
    for (;;) {
      skip_all();
      if (take("]")) return true;
      TomlValue item;
      item.path = {fmt::format("[{}]", lists_++)};
      const std::size_t kept = values_.size();
      const bool good = read_value(item, depth + 1);
      values_.resize(kept);  // what is inside a list has no path
      if (!good) return false;
      skip_all();
      if (!take(",") && peek() != ']') return false;
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): bounded by kDeepestValue
  bool read_inline_table(const std::vector<std::string>& path, int depth) {
    take("{");
    skip_blanks();
    if (take("}")) return true;
    do {
      skip_blanks();
      if (!read_pair(path, depth + 1)) return false;
      skip_blanks();
    } while (take(","));
    return take("}");
  }

  bool read_bare(TomlValue& value) {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n#,]}", at_), text_.size());
    value.text = std::string(text_.substr(at_, end - at_));
    at_ = end;
    if (value.text.empty()) return false;
    if (value.text == "true" || value.text == "false") {
      value.kind = TomlValue::Kind::Truth;
      return true;
    }
    const std::string_view number =
        std::string_view(value.text).substr(value.text[0] == '+' || value.text[0] == '-' ? 1 : 0);
    if (number.empty()) return false;
    const bool is_whole = number.find_first_not_of("0123456789_") == number.npos;
    if (is_whole) {
      value.kind = TomlValue::Kind::Whole;
      std::erase(value.text, '_');
    }
    // Dates, floats and numbers of other bases begin with a digit, or are inf and nan.
    return (number[0] >= '0' && number[0] <= '9') || number == "inf" || number == "nan";
  }

  const SourceText& source_;
  std::string_view text_;
  Diagnostics& found_;
  std::size_t at_ = 0;
  std::vector<std::string> table_;
  std::vector<TomlValue> values_;
  std::set<std::string> seen_;
  std::size_t problems_ = 0;
  std::size_t lists_ = 0;
  std::size_t counted_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace

std::vector<TomlValue> read_toml(const SourceText& source, Diagnostics& found) {
  return TomlReader(source, found).read();
}

}  // namespace slicewise::scenarios::manifests
