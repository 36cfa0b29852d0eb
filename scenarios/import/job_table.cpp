#include "job_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "../text/scalars.hpp"
#include "../traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int32_t kPermilleOfPercent = 10;

constexpr std::int64_t kMostInt32 = 2'147'483'647;
constexpr std::int64_t kMostMemory = 1LL << 60U;  // bytes

bool is_ready(const ReadyMap* ready, std::string_view name) {
  return ready != nullptr && ready->name == name;
}

// Reads the rows of one table of jobs by a map of its columns.
class JobTableRows {
 public:
  // `ready` is the map's log where it is a known one, nullptr otherwise.
  // `pai`: tables beside that of tasks.
  JobTableRows(TableRows& table, const ColumnMap& map, const ReadyMap* ready,
               const ImportOptions& options, ImportReport& report, PaiTables& pai, JobRows& rows)
      : table_(table),
        map_(map),
        ready_(ready),
        options_(options),
        report_(report),
        pai_(pai),
        rows_(rows) {
    for (std::size_t i = 0; i < kJobFields; ++i) {
      if (!map.columns[i].names.empty()) columns_[i] = table.column(map.columns[i].names);
    }
    if (is_ready(ready, "muri")) {
      iterations_ = table.column("iterations");
      iteration_time_ = table.column("iteration_time");
    }
  }

  // Of columns that the map names and the table lacks; with a ready map only those without which
  // nothing can be read are missing.
  Diagnostics missing_columns() {
    Diagnostics missing;
    const auto add = [&](const std::string& message, std::string help) {
      missing.push_back(
          make_diagnostic(Code::TraceColumnMissing, table_.place(), message, std::move(help)));
    };
    for (std::size_t i = 0; i < kJobFields; ++i) {
      const auto field = static_cast<JobField>(i);
      const bool needed = field == JobField::Arrival || field == JobField::Gpus;
      if (columns_[i] || map_.columns[i].names.empty() || (ready_ != nullptr && !needed)) continue;
      const auto nearest = nearest_name(map_.columns[i].names, table_.names());
      const bool has_unit = map_.columns[i].names.find(':') != std::string::npos;
      add(fmt::format("there is no column {} for {}", map_.columns[i].names, job_field_names()[i]),
          has_unit && !units_of(field).empty()
              ? fmt::format("units of {} are {}", job_field_names()[i],
                            fmt::join(units_of(field), ", "))
          : nearest ? fmt::format("did you mean {}?", *nearest)
                    : fmt::format("the columns are {}", fmt::join(table_.names(), ", ")));
    }
    if (!missing.empty()) return missing;
    if (!at(JobField::Arrival)) add("no column says when jobs arrive", "--columns arrival=COLUMN");
    if (!at(JobField::Gpus)) add("no column says how many GPUs jobs take", "--columns gpus=COLUMN");
    if (!at(JobField::Run) && !at(JobField::End)) {
      add("no column says how long jobs run", "--columns run=COLUMN, or start=COLUMN,end=COLUMN");
    }
    return missing;
  }

  void read() {
    while (table_.next()) {
      JobRow row;
      std::int64_t instances = 1;
      if (read_gpus(row) && read_host(row) && read_instances(instances) && read_times(row)) {
        add(row, instances);
      }
    }
    if (most_use_ > 0 && most_use_ <= kPermilleOfPercent &&
        map_[JobField::GpuUse].unit != "share") {
      report_.note(
          fmt::format("no GPU use is above 1 %: if it is a share, say --columns gpu_use={}:share",
                      map_[JobField::GpuUse].names),
          table_.place(*at(JobField::GpuUse)));
    }
  }
  bool counts_since_epoch() const { return since_epoch_; }

 private:
  const std::optional<std::size_t>& at(JobField field) const {
    return columns_[static_cast<std::size_t>(field)];
  }
  std::string_view text(JobField field) const { return table_.value(at(field)); }
  bool has(JobField field) const { return at(field) && !is_missing_value(field); }

  bool is_missing_value(JobField field) const { return is_missing(text(field)); }

  struct Range {
    std::int64_t least;
    std::int64_t most;
  };
  // The number that was read of the field, which may be missing.
  template <class Number>
  bool take(JobField field, std::optional<std::int64_t> read, Range range, const char* otherwise,
            Number& value) {
    if (!has(field)) return true;
    if (!read || *read < range.least || *read > range.most) {
      return table_.bad(at(field), otherwise);
    }
    value = static_cast<Number>(*read);
    return true;
  }

