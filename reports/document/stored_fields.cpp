#include "stored_fields.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace slicewise::reports {
namespace {

using nlohmann::json;

using sim::Field;
using sim::Record;
using sim::Shape;

// Beyond these a document was not written by slicewise: 31 years, a billion dollars.
constexpr double kMostSeconds = 1e9;
constexpr double kMostDollars = 1e9;
constexpr double kMostCount = 9e15;

bool is_finite_number(const json& stored) {
  return stored.is_number() && std::isfinite(stored.get<double>());
}

bool read_whole(const Shape& shape, const json& stored, void* into) {
  return stored.is_number_integer() && stored.get<double>() >= 0 &&
         stored.get<double>() <= kMostCount && shape.set_whole(into, stored.get<std::int64_t>());
}

bool read_within(double most, const json& stored, double& value) {
  if (!is_finite_number(stored)) return false;
  value = stored.get<double>();
  return std::abs(value) <= most;
}

// In the unit that stands beside it.
bool read_figure(const json& stored, const json& beside, scenarios::FigureValue& into) {
  const std::string unit = beside.value("unit", std::string());
  double value = 0;
  if (!read_within(unit == "seconds" ? kMostSeconds : HUGE_VAL, stored, value)) return false;
  if (unit == "seconds") into = from_seconds(value);
  if (unit == "ratio") into = scenarios::Share{value};
  if (unit == "perSecond") into = Rate{value};
  if (unit == "number") into = value;
  return unit == "seconds" || unit == "ratio" || unit == "perSecond" || unit == "number";
}

}  // namespace

void StoredFields::add_odd(std::string_view key) {
  odd_.push_back({Code::FieldMissing, fmt::format("{}/{}", at_, key),
                  fmt::format("\"{}\" is absent or not what it should be", key)});
}

void StoredFields::add_odd_value(const Field& field, const json& stored) {
  const std::string pointer = fmt::format("{}/{}", at_, field.key);
  if (stored.is_number()) {
    odd_.push_back({Code::ValueRange, pointer, fmt::format("{} is out of range", field.key)});
  } else if (stored.is_string() && field.shape->words != nullptr) {
    odd_.push_back({Code::EnumUnknown, pointer,
                    fmt::format("there is no {} \"{}\": {}", field.key, stored.get<std::string>(),
                                fmt::join(field.shape->words(), ", "))});
  } else {
    add_odd(field.key);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
void StoredFields::read(const Record& record, const json& stored, void* into) {
  for (const Field& field : record.fields) {
    if (!field.key.empty() && field.constant.empty()) read_field(field, stored, into);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
void StoredFields::read_field(const Field& field, const json& stored, void* into) {
  const auto at = stored.is_object() ? stored.find(field.key) : stored.end();
  if (at == stored.end()) {
    if (!may_be_absent(field)) {
      add_odd(field.key);
      odd_.back().is_absent = true;
    }
    return;
  }
  // Words that are unknown here are left out where there may be others.
  const Shape& shape = *field.shape;
  const bool is_open = shape.kind == Shape::Kind::Word && shape.words == nullptr;
  if (is_open && at->is_string() && !shape.is_word(at->get_ref<const std::string&>())) return;
  void* const room = field.room(into);
  if (room == nullptr) return;
  const bool nests = shape.kind == Shape::Kind::Object || shape.kind == Shape::Kind::List;
  const std::size_t around = at_.size();
  if (nests) at_ += fmt::format("/{}", field.key);
  const bool is_right = read_value(field, shape, *at, stored, room);
  at_.resize(around);
  if (!is_right) add_odd_value(field, *at);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
bool StoredFields::read_value(const Field& field, const Shape& shape, const json& stored,
                              const json& beside, void* into) {
  double value = 0;
  switch (shape.kind) {
    case Shape::Kind::Truth:
      if (stored.is_boolean()) *static_cast<bool*>(into) = stored.get<bool>();
      return stored.is_boolean();
    case Shape::Kind::Whole:
    case Shape::Kind::Size:
      return read_whole(shape, stored, into);
    case Shape::Kind::Number:
      return read_within(HUGE_VAL, stored, *static_cast<double*>(into));
    case Shape::Kind::Time:
      if (!read_within(kMostSeconds, stored, value)) return false;
      return shape.set_whole(into, from_seconds(value).ns);
    case Shape::Kind::Money:
      if (!read_within(kMostDollars, stored, value)) return false;
      return shape.set_whole(into, from_dollars(value).nano);
    case Shape::Kind::Text:
    case Shape::Kind::Word:
      return stored.is_string() && shape.set_text(into, stored.get_ref<const std::string&>());
    case Shape::Kind::Figure:
      return read_figure(stored, beside, *static_cast<scenarios::FigureValue*>(into));
    case Shape::Kind::Counts:
      if (!stored.is_object()) return false;
      for (const auto& [name, count] : stored.items()) {
        if (!count.is_number_integer()) return false;
        (*static_cast<std::map<std::string, std::int64_t>*>(into))[name] =
            count.get<std::int64_t>();
      }
      return true;
    case Shape::Kind::Labels:
      if (!stored.is_object()) return false;
      for (const auto& [name, text] : stored.items()) {
        if (!text.is_string()) return false;
        (*static_cast<std::map<std::string, std::string>*>(into))[name] = text.get<std::string>();
      }
      return true;
    case Shape::Kind::List:
      if (!stored.is_array()) return false;
      for (std::size_t i = 0; i < stored.size(); ++i) {
        const std::size_t around = at_.size();
        at_ += fmt::format("/{}", i);
        if (!read_value(field, *shape.item, stored[i], beside, shape.append(into))) return false;
        at_.resize(around);
      }
      return true;
    case Shape::Kind::Object:
      if (stored.is_object()) read(field.inner(), stored, into);
      return stored.is_object();
  }
  return false;
}

void read_stored(const Record& record, StoredDocument& document, const std::string& pointer,
                 void* into, Absent absent) {
  StoredFields fields;
  const json::json_pointer at(pointer);
  const json nothing = json::object();
  fields.read(record, document.root().contains(at) ? document.root().at(at) : nothing, into);
  for (const StoredFields::Odd& odd : fields.odd()) {
    if (odd.code == Code::EnumUnknown) continue;  // a newer slicewise may know the word
    if (odd.is_absent && absent == Absent::Older) continue;
    document.report(odd.code, pointer + odd.pointer, odd.message);
  }
}

}  // namespace slicewise::reports
