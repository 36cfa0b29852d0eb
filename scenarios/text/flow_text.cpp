#include "flow_text.hpp"

#include <fmt/format.h>

#include "document.hpp"

namespace slicewise::scenarios {
namespace {

// Text that reads as the same text without quotes.
bool is_plain(const std::string& text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  return !text.empty() && text.find_first_not_of(kSafe) == std::string::npos && text[0] != '-' &&
         core_schema_kind(text) == Node::Kind::Text;
}

}  // namespace

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", c);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string scalar_text(const std::string& text) { return is_plain(text) ? text : in_quotes(text); }

// As deep as the document, which its reader limits.
std::string flow_text(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::Map:
      for (const Entry& entry : node.entries) {
        text += text.empty() ? "" : ", ";
        text += scalar_text(entry.key);
        text += ": " + (entry.value == nullptr ? "null" : flow_text(*entry.value));
      }
      return "{" + text + "}";
    case Node::Kind::List:
      for (const NodePtr& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(*item);
      return "[" + text + "]";
    case Node::Kind::Text:
      return scalar_text(node.text);
    case Node::Kind::Null:
      return "null";
    default:
      return node.text;
  }
}

}  // namespace slicewise::scenarios
