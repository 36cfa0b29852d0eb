#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "slicewise/codes.hpp"

// The one table of the fields of a scenario file. The checks, the JSON Schema and `explain` are all
// read from it, so they cannot disagree. A new field is one entry in fields*.{hpp,cpp} and its
// reading in read_*.cpp.
namespace slicewise::scenarios {

enum class FieldType : std::uint8_t {
  Block,         // a mapping with `children`
  Blocks,        // a list of such mappings
  BlocksByName,  // a mapping of free names to such lists
  BlockByName,   // a mapping of free names to mappings with `children`
  Text,          // of at least `least` characters
  Texts,         // a list of texts, at least one
  Name,          // a DNS-1123 label
  Names,         // a list of them
  Word,          // one of `words`
  Words,         // one of `words` or a list of them
  Boolean,
  Integer,       // `least` .. `most`
  Integers,      // a list of them
  Range,         // an Integer, or {min, max}
  Number,        // a decimal, `least` .. `most`
  Bytes,         // 8Gi
  Cpu,           // 500m, 2
  Duration,      // 1m30s
  FineDuration,  // the same, also of less than 1 ns: 0.3673us
  ClockTime,     // 14:00
  ClockTimes,    // a list of them, at least one
  UtcOffset,     // +01:00
  WeekTime,      // Mon 08:00
  Percent,       // 38%; more than zero when `least` is
  Rate,          // 12/s; more than zero when `least` is
  Target,        // a number, a rate or a percentage, by the metric beside it
  Labels,        // a mapping of text to text
  Devices,       // all, or a list of indexes of GPUs
  MigDevices,    // a mapping of MIG profiles to counts
  MemorySlices,  // a list of sizes as nos writes them, 10gb
  Resources,     // requests or limits of a pod
  Environment,   // a mapping, or Kubernetes' list of {name, value}
  Random,        // as the child `mean`, or {mean, distribution}, {p50, p95} or {p50, p99}
  Patch,         // part of `spec`, any field optional, null removes
  Sweep,         // a mapping of paths to lists of values
  Ignored,       // the device plugin reads it and does nothing with it
  Refused,       // part of a format that is pasted here, but without a meaning here
};

struct Field;

// The fields of a block. Points into the table.
struct FieldList {
  const Field* first = nullptr;
  std::size_t count = 0;

  const Field* begin() const { return first; }
  const Field* end() const;
  const Field* find(std::string_view name) const;  // nullptr when absent
};

struct WordList {
  const std::string_view* first = nullptr;
  std::size_t count = 0;

  constexpr const std::string_view* begin() const { return first; }
  constexpr const std::string_view* end() const { return first + count; }
};

struct Field {
  std::string_view name;
  FieldType type = FieldType::Text;
  bool required = false;
  bool nullable = false;
  std::string_view default_value = {};  // as written in a file, "" = none
  std::string_view description = {};
  std::string_view example = {};
  FieldList children = {};
  WordList words = {};
  std::int64_t least = 0;
  std::int64_t most = 2'147'483'647;
  Code below = Code::ValueRange;        // when an Integer is less than `least`
  Code wrong_word = Code::EnumUnknown;  // when a Word is none of `words`

  // False for the keys that are only in the table to say why they are not taken.
  constexpr bool is_taken() const {
    return type != FieldType::Ignored && type != FieldType::Refused;
  }
};

inline const Field* FieldList::end() const { return first + count; }

namespace table {

template <std::size_t N>
constexpr FieldList list(const Field (&fields)[N]) {
  return {fields, N};
}

template <std::size_t N>
constexpr WordList list(const std::string_view (&words)[N]) {
  return {words, N};
}

}  // namespace table

// The file as a whole: a Block with apiVersion, kind, metadata and spec.
const Field& scenario_field();

// The field `spec`.
const Field& spec_field();

// "quantity", "one of: a, b", "list of mappings": for people.
std::string type_text(const Field& field);

}  // namespace slicewise::scenarios
