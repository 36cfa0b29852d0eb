#pragma once

#include <string_view>

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

}  // namespace slicewise::scenarios
