#include "flow_text.hpp"

#include "scenario_draft.hpp"

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

// As deep as the document, which its reader limits.
std::string flow_text(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::Map:
      for (const Entry& entry : node.entries) {
        text += text.empty() ? "" : ", ";
        text += is_plain(entry.key) ? entry.key : in_quotes(entry.key);
        text += ": " + (entry.value == nullptr ? "null" : flow_text(*entry.value));
      }
      return "{" + text + "}";
    case Node::Kind::List:
      for (const NodePtr& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(*item);
      return "[" + text + "]";
    case Node::Kind::Text:
      return is_plain(node.text) ? node.text : in_quotes(node.text);
    case Node::Kind::Null:
      return "null";
    default:
      return node.text;
  }
}

const Node* node_below(const Node* node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (node == nullptr || node->kind != Node::Kind::Map) return nullptr;
    node = node->find(key);
  }
  return node;
}

std::string text_below(const Node* node, std::initializer_list<std::string_view> path) {
  const Node* found = node_below(node, path);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

}  // namespace slicewise::scenarios
