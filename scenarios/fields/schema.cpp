#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/scenarios/load.hpp"

#include "check_scalar.hpp"
#include "fields.hpp"

namespace slicewise::scenarios {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDecimal = "[0-9]+(\\.[0-9]+)?";

constexpr const char* kNamePattern = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
constexpr std::string_view kClock = "([01][0-9]|2[0-3]):[0-5][0-9]";

Json text_matching(std::string pattern) {
  return {{"type", "string"}, {"pattern", std::move(pattern)}};
}

Json any_of(Json first, Json second) {
  return {{"anyOf", Json::array({std::move(first), std::move(second)})}};
}

// A value that is more than zero has a digit from 1 to 9.
constexpr std::string_view kNonZero = "(?=.*[1-9])";

Json bytes_schema() {
  const std::string pattern = "^([0-9]+(\\.[0-9]+)?(k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)|0+(\\.0+)?)$";
  return any_of(text_matching(pattern), {{"type", "integer"}, {"const", 0}});
}

Json cpu_schema() {
  return any_of(text_matching("^([0-9]+m|[0-9]+(\\.[0-9]{1,3})?)$"),
                {{"type", "number"}, {"minimum", 0}});
}

Json quantity_schema() {
  return any_of(text_matching("^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|[eE][0-9]+)?$"),
                {{"type", "number"}, {"minimum", 0}});
}

Json duration_schema(bool positive) {
  Json text = text_matching(
      fmt::format("^{}(0|({}(ns|us|ms|s|m|h|d))+)$", positive ? kNonZero : "", kDecimal));
  if (positive) return text;
  return any_of(std::move(text), {{"type", "integer"}, {"const", 0}});
}

Json seconds_schema(bool positive) {
  Json text = text_matching(
      fmt::format("^{}(0|{}(ns|us|ms|s|m|h|d))$", positive ? kNonZero : "", kDecimal));
  if (positive) return text;
  return any_of(std::move(text), {{"type", "integer"}, {"const", 0}});
}

Json target_schema(const Field& field) {
  return any_of({{"type", "number"}, {"minimum", field.least}, {"maximum", field.most}},
                text_matching(fmt::format(
                    "^({0}/(s|m|h|d)|(100(\\.0+)?|[0-9]{{1,2}}(\\.[0-9]+)?)%)$", kDecimal)));
}

Json words_schema(const WordList& words) {
  Json list = Json::array();
  for (const std::string_view word : words) list.push_back(word);
  return {{"type", "string"}, {"enum", std::move(list)}};
}

Json labels_schema(bool partial) {
  Json value = {{"type", partial ? Json::array({"string", "null"}) : Json("string")}};
  return {{"type", "object"}, {"additionalProperties", std::move(value)}};
}

Json or_null(Json schema, bool nullable) {
  return nullable ? any_of(std::move(schema), {{"type", "null"}}) : schema;
}

Json resources_schema(bool partial) {
  Json extended = any_of({{"type", "integer"}, {"minimum", 0}}, text_matching("^[0-9]+$"));
  return {{"type", "object"},
          {"properties",
           {{"cpu", or_null(cpu_schema(), partial)}, {"memory", or_null(bytes_schema(), partial)}}},
          {"patternProperties", {{"/", or_null(std::move(extended), partial)}}},
          {"additionalProperties", false}};
}

Json field_schema(const Field& field, bool partial);

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
Json object_schema(FieldList fields, bool partial) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& field : fields) {
    if (!field.is_taken()) continue;
    properties[std::string(field.name)] = field_schema(field, partial);
    if (field.required && !partial) required.push_back(field.name);
  }
  Json schema = {{"type", "object"}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  schema["properties"] = std::move(properties);
  return schema;
}

