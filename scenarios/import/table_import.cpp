#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "../traces/trace_files.hpp"
#include "importers.hpp"
#include "job_table.hpp"

// Which map the columns of a table are read by, and what its header is.
namespace slicewise::scenarios {
namespace {

// What tables that nobody described call their columns.
constexpr std::string_view kUsualNames =
    "arrival=submit_time|submitted_at|submission_time|submit|arrival_time|arrival|arrived_at|"
    "creation_time|created_at|queued_at|timestamp|time,"
    "run=run_time|runtime|duration|duration_s|run_s|elapsed|service_time,"
    "start=start_time|started_at|start|scheduled_time,"
    "end=end_time|ended_at|finished_at|completion_time|end|finish_time|deletion_time,"
    "gpus=gpu_num|num_gpus|num_gpu|gpus|gpu_count|n_gpus|gpu_request|gpu,"
    "cpu=cpu_num|num_cpus|cpus|cpu_request,wait=wait_time|queue_time,"
    "limit=wall_time|time_limit|walltime,deadline=deadline|deadline_s|due,"
    "gpu_use=gpu_util|gpu_utilization|gpu_utilisation|gpu_use,"
    "sm_active=sm_active|sm_activity|sm_util,priority=priority,state=state|status,"
    "id=job_id|jobid|id|job|name,user=user|user_id|owner,"
    "group=vc|virtual_cluster|cluster|partition|project|organization|namespace,project=account,"
    "gpu_models=gpu_type|gpu_model,work=model_name|model|job_type";

// What the rows of a table are to be read by.
struct Choice {
  ColumnMap map;
  const ReadyMap* ready = nullptr;
};

class TableImport {
 public:
  explicit TableImport(const ImportOptions& options)
      : options_(options), report_(options.skip_bad), rows_(report_) {}

  Expected<Imported> import(std::span<const SourceText> files) {
    bool since_epoch = true;
    Diagnostics problems;
    std::vector<const SourceText*> tables;
    for (const SourceText& file : files) {
      if (!may_be_pai(files) || !pai_.read(file)) tables.push_back(&file);
    }
    if (tables.empty()) {
      return not_the_format({files.front().name, 1, 1, 1}, "there is no table of jobs",
                            "pai_task_table.csv is wanted beside PAI's sensors and users");
    }
    for (const SourceText* file : tables) {
      Diagnostics found = read_file(*file, since_epoch);
      std::ranges::move(found, std::back_inserter(problems));
    }
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return rows_.finish(files.front(), options_, since_epoch, rows_.share_gpus());
  }

 private:
  // Sensors and users come beside the table of tasks.
  bool may_be_pai(std::span<const SourceText> files) const {
    return files.size() > 1 && (options_.columns.empty() || options_.columns == "pai");
  }

  Diagnostics read_file(const SourceText& file, bool& since_epoch) {
    TableRows table(file, report_, {.separator = separator_of(file.text)});
    if (Diagnostics found = read_header(file, table); !found.empty()) return found;
    Expected<Choice> choice = choose(table);
    if (!choice) return std::move(choice.error());
    return read_jobs(table, choice->map, choice->ready, options_, report_, pai_, rows_,
                     since_epoch);
  }

  Diagnostics read_header(const SourceText& file, TableRows& table) {
    const ReadyMap* const wanted = find_ready_map(options_.columns);
    if (wanted != nullptr && !wanted->header.empty()) {
      // The first name of the header stands in the first line, or there is none.
      const std::string_view first = parts_of(wanted->header, ',').front();
      if (std::string_view(file.text).substr(0, file.text.find('\n')).find(first) ==
          std::string_view::npos) {
        report_.note(fmt::format("no header: the columns are taken as {}", wanted->header),
                     {file.name, 1, 1, 1});
        table.use_header(wanted->header);
        return {};
      }
    }
    if (table.read_header()) return {};
    return {make_diagnostic(Code::TraceFormat, {file.name, 1, 1, 1}, "the file is empty")};
  }

  Expected<Choice> choose(TableRows& table) {
    if (!options_.columns.empty()) {
      const ReadyMap* ready = find_ready_map(options_.columns);
      const std::string_view name = ready == nullptr ? std::string_view() : ready->name;
      if (const ReadyMap* known = recognised(table); known != nullptr && known->name == name) {
        ready = known;
      }
      auto map = parse_column_map(ready == nullptr ? options_.columns : ready->map);
      if (!map) return tl::unexpected(std::move(map.error()));
      return Choice{std::move(*map), ready};
    }
    const ReadyMap* known = recognised(table);
    if (known != nullptr) {
      report_.note(fmt::format("read as --columns {}", known->name), {});
      return Choice{*parse_column_map(known->map), known};
    }
    return Choice{guessed(table), nullptr};
  }

  static const ReadyMap* recognised(const TableRows& table) {
    for (const ReadyMap& map : ready_maps()) {
      const bool fits = std::ranges::all_of(parts_of(map.signature, ','), [&](const auto& name) {
        return contains(table.names(), name);
      });
      if (fits) return &map;
    }
    return nullptr;
  }

  // Columns by their usual names, with a remark that says which.
  ColumnMap guessed(TableRows& table) {
    ColumnMap map = *parse_column_map(kUsualNames);
    std::string told;
    for (std::size_t i = 0; i < kJobFields; ++i) {
      const auto column = table.column(map.columns[i].names);
      map.columns[i].names = column ? table.names()[*column] : std::string();
      if (column) {
        told += fmt::format("{}{}={}", told.empty() ? "" : ",", job_field_names()[i],
                            table.names()[*column]);
      }
    }
    report_.note("columns were guessed by their names: --columns " + told, {});
    return map;
  }

  const ImportOptions& options_;
  ImportReport report_;
  PaiTables pai_{report_};
  JobRows rows_;
};

// A trace of slicewise itself: from CSV to binary and back, or a part of it.
Expected<Imported> import_own_trace(const SourceText& file, const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  Expected<JobTrace> trace =
      is_binary_job_trace(file.text) ? read_job_trace(file) : read_job_trace_csv(file, report);
  if (!trace) return tl::unexpected(std::move(trace.error()));
  const auto rows = static_cast<std::int64_t>(trace->size());
  if (is_binary_job_trace(file.text)) report.read(rows);
  if (rows > 0 && (options.from || options.length)) {
    const bool since_epoch = trace->origin_unix_s.has_value();
    const bool shared = trace->run_under_sharing;
    return JobRows(report, std::move(*trace)).finish(file, options, since_epoch, shared);
  }
  return Imported{std::move(*trace), report.take_log(rows)};
}

bool is_own_trace(const SourceText& file) {
  const std::string_view text = file.text;
  return is_binary_job_trace(text) || text.starts_with("# origin_unix_s=") ||
         text.starts_with("# run_under_sharing=") || text.starts_with("arrival_s,run_s,gpus");
}

}  // namespace

Expected<Imported> import_job_table(std::span<const SourceText> files,
                                    const ImportOptions& options) {
  if (options.columns == "gavel" || options.columns == "shockwave") {
    return import_gavel(files, options);
  }
  if (files.size() == 1 && options.columns.empty() && is_own_trace(files.front())) {
    return import_own_trace(files.front(), options);
  }
  return TableImport(options).import(files);
}

}  // namespace slicewise::scenarios
