#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "manifest_reader.hpp"

namespace slicewise::scenarios::manifests {
namespace {

constexpr std::size_t kLongestName = 80;  // shown of a user's word

// Blanks before the first line of a block of text, which starts after line `header`.
std::size_t indentation_of_block(std::string_view text, int header) {
  for (int line = 0; line < header; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return 0;
    text.remove_prefix(end + 1);
  }
  while (!text.empty()) {
    const std::size_t blanks = text.find_first_not_of(' ');
    if (blanks == std::string_view::npos) return 0;
    if (text[blanks] != '\n' && text[blanks] != '\r') return blanks;
    text.remove_prefix(std::min(text.find('\n', blanks), text.size() - 1) + 1);
  }
  return 0;
}

// Whether the text stands in quotes, where its own lines are not lines of the file.
bool is_in_quotes(const Context& context, const Node& text) {
  if (context.source == nullptr || context.source->name != text.where.file) return false;
  std::string_view rest = context.source->text;
  for (int line = 1; line < text.where.line; ++line) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (rest.empty()) return false;
  }
  const auto column = static_cast<std::size_t>(std::max(text.where.column, 1)) - 1;
  return column < rest.size() && (rest[column] == '"' || rest[column] == '\'');
}

// The same tree with one place for all that is in it.
NodePtr all_at(const Node& node,  // NOLINT(misc-no-recursion): the reader bounds the depth
               const SourceLocation& where) {
  auto copy = std::make_shared<Node>(node);
  copy->where = where;
  for (Entry& entry : copy->entries) {
    entry.key_where = where;
    if (entry.value != nullptr) entry.value = all_at(*entry.value, where);
  }
  for (NodePtr& item : copy->items) item = all_at(*item, where);
  return copy;
}

bool has_image(const Node& node) {  // NOLINT(misc-no-recursion): the reader bounds the depth
  const Node* containers = node.find("containers");
  if (is_list(containers)) {
    return std::ranges::any_of(containers->items, [](const NodePtr& container) {
      return is_map(container.get()) && container->entry("image") != nullptr;
    });
  }
  return std::ranges::any_of(std::array<std::string_view, 3>{"spec", "template", "jobTemplate"},
                             [&](std::string_view key) {
                               const Node* below = node.find(key);
                               return is_map(below) && has_image(*below);
                             });
}

}  // namespace

const Node* node_below(const Node* node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!is_map(node)) return nullptr;
    node = node->find(key);
  }
  return node;
}

