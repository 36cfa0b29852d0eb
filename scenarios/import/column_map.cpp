#include "column_map.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kTimeUnits[] = {"s", "ms", "us", "min", "m", "h", "iso"};
constexpr std::string_view kMemoryUnits[] = {"bytes", "kib", "mib", "gib", "kb", "mb", "gb"};
constexpr std::string_view kShareUnits[] = {"percent", "share"};
constexpr std::string_view kCpuUnits[] = {"cores", "milli", "percent"};
constexpr std::string_view kGpuUnits[] = {"percent"};

constexpr std::array kReadyMaps = {
    ReadyMap{"thetagpu", "wall_time,wait_time,node_num",
             "arrival=submit_time,run=run_time,wait=wait_time,limit=wall_time,gpus=gpu_num,"
             "id=job,user=user,group=project,state=new_status|state",
             "",
             "gpu_num of this log counts units of allocation: one GPU in the queue of single GPUs, "
             "a node of 8 elsewhere"},
    ReadyMap{"muri", "iteration_time,num_gpu,submit_time",
             "arrival=submit_time:ms,run=duration:ms,gpus=num_gpu,id=job_id,work=model_name,"
             "priority=priority,iteration=iteration_time:ms,iteration_host=resource_time_0:ms,"
             "iteration_gpu=resource_time_1:ms,iteration_network=resource_time_2:ms",
             "", "times of this log are milliseconds"},
    ReadyMap{"pai", "plan_gpu,inst_num",
             "arrival=start_time,end=end_time,gpus=plan_gpu:percent,cpu=plan_cpu:percent,"
             "memory=plan_mem:gb,instances=inst_num,state=status,gang=job_name,work=task_name,"
             "gpu_models=gpu_type",
             "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,"
             "gpu_type",
             "this log has no submit time: jobs arrive when they started; its times count from an "
             "unknown day, but hour and weekday are those of Shanghai"},
    ReadyMap{"acme", "gpu_time,type,submit_time,start_time,gpu_num",
             "arrival=submit_time,start=start_time,end=end_time,run=duration,gpus=gpu_num,"
             "cpu=cpu_num,memory=mem_per_pod_GB:gb,pods=node_num,id=job_id,user=user,state=state,"
             "work=type,gpu_use=gpu_util,sm_active=sm_active",
             "", ""},
    ReadyMap{
        "helios", "vc,gpu_num,submit_time,start_time",
        "arrival=submit_time,start=start_time,end=end_time,run=duration,gpus=gpu_num,"
        "cpu=cpu_num,id=job_id,user=user,group=vc,state=state,gpu_use=gpu_util,sm_active=sm_active",
        "", "times of this log name no zone; its clusters stand at UTC+8 (--time-zone +08:00)"},
    ReadyMap{"dlrm", "instance_sn,app_name",
             "arrival=creation_time,start=scheduled_time,end=deletion_time,"
             "gpus=gpu_request,cpu=cpu_request,memory=memory_request:gib,id=instance_sn,"
             "group=role,work=app_name",
             "",
             "instances without a creation_time were there before the log began: they arrive at 0"},
    ReadyMap{"philly", "timestamp,duration,num_gpus,cluster",
             "arrival=submit_time|timestamp|submit_utc|submit_time_utc,"
             "run=run_time|duration|run_s,gpus=gpu_num|num_gpus|gpus,"
             "group=cluster|vc|virtual_cluster,id=jobid|job_id,user=user,state=status|state,"
             "gpu_use=gpu_util,sm_active=sm_active",
             "",
             "every row is an attempt that carries its job's submit time; the log names no zone: "
             "its epoch seconds were made as if it were US Eastern, if it is Pacific they are 3 h "
             "early"},
    // The same by its other header: the first column has no name.
    ReadyMap{"philly", ",run_time,submit_time,gpu_num",
             "arrival=submit_time,run=run_time,gpus=gpu_num,group=cluster|vc|virtual_cluster", "",
             "every row is an attempt that carries its job's submit time; the log names no zone: "
             "its epoch seconds were made as if it were US Eastern, if it is Pacific they are 3 h "
             "early"},
};

tl::unexpected<Diagnostics> wrong_columns(std::string message, std::string help) {
  return failure(Code::TraceColumnMissing, {}, std::move(message), std::move(help));
}

// "gib" of "GiB" and "Gi".
std::string memory_word(std::string_view unit) {
  std::string word = lower_case(unit);
  if (word.size() == 2 && word.back() == 'i') word += 'b';
  return word;
}

