#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace slicewise::models {

// A value in a file of the catalogue. Every program reads some 15,000 of them when it starts: the
// members of an object stand in one block, in the file's order.
struct CatalogValue {
  enum class Kind : std::uint8_t { Null, Flag, Integer, Number, Text, List, Object };

  Kind kind = Kind::Null;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;  // of an integer, too
  std::string_view text{};
  std::string_view key{};               // its name in an object
  std::vector<CatalogValue> members{};  // of a list or an object

  const CatalogValue* find(std::string_view name) const;  // nullptr: no such member
};

struct CatalogDocument {
  CatalogValue root;              // Null where the text is no JSON
  std::deque<std::string> texts;  // keys, too; values are views of them
};

// The JSON of a file that ships. Its values must not outlive the document.
CatalogDocument read_json(std::string_view text);

// A user's JSON, which must outlive the value.
CatalogValue value_of(const nlohmann::json& json);

}  // namespace slicewise::models
