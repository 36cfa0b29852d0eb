#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

#include "document.hpp"

namespace slicewise::scenarios {

// A value of a JSON text that was found to be valid: a view, read when it is asked. Logs of many
// megabytes need no tree beside them.
class JsonValue {
 public:
  enum class Kind { Missing, Null, Boolean, Number, Text, Object, Array };

  JsonValue() = default;
  // REQUIRES: a valid value of `text` starts at `offset`.
  JsonValue(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

  Kind kind() const;
  bool is_object() const { return kind() == Kind::Object; }
  bool is_array() const { return kind() == Kind::Array; }
  // Neither absent nor null.
  bool has_value() const { return kind() != Kind::Missing && kind() != Kind::Null; }

  // The member `key`, the first when there are several; Missing on anything but an object.
  JsonValue operator[](std::string_view key) const;

  // A Text with its escapes resolved, a Number or Boolean as it stands; "" otherwise.
  std::string scalar() const;
  // The same without a copy, escapes as they stand.
  std::string_view raw_scalar() const;
  bool is_true() const { return raw_scalar() == "true" && kind() == Kind::Boolean; }

  std::size_t offset() const { return offset_; }
  std::string_view source() const { return text_; }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
};

// Goes through the members of an object or the items of an array; nothing to go through otherwise.
class JsonCursor {
 public:
  explicit JsonCursor(JsonValue container);

  bool next();
  const std::string& key() const { return key_; }  // of a member; "" of an item
  std::size_t key_offset() const { return key_offset_; }
  JsonValue value() const { return {text_, value_}; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;  // behind the bracket or the last value
  std::size_t value_ = 0;
  bool is_object_ = false;
  bool at_end_ = true;
  std::string key_;
  std::size_t key_offset_ = 0;
};

// The values of a text, one after the other: as a rule one, several when files were joined.
// TRACE_FORMAT with the place when it is not JSON. The values are views into `source.text`.
Expected<std::vector<JsonValue>> read_json(const SourceText& source);

// Where values stand in their text. Asked in the order of the text, all answers together cost one
// look at it.
class JsonPlaces {
 public:
  explicit JsonPlaces(const SourceText& source) : source_(source) {}

  SourceLocation of(JsonValue value) { return at(value.offset()); }
  SourceLocation at(std::size_t offset);

 private:
  const SourceText& source_;
  std::size_t offset_ = 0;
  int line_ = 1;
  int column_ = 1;
};

// The value and all below it, for readers of documents. The nesting of valid JSON is bounded.
NodePtr tree_of(JsonValue value, JsonPlaces& places);

}  // namespace slicewise::scenarios
