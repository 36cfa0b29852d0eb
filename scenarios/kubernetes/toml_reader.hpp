#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios::manifests {

// A key of a TOML file with a value that is no table.
struct TomlValue {
  enum class Kind : std::uint8_t { Text, Whole, Truth, Other };  // Other: lists, dates, floats
  std::vector<std::string> path;                                 // tables and dotted keys resolved
  Kind kind = Kind::Other;
  std::string text;  // without quotes, escapes as they are written
  SourceLocation where;
};

// All values in the order of the file (https://toml.io/en/v1.0.0). What is no TOML is reported as
// YAML_SYNTAX, line by line, and keys that come twice as FIELD_DUPLICATE: the readers of TOML
// refuse the whole file for either. Never throws on any bytes.
std::vector<TomlValue> read_toml(const SourceText& source, Diagnostics& found);

}  // namespace slicewise::scenarios::manifests