std::string text_below(const Node* node, std::initializer_list<std::string_view> path) {
  const Node* found = node_below(node, path);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

bool is_map(const Node* node) { return node != nullptr && node->kind == Node::Kind::Map; }
bool is_list(const Node* node) { return node != nullptr && node->kind == Node::Kind::List; }

std::vector<const Node*> items_of(const Node* list) {
  std::vector<const Node*> items;
  if (is_list(list)) {
    for (const NodePtr& item : list->items) items.push_back(item.get());
  }
  return items;
}

std::span<const Entry> entries_of(const Node* mapping) {
  return is_map(mapping) ? std::span<const Entry>(mapping->entries) : std::span<const Entry>();
}

bool is_true(const Node* node) {
  if (node == nullptr) return false;
  if (node->kind != Node::Kind::Boolean) return old_truth(*node).value_or(false);
  return node->text.starts_with('t') || node->text.starts_with('T');
}

bool is_false(const Node* node) {
  const bool is_said =
      node != nullptr && (node->kind == Node::Kind::Boolean || old_truth(*node).has_value());
  return is_said && !is_true(node);
}

SourceLocation place_below(const Node& node, std::initializer_list<std::string_view> path) {
  const Node* found = node_below(&node, path);
  return found == nullptr ? node.where : found->where;
}

std::vector<Toleration> tolerations_in(const Node* list) {
  std::vector<Toleration> tolerations;
  for (const Node* item : items_of(list)) {
    tolerations.push_back({text_below(item, {"key"}), text_below(item, {"operator"}),
                           text_below(item, {"value"}), text_below(item, {"effect"})});
  }
  return tolerations;
}

Located<std::string> located_below(const Node* node, std::initializer_list<std::string_view> path) {
  const Node* found = node_below(node, path);
  if (found == nullptr || !found->is_scalar()) return {};
  return {found->text, found->where};
}

void report(Context& context, Diagnostic problem) {
  context.files.problems.push_back(std::move(problem));
}

void report(Context& context, Code code, const SourceLocation& where, std::string message,
            std::string help) {
  report(context, make_diagnostic(code, where, std::move(message), std::move(help)));
}

void warn(Context& context, Code code, const SourceLocation& where, std::string message,
          std::string help) {
  report(context, code, where, std::move(message), std::move(help));
  context.files.problems.back().severity = Severity::Warning;
}

void report_unreadable(Context& context, const Diagnostics& problems) {
  for (Diagnostics* list : {&context.files.unreadable, &context.files.problems}) {
    list->insert(list->end(), problems.begin(), problems.end());
  }
}

void check_keys(Context& context, const Node* mapping, std::span<const std::string_view> known,
                std::string_view who, bool similar_only) {
  for (const Entry& entry : entries_of(mapping)) {
    if (std::ranges::find(known, std::string_view(entry.key)) != known.end()) continue;
    const auto near = nearest_name(entry.key, known);
    if (similar_only && !near) continue;
    if (near && same_name(*near, entry.key)) {
      // Go's JSON reader ignores case, but not everywhere.
      warn(context, Code::FieldUnknown, entry.key_where, fmt::format("the key is called {}", *near),
           "another spelling is understood in some places only");
      continue;
    }
    report(context, Code::FieldUnknown, entry.key_where,
           fmt::format("\"{}\" is ignored: {} has no such key here",
                       entry.key.substr(0, kLongestName), who),
           near ? fmt::format("did you mean {}?", *near)
                : std::string("remove it, or move it to where it belongs"));
  }
}

std::optional<SourceText> embedded_text(Context& context, const Node& text) {
  if (text.kind != Node::Kind::Text || text.text.empty()) return std::nullopt;
  const auto line = static_cast<std::size_t>(std::max(text.where.line, 0));
  const bool is_block = text.text.find('\n') != std::string::npos;
  const std::size_t indent =
      is_block && context.source != nullptr && context.source->name == text.where.file
          ? indentation_of_block(context.source->text, text.where.line)
          : 0;
  const auto lines = static_cast<std::size_t>(std::ranges::count(text.text, '\n'));
  const std::size_t padding = line + indent * (lines + 1);
  if (padding > context.padding_left) return std::nullopt;
  context.padding_left -= padding;
  SourceText inner{text.where.file, std::string(line, '\n')};
  for (std::size_t at = 0; at < text.text.size();) {
    const std::size_t end = std::min(text.text.find('\n', at), text.text.size() - 1) + 1;
    inner.text.append(indent, ' ').append(text.text, at, end - at);
    at = end;
  }
  return inner;
}

NodePtr embedded_document(Context& context, const Node& text) {
  const bool is_quoted = is_in_quotes(context, text);
  const auto inner = is_quoted ? std::optional(SourceText{text.where.file, text.text})
                               : embedded_text(context, text);
  if (!inner || text.kind != Node::Kind::Text || text.text.empty()) return nullptr;
  Diagnostics found;
  NodePtr document = read_document(*inner, found, true);
  if (is_quoted) {
    for (Diagnostic& problem : found) problem.where = text.where;
    if (document != nullptr) document = all_at(*document, text.where);
  }
  report_unreadable(context, found);
  return document;
}

std::vector<KeyValue> pairs_of(const Node* mapping) {
  std::vector<KeyValue> pairs;
  for (const Entry& entry : entries_of(mapping)) {
    if (entry.value == nullptr || !entry.value->is_scalar()) continue;
    pairs.push_back({entry.key, entry.value->text, entry.key_where, entry.value->where});
  }
  return pairs;
}

std::vector<Taint> taints_of(const Node* list) {
  std::vector<Taint> taints;
  for (const Node* item : items_of(list)) {
    taints.push_back(
        {text_below(item, {"key"}), text_below(item, {"value"}), text_below(item, {"effect"})});
  }
  return taints;
}

std::vector<NodeRequirement> requirements_of(const Node* list) {
  std::vector<NodeRequirement> requirements;
  for (const Node* item : items_of(list)) {
    NodeRequirement& one = requirements.emplace_back(NodeRequirement{
        text_below(item, {"key"}), text_below(item, {"operator"}), {}, item->where});
    for (const Node* value : items_of(node_below(item, {"values"}))) {
      one.values.push_back(text_below(value, {}));
    }
  }
  return requirements;
}

std::vector<ResourceAmount> whole_amounts_of(const Node* mapping) {
  std::vector<ResourceAmount> amounts;
  for (const Entry& entry : entries_of(mapping)) {
    const auto amount =
        entry.value == nullptr ? std::nullopt : quantity_in_thousandths(entry.value->text);
    if (!amount || *amount % 1'000 != 0) continue;
    amounts.push_back({entry.key, *amount / 1'000, entry.value->where});
  }
  return amounts;
}

FieldList pool_fields(std::initializer_list<std::string_view> path) {
  FieldList fields = spec_field().children().find("nodePools")->children();
  for (const std::string_view name : path) fields = fields.find(name)->children();
  return fields;
}

std::vector<std::string_view> names_of(const FieldList& fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

bool is_patch(const Node& object, std::string_view kind) {
  const Node* spec = object.find("spec");
  if (!is_map(spec) || spec->entries.empty()) return false;
  const bool imageless = !has_image(object);
  if (kind == "Job" || kind == "CronJob") return imageless;
  const bool selects =
      kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet" || kind == "ReplicaSet";
  const bool labelled = node_below(spec, {"template", "metadata", "labels"}) != nullptr;
  return selects && spec->entry("selector") == nullptr && (imageless || !labelled);
}

}  // namespace slicewise::scenarios::manifests
