#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/flow_text.hpp"
#include "../text/kubernetes_names.hpp"
#include "importers.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostWorkloads = 1'000;  // a scenario is read by people

// The pods of one controller that ask for the same.
struct Group {
  std::vector<std::size_t> rows;
};

std::string controller_of_row(const JobTrace& trace, std::size_t row) {
  const std::string_view work = trace.name(trace.work, row);
  const std::string_view id = trace.name(trace.id, row);
  return std::string(work.empty() ? id.substr(id.find('/') + 1) : work.substr(work.find('/') + 1));
}

// Most pods of the group that were alive at once: its replicas.
std::int64_t most_alive(const JobTrace& trace, const Group& group) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const std::size_t row : group.rows) {
    const std::int64_t start = trace.arrival[row].ns;
    changes.emplace_back(start, 1);
    if (trace.run[row].ns < 0) continue;
    const std::int64_t wait = trace.observed_wait.empty() ? 0 : trace.observed_wait[row].ns;
    changes.emplace_back(start + std::max<std::int64_t>(wait, 0) + trace.run[row].ns, -1);
  }
  std::ranges::sort(changes);
  std::int64_t alive = 0;
  std::int64_t most = 1;
  for (const auto& [at, change] : changes) most = std::max(most, alive += change);
  return most;
}

// The mean of the known values of a column; nullopt when there is none.
template <class T, class Value>
std::optional<std::int64_t> mean(const TraceColumn<T>& column, const Group& group, Value value) {
  Int128 sum = 0;
  std::int64_t known = 0;
  if (column.empty()) return std::nullopt;
  for (const std::size_t row : group.rows) {
    if (value(column[row]) < 0) continue;
    sum += value(column[row]);
    ++known;
  }
  return known == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(sum / known));
}

// The largest known value of a column; nullopt when there is none.
template <class T>
std::optional<T> most(const TraceColumn<T>& column, const Group& group) {
  std::optional<T> largest;
  if (column.empty()) return largest;
  for (const std::size_t row : group.rows) {
    if (column[row] >= T{}) largest = std::max(largest.value_or(T{}), column[row]);
  }
  return largest;
}

// Four digits behind the point, or of what is less than these; scenarios have no exponents.
std::string rate_text(double per_hour) {
  const bool is_slow = per_hour < 36;
  const double rate = is_slow ? per_hour : per_hour / 3600;
  int digits = 4;
  for (double shown = rate; shown > 0 && shown < 0.1; shown *= 10) ++digits;
  return fmt::format("{:.{}f}/{}", rate, digits, is_slow ? 'h' : 's');
}

// The mean rate over the time in which any pod of the group was counted.
void add_requests(const Imported& imported, const JobTrace& trace, const Group& group,
                  DraftWorkload& workload) {
  RequestCount all{{}, 0, std::numeric_limits<std::int64_t>::max(), 0};
  for (const std::size_t row : group.rows) {
    const auto found = imported.requests.find(std::string(trace.name(trace.id, row)));
    if (found == imported.requests.end()) continue;
    const RequestCount& count = found->second;
    all = {count.counter, all.requests + count.requests, std::min(all.since_ns, count.since_ns),
           std::max(all.until_ns, count.until_ns)};
  }
  constexpr double kLeast = 1e-6;
  const double per_hour =
      all.requests / (static_cast<double>(all.until_ns - all.since_ns) / 3.6e12);
  if (per_hour < kLeast) return;
  workload.traffic = rate_text(per_hour);
  workload.traffic_from = "mean of " + all.counter;
}

