#include "catalog_value.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "slicewise/lookup.hpp"

namespace slicewise::models {
namespace {

using Kind = CatalogValue::Kind;

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  CatalogDocument read() {
    if (!read_value(out_.root) || next() != '\0') out_.root = {};
    return std::move(out_);
  }

 private:
  // The first character that is no white space; '\0' at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] <= ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool takes(std::string_view word) {
    if (next() == '\0' || !text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the files that ship
  bool read_value(CatalogValue& out) {
    switch (next()) {
      case '{':
        return read_members(out, Kind::Object, "}");
      case '[':
        return read_members(out, Kind::List, "]");
      case '"':
        out.kind = Kind::Text;
        return read_text(out.text);
      case 't':
      case 'f':
        out.kind = Kind::Flag;
        out.flag = takes("true");
        return out.flag || takes("false");
      case 'n':
        return takes("null");
      default:
        return read_number(out);
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the files that ship
  bool read_members(CatalogValue& out, Kind kind, std::string_view end) {
    out.kind = kind;
    ++at_;
    if (takes(end)) return true;
    do {
      CatalogValue& member = out.members.emplace_back();
      const bool named =
          kind == Kind::List || (next() == '"' && read_text(member.key) && takes(":"));
      if (!named || !read_value(member)) return false;
    } while (takes(","));
    return takes(end);
  }

  bool read_text(std::string_view& out) {
    std::size_t end = text_.find('"', at_ + 1);
    const bool is_escaped = text_.substr(at_, end - at_).find('\\') != text_.npos;
    if (is_escaped) {
      for (end = at_ + 1; end < text_.size() && text_[end] != '"'; ++end) {
        if (text_[end] == '\\') ++end;
      }
    }
    if (end >= text_.size()) return false;
    out = text_.substr(at_ + 1, end - at_ - 1);
    if (is_escaped) {
      const auto escaped = nlohmann::json::parse(text_.substr(at_, end + 1 - at_), nullptr, false);
      if (!escaped.is_string()) return false;
      out = out_.unescaped.emplace_back(escaped.get<std::string>());
    }
    at_ = end + 1;
    return true;
  }

  bool read_number(CatalogValue& out) {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, out.number);
    if (error != std::errc()) return false;
    const auto whole = std::from_chars(begin, stop, out.integer);
    out.kind = whole.ec == std::errc() && whole.ptr == stop ? Kind::Integer : Kind::Number;
    at_ += static_cast<std::size_t>(stop - begin);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  CatalogDocument out_;
};

Kind kind_of(const nlohmann::json& json) {
  if (json.is_object()) return Kind::Object;
  if (json.is_array()) return Kind::List;
  if (json.is_string()) return Kind::Text;
  if (json.is_boolean()) return Kind::Flag;
  if (json.is_number_integer()) return Kind::Integer;
  return json.is_number() ? Kind::Number : Kind::Null;
}

}  // namespace

const CatalogValue* CatalogValue::find(std::string_view name) const {
  return kind == Kind::Object ? find_or_null(members, name, &CatalogValue::key) : nullptr;
}

CatalogDocument read_json(std::string_view text) { return JsonReader(text).read(); }

// NOLINTNEXTLINE(misc-no-recursion): located_json() takes nothing that is deep
CatalogValue value_of(const nlohmann::json& json) {
  CatalogValue out;
  out.kind = kind_of(json);
  if (out.kind == Kind::Flag) out.flag = json.get<bool>();
  if (out.kind == Kind::Text) out.text = json.get_ref<const std::string&>();
  if (json.is_number()) out.number = json.get<double>();
  if (out.kind == Kind::Integer) out.integer = json.get<std::int64_t>();
  if (out.kind == Kind::List)
    std::ranges::transform(json, std::back_inserter(out.members), value_of);
  if (out.kind == Kind::Object) {
    for (const auto& [key, member] : json.items()) {
      out.members.push_back(value_of(member));
      out.members.back().key = key;
    }
  }
  return out;
}

}  // namespace slicewise::models