  bool read_gpus(JobRow& row) {
    if (!has(JobField::Gpus)) return true;
    const bool percent = map_[JobField::Gpus].unit == "percent";
    constexpr int kThousandths = 3;
    const auto milli = scaled_of(text(JobField::Gpus), percent ? 1 : kThousandths);
    if (!milli || *milli < 0 || *milli > 1'000 * kMostGpusOfJob) {
      return table_.bad(at(JobField::Gpus), "is no number of GPUs from 0 to 1000000");
    }
    const std::int64_t gpus = (*milli + 999) / 1'000;
    row.gpus = static_cast<std::int32_t>(gpus);
    if (gpus > 0) row.gpu_milli = static_cast<std::int32_t>(*milli / gpus);
    if (gpus > 1 && *milli % 1'000 != 0) {
      report_.guessed("rows that ask for one and a part of a GPU: equal parts of several",
                      [this] { return table_.place(*at(JobField::Gpus)); });
    }
    return take(JobField::GpuMilli, whole_of(text(JobField::GpuMilli)), {0, 1'000},
                "is no whole number from 0 to 1000", row.gpu_milli);
  }

  bool read_host(JobRow& row) {
    const std::string& unit = map_[JobField::Cpu].unit;
    const int digits = unit == "milli" ? 0 : unit == "percent" ? 1 : 3;
    return take(JobField::Cpu, scaled_of(text(JobField::Cpu), digits), {0, kMostInt32},
                "is no amount of CPU", row.cpu_milli) &&
           read_memory(JobField::Memory, row.memory) && read_pods(row.memory) &&
           read_memory(JobField::GpuMemory, row.gpu_memory) &&
           read_share(JobField::GpuUse, "is no GPU use from 0 to 100 %", row.gpu_permille) &&
           read_share(JobField::SmActive, "is no SM activity from 0 to 100 %", row.sm_permille) &&
           take(JobField::Priority, scaled_of(text(JobField::Priority), 0),
                {-kMostInt32, kMostInt32}, "is no priority", row.priority) &&
           take(JobField::BackoffLimit, whole_of(text(JobField::BackoffLimit)), {0, kMostInt32},
                "is no number of times to come back", row.backoff_limit);
  }

  bool read_share(JobField field, const char* otherwise, std::int32_t& permille) {
    const bool is_share = map_[field].unit == "share";
    std::string_view written = text(field);
    if (!is_share && written.ends_with('%')) written.remove_suffix(1);  // "26.6%"
    const auto share = scaled_of(written, is_share ? 3 : 1);
    if (!take(field, share, {0, 1'000}, otherwise, permille)) return false;
    if (field == JobField::GpuUse && has(field)) most_use_ = std::max(most_use_, permille);
    return true;
  }

  bool read_memory(JobField field, Bytes& memory) {
    if (!has(field)) return true;
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits = {
        {{"kib", 1LL << 10U},
         {"mib", 1LL << 20U},
         {"gib", 1LL << 30U},
         {"kb", 1'000},
         {"mb", 1'000'000},
         {"gb", 1'000'000'000}}};
    std::int64_t unit = 1;
    for (const auto& [word, bytes] : kUnits) {
      if (word == map_[field].unit) unit = bytes;
    }
    constexpr int kDigits = 6;
    const auto millionths = scaled_of(text(field), kDigits);
    const auto plain_bytes = unit == 1 ? memory_of(text(field)) : std::nullopt;
    const Int128 bytes = plain_bytes  ? Int128{plain_bytes->count}
                         : millionths ? static_cast<Int128>(*millionths) * unit / 1'000'000
                                      : Int128{-1};
    if (bytes < 0 || bytes > kMostMemory) return table_.bad(at(field), "is no amount of memory");
    // "12" of a column that is called vram_gb.
    constexpr std::int64_t kLeastWithoutUnit = 1LL << 20U;
    const bool says_unit = !map_[field].unit.empty() || !is_digit(text(field).back());
    if (!says_unit && bytes > 0 && bytes < kLeastWithoutUnit) {
      return table_.bad(
          at(field), "has no unit, and would be bytes",
          fmt::format("say which it is: --columns {}={}:gib, or mib, gb, mb, bytes",
                      job_field_names()[static_cast<std::size_t>(field)], map_[field].names));
    }
    memory = Bytes{static_cast<std::int64_t>(bytes)};
    return true;
  }

  // Of each of which the memory is.
  bool read_pods(Bytes& memory) {
    if (memory.count < 0) return true;
    std::int64_t pods = 1;
    if (!take(JobField::Pods, scaled_of(text(JobField::Pods), 0), {0, kMostGpusOfJob},
              "is no number of pods from 0 to 1000000", pods)) {
      return false;
    }
    const Int128 all = static_cast<Int128>(memory.count) * std::max<std::int64_t>(1, pods);
    if (all > kMostMemory) return table_.bad(at(JobField::Memory), "is no amount of memory");
    memory.count = static_cast<std::int64_t>(all);
    return true;
  }

  bool read_times(JobRow& row) {
    std::optional<std::int64_t> start;
    bool skip = false;
    if (!read_instant(JobField::Start, start) || !read_arrival(row, start, skip) || skip ||
        !read_span(JobField::Wait, row.observed_wait) ||
        !read_span(JobField::Limit, row.time_limit) ||
        !read_span(JobField::Iteration, row.iteration) ||
        !read_span(JobField::IterationHost, row.iteration_host) ||
        !read_span(JobField::IterationGpu, row.iteration_gpu) ||
        !read_span(JobField::IterationNetwork, row.iteration_network)) {
      return false;
    }
    // How long it takes says nothing without what it does.
    if (row.iteration_gpu.ns < 0) row.iteration = kUnknownDuration;
    if (start && *start < row.arrival.ns) {
      return table_.bad(at(JobField::Start), "is before the arrival");
    }
    if (start && *start - row.arrival.ns <= kLongestInTrace && row.observed_wait.ns < 0) {
      row.observed_wait = Duration{*start - row.arrival.ns};
    }
    if (!read_run(row, start) || !read_deadline(row)) return false;
    read_names(row);
    if (row.run == kUnknownDuration) {
      report_.noted("jobs that never started or had not ended: kept, their run is not known",
                    [this] { return table_.place(); });
    }
    if (row.time_limit.ns >= 0 && row.run > row.time_limit) {
      report_.noted("jobs that ran longer than their time limit: kept",
                    [this] { return table_.place(*at(JobField::Limit)); });
    }
    check_iterations(row);
    return true;
  }

  bool read_arrival(JobRow& row, const std::optional<std::int64_t>& start, bool& skip) {
    std::optional<std::int64_t> arrival;
    if (!read_instant(JobField::Arrival, arrival)) return false;
    const auto here = [this] { return table_.place(); };
    if (arrival) {
      row.arrival.ns = *arrival;
      // Seconds from 2000 on are seconds since 1970; smaller ones count from anywhere.
      constexpr std::int64_t kYear2000 = 946'684'800'000'000'000;
      since_epoch_ = since_epoch_ && row.arrival.ns >= kYear2000;
    } else if (start) {
      row.arrival.ns = *start;
      report_.guessed("rows without an arrival: they arrive when they started", here);
    } else if (is_ready(ready_, "dlrm")) {
      since_epoch_ = false;
      report_.guessed("instances without a creation_time: they arrive at 0", here);
    } else {
      skip = true;
      report_.skipped("rows without a time of arrival", here);
    }
    return true;
  }

  // A date, or seconds from arrival.
  bool read_deadline(JobRow& row) {
    if (!has(JobField::Deadline)) return true;
    if (!is_date(text(JobField::Deadline))) return read_span(JobField::Deadline, row.deadline);
    std::optional<std::int64_t> at_ns;
    if (!read_instant(JobField::Deadline, at_ns)) return false;
    if (*at_ns < row.arrival.ns) return table_.bad(at(JobField::Deadline), "is before the arrival");
    row.deadline = Duration{*at_ns - row.arrival.ns};
    return true;
  }

  bool read_run(JobRow& row, const std::optional<std::int64_t>& start) {
    std::optional<std::int64_t> end;
    Duration said = kUnknownDuration;
    if (!read_span(JobField::Run, said) || !read_instant(JobField::End, end)) return false;
    const std::int64_t begin = start.value_or(row.arrival.ns);
    const bool started = start.has_value() || !at(JobField::Start);
    // An instance that was there before the log began is known to have run since then.
    const bool runs_from_zero = is_ready(ready_, "dlrm") && end.has_value();
    if (!end || (!started && !runs_from_zero)) {
      row.run = said;
      return true;
    }
    if (*end < begin) return table_.bad(at(JobField::End), "is before the start");
    if (*end - begin > kLongestInTrace) return table_.bad(at(JobField::End), "is 126 years later");
    if (!start && at(JobField::Run) && said.ns >= 0) {
      row.run = said;
      return true;
    }
    row.run = Duration{*end - begin};
    if (said.ns >= 0) compare_runs(row, said, begin, *end);
    return true;
  }

  // The log's own durations against its own times: Kalos of Acme counts the queue in.
  void compare_runs(const JobRow& row, Duration said, std::int64_t start, std::int64_t end) {
    const auto differs = [](Duration a, Duration b) {
      return a - b > seconds(1) || b - a > seconds(1);
    };
    if (!differs(said, Duration{end - start})) return;
    const auto here = [this] { return table_.place(*at(JobField::Run)); };
    if (differs(said, Duration{end - row.arrival.ns})) {
      report_.repaired("rows whose duration is not end - start: taken as end - start", here);
    } else {
      report_.repaired("rows whose duration counts the wait in: taken as end - start", here);
    }
  }

  bool read_instant(JobField field, std::optional<std::int64_t>& time) {
    if (!has(field)) return true;
    const auto unit = time_unit(map_[field].unit);
    if (unit) time = instant_of(text(field), *unit, options_.time_zone.value_or(TimeZone{}));
    return time || table_.bad(at(field), "is no time",
                              "write seconds, or a date and time (2023-11-16 18:17:03+08:00); "
                              "another unit is said by --columns arrival=COLUMN:ms");
  }

  bool read_span(JobField field, Duration& span) {
    // -1 is how logs without empty fields say that they do not know.
    if (!has(field) || text(field) == "-1") return true;
    const auto unit = time_unit(map_[field].unit);
    const auto value = unit ? span_of(text(field), *unit) : std::nullopt;
    if (value) span = *value;
    return value || table_.bad(at(field), "is no length of time from 0 to 126 years");
  }

  void read_names(JobRow& row) {
    const auto name = [this](JobField field) {
      return has(field) ? text(field) : std::string_view();
    };
    row.id = name(JobField::Id);
    row.user = name(JobField::User);
    row.group = name(JobField::Group);
    row.project = name(JobField::Project);
    row.gpu_models = name(JobField::GpuModels);
    row.resource = name(JobField::Resource);
    row.work = name(JobField::Work);
    row.gang = name(JobField::Gang);
    row.instance_type = name(JobField::InstanceType);
    row.ran_on = name(JobField::RanOn);
    if (is_ready(ready_, "pai")) pai_.complete(row, table_.place());
    if (!has(JobField::State)) return;
    const std::string_view word = text(JobField::State);
    row.state = job_state_of(word.substr(0, word.find(' ')));
    if (row.state == JobState::Unknown) {
      report_.guessed("states that are not known: left open",
                      [this] { return table_.place(*at(JobField::State)); });
    }
  }

  bool read_instances(std::int64_t& instances) {
    return take(JobField::Instances, scaled_of(text(JobField::Instances), 0), {1, 100'000},
                "is no number of instances from 1 to 100000", instances);
  }

  void check_iterations(const JobRow& row) {
    if (!iterations_ || !iteration_time_ || row.run.ns < 0) return;
    const auto count = whole_of(table_.value(*iterations_));
    constexpr int kMillisecondDigits = 6;
    const auto each = scaled_of(table_.value(*iteration_time_), kMillisecondDigits);
    if (!count || !each || *count < 0 || *each < 0) return;
    const Int128 product = static_cast<Int128>(*count) * *each;
    const Int128 off = product - row.run.ns;
    if (off <= kSecond && off >= -kSecond) return;
    report_.noted("rows whose duration is not iterations x iteration_time: duration was believed",
                  [this] { return table_.place(); });
  }

  void add(JobRow& row, std::int64_t instances) {
    const auto here = [this] { return table_.place(); };
    if (instances == 1) return rows_.add(row, here);
    row.ran_on = {};  // of one of them, and nobody says which
    const std::string id(row.id);
    const std::string gang = row.gang.empty() ? id : std::string(row.gang);
    row.gang = gang;
    report_.noted("rows of several instances: a job each, that start together", here);
    for (std::int64_t i = 0; i < instances; ++i) {
      const std::string instance = id.empty() ? id : fmt::format("{}/{}", id, i);
      row.id = instance;
      rows_.add(row, here);
    }
  }

  TableRows& table_;
  const ColumnMap& map_;
  const ReadyMap* ready_;
  const ImportOptions& options_;
  ImportReport& report_;
  PaiTables& pai_;
  JobRows& rows_;
  std::array<std::optional<std::size_t>, kJobFields> columns_;
  std::int32_t most_use_ = 0;  // permille, of any row
  std::optional<std::size_t> iterations_;
  std::optional<std::size_t> iteration_time_;
  bool since_epoch_ = true;
};

}  // namespace

Diagnostics read_jobs(TableRows& table, const ColumnMap& map, const ReadyMap* ready,
                      const ImportOptions& options, ImportReport& report, PaiTables& pai,
                      JobRows& rows, bool& since_epoch) {
  JobTableRows jobs(table, map, ready, options, report, pai, rows);
  if (Diagnostics missing = jobs.missing_columns(); !missing.empty()) return missing;
  const SourceLocation where{table.place().file, 1, 1, 1};
  if (ready != nullptr && !ready->remark.empty()) report.note(ready->remark, where);
  if (const std::string unused = table.unused(); !unused.empty()) {
    report.note("columns that are not used: " + unused, where);
  }
  jobs.read();
  since_epoch = since_epoch && jobs.counts_since_epoch();
  return {};
}

}  // namespace slicewise::scenarios
