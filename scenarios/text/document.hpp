#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

// A YAML or JSON document in which every key and value knows its place in the file.
namespace slicewise::scenarios {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Entry {
  std::string key;
  SourceLocation key_where;
  NodePtr value;
};

// Immutable once read: variants of a scenario share the nodes they do not change, and a node that
// a patch brings in keeps the place of the patch.
struct Node {
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Float, Text, Map, List };

  Kind kind = Kind::Null;
  bool quoted = false;
  bool refused = false;  // of a scalar: reported by the reader, so that its value is not judged
  std::string text;      // of a scalar, escapes resolved
  std::string written;   // "1e3" where YAML 1.1 reads 1000, else ""
  SourceLocation where;
  std::vector<Entry> entries;  // of a Map, in file order
  std::vector<NodePtr> items;  // of a List
  std::size_t weight = 1;      // nodes at and below this one, aliases expanded

  bool is_scalar() const { return kind != Kind::Map && kind != Kind::List; }
  const Entry* entry(std::string_view key) const;  // nullptr when absent
  const Node* find(std::string_view key) const;    // nullptr when absent
};

// "true", "06:00", 1.5 ... by the core schema of YAML 1.2, where `on`, `yes` and dates are text.
Node::Kind core_schema_kind(std::string_view plain_scalar);

// What YAML 1.1, and so kubectl, takes a plain word for that is text in YAML 1.2: `on` is true;
// nullopt where both read the same.
std::optional<bool> old_truth(const Node& node);

// What `kind` is called in messages: "a mapping", "a list", "a number" ...
std::string_view kind_name(Node::Kind kind);

// Both merge `<<: *base`. Reads one document, with numbers as YAML 1.1 has them where that is said;
// an empty file is a Null node. Duplicate keys are reported in `found` and the
// first one wins; what is not one YAML 1.2 document is reported and the answer is nullptr. Never
// throws on any bytes.
NodePtr read_document(const SourceText& source, Diagnostics& found, bool is_yaml_1_1 = false);

// The same for a file of several documents, as manifests come: numbers are kubectl's there, as
// 0755, which is octal. Documents that are empty are left out. Nothing when one of them is not
// YAML 1.2.
std::vector<NodePtr> read_documents(const SourceText& source, Diagnostics& found);

}  // namespace slicewise::scenarios
