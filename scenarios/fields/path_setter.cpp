#include "path_setter.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "node_values.hpp"

namespace slicewise::scenarios {
namespace {

// "gpu.nodes" or "gpu[0]" begins with the name "gpu"; "gpus" does not.
bool begins_with_name(std::string_view rest, std::string_view name) {
  if (!rest.starts_with(name) || name.empty()) return false;
  return rest.size() == name.size() || rest[name.size()] == '.' || rest[name.size()] == '[';
}

std::string_view after(std::string_view rest, std::size_t length) {
  rest.remove_prefix(std::min(length, rest.size()));
  if (rest.starts_with('.')) rest.remove_prefix(1);
  return rest;
}

std::string_view first_name(std::string_view rest) {
  return rest.substr(0, rest.find_first_of(".["));
}

struct Position {
  std::size_t index;
  std::size_t length;  // of "[3]"
};

std::optional<Position> read_position(std::string_view rest) {
  const std::size_t close = rest.find(']');
  if (!rest.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + close, index);
  if (error != std::errc{} || stop != rest.data() + close) return std::nullopt;
  return Position{index, close + 1};
}

// Stages of a pipeline are called by their workload.
std::vector<std::string> names_of(const Node& list) {
  std::vector<std::string> names;
  for (const NodePtr& item : list.items) {
    const auto name = text_at(item.get(), "name");
    names.push_back(name ? *name : text_at(item.get(), "workload").value_or(""));
  }
  return names;
}

// The longest key of `map` that `rest` begins with: names may have dots in them. "" when there is
// none.
std::string_view longest_key(const Node* map, std::string_view rest) {
  std::string_view longest;
  if (map == nullptr) return longest;
  for (const Entry& entry : map->entries) {
    if (begins_with_name(rest, entry.key) && entry.key.size() > longest.size()) {
      longest = rest.substr(0, entry.key.size());
    }
  }
  return longest;
}

// Of a list that is not there, the name is all up to a position.
std::string_view name_of_list(const Node* lists, std::string_view rest) {
  const std::string_view known = longest_key(lists, rest);
  return known.empty() ? rest.substr(0, rest.find('[')) : known;
}

// Of a block that is not there, the name is all up to one of its fields.
std::string_view name_of_block(const Node* blocks, std::string_view rest, const Field& field) {
  const std::string_view known = longest_key(blocks, rest);
  if (!known.empty()) return known;
  const std::size_t dot = rest.rfind('.');
  const bool ends_in_field =
      dot != std::string_view::npos && field.children().find(rest.substr(dot + 1)) != nullptr;
  return ends_in_field ? rest.substr(0, dot) : rest;
}

bool is_free_map(const Field& field) {
  return field.type == FieldType::Labels || field.type == FieldType::Resources ||
         field.type == FieldType::Environment || field.type == FieldType::MigDevices;
}

}  // namespace

PathSetter::PathSetter(std::string path, SourceLocation where, Findings& findings)
    : path_(std::move(path)), where_(std::move(where)), findings_(findings) {}

PathSetter::Outcome PathSetter::set(NodePtr& spec, const NodePtr& value, Parents parents) {
  value_ = value;
  parents_ = parents;
  outcome_ = Outcome::Done;
  reached_text_ = false;
  steps_.clear();
  std::string_view rest = path_;
  if (rest.starts_with("spec.")) rest.remove_prefix(5);
  for (const std::string_view reserved : {"variants", "sweep"}) {
    if (!begins_with_name(rest, reserved)) continue;
    unknown("", rest, {});
    return outcome_;
  }
  const NodePtr changed = set_in(spec.get(), spec_field(), rest, "spec");
  if (outcome_ == Outcome::Done) spec = changed;
  return outcome_;
}

// Returns what `node` becomes; nullptr removes it or, unless outcome_ is Done, means nothing.
// NOLINTNEXTLINE(misc-no-recursion): one level per name of the path
NodePtr PathSetter::set_in(const Node* node, const Field& field, std::string_view rest,
                           std::string_view done) {
  if (rest.empty()) {
    reached_text_ = field.type == FieldType::Text;
    return value_->kind == Node::Kind::Null ? nullptr : value_;
  }
  if (node != nullptr && node->kind == Node::Kind::Null) node = nullptr;
  const bool list = node != nullptr && node->kind == Node::Kind::List;
  const bool may_be_list = field.type == FieldType::Blocks || field.type == FieldType::Environment;
  if (may_be_list && (list || field.type == FieldType::Blocks)) {
    return set_in_list(node, field, rest, done);
  }
  if (field.children().count > 0 || is_free_map(field)) return set_in_map(node, field, rest, done);
  return unknown(done, rest, {});
}

// NOLINTNEXTLINE(misc-no-recursion): one level per name of the path
NodePtr PathSetter::set_in_map(const Node* node, const Field& field, std::string_view rest,
                               std::string_view done) {
  if (node == nullptr && parents_ == Parents::MustExist) outcome_ = Outcome::Absent;
  if (node != nullptr && node->kind != Node::Kind::Map) return absent();
  if (is_free_map(field)) {
    static constexpr Field kText{.name = "value", .type = FieldType::Text};
    static constexpr Field kQuantity{.name = "value", .type = FieldType::Cpu};
    last_name_ = rest;
    steps_.emplace_back(rest);
    const bool text = field.type == FieldType::Labels || field.type == FieldType::Environment;
    return with_entry(node, rest, text ? kText : kQuantity, "", done);
  }
  if (field.type == FieldType::BlocksByName || field.type == FieldType::BlockByName) {
    const bool lists = field.type == FieldType::BlocksByName;
    Field below = field;
    below.type = lists ? FieldType::Blocks : FieldType::Block;
    const std::string_view name =
        lists ? name_of_list(node, rest) : name_of_block(node, rest, field);
    last_name_ = name;
    steps_.emplace_back(name);
    return with_entry(node, name, below, after(rest, name.size()), name);
  }
  const std::string_view name = first_name(rest);
  const Field* child = field.children().find(name);
  if (child == nullptr || !child->is_taken()) {
    std::vector<std::string> known;
    for (const Field& candidate : field.children()) {
      if (candidate.is_taken()) known.emplace_back(candidate.name);
    }
    return unknown(done, rest, known);
  }
  last_name_ = name;
  steps_.emplace_back(name);
  return with_entry(node, name, *child, after(rest, name.size()), name);
}

// NOLINTNEXTLINE(misc-no-recursion): one level per name of the path
NodePtr PathSetter::with_entry(const Node* node, std::string_view key, const Field& field,
                               std::string_view rest, std::string_view done) {
  auto result = node == nullptr ? std::make_shared<Node>() : std::make_shared<Node>(*node);
  if (node == nullptr) {
    result->kind = Node::Kind::Map;
    result->where = where_;
  }
  const NodePtr changed = set_in(result->find(key), field, rest, done);
  const auto at =
      std::ranges::find_if(result->entries, [&](const Entry& entry) { return entry.key == key; });
  if (changed == nullptr) {
    if (at != result->entries.end()) result->entries.erase(at);
  } else if (at != result->entries.end()) {
    at->value = changed;
  } else {
    result->entries.push_back({std::string(key), where_, changed});
  }
  return result;
}

// NOLINTNEXTLINE(misc-no-recursion): one level per name of the path
NodePtr PathSetter::set_in_list(const Node* node, const Field& field, std::string_view rest,
                                std::string_view done) {
  if (node == nullptr || node->kind != Node::Kind::List) {
    steps_.emplace_back(rest);
    return absent();
  }
  std::size_t index = node->items.size();
  std::size_t length = 0;
  const std::vector<std::string> names = names_of(*node);
  if (const auto position = read_position(rest)) {
    index = position->index;
    length = position->length;
  } else {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (begins_with_name(rest, names[i]) && names[i].size() > length) {
        index = i;
        length = names[i].size();
      }
    }
  }
  if (index >= node->items.size()) return unknown(done, rest, names);
  last_name_ = names[index];
  steps_.push_back(std::to_string(index));
  static constexpr Field kItem{.name = "item", .type = FieldType::Block};
  Field item = kItem;
  item.block = field.block;
  std::string_view below = after(rest, length);
  if (below.empty() && field.type == FieldType::Environment && value_->is_scalar() &&
      value_->kind != Node::Kind::Null) {
    below = "value";  // env.NAME=value in either notation of env
  }
  const NodePtr changed = set_in(node->items[index].get(), item, below, names[index]);
  auto result = std::make_shared<Node>(*node);
  if (changed != nullptr) {
    result->items[index] = changed;
  } else {
    result->items.erase(result->items.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return result;
}

NodePtr PathSetter::unknown(std::string_view done, std::string_view rest,
                            const std::vector<std::string>& known) {
  outcome_ = Outcome::Unknown;
  const std::string_view wrong = rest.starts_with('[') ? rest : first_name(rest);
  const auto nearest = nearest_name(wrong, known);
  std::string message =
      done.empty() ? fmt::format("\"{}\" cannot be changed by a path", path_)
                   : fmt::format("\"{}\" leads nowhere: {} has no \"{}\"", path_, done, wrong);
  if (nearest) message += fmt::format("; did you mean \"{}\"?", *nearest);
  std::string help;
  if (!nearest && !known.empty()) help = fmt::format("known here: {}", fmt::join(known, ", "));
  findings_.add(Code::PathUnknown, where_, std::move(message), std::move(help));
  return nullptr;
}

NodePtr PathSetter::absent() {
  if (outcome_ == Outcome::Done) outcome_ = Outcome::Absent;
  return nullptr;
}

}  // namespace slicewise::scenarios
