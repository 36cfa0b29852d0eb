#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "slicewise/scenarios/job_trace.hpp"

// What the two forms of a trace of jobs begin with.
namespace slicewise::scenarios {

// Lines before the header of a CSV file; all others that begin with # are remarks of the user.
inline constexpr std::string_view kOriginLine = "# origin_unix_s=";
inline constexpr std::string_view kSharingLine = "# run_under_sharing=true";

// As CSV files spell the states, in the order of JobState.
inline constexpr std::array<std::string_view, 7> kStateNames = {
    "Unknown", "Completed", "Failed", "Cancelled", "TimedOut", "Running", "Pending"};

// A binary file is a BinaryHeader, `columns` BinaryColumns, then the columns themselves, each at a
// multiple of 8 bytes. All numbers are little-endian.
inline constexpr std::array<char, 8> kBinaryMagic = {'S', 'L', 'C', 'W', 'J', 'O', 'B', 'S'};
inline constexpr std::uint32_t kBinaryVersion = 1;
inline constexpr std::size_t kColumnAlignment = 8;

struct BinaryHeader {
  std::array<char, 8> magic = kBinaryMagic;
  std::uint32_t version = kBinaryVersion;
  std::uint32_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t file_bytes = 0;
  std::int64_t origin_unix_s = 0;
  std::uint64_t flags = 0;
};
inline constexpr std::uint64_t kHasOrigin = 1;
inline constexpr std::uint64_t kRunUnderSharing = 2;

// int64 counts nanoseconds or bytes, uint32 is a number of a name.
enum class BinaryType : std::uint32_t { Int64 = 1, Int32 = 2, Uint32 = 3, Uint8 = 4, Uint64 = 5 };

struct BinaryColumn {
  std::array<char, 24> name{};  // the rest is zeros
  BinaryType type = BinaryType::Int64;
  std::uint32_t zero = 0;
  std::uint64_t offset = 0;  // from the start of the file
  std::uint64_t bytes = 0;
};

// Where each name ends in the text of all of them, in the order of their numbers, and that text.
inline constexpr std::string_view kNameEnds = "names.ends";
inline constexpr std::string_view kNameText = "names.text";

constexpr BinaryType binary_type(Duration /*tag*/) { return BinaryType::Int64; }
constexpr BinaryType binary_type(Bytes /*tag*/) { return BinaryType::Int64; }
constexpr BinaryType binary_type(std::int32_t /*tag*/) { return BinaryType::Int32; }
constexpr BinaryType binary_type(std::uint32_t /*tag*/) { return BinaryType::Uint32; }
constexpr BinaryType binary_type(JobState /*tag*/) { return BinaryType::Uint8; }

}  // namespace slicewise::scenarios
