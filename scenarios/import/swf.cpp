#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/csv_lines.hpp"

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "job_rows.hpp"

// Standard Workload Format 2.2 (Chapin et al., 1999): 18 numbers a job, -1 where one is not known.
namespace slicewise::scenarios {
namespace {

namespace swf {
enum Position : std::size_t {
  Job,
  Submit,
  Wait,
  Run,
  Procs,
  CpuTime,
  UsedMemory,
  AskedProcs,
  AskedTime,
  AskedMemory,
  Status,
  User,
  Group,
  Executable,
  Queue,
  Partition,
  Preceding,
  Think,
  Fields,
};
}  // namespace swf

constexpr std::array<std::string_view, swf::Fields> kNames = {
    "job number",     "submit time",      "wait time",   "run time",
    "processors",     "CPU time",         "used memory", "requested processors",
    "requested time", "requested memory", "status",      "user",
    "group",          "executable",       "queue",       "partition",
    "preceding job",  "think time"};

using PartitionGpus = std::map<std::int64_t, std::int64_t>;

// "1=1,2=0": GPUs of a processor.
std::optional<PartitionGpus> parse_partitions(std::string_view text) {
  constexpr std::int64_t kMostGpus = 1'024;
  PartitionGpus gpus;
  for (const std::string_view entry : parts_of(text, ',')) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const auto partition = whole_of(entry.substr(0, equals));
    const auto count = whole_of(entry.substr(std::min(equals + 1, entry.size())));
    if (!partition || !count || *count < 0 || *count > kMostGpus) return std::nullopt;
    gpus[*partition] = *count;
  }
  return gpus;
}

class SwfReader {
 public:
  SwfReader(const SourceText& file, const PartitionGpus& partitions, ImportReport& report,
            JobRows& rows, std::optional<std::int64_t>& start)
      : partitions_(partitions),
        report_(report),
        rows_(rows),
        start_(start),
        lines_(file, {.separator = ' ', .quotes = false}) {}

  void read() {
    while (lines_.next()) {
      if (lines_.text().find(';') == lines_.text().find_first_not_of(" \t")) {
        read_header(lines_.text());
        continue;
      }
      report_.read();
      read_row();
    }
  }

