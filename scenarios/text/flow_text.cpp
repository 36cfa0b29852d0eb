#include "flow_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "slicewise/printable.hpp"

#include "document.hpp"

namespace slicewise::scenarios {
namespace {

// Text that reads as the same text without quotes.
bool is_plain(const std::string& text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./%";
  return !text.empty() && text.find_first_not_of(kSafe) == std::string::npos && text[0] != '-' &&
         text[0] != '%' && core_schema_kind(text) == Node::Kind::Text;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::string_view part = text.substr(0, std::max<std::size_t>(1, character_length(text)));
    if (is_hidden(part)) {
      out += fmt::format("\\u{:04x}", code_point(part));
    } else {
      if (part == "\"" || part == "\\") out += '\\';
      out += part;
    }
    text.remove_prefix(part.size());
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

namespace {

bool holds_maps(const Node& list) {
  return std::ranges::any_of(list.items,
                             [](const NodePtr& item) { return item->kind == Node::Kind::Map; });
}

// Lines of a map or of a list of maps that stand `indent` from the margin.
class BlockWriter {
 public:
  std::string take() && { return std::move(text_); }

  void map(const Node& node, std::size_t indent, std::string lead) {
    for (const Entry& entry : node.entries) {
      write(lead + scalar_text(entry.key) + ":", *entry.value, indent);
      lead.assign(indent, ' ');
    }
  }

 private:
  static constexpr std::size_t kWidth = 100;

  void write(const std::string& head, const Node& value, std::size_t indent) {
    const std::string flow = flow_text(value);
    const bool is_list = value.kind == Node::Kind::List;
    const bool is_short = head.size() + 1 + flow.size() <= kWidth;
    if (value.is_scalar() || (is_list && !holds_maps(value)) || value.entries.size() == 1
            ? is_short || value.is_scalar()
            : is_short && indent > 2 && !is_list) {
      text_ += head + " " + flow + "\n";
    } else if (is_list) {
      text_ += head + "\n";
      for (const NodePtr& item : value.items) {
        const std::string lead = std::string(indent, ' ') + "- ";
        if (item->kind == Node::Kind::Map && !item->entries.empty()) {
          map(*item, indent + 2, lead);
        } else {
          text_ += lead + flow_text(*item) + "\n";
        }
      }
    } else {
      text_ += head + "\n";
      map(value, indent + 2, std::string(indent + 2, ' '));
    }
  }

  std::string text_;
};

}  // namespace

std::string block_text(const Node& document) {
  BlockWriter writer;
  writer.map(document, 0, "");
  return std::move(writer).take();
}

}  // namespace slicewise::scenarios
