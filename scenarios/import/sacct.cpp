#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/csv_lines.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/units.hpp"

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "job_rows.hpp"
#include "table_rows.hpp"

// Slurm's accounting, as `sacct -P` or `sacct -p` prints it.
namespace slicewise::scenarios {
namespace {

// What Slurm's list of trackable resources ("cpu=16,mem=64G,gres/gpu:a100=2") says.
struct SlurmTres {
  std::int64_t gpus = 0;  // the untyped entry, or the typed ones: they count the same GPUs
  std::int64_t shards = 0;
  std::string gpu_models;   // "a100|h100" of the typed entries
  std::string mig_profile;  // "1g.5gb" where the typed entries are MIG slices
  std::optional<std::int64_t> cpus;
  std::optional<Bytes> memory;
};

constexpr std::int64_t kMostCount = 1'000'000;

// "1g.5gb", "3g.20gb+me"
bool names_mig_profile(std::string_view type) {
  return type.size() > 4 && type[0] >= '1' && type[0] <= '7' && type[1] == 'g' && type[2] == '.' &&
         type.find("gb") != std::string_view::npos;
}

std::optional<std::int64_t> count_of(std::string_view text) {
  const auto value = whole_of(text);
  return value && *value >= 0 && *value <= kMostCount ? value : std::nullopt;
}

// nullopt when an entry is damaged or a number is beyond a million.
std::optional<SlurmTres> parse_tres(std::string_view text) {
  SlurmTres tres;
  std::int64_t typed = 0;
  std::optional<std::int64_t> untyped;
  for (const std::string_view entry : parts_of(text, ',')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view key = entry.substr(0, equals);
    const std::string_view value = entry.substr(equals + 1);
    if (key == "mem") {
      tres.memory = memory_of(value);
      if (!tres.memory) return std::nullopt;
      continue;
    }
    const bool counts =
        key == "cpu" || key == "gres/gpu" || key == "gres/shard" || key.starts_with("gres/gpu:");
    if (!counts) continue;
    const auto count = count_of(value);
    if (!count) return std::nullopt;
    if (key == "cpu") tres.cpus = count;
    if (key == "gres/gpu") untyped = count;
    if (key == "gres/shard") tres.shards = *count;
    if (!key.starts_with("gres/gpu:")) continue;
    key.remove_prefix(std::string_view("gres/gpu:").size());
    typed = std::min(typed + *count, kMostCount);
    if (names_mig_profile(key)) {
      tres.mig_profile = key;
    } else {
      tres.gpu_models += (tres.gpu_models.empty() ? "" : "|") + std::string(key);
    }
  }
  tres.gpus = untyped.value_or(typed);
  return tres;
}

// What tasks used ("cpu=00:01:05,gres/gpumem=9G,gres/gpuutil=60,mem=12G"): of all their GPUs
// together.
struct SlurmUsage {
  std::optional<std::int64_t> gpu_percent;
  std::optional<Bytes> gpu_memory;
};

// nullopt when what it says of GPUs is damaged.
std::optional<SlurmUsage> parse_usage(std::string_view text) {
  SlurmUsage usage;
  for (const std::string_view entry : parts_of(text, ',')) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view value = entry.substr(std::min(equals + 1, entry.size()));
    if (entry.substr(0, equals) == "gres/gpuutil") {
      usage.gpu_percent = count_of(value);
      if (!usage.gpu_percent) return std::nullopt;
    } else if (entry.substr(0, equals) == "gres/gpumem") {
      usage.gpu_memory = memory_of(value);
      if (!usage.gpu_memory) return std::nullopt;
    }
  }
  return usage;
}

// What a file without a header holds, unless --columns says otherwise.
constexpr std::string_view kUsualColumns =
    "JobIDRaw,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,NNodes,"
    "AllocTRES,ReqTRES,State,ExitCode,Priority";

// With -X there are no steps, which alone have NTasks, TRESUsageInAve and TRESUsageInMax.
std::string how_to_write() { return "sacct -a -X -P --noconvert -o " + std::string(kUsualColumns); }

constexpr CsvForm kForm{.separator = '|', .quotes = false};

// Where sacct's columns stand in a file.
struct Columns {
  std::optional<std::size_t> id, user, partition, work, submit, eligible, start, end, elapsed,
      raw_limit, limit, allocated, asked, usage, peak, tasks, account, state, priority;
};

class SacctReader {
 public:
  SacctReader(const SourceText& file, const ImportOptions& options, ImportReport& report,
              JobRows& rows)
      : file_(file), options_(options), report_(report), rows_(rows), table_(file, report, kForm) {}