// As the child `mean`, or a mapping with a mean or with two percentiles.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
Json random_schema(const Field& field, bool partial) {
  const auto leaf = [&](std::string_view name) {
    Json schema = field_schema(*field.children().find(name), false);
    return schema;
  };
  Json plain = leaf("mean");
  plain.erase("description");
  if (partial) return any_of(std::move(plain), object_schema(field.children(), true));
  const auto with = [&](std::initializer_list<std::string_view> required,
                        std::string_view optional) {
    Json schema = {{"type", "object"}, {"required", required}, {"additionalProperties", false}};
    for (const std::string_view name : required) {
      schema["properties"][std::string(name)] = leaf(name);
    }
    for (const std::string_view name :
         {optional, std::string_view("least"), std::string_view("most")}) {
      if (field.children().find(name) != nullptr)
        schema["properties"][std::string(name)] = leaf(name);
    }
    return schema;
  };
  return {{"anyOf", Json::array({std::move(plain), with({"mean"}, "distribution"),
                                 with({"p50", "p99"}, {}), with({"p50", "p95"}, {})})}};
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
Json list_schema(const Field& field, Json items, bool partial) {
  Json schema = {{"type", "array"}, {"items", std::move(items)}};
  if (field.least > 0 && !partial) schema["minItems"] = field.least;
  return schema;
}

Json integer_schema(const Field& field) {
  return {{"type", "integer"}, {"minimum", field.least}, {"maximum", field.most}};
}

Json text_schema(const Field& field) {
  Json schema = {{"type", "string"}};
  if (field.least > 0) schema["minLength"] = field.least;
  return schema;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
Json by_name_schema(const Field& field, bool partial) {
  Json list = list_schema(field, object_schema(field.children(), partial), partial);
  Json schema = {{"type", "object"}, {"additionalProperties", or_null(std::move(list), partial)}};
  if (field.least > 0 && !partial) schema["minProperties"] = field.least;
  return schema;
}

Json devices_schema(const Field& field) {
  return any_of({{"type", "string"}, {"enum", Json::array({"all"})}},
                {{"type", "array"}, {"items", integer_schema(field)}, {"minItems", 1}});
}

Json mig_devices_schema(const Field& field, bool partial) {
  return {{"type", "object"},
          {"patternProperties", {{kMigProfilePattern, or_null(integer_schema(field), partial)}}},
          {"additionalProperties", false}};
}

Json one_or_more(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}};
}

