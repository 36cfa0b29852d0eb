#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "job_rows.hpp"
#include "table_rows.hpp"

// Alibaba's cluster-trace-gpu-v2023: one pod a row, times in seconds of an undisclosed origin.
namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostMillicores = 2'000'000'000;
constexpr std::int64_t kMostMebibytes = 1LL << 30U;

JobState state_of(std::string_view phase) {
  if (phase == "Succeeded") return JobState::Completed;
  if (phase == "Failed") return JobState::Failed;
  if (phase == "Running") return JobState::Running;
  if (phase == "Pending") return JobState::Pending;
  return JobState::Unknown;
}

class OpenbReader {
 public:
  OpenbReader(const SourceText& file, ImportReport& report, JobRows& rows)
      : file_(file), report_(report), rows_(rows), table_(file, report) {}

  // What is wrong with the file as a whole.
  std::optional<Diagnostic> read() {
    if (!table_.read_header()) {
      return make_diagnostic(Code::TraceFormat, {file_.name, 1, 1, 1}, "the file is empty");
    }
    if (auto problem = find_columns()) return problem;
    while (table_.next()) read_row();
    return std::nullopt;
  }

 private:
  std::optional<Diagnostic> find_columns() {
    name_ = table_.column("name");
    cpu_ = table_.column("cpu_milli");
    memory_ = table_.column("memory_mib");
    gpus_ = table_.column("num_gpu");
    milli_ = table_.column("gpu_milli");
    models_ = table_.column("gpu_spec");
    qos_ = table_.column("qos");
    phase_ = table_.column("pod_phase");
    created_ = table_.column("creation_time");
    scheduled_ = table_.column("scheduled_time");
    deleted_ = table_.column("deletion_time");
    if (!gpus_ || !milli_) {
      return make_diagnostic(Code::TraceColumnMissing, table_.place(),
                             fmt::format("no column {}: this is no pod list of openb",
                                         gpus_ ? "gpu_milli" : "num_gpu"),
                             "other tables are read with: slicewise import jobs --columns");
    }
    if (const std::string unused = table_.unused(); !unused.empty()) {
      report_.note("columns that are not used: " + unused, table_.place());
    }
    if (!created_) {
      report_.note("the file has no times: every pod arrives at 0 and its run is not known",
                   table_.place());
    }
    return std::nullopt;
  }

  void read_row() {
    JobRow row;
    if (!read_request(row) || !read_times(row)) return;
    row.id = table_.value(name_);
    row.gpu_models = table_.value(models_);
    row.group = table_.value(qos_);
    if (phase_) row.state = state_of(table_.value(*phase_));
    rows_.add(row, [this] { return table_.place(); });
  }

  bool read_request(JobRow& row) {
    std::int64_t gpus = 0;
    std::int64_t milli = 0;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    if (!read_whole(*gpus_, kMostGpusOfJob, gpus) || !read_whole(*milli_, 1'000, milli) ||
        (cpu_ && !read_whole(*cpu_, kMostMillicores, cpu)) ||
        (memory_ && !read_whole(*memory_, kMostMebibytes, memory))) {
      return false;
    }
    if (gpus == 0 && milli > 0) return table_.bad(milli_, "of a GPU, but num_gpu is 0");
    if (gpus > 0 && milli == 0) return table_.bad(milli_, "of a GPU, but num_gpu is not 0");
    if (gpus > 1 && milli < 1'000) {
      return table_.bad(milli_, "is a part of each of several GPUs, which this log never has");
    }
    row.gpus = static_cast<std::int32_t>(gpus);
    row.gpu_milli = static_cast<std::int32_t>(gpus == 0 ? 1'000 : milli);
    if (cpu_) row.cpu_milli = static_cast<std::int32_t>(cpu);
    if (memory_) row.memory = mebibytes(memory);
    if (memory_ && memory == 0) {
      report_.noted("pods that ask for no memory: kept as they are",
                    [this] { return table_.place(*memory_); });
    }
    return true;
  }

  bool read_times(JobRow& row) {
    if (!created_) return true;
    std::optional<std::int64_t> created;
    std::optional<std::int64_t> scheduled;
    std::optional<std::int64_t> deleted;
    if (!read_time(created_, created) || !read_time(scheduled_, scheduled) ||
        !read_time(deleted_, deleted)) {
      return false;
    }
    if (!created) return table_.bad(created_, "is no time");
    row.arrival.ns = *created;
    if (!scheduled) {
      report_.noted("pods that never started (no scheduled_time): kept, their run is not known",
                    [this] { return table_.place(); });
      return true;
    }
    if (*scheduled < *created) return table_.bad(scheduled_, "is before its creation_time");
    row.observed_wait = Duration{*scheduled - *created};
    if (!deleted) {
      report_.noted("pods that still ran (no deletion_time): kept, their run is not known",
                    [this] { return table_.place(); });
      return true;
    }
    if (*deleted < *scheduled) return table_.bad(deleted_, "is before its scheduled_time");
    row.run = Duration{*deleted - *scheduled};
    if (phase_ && table_.value(*phase_) == "Running") {
      report_.noted(
          "pods last seen Running that have a deletion_time: their run is how long they lived, not "
          "how much work they did",
          [this] { return table_.place(*phase_); });
    }
    return true;
  }

  bool read_whole(std::size_t column, std::int64_t most, std::int64_t& value) {
    const auto number = whole_of(table_.value(column));
    if (!number || *number < 0 || *number > most) {
      return table_.bad(column, fmt::format("is no whole number from 0 to {}", most));
    }
    value = *number;
    return true;
  }

  bool read_time(std::optional<std::size_t> column, std::optional<std::int64_t>& time) {
    const std::string_view text = table_.value(column);
    if (text.empty()) return true;
    time = scaled_of(text, kNanosecondDigits);
    if (time && *time >= 0 && *time <= kLongestInTrace) return true;
    return table_.bad(column, "is no number of seconds from 0 to 4000000000");
  }

  const SourceText& file_;
  ImportReport& report_;
  JobRows& rows_;
  TableRows table_;
  std::optional<std::size_t> name_, cpu_, memory_, gpus_, milli_, models_, qos_, phase_, created_,
      scheduled_, deleted_;
};

}  // namespace

Expected<Imported> import_openb(std::span<const SourceText> files, const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  JobRows rows(report);
  Diagnostics problems;
  for (const SourceText& file : files) {
    if (auto problem = OpenbReader(file, report, rows).read())
      problems.push_back(std::move(*problem));
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  // Pods shared GPUs while they ran, and nothing says with whom.
  return rows.finish(files.front(), options, /*since_epoch=*/false, /*run_under_sharing=*/true);
}

}  // namespace slicewise::scenarios