DraftWorkload workload_of(const Imported& imported, const Group& group) {
  const JobTrace& trace = std::get<JobTrace>(imported.content);
  const std::size_t first = group.rows.front();
  DraftWorkload workload;
  workload.name = dns_name(controller_of_row(trace, first), "pod");
  workload.space = dns_name(std::string(trace.name(trace.group, first)), "");
  const std::string_view work = trace.name(trace.work, first);
  const bool serves = work.starts_with("Deployment/") || work.starts_with("StatefulSet/") ||
                      work.starts_with("ReplicaSet/") || work.starts_with("DaemonSet/");
  workload.kind = serves ? DraftWorkload::Kind::Service : DraftWorkload::Kind::Job;
  workload.pods = serves ? most_alive(trace, group) : static_cast<std::int64_t>(group.rows.size());
  workload.comment =
      fmt::format("{} pods{}", group.rows.size(), work.empty() ? " without a controller" : "");
  workload.resource = trace.name(trace.resource, first);
  if (workload.resource.empty()) workload.resource = kGpuResource;
  workload.gpus = std::max(1, trace.gpus[first]);
  const auto number = [](std::int32_t value) { return static_cast<std::int64_t>(value); };
  workload.cpu_milli = mean(trace.cpu_milli, group, number).value_or(0);
  workload.memory_bytes = mean(trace.memory, group, [](Bytes b) { return b.count; }).value_or(0);
  workload.priority = trace.priority.empty() ? 0 : std::min(trace.priority[first], 1'000'000'000);
  // A process that needed less at the time may need as much.
  if (const auto bytes = most(trace.gpu_memory, group)) {
    workload.gpu_memory = *bytes;
    workload.memory_is_measured = !trace.gpu_permille.empty();
  }
  if (const auto use = mean(trace.gpu_permille, group, number)) {
    workload.gpu_permille = static_cast<std::int32_t>(std::max<std::int64_t>(1, *use));
  }
  if (const auto sm_active = mean(trace.sm_permille, group, number)) {
    workload.sm_permille = static_cast<std::int32_t>(*sm_active);
  }
  if (const auto run = mean(trace.run, group, [](Duration d) { return d.ns; })) {
    workload.run_time = Duration{*run};
  }
  workload.is_greedy = std::ranges::any_of(group.rows, [&](std::size_t row) {
    return imported.greedy.contains(std::string(trace.name(trace.id, row)));
  });
  add_requests(imported, trace, group, workload);
  return workload;
}

std::vector<Group> groups_of(const JobTrace& trace) {
  std::map<std::string, std::size_t> numbers;
  std::vector<Group> groups;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    const std::string key =
        fmt::format("{}\n{}\n{}\n{}", trace.name(trace.group, row),
                    trace.name(trace.work, row).empty() ? trace.name(trace.id, row)
                                                        : trace.name(trace.work, row),
                    trace.name(trace.resource, row), trace.gpus[row]);
    const auto [place, is_new] = numbers.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].rows.push_back(row);
  }
  if (groups.size() > kMostWorkloads) groups.resize(kMostWorkloads);
  return groups;
}

// Nodes of the type, as many as had the GPUs on which pods were seen.
std::int64_t nodes_seen(const JobTrace& trace, const std::string& type, std::int64_t gpus_of_node) {
  std::set<std::string_view> gpus;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    const std::string_view gpu = trace.name(trace.ran_on, row);
    if (trace.name(trace.instance_type, row) == type && !gpu.empty()) gpus.insert(gpu);
  }
  const auto seen = static_cast<std::int64_t>(gpus.size());
  return std::max<std::int64_t>(1, (seen + gpus_of_node - 1) / gpus_of_node);
}

