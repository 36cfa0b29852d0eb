#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slicewise::scenarios {

// What `slicewise explain spec.nodePools.devicePlugin` prints about one field.
struct FieldDoc {
  std::string path;  // "spec.nodePools.instanceType"
  std::string type;  // "quantity", "one of: a, b", "list of nodePool"
  bool required = false;
  std::string default_value;  // "" = none
  std::string description;
  std::string example;
  std::vector<std::string> children;  // names of the fields below, "" when a leaf
};

// The field at a dotted path, with or without the leading "spec."; list positions may be left out
// or given ("spec.nodePools[0].name"). nullopt when there is none.
std::optional<FieldDoc> describe_field(std::string_view path);

// The known paths nearest to a wrong one, best first, at most three.
std::vector<std::string> similar_fields(std::string_view path);

// The JSON Schema (draft-07) of scenario files. Loader, schema and `explain` come from the same
// table of fields.
std::string scenario_schema_json();

}  // namespace slicewise::scenarios
