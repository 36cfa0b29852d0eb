#include "record_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>

#include "slicewise/sim/result_record.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using sim::Field;
using sim::Record;
using sim::Shape;
using sim::Unit;
using sim::shapes::in;

using Counts = std::map<std::string, std::int64_t>;

// 3600 rather than 3600.0, in every format.
json whole_or_double(double value) {
  constexpr double kExactBelow = 9007199254740992.0;  // 2^53
  const bool whole = std::abs(value) < kExactBelow && value == std::trunc(value);
  return whole ? json(static_cast<std::int64_t>(value)) : json(value);
}

// Nine significant digits: far more than the model is worth, and the same text everywhere even
// where two compilers differ in the last bit of a sum. Not finite: absent.
json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  return whole_or_double(std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr));
}

json value_json(const Shape& shape, const Record* record, const void* value) {
  switch (shape.kind) {
    case Shape::Kind::Truth:
      return in<bool>(value);
    case Shape::Kind::Whole:
      if (shape.is_unsigned) return static_cast<std::uint64_t>(shape.whole(value));
      return shape.whole(value);
    case Shape::Kind::Size:
      return shape.whole(value);
    case Shape::Kind::Number:
      return number_json(in<double>(value));
    case Shape::Kind::Time:
      return number_json(to_seconds(Duration{shape.whole(value)}));
    case Shape::Kind::Money:
      // Every nano-dollar. A division, not to_dollars(): it rounds correctly, so that the decimal
      // comes out as it went in.
      return whole_or_double(static_cast<double>(shape.whole(value)) / 1e9);
    case Shape::Kind::Text:
    case Shape::Kind::Word:
      return shape.text(value);
    case Shape::Kind::Figure:
      return number_json(sim::in_its_unit(in<scenarios::FigureValue>(value)));
    case Shape::Kind::Counts:
      return in<Counts>(value);
    case Shape::Kind::Labels:
      return in<std::map<std::string, std::string>>(value);
    case Shape::Kind::List: {
      json list = json::array();
      for (std::size_t i = 0; i < shape.size(value); ++i) {
        list.push_back(value_json(*shape.item, record, shape.item_at(value, i)));
      }
      return list;
    }
    case Shape::Kind::Object:
      return record_json(*record, value);
  }
  return nullptr;
}

bool holds_objects(const Shape& shape) {
  return shape.kind == Shape::Kind::Object ||
         (shape.kind == Shape::Kind::List && holds_objects(*shape.item));
}

const Record* record_in(const Field& field) {
  return holds_objects(*field.shape) ? &field.inner() : nullptr;
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return words;
}

json number_schema(Unit unit) {
  json schema{{"type", "number"}};
  if (unit != Unit::Signed) schema["minimum"] = 0;
  if (unit == Unit::Ratio) schema["maximum"] = 1;
  return schema;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as lists of lists
json item_schema(const Field& field, const Shape& item) {
  if (item.kind == Shape::Kind::Object) return record_schema(field.inner());
  if (item.kind == Shape::Kind::List) {
    return {{"type", "array"}, {"items", item_schema(field, *item.item)}};
  }
  json schema{{"type", item.kind == Shape::Kind::Whole    ? "integer"
                       : item.kind == Shape::Kind::Number ? "number"
                                                          : "string"}};
  if (item.kind != Shape::Kind::Text && item.kind != Shape::Kind::Word) schema["minimum"] = 0;
  if (!field.items.empty()) schema["description"] = field.items;
  return schema;
}

json shape_schema(const Field& field) {
  const Shape& shape = *field.shape;
  switch (shape.kind) {
    case Shape::Kind::Truth:
      return field.is_optional ? json{{"const", true}} : json{{"type", "boolean"}};
    case Shape::Kind::Whole:
    case Shape::Kind::Size:
      return {{"type", "integer"}, {"minimum", 0}};
    case Shape::Kind::Number:
    case Shape::Kind::Time:
    case Shape::Kind::Money:
    case Shape::Kind::Figure:
      return number_schema(field.unit);
    case Shape::Kind::Text:
    case Shape::Kind::Word:
      if (!field.choices.empty()) return {{"enum", words_in(field.choices)}};
      if (shape.words != nullptr && !field.is_open) return {{"enum", shape.words()}};
      return {{"type", "string"}};
    case Shape::Kind::Counts:
      return {{"type", "object"},
              {"additionalProperties",
               {{"type", "integer"}, {"minimum", 0}, {"description", field.items}}}};
    case Shape::Kind::Labels:
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case Shape::Kind::List:
      return {{"type", "array"}, {"items", item_schema(field, *field.shape->item)}};
    case Shape::Kind::Object:
      return record_schema(field.inner());
  }
  return {};
}

json field_schema(const Field& field) {
  json schema = field.constant.empty() ? shape_schema(field) : json{{"const", field.constant}};
  if (!field.meaning.empty()) schema["description"] = field.meaning;
  return schema;
}

}  // namespace

json record_json(const Record& record, const void* object) {
  json out = json::object();
  for (const Field& field : record.fields) {
    if (field.key.empty()) continue;
    const std::string key(field.key);
    if (!field.constant.empty()) {
      out[key] = field.constant;
      continue;
    }
    std::any made;
    const void* const value = field.shown(object, made);
    if (value == nullptr) continue;
    // What is not finite is absent, too.
    json written = value_json(*field.shape, record_in(field), value);
    if (!written.is_null()) out[key] = std::move(written);
  }
  return out;
}

json record_schema(const Record& record) {
  json schema{{"type", "object"}, {"additionalProperties", false}};
  json& properties = schema["properties"] = json::object();
  json& required = schema["required"] = json::array();
  for (const Field& field : record.fields) {
    if (field.key.empty()) continue;
    properties[std::string(field.key)] = field_schema(field);
    if (!may_be_absent(field)) required.push_back(field.key);
  }
  schema["description"] = record.meaning;
  return schema;
}

std::string pointer_of(std::span<const Field* const> way, const Field& field) {
  std::string pointer;
  for (const Field* step : way) pointer += "/" + std::string(step->key);
  return pointer + "/" + std::string(field.key);
}

json document_schema(const Record& record, std::string_view title) {
  json schema = record_schema(record);
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  return schema;
}

}  // namespace slicewise::reports
