#include "column_map.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::array<std::string_view, 18> kColumnUnits = {
    "iso",   "s",     "ms",  "us",  "min", "m",  "h",  "percent", "milli",
    "cores", "bytes", "kib", "mib", "gib", "kb", "mb", "gb",      "share"};

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
             "work=type,gpu_"
             "use=gpu_util,sm_active=sm_active",
             "", ""},
    ReadyMap{
        "helios", "vc,gpu_num,submit_time,start_time",
        "arrival=submit_time,start=start_time,end=end_time,run=duration,gpus=gpu_num,"
        "cpu=cpu_num,id=job_id,user=user,group=vc,state=state,gpu_use=gpu_util,sm_active=sm_active",
        "", "times of this log name no zone; its clusters stand at UTC+8 (--utc-offset +08:00)"},
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

}  // namespace

const ReadyMap* find_ready_map(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kReadyMaps, [&](const ReadyMap& map) { return map.name == name; });
  return found == kReadyMaps.end() ? nullptr : found;
}

const ReadyMap* begin_ready_maps() { return kReadyMaps.data(); }
const ReadyMap* end_ready_maps() { return kReadyMaps.data() + kReadyMaps.size(); }

Expected<ColumnMap> parse_column_map(std::string_view text) {
  ColumnMap map;
  for (const std::string_view entry : parts_of(text, ',')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == entry.size()) {
      return wrong_columns(
          fmt::format("--columns: \"{}\" is not FIELD=COLUMN", entry),
          "write arrival=submit_time,run=run_time:ms,gpus=gpu_num, or one of philly, "
          "muri, thetagpu, pai, helios, acme, dlrm, gavel, shockwave, sacct, swf, openb");
    }
    const std::string_view name = entry.substr(0, equals);
    const auto* const field = std::ranges::find(kJobFieldNames, name);
    if (field == kJobFieldNames.end()) {
      const auto nearest = nearest_name(name, kJobFieldNames);
      return wrong_columns(
          fmt::format("--columns: there is no field \"{}\"{}", name,
                      nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
          fmt::format("fields are {}", fmt::join(kJobFieldNames, ", ")));
    }
    MappedColumn& column = map.columns[static_cast<std::size_t>(field - kJobFieldNames.begin())];
    if (!column.names.empty()) {
      return wrong_columns(fmt::format("--columns: {} is there twice", name), "");
    }
    std::string_view value = entry.substr(equals + 1);
    const std::size_t colon = value.rfind(':');
    if (colon != std::string_view::npos &&
        std::ranges::find(kColumnUnits, value.substr(colon + 1)) != kColumnUnits.end()) {
      column.unit = value.substr(colon + 1);
      value = value.substr(0, colon);
    }
    column.names = value;
  }
  return map;
}

}  // namespace slicewise::scenarios