bool is_unit(std::string_view word) {
  for (const std::span<const std::string_view> units :
       std::initializer_list<std::span<const std::string_view>>{kTimeUnits, kMemoryUnits,
                                                                kShareUnits, kCpuUnits}) {
    if (std::ranges::find(units, word) != units.end()) return true;
  }
  return false;
}

// What logs call a field: "gpu_util" is gpu_use.
std::optional<std::string> field_of_column(std::string_view column) {
  for (const ReadyMap& ready : kReadyMaps) {
    for (const std::string_view entry : parts_of(ready.map, ',')) {
      const std::size_t equals = entry.find('=');
      std::string_view names = entry.substr(equals + 1);
      names = names.substr(0, names.find(':'));
      const auto all = parts_of(names, '|');
      if (std::ranges::find(all, column) != all.end()) return std::string(entry.substr(0, equals));
    }
  }
  return std::nullopt;
}

// Takes "COLUMN" or "COLUMN:UNIT" for a field; what looks like no unit belongs to the name.
std::optional<Diagnostic> take_column(JobField field, std::string_view value,
                                      MappedColumn& column) {
  column.names = value;
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view given = value.substr(colon + 1);
  const auto units = units_of(field);
  const std::string memory = memory_word(given);
  const auto is_of_field = [&](std::string_view unit) { return unit == given || unit == memory; };
  const auto unit = std::ranges::find_if(units, is_of_field);
  if (unit != units.end()) {
    column.unit = *unit;
    column.names = value.substr(0, colon);
  } else if (is_unit(given) || is_unit(memory)) {
    const std::string_view name = job_field_names()[static_cast<std::size_t>(field)];
    return make_diagnostic(
        Code::UnitUnknown, {}, fmt::format("--columns: {} is no unit of {}", given, name),
        units.empty() ? fmt::format("{} has none: {}={}", name, name, value.substr(0, colon))
                      : fmt::format("its units are {}", fmt::join(units, ", ")));
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string_view>& job_field_names() {
  static const std::vector<std::string_view> names = parts_of(
      "arrival run start end gpus gpu_milli cpu memory gpu_memory wait limit deadline gpu_use "
      "sm_active priority backoff_limit state id user group project gpu_models resource work gang "
      "instance_type ran_on instances pods iteration iteration_host iteration_gpu "
      "iteration_network",
      ' ');
  return names;
}

std::span<const std::string_view> units_of(JobField field) {
  using F = JobField;
  constexpr F kTimes[] = {F::Arrival,       F::Run,          F::Start,           F::End,
                          F::Wait,          F::Limit,        F::Deadline,        F::Iteration,
                          F::IterationHost, F::IterationGpu, F::IterationNetwork};
  if (contains(kTimes, field)) return kTimeUnits;
  if (field == F::Memory || field == F::GpuMemory) return kMemoryUnits;
  if (field == F::GpuUse || field == F::SmActive) return kShareUnits;
  if (field == F::Cpu) return kCpuUnits;
  return field == F::Gpus ? std::span<const std::string_view>(kGpuUnits)
                          : std::span<const std::string_view>();
}

const ReadyMap* find_ready_map(std::string_view name) {
  return find_or_null(kReadyMaps, name, &ReadyMap::name);
}

std::span<const ReadyMap> ready_maps() { return kReadyMaps; }

Expected<ColumnMap> parse_column_map(std::string_view text) {
  ColumnMap map;
  for (const std::string_view entry : parts_of(text, ',')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == entry.size()) {
      return wrong_columns(
          fmt::format("--columns: \"{}\" is not FIELD=COLUMN", entry),
          "write arrival=submit_time,run=run_time:ms,gpus=gpu_num, or one of philly, muri, "
          "thetagpu, pai, helios, acme, dlrm, gavel, shockwave, sacct, swf, openb");
    }
    const std::string_view name = entry.substr(0, equals);
    const auto field = std::ranges::find(job_field_names(), name);
    if (field == job_field_names().end()) {
      const auto known = field_of_column(name);
      const auto nearest = known ? known : nearest_name(name, job_field_names());
      return wrong_columns(
          fmt::format("--columns: there is no field \"{}\"{}", name,
                      nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
          fmt::format("fields are {}", fmt::join(job_field_names(), ", ")));
    }
    MappedColumn& column = map.columns[static_cast<std::size_t>(field - job_field_names().begin())];
    if (!column.names.empty()) {
      return wrong_columns(fmt::format("--columns: {} is there twice", name), "");
    }
    const auto which = static_cast<JobField>(field - job_field_names().begin());
    if (auto problem = take_column(which, entry.substr(equals + 1), column)) {
      return tl::unexpected(Diagnostics{std::move(*problem)});
    }
  }
  return map;
}

}  // namespace slicewise::scenarios