  std::optional<Diagnostic> read() {
    if (auto problem = read_header()) return problem;
    find_columns();
    if (!columns_.id || !columns_.submit || (!columns_.allocated && !columns_.asked)) {
      return make_diagnostic(Code::TraceColumnMissing, {file_.name, 1, 1, 1},
                             "sacct's JobIDRaw, Submit and AllocTRES or ReqTRES are needed",
                             how_to_write());
    }
    while (table_.next()) read_row();
    flush();
    return std::nullopt;
  }

  // Whether jobs had shards: they may have run beside others.
  bool share_gpus() const { return share_gpus_; }

 private:
  std::optional<Diagnostic> read_header() {
    table_.allow_last_separator();
    CsvLines first(file_, kForm);
    if (!first.next()) {
      return make_diagnostic(Code::TraceFormat, {file_.name, 1, 1, 1}, "the file is empty");
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      const std::string_view name = first.value(i);
      if (name != "Submit" && name != "JobID" && name != "JobIDRaw") continue;
      table_.read_header();
      return std::nullopt;
    }
    if (auto problem = refused(first)) return problem;
    const std::string columns(options_.columns.empty() ? kUsualColumns : options_.columns);
    table_.use_header(columns);
    report_.note("no header: the columns are taken as " + columns, first.place());
    return std::nullopt;
  }

  // What no row can be, by the first of a file without a header.
  std::optional<Diagnostic> refused(const CsvLines& first) const {
    const auto format = [&](std::string message, std::string help) {
      return make_diagnostic(Code::TraceFormat, first.place(), std::move(message), std::move(help));
    };
    if (first.text().starts_with('{')) {
      return format("JSON of sacct is not read", "write it with -P: " + how_to_write());
    }
    if (first.size() < 2) {
      return format("no values between bars: sacct's columns of fixed width may be cut off",
                    "write it with -P: " + how_to_write());
    }
    const std::size_t values = first.size() - (first.value(first.size() - 1).empty() ? 1 : 0);
    const auto usual = static_cast<std::size_t>(std::ranges::count(kUsualColumns, ',') + 1);
    if (!options_.columns.empty() || first.size() == usual || values == usual) {
      return std::nullopt;
    }
    return format(
        fmt::format("the file has no header, and {} values in a row are not the usual {} columns",
                    values, usual),
        "say its columns with --columns JobIDRaw,User,..., or write it with a header: " +
            how_to_write());
  }

  void find_columns() {
    columns_.id = table_.column("JobID|JobIDRaw");
    columns_.user = table_.column("User");
    columns_.partition = table_.column("Partition");
    columns_.work = table_.column("JobName");
    columns_.submit = table_.column("Submit");
    columns_.eligible = table_.column("Eligible");
    columns_.start = table_.column("Start");
    columns_.end = table_.column("End");
    columns_.elapsed = table_.column("ElapsedRaw|Elapsed");
    columns_.raw_limit = table_.column("TimelimitRaw");
    columns_.limit = table_.column("Timelimit");
    columns_.allocated = table_.column("AllocTRES");
    columns_.asked = table_.column("ReqTRES");
    columns_.usage = table_.column("TRESUsageInAve");
    columns_.peak = table_.column("TRESUsageInMax");
    columns_.tasks = table_.column("NTasks");
    columns_.account = table_.column("Account");
    columns_.state = table_.column("State");
    columns_.priority = table_.column("Priority");
    const std::string unused = table_.unused();
    if (!unused.empty())
      report_.note("columns that are not used: " + unused, {file_.name, 1, 1, 1});
    if (!options_.time_zone) {
      report_.note("sacct names no zone: its times are taken as UTC (--time-zone says otherwise)",
                   {file_.name, 1, 1, 1});
    }
  }