Json clock_schema(FieldType type) {
  if (type == FieldType::UtcOffset) return text_matching("^[-+](0[0-9]|1[0-4]):[0-5][0-9]$");
  if (type == FieldType::WeekTime)
    return text_matching(fmt::format("^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) {}$", kClock));
  Json time = text_matching(fmt::format("^{}$", kClock));
  return type == FieldType::ClockTimes ? one_or_more(std::move(time)) : time;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
Json amount_schema(FieldType type) {
  if (type == FieldType::Bytes) return bytes_schema();
  return type == FieldType::Cpu ? cpu_schema() : quantity_schema();
}

Json value_schema(const Field& field, bool partial) {
  switch (field.type) {
    case FieldType::Block:
      return object_schema(field.children(), partial);
    case FieldType::Blocks:
      return list_schema(field, object_schema(field.children(), partial), partial);
    case FieldType::BlocksByName:
      return by_name_schema(field, partial);
    case FieldType::BlockByName:
      return {{"type", "object"},
              {"additionalProperties", or_null(object_schema(field.children(), partial), partial)}};
    case FieldType::Text:
      return text_schema(field);
    case FieldType::Texts:
      return one_or_more({{"type", "string"}});
    case FieldType::Name:
      return text_matching(kNamePattern);
    case FieldType::Names:
      return {{"type", "array"}, {"items", text_matching(kNamePattern)}};
    case FieldType::Word:
      return words_schema(field.words);
    case FieldType::Words:
      return any_of(words_schema(field.words), one_or_more(words_schema(field.words)));
    case FieldType::Boolean:
      return {{"type", "boolean"}};
    case FieldType::Integer:
      return integer_schema(field);
    case FieldType::Integers:
      return {{"type", "array"}, {"items", integer_schema(field)}};
    case FieldType::Range:
      return any_of(integer_schema(field), object_schema(field.children(), partial));
    case FieldType::Number:
      return {{"type", "number"}, {"minimum", field.least}, {"maximum", field.most}};
    case FieldType::Devices:
      return devices_schema(field);
    case FieldType::MigDevices:
      return mig_devices_schema(field, partial);
    case FieldType::MemorySlices:
      return one_or_more(text_matching(kMemorySlicePattern));
    case FieldType::Bytes:
    case FieldType::Cpu:
    case FieldType::Quantity:
      return amount_schema(field.type);
    case FieldType::Duration:
      return duration_schema(field.least > 0);
    case FieldType::Durations:
      return {{"type", "array"}, {"items", duration_schema(field.least > 0)}};
    case FieldType::FineDuration:
      return seconds_schema(field.least > 0);
    case FieldType::ClockTime:
    case FieldType::ClockTimes:
    case FieldType::UtcOffset:
    case FieldType::WeekTime:
      return clock_schema(field.type);
    case FieldType::Target:
      return target_schema(field);
    case FieldType::Percent:
      return text_matching(fmt::format("^{}(100(\\.0+)?|[0-9]{{1,2}}(\\.[0-9]+)?)%$",
                                       field.least > 0 ? kNonZero : ""));
    case FieldType::Rate:
      return text_matching(
          fmt::format("^{}{}/(s|m|h|d)$", field.least > 0 ? kNonZero : "", kDecimal));
    case FieldType::Labels:
      return labels_schema(partial);
    case FieldType::Resources:
      return resources_schema(partial);
    case FieldType::Environment:
      return any_of(labels_schema(partial),
                    list_schema(field, object_schema(field.children(), partial), partial));
    case FieldType::Random:
      return random_schema(field, partial);
    case FieldType::Patch:
      return {{"$ref", "#/definitions/patch"}};
    case FieldType::Sweep:
      return {{"type", "object"}, {"additionalProperties", {{"type", "array"}, {"minItems", 1}}}};
    case FieldType::Ignored:
    case FieldType::Refused:
      break;
  }
  return false;
}

// As JSON writes what a file would say.
Json default_value(const Field& field, const std::string& text) {
  switch (field.type) {
    case FieldType::Boolean:
    case FieldType::Integer:
    case FieldType::Range:
    case FieldType::Number:
      return Json::parse(text);
    default:
      return text;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
Json field_schema(const Field& field, bool partial) {
  std::string description(field.description);
  // What a patch leaves out is as it was.
  const std::string standard = partial ? "" : field.default_text();
  const bool in_words = !field.other_default.empty();
  if (!standard.empty() && in_words) description += fmt::format(" Without it: {}.", standard);
  if (!field.example.empty()) description += fmt::format(" Example: `{}`", field.written_example());
  Json schema = {{"description", std::move(description)}};
  // draft-07 ignores what stands beside a $ref.
  if (field.type == FieldType::Patch) {
    schema["anyOf"] = Json::array({value_schema(field, partial)});
  } else {
    schema.update(or_null(value_schema(field, partial), partial || field.nullable));
  }
  if (!standard.empty() && !in_words) schema["default"] = default_value(field, standard);
  return schema;
}

Json patch_schema() {
  Json schema = object_schema(spec_field().children(), true);
  schema["properties"].erase("variants");
  schema["properties"].erase("sweep");
  return schema;
}

}  // namespace

std::string scenario_schema_json() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"$id", "https://slicewise.dev/schema/scenario.v1alpha1.json"},
                 {"title", "slicewise scenario"}};
  schema.update(field_schema(scenario_field(), false));
  schema["definitions"] = {{"patch", patch_schema()}};
  return schema.dump(2) + "\n";
}

}  // namespace slicewise::scenarios
