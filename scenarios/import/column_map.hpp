#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// What a column of a table of jobs may be.
enum class JobField : std::uint8_t {
  Arrival,
  Run,
  Start,
  End,
  Gpus,
  GpuMilli,
  Cpu,
  Memory,
  GpuMemory,
  Wait,
  Limit,
  Deadline,
  GpuUse,
  SmActive,
  Priority,
  BackoffLimit,
  State,
  Id,
  User,
  Group,
  Project,
  GpuModels,
  Resource,
  Work,
  Gang,
  InstanceType,
  RanOn,
  Instances,
  Pods,
  Iteration,
  IterationHost,
  IterationGpu,
  IterationNetwork,
  Count,
};
inline constexpr std::size_t kJobFields = static_cast<std::size_t>(JobField::Count);

// As --columns calls them, in the order of JobField.
const std::vector<std::string_view>& job_field_names();

// What may stand behind a colon: "ms", "gib"; none where a field has no unit.
std::span<const std::string_view> units_of(JobField field);

// The columns of one field: "NAME|OTHER NAME", and the unit of their values.
struct MappedColumn {
  std::string names;  // "": none
  std::string unit;   // "ms", "percent", "gib"; "": the field's own
};

struct ColumnMap {
  std::array<MappedColumn, kJobFields> columns;

  const MappedColumn& operator[](JobField field) const {
    return columns[static_cast<std::size_t>(field)];
  }
};

// Reads "arrival=submit_time:ms,run=duration"; TRACE_COLUMN_MISSING and UNIT_UNKNOWN say what is
// wrong with it.
Expected<ColumnMap> parse_column_map(std::string_view text);

// A log whose columns are known.
struct ReadyMap {
  std::string_view name;
  std::string_view signature;  // columns by which its header is known, "a,b"
  std::string_view map;
  std::string_view header;  // of files without one
  std::string_view remark;  // what everybody who uses it should know
};

// By its name, nullptr when there is none.
const ReadyMap* find_ready_map(std::string_view name);
// All of them, those with the more particular signatures first.
std::span<const ReadyMap> ready_maps();

}  // namespace slicewise::scenarios
