#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/scenarios/job_trace.hpp"

#include "job_trace_columns.hpp"
#include "job_trace_header.hpp"

// Writing a trace of jobs in the binary form.
namespace slicewise::scenarios {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are written as they lie");

struct Part {
  BinaryColumn entry;
  const void* data = nullptr;
};

Part part_of(std::string_view name, BinaryType type, const void* data, std::size_t bytes) {
  Part part;
  name.copy(part.entry.name.data(), part.entry.name.size() - 1);
  part.entry.type = type;
  part.entry.bytes = bytes;
  part.data = data;
  return part;
}

template <class T>
void append_bytes(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::size_t aligned(std::size_t offset) {
  return (offset + kColumnAlignment - 1) / kColumnAlignment * kColumnAlignment;
}

}  // namespace

std::string job_trace_binary(const JobTrace& trace) {
  std::vector<Part> parts;
  visit_columns(trace, [&](const ColumnRules& rules, const auto& column) {
    if (column.empty() && !rules.must_exist) return;
    const auto values = column.values();
    using Value = std::remove_cv_t<typename decltype(values)::element_type>;
    parts.push_back(
        part_of(rules.name, binary_type(Value{}), values.data(), values.size() * sizeof(Value)));
  });
  std::vector<std::uint64_t> ends;
  std::string names;
  for (const std::string& name : trace.names) {
    names += name;
    ends.push_back(names.size());
  }
  parts.push_back(
      part_of(kNameEnds, BinaryType::Uint64, ends.data(), ends.size() * sizeof(ends[0])));
  parts.push_back(part_of(kNameText, BinaryType::Uint8, names.data(), names.size()));

  BinaryHeader header;
  header.columns = static_cast<std::uint32_t>(parts.size());
  header.rows = trace.size();
  header.origin_unix_s = trace.origin_unix_s.value_or(0);
  header.flags =
      (trace.origin_unix_s ? kHasOrigin : 0) | (trace.run_under_sharing ? kRunUnderSharing : 0);
  std::size_t at = sizeof(BinaryHeader) + parts.size() * sizeof(BinaryColumn);
  for (Part& part : parts) {
    part.entry.offset = at;
    at = aligned(at + part.entry.bytes);
  }
  header.file_bytes = at;

  std::string text;
  text.reserve(at);
  append_bytes(text, header);
  for (const Part& part : parts) append_bytes(text, part.entry);
  for (const Part& part : parts) {
    if (part.entry.bytes > 0) text.append(static_cast<const char*>(part.data), part.entry.bytes);
    text.resize(aligned(text.size()), '\0');
  }
  return text;
}

}  // namespace slicewise::scenarios
