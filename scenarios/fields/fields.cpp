#include "fields.hpp"

#include "check_scalar.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

}  // namespace

const Field* FieldList::find(std::string_view name) const {
  for (const Field& field : *this) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const Word* WordList::find(std::string_view text) const {
  for (const Word& word : *this) {
    if (word.text == text) return &word;
  }
  return nullptr;
}

std::string Field::written_example() const {
  return example.empty() ? "" : std::string(name) + ": " + std::string(example);
}

namespace {

constexpr std::string_view kOrSpread = ", {mean, distribution}, {p50, p95} or {p50, p99}";

std::string clock_text(T type) {
  switch (type) {
    case T::ClockTime:
      return "time of day (\"14:00\")";
    case T::ClockTimes:
      return "list of times of day (\"14:00\")";
    case T::UtcOffset:
      return "distance from UTC (\"+01:00\")";
    default:
      return "weekday and time of day (Mon 08:00)";
  }
}

}  // namespace

std::string type_text(const Field& field) {
  switch (field.type) {
    case T::Block:
      return "mapping";
    case T::Blocks:
      return "list of mappings";
    case T::BlocksByName:
      return "mapping of names to lists of mappings";
    case T::BlockByName:
      return "mapping of names to mappings";
    case T::Text:
      return "text";
    case T::Texts:
      return "list of texts";
    case T::Name:
      return "name (lower-case letters, digits and -)";
    case T::Word:
      return "one of: " + list_of(field.words);
    case T::Words:
      return "one or a list of: " + list_of(field.words);
    case T::Boolean:
      return "true or false";
    case T::Integer:
      return "whole number";
    case T::Range:
      return "whole number, or {min, max}";
    case T::Names:
      return "list of names";
    case T::Integers:
      return "list of whole numbers";
    case T::Number:
      return "number";
    case T::Bytes:
      return "quantity of bytes (8Gi, 3000Mi, 16G)";
    case T::Cpu:
      return "quantity of CPU (500m, 2)";
    case T::Quantity:
      return "Kubernetes quantity (4, 500m, 64Gi)";
    case T::Duration:
      return "duration (2ms, 1m30s, 24h)";
    case T::Durations:
      return "list of durations (2ms, 1m30s)";
    case T::FineDuration:
      return "duration, also below 1 ns (0.3673us)";
    case T::ClockTime:
    case T::ClockTimes:
    case T::UtcOffset:
    case T::WeekTime:
      return clock_text(field.type);
    case T::Target:
      return "number, rate (12/s) or percentage (70%)";
    case T::Percent:
      return "percentage (38%)";
    case T::Rate:
      return "rate (12/s, 0.5/h)";
    case T::Labels:
      return "mapping of text to text";
    case T::Devices:
      return "all, or list of whole numbers";
    case T::MigDevices:
      return "mapping of MIG profiles to whole numbers";
    case T::MemorySlices:
      return "list of sizes of GPU memory (10gb)";
    case T::Resources:
      return "mapping of resource names to quantities";
    case T::Environment:
      return "mapping of text to text, or list of {name, value}";
    case T::Random:
      return type_text(*field.children().find("mean")).append(kOrSpread);
    case T::Patch:
      return "part of spec";
    case T::Sweep:
      return "mapping of paths to lists of values";
    case T::Ignored:
      return "ignored by the device plugin, refused here";
    case T::Refused:
      return "not taken here";
  }
  return "";
}

}  // namespace slicewise::scenarios
