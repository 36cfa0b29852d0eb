#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// The parts of the JSON Schemas (draft-07) of documents that nobody reads back: findings and
// differences. Those of results and studies come from their declarations (record_json.hpp).
namespace slicewise::reports::json_schema {

using nlohmann::json;

struct Property {
  const char* name;
  json schema;
  bool required = true;
};

inline constexpr bool kOptional = false;

inline json described(json schema, std::string_view description) {
  schema["description"] = description;
  return schema;
}

inline json text(std::string_view description) {
  return described({{"type", "string"}}, description);
}

inline json truth(std::string_view description) {
  return described({{"type", "boolean"}}, description);
}

inline json whole(std::string_view description) {
  return described({{"type", "integer"}, {"minimum", 0}}, description);
}

inline json one_of(const std::vector<std::string>& values, std::string_view description) {
  return described({{"enum", values}}, description);
}

inline json list_of(json items, std::string_view description) {
  return described({{"type", "array"}, {"items", std::move(items)}}, description);
}

inline json object(const std::vector<Property>& properties, std::string_view description) {
  json schema{{"type", "object"}, {"additionalProperties", false}};
  schema["properties"] = json::object();
  schema["required"] = json::array();
  for (const Property& property : properties) {
    schema["properties"][property.name] = property.schema;
    if (property.required) schema["required"].push_back(property.name);
  }
  return described(std::move(schema), description);
}

}  // namespace slicewise::reports::json_schema