  void read_row() {
    const std::string_view id = table_.value(*columns_.id);
    if (id.find('.') != std::string_view::npos) {
      report_.skipped("rows of steps (.batch, .extern, .0): parts of the job above them",
                      [this] { return table_.place(); });
      read_usage(waiting_, elapsed());
      return;
    }
    flush();
    JobRow row;
    if (!read_resources(row) || !read_times(row)) return;
    elapsed_ = elapsed();
    use_ns_ = 0;
    read_usage(row, elapsed_);
    use_ns_ = 0;  // of the steps that follow
    row.id = id;
    const std::size_t plus = id.find('+');
    if (plus != std::string_view::npos) row.gang = id.substr(0, plus);  // heterogeneous job
    if (id.find('[') != std::string_view::npos) {
      report_.noted("arrays of which tasks still wait (such as 12_[3-9]): one job each",
                    [this] { return table_.place(*columns_.id); });
    }
    row.user = table_.value(columns_.user);
    row.group = table_.value(columns_.partition);
    row.project = table_.value(columns_.account);
    row.work = table_.value(columns_.work);
    read_priority(row);
    waiting_ = row;
    place_ = table_.place();
  }

  // What the tasks of a job or of a step used of their GPUs, over the time that it took.
  void read_usage(JobRow& row, std::optional<Duration> took) {
    const auto average = usage_of(columns_.usage);
    const auto most = usage_of(columns_.peak);
    const std::int64_t tasks = tasks_of(row, average ? average->gpu_percent : std::nullopt);
    // A task may have several GPUs, and a GPU several tasks.
    const auto of_each_gpu = [&](Int128 of_task, std::int64_t limit) {
      const Int128 each = of_task * tasks / std::max(1, row.gpus);
      return static_cast<std::int64_t>(std::min<Int128>(each, limit));
    };
    if (average && average->gpu_percent) {
      const std::int64_t permille = of_each_gpu(Int128{10} * *average->gpu_percent, 1'000);
      if (Int128{*average->gpu_percent} * tasks > Int128{100} * std::max(1, row.gpus)) {
        report_.guessed("GPU use above 100 % of each GPU: taken as 100 %",
                        [&] { return table_.place(*columns_.usage); });
      }
      row.gpu_permille = std::max(row.gpu_permille, over_the_job(permille, took));
    }
    const auto memory = most && most->gpu_memory ? most->gpu_memory
                        : average                ? average->gpu_memory
                                                 : std::nullopt;
    if (memory) {
      row.gpu_memory.count = std::max(row.gpu_memory.count, of_each_gpu(memory->count, INT64_MAX));
    }
  }

  // Steps one after the other make a mean, steps at once a sum. Where nobody says how long they
  // took, each is as long as the job.
  std::int32_t over_the_job(std::int64_t permille, std::optional<Duration> took) {
    if (!took || !elapsed_ || elapsed_->ns <= 0) return static_cast<std::int32_t>(permille);
    use_ns_ += Int128{permille} * took->ns;
    return static_cast<std::int32_t>(std::min<Int128>(use_ns_ / elapsed_->ns, 1'000));
  }

  // How many tasks there were, each with what is said of one. Where nobody says it, a task that
  // kept more than one GPU busy had all of them, as torchrun starts it.
  std::int64_t tasks_of(const JobRow& row, std::optional<std::int64_t> gpu_percent) {
    const auto said = count_of(table_.value(columns_.tasks));
    if (said) return std::max<std::int64_t>(1, *said);
    const auto& column = columns_.usage ? columns_.usage : columns_.peak;
    if (row.gpus < 2 || !column ||
        table_.value(*column).find("gres/gpu") == std::string_view::npos) {
      return std::max(1, row.gpus);
    }
    const bool has_all = gpu_percent && *gpu_percent > 100;
    report_.guessed(
        has_all
            ? "GPU use of jobs of several GPUs without NTasks, above 100 %: one task had all GPUs"
            : "GPU use and memory of jobs of several GPUs without NTasks: a task for each GPU "
              "(sacct -o ...,NTasks says it)",
        [&] { return table_.place(*column); });
    return has_all ? 1 : row.gpus;
  }

  std::optional<SlurmUsage> usage_of(const std::optional<std::size_t>& column) {
    auto usage = parse_usage(table_.value(column));
    if (!usage) {
      report_.skipped("lists of what was used that cannot be read",
                      [&] { return table_.place(*column); });
    }
    return usage;
  }

  // A job is added once its steps have been seen.
  void flush() {
    if (place_) rows_.add(waiting_, *place_);
    place_.reset();
    waiting_ = JobRow{};
  }

  bool read_resources(JobRow& row) {
    const bool allocated = columns_.allocated && !table_.value(*columns_.allocated).empty();
    const std::optional<std::size_t> column = allocated ? columns_.allocated : columns_.asked;
    const auto tres = parse_tres(table_.value(column));
    if (!tres) return table_.bad(column, "is no list of resources");
    row.gpus = static_cast<std::int32_t>(tres->gpus);
    if (tres->cpus) row.cpu_milli = static_cast<std::int32_t>(*tres->cpus * 1'000);
    if (tres->memory) row.memory = *tres->memory;
    row.gpu_models = kept(tres->gpu_models);
    if (!tres->mig_profile.empty()) {
      row.resource = kept("mig-" + tres->mig_profile);
      const auto slice = gpu_resource("nvidia.com/" + std::string(row.resource));
      if (slice) row.gpu_milli = 1'000 * slice->slices / slice->slices_of;
      report_.noted("jobs on MIG slices: gpus counts slices, each a part of the GPU's compute",
                    [&] { return table_.place(*column); });
    }
    if (tres->shards > 0 && tres->gpus == 0) read_shards(row, tres->shards, *column);
    return true;
  }

  void read_shards(JobRow& row, std::int64_t shards, std::size_t column) {
    share_gpus_ = true;
    const std::int64_t of_gpu = options_.replicas.value_or(0);
    row.resource = "shard";
    if (of_gpu == 0) {
      row.gpus = 1;
      report_.guessed("jobs with shards: a whole GPU each (--replicas says how many a GPU has)",
                      [&] { return table_.place(column); });
      return;
    }
    row.gpus = static_cast<std::int32_t>((shards + of_gpu - 1) / of_gpu);
    row.gpu_milli = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(1'000 * shards / of_gpu / row.gpus, 1, 1'000));
  }

  bool read_times(JobRow& row) {
    std::optional<std::int64_t> submit;
    std::optional<std::int64_t> eligible;
    std::optional<std::int64_t> start;
    std::optional<std::int64_t> end;
    if (!read_time(columns_.submit, submit) || !read_time(columns_.eligible, eligible) ||
        !read_time(columns_.start, start) || !read_time(columns_.end, end) || !read_limit(row)) {
      return false;
    }
    if (!submit) return table_.bad(columns_.submit, "is no time");
    read_state(row);
    row.arrival.ns = *submit;
    if (eligible && *eligible > *submit && (!start || *eligible <= *start)) {
      row.arrival.ns = *eligible;
      report_.noted(
          "jobs that became eligible after they were submitted (dependencies, holds): they arrive "
          "when eligible",
          [this] { return table_.place(*columns_.eligible); });
    }
    if (!start) {
      report_.noted("jobs that never started: kept, their run is not known",
                    [this] { return table_.place(); });
      return true;
    }
    constexpr std::int64_t kHour = 3'600'000'000'000;
    if (*start < row.arrival.ns && *start >= row.arrival.ns - kHour) {
      report_.guessed(
          "jobs that started up to an hour before they were submitted, as clocks that were "
          "put back say it: they started at once (SLURM_TIME_FORMAT=%s writes Unix seconds)",
          [this] { return table_.place(*columns_.start); });
      row.arrival.ns = *start;
    }
    if (*start < row.arrival.ns) return table_.bad(columns_.start, "is before its Submit");
    row.observed_wait = Duration{*start - row.arrival.ns};
    if (row.state == JobState::Running || !end) {
      report_.noted("jobs that still ran: kept, their run is not known",
                    [this] { return table_.place(); });
      return true;
    }
    row.run = Duration{*end - *start};
    // Slurm prints whole seconds of either, rounded.
    constexpr std::int64_t kRounding = 1'000'000'000;
    const auto took = elapsed();
    const bool put_back = took && std::abs(took->ns - row.run.ns - kHour) <= kRounding;
    if (*end < *start && !put_back) return table_.bad(columns_.end, "is before its Start");
    if (!columns_.elapsed) return true;
    if (!took) return table_.bad(columns_.elapsed, "is no number of seconds");
    if (put_back) {
      report_.noted(
          "jobs that ran an hour longer than from Start to End (clocks that were put back): "
          "they run for Elapsed",
          [this] { return table_.place(*columns_.elapsed); });
      row.run = *took;
    }
    if (took->ns < row.run.ns - kRounding) {
      report_.noted(
          "jobs that were suspended in between (Elapsed below End - Start): they run for Elapsed",
          [this] { return table_.place(*columns_.elapsed); });
      row.run = *took;
    }
    return true;
  }

  std::optional<Duration> elapsed() {
    return columns_.elapsed ? span_of(table_.value(*columns_.elapsed), TimeUnit::Auto)
                            : std::nullopt;
  }

  bool read_time(std::optional<std::size_t> column, std::optional<std::int64_t>& time) {
    const std::string_view text = table_.value(column);
    if (is_missing(text)) return true;
    time = instant_of(text, TimeUnit::Auto, options_.time_zone.value_or(TimeZone{}));
    return time.has_value() ||
           table_.bad(column, "is no time", "write 2024-06-10T06:13:20 or Unix seconds");
  }

  bool read_limit(JobRow& row) {
    const std::optional<std::size_t> column =
        columns_.raw_limit ? columns_.raw_limit : columns_.limit;
    const std::string_view text = table_.value(column);
    if (is_missing(text) || text == "UNLIMITED" || text == "Partition_Limit") return true;
    const auto limit = span_of(text, columns_.raw_limit ? TimeUnit::Minutes : TimeUnit::Auto);
    if (!limit) return table_.bad(column, "is no time limit");
    row.time_limit = *limit;
    return true;
  }

  // "CANCELLED by 1001", "COMPLETED+"
  void read_state(JobRow& row) {
    const std::string_view text = table_.value(columns_.state);
    row.state = job_state_of(text.substr(0, text.find_first_of(" +")));
    if (row.state == JobState::Unknown && !text.empty()) {
      report_.guessed("states that are not known: left open",
                      [this] { return table_.place(*columns_.state); });
    }
  }

  void read_priority(JobRow& row) {
    constexpr std::int64_t kMost = 2'147'483'647;
    const auto priority = whole_of(table_.value(columns_.priority));
    if (!priority) return;
    row.priority = static_cast<std::int32_t>(std::clamp(*priority, -kMost, kMost));
  }

  // Text that lives as long as this reader.
  std::string_view kept(const std::string& text) {
    if (text.empty()) return {};
    return *texts_.insert(text).first;
  }

  const SourceText& file_;
  const ImportOptions& options_;
  ImportReport& report_;
  JobRows& rows_;
  TableRows table_;
  JobRow waiting_;
  std::optional<Duration> elapsed_;  // of the job that waits
  Int128 use_ns_ = 0;                // thousandths of its GPUs, times the time that a step took
  bool share_gpus_ = false;
  std::optional<SourceLocation> place_;  // of the job that waits for its steps
  std::set<std::string> texts_;
  Columns columns_;
};

}  // namespace

Expected<Imported> import_sacct(std::span<const SourceText> files, const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  JobRows rows(report);
  Diagnostics problems;
  bool share_gpus = false;
  for (const SourceText& file : files) {
    SacctReader reader(file, options, report, rows);
    if (auto problem = reader.read()) problems.push_back(std::move(*problem));
    share_gpus = share_gpus || reader.share_gpus();
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return rows.finish(files.front(), options, /*since_epoch=*/true, share_gpus);
}

}  // namespace slicewise::scenarios