 private:
  void read_header(std::string_view line) {
    constexpr std::string_view kStart = "UnixStartTime:";
    constexpr std::string_view kZone = "TimeZoneString:";
    const std::size_t at = line.find(kStart);
    if (at != std::string_view::npos) {
      std::string_view value = line.substr(at + kStart.size());
      while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
      const auto seconds = whole_of(value.substr(0, value.find_first_of(" \t")));
      if (seconds && *seconds > 0 && *seconds < 9'000'000'000) start_ = *seconds;
    }
    if (line.find(kZone) != std::string_view::npos) {
      report_.note(fmt::format("the log says {}", line.substr(line.find(kZone))), lines_.place());
    }
  }

  bool bad(std::size_t field, const std::string& what) {
    report_.bad_row(
        lines_.place(field),
        fmt::format("{}: \"{}\" {}", kNames[field], lines_.value(field).substr(0, 40), what), {},
        fmt::format("{} {}", kNames[field], what));
    return false;
  }

  bool read_row() {
    if (lines_.size() != swf::Fields) {
      report_.bad_row(lines_.place(),
                      fmt::format("{} values, a line of SWF has {}", lines_.size(), 18));
      return false;
    }
    for (std::size_t field = 0; field < swf::Fields; ++field) {
      // Times may have decimals; everything is at least -1.
      const auto value = scaled_of(lines_.value(field), 9);
      if (!value || (*value < 0 && *value != -1'000'000'000)) {
        return bad(field, "is no number from 0 on, or -1");
      }
      values_[field] = *value < 0 ? -1 : *value;
    }
    if (values_[swf::Submit] < 0) return bad(swf::Submit, "is no time");
    JobRow row;
    for (const auto& [field, target] :
         {std::pair(swf::Wait, &row.observed_wait), std::pair(swf::Run, &row.run),
          std::pair(swf::AskedTime, &row.time_limit)}) {
      if (values_[field] > kLongestInTrace) return bad(field, "is longer than 126 years");
      *target = Duration{values_[field]};
    }
    row.arrival.ns = values_[swf::Submit];
    if (!read_processors(row) || !read_memory(row)) return false;
    read_status(row);
    const auto name = [this](std::size_t field) {
      return values_[field] < 0 ? std::string_view() : lines_.value(field);
    };
    row.id = name(swf::Job);
    row.user = name(swf::User);
    row.group = name(swf::Partition).empty() ? name(swf::Queue) : name(swf::Partition);
    row.project = name(swf::Group);
    row.work = name(swf::Executable);
    rows_.add(row, [this] { return lines_.place(); });
    return true;
  }

  bool read_processors(JobRow& row) {
    const std::size_t field = values_[swf::Procs] >= 0 ? swf::Procs : swf::AskedProcs;
    if (values_[field] < 0) {
      report_.guessed("jobs without a number of processors: taken as 1",
                      [this] { return lines_.place(); });
    }
    const std::int64_t processors = values_[field] < 0 ? 1 : values_[field] / 1'000'000'000;
    std::int64_t each = 1;
    if (!partitions_.empty()) {
      const std::int64_t number =
          values_[swf::Partition] < 0 ? -1 : values_[swf::Partition] / 1'000'000'000;
      const auto found = partitions_.find(number);
      each = found == partitions_.end() ? 0 : found->second;
      if (found == partitions_.end()) {
        report_.guessed("jobs in partitions that --partitions does not name: no GPUs",
                        [this] { return lines_.place(swf::Partition); });
      }
    }
    if (processors > kMostGpusOfJob / std::max<std::int64_t>(each, 1)) {
      return bad(field, "is more than a million GPUs");
    }
    row.gpus = static_cast<std::int32_t>(processors * each);
    return true;
  }

  bool read_memory(JobRow& row) {
    const std::size_t field = values_[swf::AskedMemory] >= 0 ? swf::AskedMemory : swf::UsedMemory;
    if (values_[field] < 0) return true;
    const std::int64_t kibibytes = values_[field] / 1'000'000'000;  // of each processor
    const std::int64_t processors = std::max<std::int64_t>(
        1, std::max(values_[swf::Procs], values_[swf::AskedProcs]) / 1'000'000'000);
    const Int128 bytes = static_cast<Int128>(kibibytes) * processors * 1'024;
    if (bytes > (1LL << 60U)) return bad(field, "is more memory than there is");
    row.memory = Bytes{static_cast<std::int64_t>(bytes)};
    return true;
  }

  void read_status(JobRow& row) {
    const std::int64_t status =
        values_[swf::Status] < 0 ? -1 : values_[swf::Status] / 1'000'000'000;
    if (status == 0) row.state = JobState::Failed;
    if (status == 1) row.state = JobState::Completed;
    if (status == 5) row.state = JobState::Cancelled;
    if (status >= 2 && status <= 4) {
      report_.noted("rows of status 2, 3 or 4: parts of a checkpointed job, kept as jobs",
                    [this] { return lines_.place(swf::Status); });
    }
    if (status == 5 && row.run.ns <= 0) {
      row.run = kUnknownDuration;
      report_.noted("jobs cancelled before they started: kept, their run is not known",
                    [this] { return lines_.place(swf::Status); });
    } else if (row.run == kUnknownDuration) {
      report_.noted("jobs without a run time: kept, it is not known",
                    [this] { return lines_.place(swf::Run); });
    }
  }

  const PartitionGpus& partitions_;
  ImportReport& report_;
  JobRows& rows_;
  std::optional<std::int64_t>& start_;
  CsvLines lines_;
  std::array<std::int64_t, swf::Fields> values_{};  // times 10^9; -1: not known
};

}  // namespace

Expected<Imported> import_swf(std::span<const SourceText> files, const ImportOptions& options) {
  const auto partitions = parse_partitions(options.partitions);
  if (!partitions) {
    return not_the_format({}, "--partitions: \"" + options.partitions + "\" is no map of GPUs",
                          "write PARTITION=GPUS of a processor, like 1=1,2=0");
  }
  ImportReport report(options.skip_bad);
  JobRows rows(report);
  std::optional<std::int64_t> start;
  for (const SourceText& file : files) SwfReader(file, *partitions, report, rows, start).read();
  if (partitions->empty()) {
    report.note("SWF knows no GPUs: every processor counts as one (--partitions says otherwise)",
                {.file = files.front().name, .line = 0});
  }
  Expected<Imported> imported =
      rows.finish(files.front(), options, /*since_epoch=*/start.has_value());
  if (imported && start) {
    JobTrace& trace = std::get<JobTrace>(imported->content);
    trace.origin_unix_s = trace.origin_unix_s.value_or(0) + *start;
  }
  return imported;
}

}  // namespace slicewise::scenarios
