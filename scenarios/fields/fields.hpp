#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "slicewise/choice.hpp"
#include "slicewise/codes.hpp"
#include "slicewise/longest_duration.hpp"

// What a field of a file is: its name, its form, what is allowed, what it means, and the member
// that it fills. The blocks in blocks/ are lists of them; the checks, the reader, the JSON Schema,
// `explain` and --set all work on those lists, so they cannot disagree. bind.hpp makes them.
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
  Bytes,         // 8Gi; `least` .. kMostMemory
  Cpu,           // 500m, 2
  Quantity,      // of whatever resource: 4, 500m, 64Gi
  Duration,      // 1m30s
  Durations,     // a list of them
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

struct Binding;  // bind.hpp
struct Entry;
struct Field;
struct Node;
struct Reading;

// The fields of a block, and the struct that they fill. Points into a table.
struct FieldList {
  const Field* first = nullptr;
  std::size_t count = 0;
  const void* owner = nullptr;  // tag of the struct; nullptr: read by hand, or carried
  // Rules and values that span several fields, once they are read. `map` is the block in the file.
  void (*finish)(void* owner, const Node& map, Reading& reading) = nullptr;

  const Field* begin() const { return first; }
  const Field* end() const;
  const Field* find(std::string_view name) const;  // nullptr when absent
};

// A word of a file and what it stands for.
struct Word {
  std::string_view text;
  std::int64_t value = 0;

  constexpr Word() = default;
  // NOLINTBEGIN(google-explicit-constructor): a table of words is a list of texts
  constexpr Word(const char* word) : text(word) {}
  constexpr operator std::string_view() const { return text; }
  // NOLINTEND(google-explicit-constructor)
  template <class Value>
  constexpr Word(std::string_view word, Value meaning)
      : text(word), value(static_cast<std::int64_t>(meaning)) {}
};

template <class Value, std::size_t kCount>
constexpr std::array<Word, kCount> words_of(const std::array<Choice<Value>, kCount>& choices) {
  std::array<Word, kCount> words;
  for (std::size_t w = 0; w < kCount; ++w) words[w] = {choices[w].word, choices[w].value};
  return words;
}

struct WordList {
  const Word* first = nullptr;
  std::size_t count = 0;

  constexpr const Word* begin() const { return first; }
  constexpr const Word* end() const { return first + count; }
  const Word* find(std::string_view text) const;  // nullptr when absent
};

// 64 TiB, of a Bytes: more than any machine has, and as many pods as a run may hold times it is a
// count.
inline constexpr slicewise::Bytes kMostMemory = gibibytes(65'536);

struct Field {
  std::string_view name;
  FieldType type = FieldType::Text;
  std::string_view example = {};  // of the value
  std::string_view description = {};
  std::string_view other_default = {};
  bool required = false;
  bool nullable = false;
  bool has_default = true;
  bool each_once = false;  // of a list: a value that stands twice is reported
  const FieldList* block = nullptr;
  WordList words = {};
  std::int64_t least = 0;
  std::int64_t most = 2'147'483'647;
  slicewise::Duration longest = kLongestDuration;  // of a Duration
  Code below = Code::ValueRange;                   // when an Integer is less than `least`
  Code wrong_word = Code::EnumUnknown;             // when a Word is none of `words`
  const Binding* binding = nullptr;                // nullptr: `set`, or read by hand
  // In place of a binding, where a value means more than one member.
  void (*set)(void* owner, const Field& field, const Entry& entry, Reading& reading) = nullptr;

  // False for the keys that are only in the table to say why they are not taken.
  constexpr bool is_taken() const {
    return type != FieldType::Ignored && type != FieldType::Refused;
  }
  FieldList children() const { return block == nullptr ? FieldList{} : *block; }
  // "count: 20"
  std::string written_example() const;
  // What holds without it, as a file would say it; "" = nothing.
  std::string default_text() const;

  // What a declaration says beyond the member, name, example and description.
  template <class Value>
  constexpr Field with(Value Field::*member, std::type_identity_t<Value> value) const {
    Field field = *this;
    field.*member = value;
    return field;
  }
  constexpr Field as(FieldType form) const { return with(&Field::type, form); }
  constexpr Field needed() const { return with(&Field::required, true); }
  // A rule of its block asks for it, or refuses it: no default is ever in force.
  constexpr Field needed_by_rule() const { return with(&Field::has_default, false); }
  constexpr Field each_value_once() const { return with(&Field::each_once, true); }
  constexpr Field or_null() const { return with(&Field::nullable, true); }
  // The default where it is not the member's: it depends on other things, or another program has
  // it.
  constexpr Field otherwise(std::string_view text) const {
    return with(&Field::other_default, text);
  }
  constexpr Field from(std::int64_t smallest, Code otherwise_reported = Code::ValueRange) const {
    return between(smallest, most).with(&Field::below, otherwise_reported);
  }
  constexpr Field up_to(std::int64_t largest) const { return with(&Field::most, largest); }
  constexpr Field positive() const { return from(1); }
  constexpr Field between(std::int64_t smallest, std::int64_t largest) const {
    return with(&Field::least, smallest).with(&Field::most, largest);
  }
  constexpr Field within(slicewise::Duration most_time) const {
    return with(&Field::longest, most_time);
  }
  constexpr Field one_of(WordList choice) const {
    return with(&Field::type, type == FieldType::Words ? type : FieldType::Word)
        .with(&Field::words, choice);
  }
  template <std::size_t N>
  constexpr Field one_of(const std::array<Word, N>& choice) const {
    return one_of(WordList{choice.data(), N});
  }
  template <std::size_t N>
  constexpr Field one_of(const Word (&choice)[N],
                         Code otherwise_reported = Code::EnumUnknown) const {
    return one_of(WordList{choice, N}).with(&Field::wrong_word, otherwise_reported);
  }
  constexpr Field of(const FieldList& fields) const { return with(&Field::block, &fields); }
};

inline const Field* FieldList::end() const { return first + count; }

template <std::size_t N>
constexpr WordList list(const Word (&words)[N]) {
  return {words, N};
}

// The file as a whole: a Block with apiVersion, kind, metadata and spec.
const Field& scenario_field();

// The field `spec`.
const Field& spec_field();

// "spec.nodePools[0].name" -> {spec, nodePools, name}.
std::vector<std::string> split_path(std::string_view path);

// "quantity", "one of: a, b", "list of mappings": for people.
std::string type_text(const Field& field);

}  // namespace slicewise::scenarios
