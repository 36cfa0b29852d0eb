#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "fields.hpp"

// The names of parts of a GPU, by their form only: whether a GPU has such a part, the catalogue
// knows.
namespace slicewise::scenarios {

// The same as regular expressions, for the JSON Schema.
inline constexpr const char* kMigProfilePattern =
    "^([1-9][0-9]*c\\.)?[1-9][0-9]*g\\.[1-9][0-9]*gb([+-][a-z]+([.,][a-z]+)*)?$";
inline constexpr const char* kMemorySlicePattern = "^[1-9][0-9]{0,5}gb$";

// A MIG profile as mig-parted writes it: 1g.5gb, 1g.5gb+me, 1c.3g.20gb.
bool is_mig_profile(std::string_view text);

// A slice as nos writes it: 10gb.
bool is_memory_slice(std::string_view text);

// Single values: what the table of fields allows, and their notations.

// Reports what is wrong with a single value: text, a name, a word, true or false, a number or
// a quantity. For what holds several of them (Words, Names, Integers, ClockTimes,
// Devices, MigDevices) `node` is one.
// `path` is what messages call the node ("workloads[1].replicas").
void check_scalar(const Field& field, const Node& node, const std::string& path,
                  Findings& findings);

// False, after reporting it, when `node` is not text.
bool must_be_text(const Node& node, const std::string& path, Findings& findings);

// Reports "`path` must be `expected`, not ...".
void report_type(const Node& node, const std::string& path, std::string_view expected,
                 Findings& findings, std::string help = {});

// The value as messages show it.
std::string shown(const Node& node);

// "a, b, c"
std::string list_of(const auto& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

// A whole number in the notations of YAML 1.2; nullopt when it does not fit 64 bits.
std::optional<std::int64_t> to_integer(std::string_view text);

// A finite decimal number in the notations of YAML 1.2.
std::optional<double> to_number(std::string_view text);

// A count of an extended resource: a whole number, quoted or not.
std::optional<std::int64_t> extended_count(const Node& node);

}  // namespace slicewise::scenarios
