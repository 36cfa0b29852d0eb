#include <algorithm>

#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "settings.hpp"
#include "variants.hpp"

namespace slicewise::scenarios {
namespace {

// As YAML writes it on one line; of a block only that it is one.
// NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
std::string value_text(const Node& value) {
  std::string text;
  switch (value.kind) {
    case Node::Kind::Null:
      return "null";
    case Node::Kind::Map:
      return "{}";
    case Node::Kind::List:
      for (const NodePtr& item : value.items) {
        text += (text.empty() ? "" : ", ") + value_text(*item);
      }
      return "[" + text + "]";
    default:
      text = value.text;
      std::ranges::replace(text, '\n', ' ');
      return text;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
bool holds_blocks(const Node& list) {
  return std::ranges::any_of(list.items, [](const NodePtr& item) {
    return item->kind == Node::Kind::Map || (item->kind == Node::Kind::List && holds_blocks(*item));
  });
}

// NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
void add_inputs(const Node& node, const std::string& path, bool is_named,
                std::vector<std::string>& inputs) {
  const std::string before = path.empty() ? "" : path + ".";
  if (node.kind == Node::Kind::Map && !node.entries.empty()) {
    for (const Entry& entry : node.entries) {
      if ((is_named && entry.key == "name") || entry.key == "description") continue;
      add_inputs(*entry.value, before + entry.key, false, inputs);
    }
  } else if (node.kind == Node::Kind::List && holds_blocks(node)) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const auto name = text_at(node.items[i].get(), "name");
      add_inputs(*node.items[i], name ? before + *name : fmt::format("{}[{}]", path, i),
                 name.has_value(), inputs);
    }
  } else {
    inputs.push_back(path + "=" + value_text(node));
  }
}

}  // namespace

std::vector<std::string> inputs_of(NodePtr spec, const std::vector<std::string>& set) {
  Findings reported_elsewhere;
  Settings(reported_elsewhere).apply(spec, set);
  std::vector<std::string> inputs;
  add_inputs(*spec, "", false, inputs);
  return inputs;
}

}  // namespace slicewise::scenarios
