#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/job_trace.hpp"

#include "../text/scalars.hpp"
#include "job_trace.hpp"

// Traces of jobs in the binary form. Of what is read nothing is believed.
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

namespace {

static_assert(std::endian::native == std::endian::little, "columns are read as they lie");

class JobTraceMapper {
 public:
  JobTraceMapper(const std::string& name, std::string_view bytes,
                 std::shared_ptr<const void> backing)
      : name_(name), bytes_(bytes), backing_(std::move(backing)) {}

  Expected<JobTrace> read() {
    if (read_header() && read_directory() && read_names() && read_columns() && check_names() &&
        check_order()) {
      trace_.backing = std::move(backing_);
      return std::move(trace_);
    }
    return failure(Code::TraceFormat, {.file = name_, .line = 0},
                   "the binary trace \"" + name_ + "\" is damaged: " + problem_,
                   "write it anew with slicewise import -o binary");
  }

 private:
  bool damaged(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool read_header() {
    if (bytes_.size() < sizeof(header_)) return damaged("it is cut short");
    std::memcpy(&header_, bytes_.data(), sizeof(header_));
    if (header_.version != kBinaryVersion) {
      return damaged(fmt::format("it is of version {}, this slicewise reads version {}",
                                 header_.version, kBinaryVersion));
    }
    if (header_.file_bytes != bytes_.size()) {
      return damaged(fmt::format("it has {} bytes of {}", bytes_.size(), header_.file_bytes));
    }
    if ((header_.flags & ~(kHasOrigin | kRunUnderSharing)) != 0) return damaged("unknown flags");
    if ((header_.flags & kHasOrigin) != 0) trace_.origin_unix_s = header_.origin_unix_s;
    trace_.run_under_sharing = (header_.flags & kRunUnderSharing) != 0;
    return true;
  }

  bool read_directory() {
    const std::size_t room = bytes_.size() - sizeof(header_);
    if (header_.columns > room / sizeof(BinaryColumn)) return damaged("its directory is cut short");
    for (std::uint32_t i = 0; i < header_.columns; ++i) {
      BinaryColumn entry;
      std::memcpy(&entry, bytes_.data() + sizeof(header_) + i * sizeof(entry), sizeof(entry));
      const std::string_view raw(entry.name.data(), entry.name.size());
      const std::string name(raw.substr(0, raw.find('\0')));
      const bool inside = entry.offset % kColumnAlignment == 0 && entry.offset <= bytes_.size() &&
                          entry.bytes <= bytes_.size() - entry.offset;
      if (!inside) return damaged(fmt::format("column {} lies outside the file", i + 1));
      if (!entries_.emplace(name, entry).second) {
        return damaged(fmt::format("column {} is there twice", i + 1));
      }
    }
    return true;
  }

  // The column as it lies in the file, removed from the directory; nullptr when it is not there.
  const BinaryColumn* take(std::string_view name) {
    const auto found = entries_.find(std::string(name));
    if (found == entries_.end()) return nullptr;
    taken_ = found->second;
    entries_.erase(found);
    return &taken_;
  }

  bool read_names() {
    const BinaryColumn* ends = take(kNameEnds);
    if (ends == nullptr || ends->type != BinaryType::Uint64 || ends->bytes == 0 ||
        ends->bytes % sizeof(std::uint64_t) != 0) {
      return damaged("it has no names");
    }
    const std::string_view numbers = bytes_.substr(ends->offset, ends->bytes);
    const BinaryColumn* content = take(kNameText);
    if (content == nullptr || content->type != BinaryType::Uint8) return damaged("it has no names");
    const std::string_view text = bytes_.substr(content->offset, content->bytes);
    trace_.names.clear();
    std::uint64_t begin = 0;
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t end = 0;
      std::memcpy(&end, numbers.data() + at, sizeof(end));
      if (end < begin || end > text.size()) return damaged("a name lies outside the others");
      const std::string_view name = text.substr(begin, end - begin);
      if (std::ranges::any_of(name, is_control)) {
        return damaged("a name has control characters");
      }
      trace_.names.emplace_back(name);
      begin = end;
    }
    if (!trace_.names.front().empty()) return damaged("the first name is not the empty one");
    return true;
  }

  bool read_columns() {
    bool fine = true;
    visit_columns(trace_, [&](const ColumnRules& rules, auto& column) {
      fine = fine && read_column(rules, column);
    });
    if (!fine) return false;
    return entries_.empty() ||
           damaged("it has a column that this slicewise does not know: " + printable());
  }

  std::string printable() const {
    std::string name = entries_.begin()->first;
    std::replace_if(name.begin(), name.end(), is_control, '?');
    return name;
  }

  template <class T>
  bool read_column(const ColumnRules& rules, TraceColumn<T>& column) {
    const BinaryColumn* entry = take(rules.name);
    if (entry == nullptr) {
      return !rules.must_exist || damaged(fmt::format("it has no column {}", rules.name));
    }
    const bool fits = entry->type == binary_type(T{}) && entry->bytes % sizeof(T) == 0 &&
                      entry->bytes / sizeof(T) == header_.rows;
    if (!fits) return damaged(fmt::format("{} has not a value for every job", rules.name));
    const char* const data = bytes_.data() + entry->offset;
    const bool can_view =
        backing_ != nullptr && reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
    if constexpr (std::is_same_v<T, JobState>) {
      // Only checked bytes may become an enum.
      for (std::size_t i = 0; i < header_.rows; ++i) {
        if (!is_allowed(rules, static_cast<unsigned char>(data[i]))) return wrong(rules, i);
      }
    }
    if (can_view) {
      column.mapped = {reinterpret_cast<const T*>(data), static_cast<std::size_t>(header_.rows)};
    } else {
      column.owned.resize(static_cast<std::size_t>(header_.rows));
      if (entry->bytes > 0) std::memcpy(column.owned.data(), data, entry->bytes);
    }
    if constexpr (!std::is_same_v<T, std::uint32_t> && !std::is_same_v<T, JobState>) {
      const auto values = column.values();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_allowed(rules, plain(values[i]))) return wrong(rules, i);
      }
    }
    return true;
  }

  bool wrong(const ColumnRules& rules, std::size_t row) {
    return damaged(fmt::format("{} of job {} is not from {} to {}", rules.name, row + 1,
                               rules.least, rules.most));
  }

  bool check_names() {
    bool fine = true;
    visit_columns(trace_, [&](const ColumnRules& rules, const auto& column) {
      using Value = std::remove_cvref_t<decltype(column[0])>;
      if constexpr (std::is_same_v<Value, std::uint32_t>) {
        for (const std::uint32_t number : column.values()) {
          if (number >= trace_.names.size()) {
            fine = damaged(fmt::format("{} has a name that does not exist", rules.name));
            return;
          }
        }
      }
    });
    return fine;
  }

  bool check_order() {
    const auto arrival = trace_.arrival.values();
    for (std::size_t i = 1; i < arrival.size(); ++i) {
      if (arrival[i] < arrival[i - 1]) {
        return damaged(fmt::format("job {} arrives before job {}", i + 1, i));
      }
    }
    return true;
  }

  const std::string& name_;
  std::string_view bytes_;
  std::shared_ptr<const void> backing_;
  BinaryHeader header_;
  std::map<std::string, BinaryColumn> entries_;
  BinaryColumn taken_;
  JobTrace trace_;
  std::string problem_;
};

}  // namespace

Expected<JobTrace> map_job_trace(const std::string& name, std::string_view bytes,
                                 std::shared_ptr<const void> backing) {
  return JobTraceMapper(name, bytes, std::move(backing)).read();
}

}  // namespace slicewise::scenarios
