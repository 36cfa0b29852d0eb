#include "node_values.hpp"

#include <limits>

#include "check_scalar.hpp"

namespace slicewise::scenarios {
namespace {

const Node* scalar(const Node* parent, std::string_view key) {
  if (parent == nullptr) return nullptr;
  const Node* node = parent->find(key);
  return node != nullptr && node->is_scalar() ? node : nullptr;
}

template <class Value>
std::optional<Value> quantity(const Node* parent, std::string_view key,
                              Parsed<Value> (*parse)(std::string_view)) {
  const Node* node = scalar(parent, key);
  if (node == nullptr) return std::nullopt;
  const Parsed<Value> value = parse(node->text);
  return value ? std::optional(*value) : std::nullopt;
}

const Node* of_kind(const Node* parent, std::string_view key, Node::Kind kind) {
  if (parent == nullptr) return nullptr;
  const Node* node = parent->find(key);
  return node != nullptr && node->kind == kind ? node : nullptr;
}

}  // namespace

const Node* block(const Node* parent, std::string_view key) {
  return of_kind(parent, key, Node::Kind::Map);
}

const Node* blocks(const Node* parent, std::string_view key) {
  return of_kind(parent, key, Node::Kind::List);
}

bool is_set(const Node* parent, std::string_view key) {
  const Node* node = parent == nullptr ? nullptr : parent->find(key);
  return node != nullptr && node->kind != Node::Kind::Null;
}

std::optional<std::string> text_at(const Node* parent, std::string_view key) {
  const Node* node = scalar(parent, key);
  return node != nullptr && node->kind == Node::Kind::Text ? std::optional(node->text)
                                                           : std::nullopt;
}

std::optional<int> int_at(const Node* parent, std::string_view key) {
  const Node* node = scalar(parent, key);
  const auto value =
      node != nullptr && node->kind == Node::Kind::Integer ? to_integer(node->text) : std::nullopt;
  const bool fits = value && *value >= std::numeric_limits<int>::min() &&
                    *value <= std::numeric_limits<int>::max();
  return fits ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<double> number_at(const Node* parent, std::string_view key) {
  const Node* node = scalar(parent, key);
  const bool is_number =
      node != nullptr && (node->kind == Node::Kind::Integer || node->kind == Node::Kind::Float);
  return is_number ? to_number(node->text) : std::nullopt;
}

std::optional<bool> boolean_at(const Node* parent, std::string_view key) {
  const Node* node = scalar(parent, key);
  if (node == nullptr || node->kind != Node::Kind::Boolean) return std::nullopt;
  return node->text.starts_with('t') || node->text.starts_with('T');
}

std::optional<Bytes> bytes_at(const Node* parent, std::string_view key) {
  return quantity(parent, key, &parse_bytes);
}
std::optional<Millicores> cpu_at(const Node* parent, std::string_view key) {
  return quantity(parent, key, &parse_cpu);
}
std::optional<Duration> duration_at(const Node* parent, std::string_view key) {
  return quantity(parent, key, &parse_duration);
}
std::optional<Rate> rate_at(const Node* parent, std::string_view key) {
  return quantity(parent, key, &parse_rate);
}

SourceLocation key_place(const Node& parent, std::string_view key) {
  const Entry* entry = parent.entry(key);
  return entry == nullptr ? parent.where : entry->key_where;
}

SourceLocation value_place(const Node& parent, std::string_view key) {
  const Node* node = parent.find(key);
  return node == nullptr ? parent.where : node->where;
}

}  // namespace slicewise::scenarios