// Pools by instance type, with the sharing that the pods' parts of a GPU tell of.
void add_pools(const Imported& imported, const std::vector<Group>& groups,
               const ImportOptions& options, ScenarioDraft& draft) {
  const JobTrace& trace = std::get<JobTrace>(imported.content);
  for (const Group& group : groups) {
    const std::size_t row = group.rows.front();
    const std::string type(trace.name(trace.instance_type, row));
    if (type.empty()) continue;
    const DraftWorkload workload = workload_of(imported, group);
    const bool is_known = std::ranges::any_of(
        draft.pools, [&](const DraftPool& pool) { return pool.instance_type == type; });
    if (is_known) continue;
    const int milli = trace.milli_of_each(row);
    const auto gpu = gpu_resource(workload.resource);
    const bool is_replica = gpu && (gpu->kind == GpuResource::Kind::Whole || gpu->is_replica());
    const std::optional<int> replicas =
        is_replica && milli < 1'000 ? std::optional(1'000 / std::max(1, milli)) : std::nullopt;
    DraftPool pool = assumed_pool(workload.resource, workload.gpus, replicas, options);
    pool.name = dns_name(type, "gpu");
    pool.instance_type = type;
    pool.type_is_assumed = false;
    if (is_replica) pool.nodes = nodes_seen(trace, type, gpus_of(type, options));
    draft.pools.push_back(std::move(pool));
  }
}

}  // namespace

std::vector<DraftWorkload> workloads_seen(const Imported& imported) {
  std::vector<DraftWorkload> workloads;
  for (const Group& group : groups_of(std::get<JobTrace>(imported.content))) {
    workloads.push_back(workload_of(imported, group));
  }
  return workloads;
}

ScenarioText pod_scenario(const Imported& imported, ImportKind kind, const ImportOptions& options) {
  const std::vector<Group> groups = groups_of(std::get<JobTrace>(imported.content));
  if (groups.empty()) return {"# No pod asks for a GPU: there is nothing to simulate.\n"};
  ScenarioDraft draft;
  draft.name = dns_name(options.name, "pods");
  draft.made_by = fmt::format("import {}", kind_name(kind));
  draft.workloads = workloads_seen(imported);
  add_pools(imported, groups, options, draft);
  complete(draft, options);
  return written(draft);
}

namespace {

// GPUs in use at once if every job started when it arrived, in whole GPUs.
std::int64_t peak_gpus(const JobTrace& trace) {
  using End = std::pair<Duration, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::int64_t milli = 0;
  std::int64_t peak = 0;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    while (!ends.empty() && ends.top().first <= trace.arrival[row]) {
      milli -= ends.top().second;
      ends.pop();
    }
    const std::int64_t asked = std::int64_t{trace.gpus[row]} * trace.milli_of_each(row);
    if (asked <= 0 || trace.run[row].ns < 0) continue;
    milli += asked;
    peak = std::max(peak, milli);
    ends.emplace(trace.arrival[row] + trace.run[row], asked);
  }
  return (peak + 999) / 1000;
}

}  // namespace

std::string replay_scenario(const Imported& imported, ImportKind kind,
                            const ImportOptions& options) {
  const JobTrace& trace = std::get<JobTrace>(imported.content);
  const std::string file_name = std::filesystem::path(trace.file).stem().string();
  const std::string name = dns_name(options.name.empty() ? file_name : options.name, "jobs");
  // Never that of the log itself.
  const std::string path = options.trace_path.value_or(name + "-jobs.csv");
  const std::int64_t gpus = std::max<std::int64_t>(1, peak_gpus(trace));
  std::string file;
  if (!options.trace_path) {
    file = fmt::format("  # TODO: write it with slicewise import {} ... -o trace --out {}\n",
                       kind_name(kind), path);
  }
  return fmt::format(
      "# {} jobs, imported as {}. Run it with: slicewise replay -f FILE\napiVersion: "
      "slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {{name: {}}}\nspec:\n{}  trace: {{file: "
      "{}}}\n  # Assumed: as many GPUs as the jobs would use at once if none waited. TODO: your "
      "cluster:\n  # instances: [{{instanceType: p3.16xlarge, count: 8}}], nodes: [{{count: 8, "
      "gpus: 8}}] or nodeList: nodes.csv\n  cluster: {{gpus: {}}}\n  # Assumed. Also backfill, "
      "easy, priority, srtf, srsf; a list compares.\n  queue: fifo\n",
      trace.size(), kind_name(kind), scalar_text(name), file, in_quotes(path), gpus);
}

}  // namespace slicewise::scenarios
