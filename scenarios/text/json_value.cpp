#include "json_value.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "scalars.hpp"
#include "source_places.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::size_t kDeepestJson = 128;  // levels of nesting

bool is_json_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_blank(text[at])) ++at;
  return at;
}

// Behind the closing quote. REQUIRES: valid JSON, a quote at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

// Behind the value. REQUIRES: valid JSON, a value at `at`.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  do {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth > 0 || c == '}' || c == ']') continue;
    while (at < text.size() && !is_json_blank(text[at]) && text[at] != ',' && text[at] != '}' &&
           text[at] != ']') {
      ++at;
    }
  } while (depth > 0);
  return at;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6U);
    byte(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12U);
    byte(0x80 | (code >> 6U & 0x3FU));
    byte(0x80 | (code & 0x3FU));
  } else {
    byte(0xF0 | code >> 18U);
    byte(0x80 | (code >> 12U & 0x3FU));
    byte(0x80 | (code >> 6U & 0x3FU));
    byte(0x80 | (code & 0x3FU));
  }
}

std::uint32_t code_unit(std::string_view digits) {
  std::uint32_t code = 0;
  for (const char c : digits.substr(0, 4))
    code = code * 16 + static_cast<std::uint32_t>(hex_digit(c));
  return code;
}

// "\u...." at `at`, with the low half of a pair; half pairs become the replacement character.
std::size_t append_escaped_unicode(std::string& result, std::string_view raw, std::size_t at) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  std::uint32_t code = code_unit(raw.substr(at + 2));
  at += 6;
  if (code >= 0xD800 && code < 0xDC00 && raw.substr(at, 2) == "\\u") {
    const std::uint32_t low = code_unit(raw.substr(at + 2));
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      at += 6;
    }
  }
  append_utf8(result, code >= 0xD800 && code < 0xE000 ? kReplacement : code);
  return at;
}

std::string without_escapes(std::string_view raw) {
  std::string result;
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\') {
      result += raw[at++];
    } else if (raw[at + 1] == 'u') {
      at = append_escaped_unicode(result, raw, at);
    } else {
      constexpr std::string_view kLetters = "bfnrt";
      constexpr std::string_view kMeanings = "\b\f\n\r\t";
      const std::size_t letter = kLetters.find(raw[at + 1]);
      result += letter == std::string_view::npos ? raw[at + 1] : kMeanings[letter];
      at += 2;
    }
  }
  return result;
}

// Checks a text against the grammar of RFC 8259, without recursion.
class Validator {
 public:
  explicit Validator(std::string_view text) : text_(text) {}

  // Behind the value that starts at `at`; npos when it is not valid.
  std::size_t check(std::size_t at) {
    at_ = at;
    open_.clear();
    do {
      if (!value()) return std::string_view::npos;
    } while (!open_.empty() && !done_);
    return at_;
  }

  std::size_t at() const { return at_; }
  const std::string& problem() const { return problem_; }

 private:
  bool fail(std::string problem) {
    problem_ = at_ >= text_.size() ? "the text ends in the middle of a value" : std::move(problem);
    return false;
  }

  void skip() { at_ = skip_blanks(text_, at_); }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // One value, or the opening of a container up to its first value; then what closes.
  bool value() {
    skip();
    done_ = false;
    const char c = here();
    if (c == '{' || c == '[') {
      if (open_.size() == kDeepestJson)
        return fail(fmt::format("nested deeper than {} levels", kDeepestJson));
      open_.push_back(c);
      ++at_;
      skip();
      if (here() == (c == '{' ? '}' : ']')) return close();
      return c == '[' || key();
    }
    if (!scalar(c)) return false;
    return after_value();
  }

