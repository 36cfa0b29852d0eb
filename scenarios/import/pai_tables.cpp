#include "pai_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../text/scalars.hpp"
#include "table_rows.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kSensors =
    "job_name,task_name,worker_name,inst_id,machine,gpu_name,cpu_usage,gpu_wrk_util,avg_mem,max_"
    "mem,avg_gpu_wrk_mem,max_gpu_wrk_mem,read,write,read_count,write_count";
constexpr std::string_view kPaiJobs = "job_name,inst_id,user,status,start_time,end_time";
constexpr std::string_view kPaiTags = "inst_id,user,gpu_type_spec,group,workload";

bool is_sensor_line(const std::string_view line) { return parts_of(line, ',').size() == 16; }

// The table of machines has as many columns, and numbers in the last.
bool is_line_of_tags(const std::string_view line) {
  const auto parts = parts_of(line, ',');
  return parts.size() == parts_of(kPaiTags, ',').size() && !scaled_of(parts.back(), 0);
}

std::string_view first_line(const SourceText& file) {
  return std::string_view(file.text).substr(0, file.text.find_first_of("\r\n"));
}

// The table's own header, or the one that PAI keeps in a file of its own.
void open(TableRows& table, bool has_header, std::string_view header) {
  if (has_header) {
    table.read_header();
  } else {
    table.use_header(header);
  }
}

std::string key_of(std::string_view job, std::string_view task) {
  return fmt::format("{}/{}", job, task);
}

}  // namespace

bool PaiTables::read(const SourceText& file) {
  const std::string_view line = first_line(file);
  if (line.find("gpu_wrk_util") != line.npos) return read_sensors(file, true);
  if (line == kPaiJobs) return read_users(file, true);
  if (line == kPaiTags) return read_tags(file, true);
  if (line.find("job_name") != line.npos) return false;
  if (is_sensor_line(line)) return read_sensors(file, false);
  if (is_line_of_tags(line)) return read_tags(file, false);
  return parts_of(line, ',').size() == parts_of(kPaiJobs, ',').size() && read_users(file, false);
}

bool PaiTables::read_sensors(const SourceText& file, bool has_header) {
  TableRows table(file, report_);
  open(table, has_header, kSensors);
  const auto job = table.column("job_name");
  const auto task = table.column("task_name");
  const auto util = table.column("gpu_wrk_util");
  const auto memory = table.column("max_gpu_wrk_mem");
  const auto machine = table.column("machine");
  const auto gpu = table.column("gpu_name");
  if (!job || !task) return false;
  while (table.next()) {
    Use use;
    constexpr std::int64_t kMostPercentMilli = 100'000'000;  // of a thousand GPUs
    constexpr std::int64_t kMostBytes = 1LL << 50U;
    if (const std::string_view text = table.value(util); !is_missing(text)) {
      const auto percent = scaled_of(text, 3);
      if (!percent || *percent < 0 || *percent > kMostPercentMilli) {
        table.bad(util, "is no GPU use in percent");
        continue;
      }
      use.percent_milli = *percent;
      use.samples = 1;
    }
    if (const std::string_view text = table.value(memory); !is_missing(text)) {
      const auto bytes = scaled_of(text, kNanosecondDigits);  // GB
      if (!bytes || *bytes < 0 || *bytes > kMostBytes) {
        table.bad(memory, "is no amount of memory in GB");
        continue;
      }
      use.most_memory = *bytes;
    }
    Use& known = uses_[key_of(table.value(*job), table.value(*task))];
    known.percent_milli += use.percent_milli;
    known.samples += use.samples;
    known.most_memory = std::max(known.most_memory, use.most_memory);
    const std::string_view device = table.value(gpu);
    if (is_missing(device) || is_missing(table.value(machine))) continue;
    constexpr std::string_view kFolder = "/dev/";
    known.seen_on(fmt::format("{}/{}", table.value(machine),
                              device.substr(device.starts_with(kFolder) ? kFolder.size() : 0)));
  }
  return true;
}

bool PaiTables::read_users(const SourceText& file, bool has_header) {
  TableRows table(file, report_);
  open(table, has_header, kPaiJobs);
  const auto job = table.column("job_name");
  const auto user = table.column("user");
  const auto instance = table.column("inst_id");
  if (!job || !user || !instance) return false;
  while (table.next()) {
    jobs_[std::string(table.value(*job))] = {std::string(table.value(*user)),
                                             std::string(table.value(*instance))};
  }
  return true;
}

bool PaiTables::read_tags(const SourceText& file, bool has_header) {
  TableRows table(file, report_);
  open(table, has_header, kPaiTags);
  const auto instance = table.column("inst_id");
  const auto group = table.column("group");
  const auto workload = table.column("workload");
  if (!instance || !group || !workload) return false;
  while (table.next()) {
    tags_[std::string(table.value(*instance))] = {std::string(table.value(*group)),
                                                  std::string(table.value(*workload))};
  }
  return true;
}

void PaiTables::complete(JobRow& row, const SourceLocation& where) {
  const auto found = uses_.find(key_of(row.gang, row.work));
  if (const auto job = jobs_.find(std::string(row.gang)); job != jobs_.end()) {
    row.user = job->second.user;
    if (const auto tags = tags_.find(job->second.instance); tags != tags_.end()) {
      row.group = tags->second.group;
      if (!tags->second.workload.empty()) row.work = tags->second.workload;
    }
  }
  if (found == uses_.end() || row.gpus == 0) return;
  const Use& use = found->second;
  if (use.samples > 0) {
    // 100 is one GPU, however many a worker has.
    const std::int64_t permille = use.percent_milli / use.samples / 100 / row.gpus;
    if (permille > 1'000) {
      report_.repaired("tasks that used more GPU than there is: taken as all of their GPUs", where);
    }
    row.gpu_permille = static_cast<std::int32_t>(std::min<std::int64_t>(permille, 1'000));
  }
  if (row.gpus == 1 && !use.on_several) row.ran_on = use.gpu;
  if (use.most_memory >= 0) row.gpu_memory = Bytes{use.most_memory / row.gpus};
}

}  // namespace slicewise::scenarios