  bool scalar(char c) {
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return true;
    }
    return fail("a value is expected here");
  }

  bool key() {
    skip();
    if (here() != '"') return fail("a key in quotes is expected here");
    if (!string()) return false;
    skip();
    if (here() != ':') return fail("a colon is expected behind a key");
    ++at_;
    return true;
  }

  bool close() {
    ++at_;
    open_.pop_back();
    return after_value();
  }

  // Commas and closing brackets up to the next value.
  bool after_value() {
    while (!open_.empty()) {
      skip();
      const bool object = open_.back() == '{';
      if (here() == ',') {
        ++at_;
        return !object || key();
      }
      if (here() != (object ? '}' : ']')) {
        return fail(fmt::format("a comma or {} is expected here", object ? '}' : ']'));
      }
      ++at_;
      open_.pop_back();
    }
    done_ = true;
    return true;
  }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') return ++at_, true;
      if (static_cast<unsigned char>(c) < 0x20)
        return fail("a line break or control character in a text");
      if (c == '\\' && !escape()) return false;
    }
    return fail({});
  }

  bool escape() {
    ++at_;
    if (here() == 'u') {
      for (int i = 0; i < 4; ++i) {
        ++at_;
        if (hex_digit(here()) < 0) return fail("four hexadecimal digits are expected behind \\u");
      }
      return true;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    if (here() == '\0' || kEscapes.find(here()) == std::string_view::npos)
      return fail("an unknown escape");
    return true;
  }

  bool digits() {
    if (!is_digit(here())) return fail("a digit is expected here");
    while (is_digit(here())) ++at_;
    return true;
  }

  bool number() {
    if (here() == '-') ++at_;
    if (here() == '0') {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (here() == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (here() != 'e' && here() != 'E') return true;
    ++at_;
    if (here() == '+' || here() == '-') ++at_;
    return digits();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool done_ = false;
  std::string open_;  // brackets
  std::string problem_;
};

tl::unexpected<Diagnostics> not_json(const SourceText& source, std::size_t offset,
                                     const std::string& problem) {
  return failure(Code::TraceFormat, JsonPlaces(source).at(offset), "not JSON: " + problem);
}

}  // namespace

JsonValue::Kind JsonValue::kind() const {
  if (offset_ >= text_.size()) return Kind::Missing;
  switch (text_[offset_]) {
    case '{':
      return Kind::Object;
    case '[':
      return Kind::Array;
    case '"':
      return Kind::Text;
    case 'n':
      return Kind::Null;
    case 't':
    case 'f':
      return Kind::Boolean;
    default:
      return Kind::Number;
  }
}

JsonValue JsonValue::operator[](std::string_view key) const {
  if (!is_object()) return {};
  JsonCursor members(*this);
  while (members.next()) {
    if (members.key() == key) return members.value();
  }
  return {};
}

std::string_view JsonValue::raw_scalar() const {
  const Kind is = kind();
  if (is != Kind::Text && is != Kind::Number && is != Kind::Boolean) return {};
  const std::size_t end = end_of_value(text_, offset_);
  return is == Kind::Text ? text_.substr(offset_ + 1, end - offset_ - 2)
                          : text_.substr(offset_, end - offset_);
}

std::string JsonValue::scalar() const {
  const std::string_view raw = raw_scalar();
  if (kind() != Kind::Text || raw.find('\\') == std::string_view::npos) return std::string(raw);
  return without_escapes(raw);
}

JsonCursor::JsonCursor(JsonValue container)
    : text_(container.source()),
      at_(container.offset() + 1),
      is_object_(container.is_object()),
      at_end_(!container.is_object() && !container.is_array()) {}

bool JsonCursor::next() {
  if (at_end_) return false;
  if (value_ != 0) at_ = end_of_value(text_, value_);
  at_ = skip_blanks(text_, at_);
  if (text_[at_] == ',') at_ = skip_blanks(text_, at_ + 1);
  if (text_[at_] == '}' || text_[at_] == ']') {
    at_end_ = true;
    return false;
  }
  if (is_object_) {
    key_offset_ = at_;
    const std::size_t end = end_of_string(text_, at_);
    const std::string_view raw = text_.substr(at_ + 1, end - at_ - 2);
    if (raw.find('\\') == std::string_view::npos) {
      key_ = raw;
    } else {
      key_ = without_escapes(raw);
    }
    at_ = skip_blanks(text_, skip_blanks(text_, end) + 1);  // behind the colon
  }
  value_ = at_;
  return true;
}

Expected<std::vector<JsonValue>> read_json(const SourceText& source) {
  const std::string_view text = source.text;
  if (const auto bad = first_bad_byte(text)) {
    return not_json(source, *bad, "the text is not UTF-8, or holds a control character");
  }
  std::vector<JsonValue> values;
  Validator validator(text);
  std::size_t at = skip_blanks(text, text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  while (at < text.size()) {
    const std::size_t end = validator.check(at);
    if (end == std::string_view::npos) return not_json(source, validator.at(), validator.problem());
    values.emplace_back(text, at);
    at = skip_blanks(text, end);
  }
  if (values.empty()) return not_json(source, text.size(), "the text is empty");
  return values;
}

SourceLocation JsonPlaces::at(std::size_t offset) {
  if (offset < offset_) {
    offset_ = 0;
    line_ = column_ = 1;
  }
  for (; offset_ < std::min(offset, source_.text.size()); ++offset_) {
    const char c = source_.text[offset_];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++column_;
    }
  }
  return {source_.name, line_, column_};
}

// NOLINTNEXTLINE(misc-no-recursion): the validator bounds the depth
NodePtr tree_of(JsonValue value, JsonPlaces& places) {
  const auto node = std::make_shared<Node>();
  node->where = places.of(value);
  if (value.is_object() || value.is_array()) {
    node->kind = value.is_object() ? Node::Kind::Map : Node::Kind::List;
    for (JsonCursor below(value); below.next();) {
      const SourceLocation key_where =
          value.is_object() ? places.at(below.key_offset()) : SourceLocation{};
      NodePtr child = tree_of(below.value(), places);
      node->weight += child->weight;
      if (value.is_object()) {
        node->entries.push_back({below.key(), key_where, std::move(child)});
      } else {
        node->items.push_back(std::move(child));
      }
    }
    return node;
  }
  node->text = value.scalar();
  node->quoted = value.kind() == JsonValue::Kind::Text;
  node->kind = node->quoted ? Node::Kind::Text : core_schema_kind(node->text);
  return node;
}

}  // namespace slicewise::scenarios
