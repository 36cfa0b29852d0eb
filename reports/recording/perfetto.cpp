#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "../document/document_text.hpp"
#include "../text/text_table.hpp"
#include "lane_words.hpp"

namespace slicewise::reports {
namespace {

using sim::LaneInterval;
using sim::Recording;

// Perfetto takes process 0 for the idle task of a CPU.
constexpr int kClusterProcess = 1;

// Microseconds; Perfetto keeps the nanoseconds.
std::string micros(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

// A track that slices are drawn on.
struct Thread {
  int process = kClusterProcess;
  int id = 0;
};

class TraceWriter {
 public:
  explicit TraceWriter(const Recording& recording) : recording_(recording) {}

  std::string write() {
    name_process(kClusterProcess, "cluster", left_out_text());
    add_nodes();
    add_gpus();
    add_pods();
    add_workloads();
    add_pools();
    return fmt::format(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"generator\":\"slicewise\",\"variant\":{},"
        "\"strategy\":{},\"seed\":\"{}\",\"bucketSeconds\":\"{:.9g}\",\"leftOut\":{},\"turns\":{}}}"
        ",\n"
        "\"traceEvents\":[\n{}\n]}}\n",
        json_line(recording_.variant), json_line(recording_.strategy), recording_.seed,
        to_seconds(recording_.bucket), json_line(left_out_text()),
        json_line(turns_sentence(recording_.turns)), events_);
  }

 private:
  void add(const std::string& event) {
    events_ += events_.empty() ? "" : ",\n";
    events_ += event;
  }

  void name_process(int process, const std::string& name, const std::string& label) {
    add(fmt::format(R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":{1}}}}})",
                    process, json_line(name)));
    add(fmt::format(
        R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
        process));
    if (label.empty()) return;
    add(fmt::format(R"({{"ph":"M","pid":{},"name":"process_labels","args":{{"labels":{}}}}})",
                    process, json_line(label)));
  }

  // Thread ids are unique over all processes: on a real machine they are.
  Thread new_thread(int process, const std::string& name) {
    const Thread thread{process, ++threads_};
    add(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                    process, thread.id, json_line(name)));
    add(fmt::format(
        R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
        process, thread.id));
    return thread;
  }

  void slice(const Thread& thread, std::string_view name, const char* category, TimePoint from,
             TimePoint until, const std::string& args) {
    add(fmt::format(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"{}","name":{},"args":{}}})",
        thread.process, thread.id, micros(from.ns), micros((until - from).ns), category,
        json_line(name), args));
  }

  void instant(const Thread& thread, std::string_view name, TimePoint at) {
    add(fmt::format(R"({{"ph":"i","s":"t","pid":{},"tid":{},"ts":{},"cat":"pod","name":{}}})",
                    thread.process, thread.id, micros(at.ns), json_line(name)));
  }

  // A counter holds from its time until the next: what a bucket had stands at its start.
  template <class Value>
  void counter(int process, const std::string& name, const char* unit, const Value& value_of) {
    std::string before;
    for (std::size_t n = 0; n < recording_.buckets(); ++n) {
      const TimePoint from = n == 0 ? TimePoint{} : recording_.bucket_end(n - 1);
      const std::string value = fmt::format("{:.6g}", value_of(n));
      if (value == before && n + 1 < recording_.buckets()) continue;
      add(fmt::format(R"({{"ph":"C","pid":{},"ts":{},"cat":"sim","name":{},"args":{{"{}":{}}}}})",
                      process, micros(from.ns), json_line(name), unit, value));
      before = value;
    }
  }

  double bucket_seconds(std::size_t n) const {
    const TimePoint from = n == 0 ? TimePoint{} : recording_.bucket_end(n - 1);
    return std::max(1e-9, to_seconds(recording_.bucket_end(n) - from));
  }

  std::string left_out_text() const { return left_out_sentence(recording_.left_out); }

  int process_of(const std::string& node) {
    const auto [place, is_new] =
        processes_.try_emplace(node, kClusterProcess + 1 + static_cast<int>(processes_.size()));
    return place->second;
  }

  void add_nodes() {
    std::map<std::string, Thread> lives;
    for (const sim::RecordedNode& node : recording_.nodes) {
      const bool seen = processes_.contains(node.name);
      const int process = process_of(node.name);
      if (!seen) {
        name_process(process, fmt::format("{} ({})", node.name, node.instance_type), "");
        lives[node.name] = new_thread(process, "node");
      }
      const Thread& thread = lives[node.name];
      TimePoint reached = node.decided;
      const auto stage = [&](const char* name, TimePoint end) {
        end = std::min(end, node.until);
        if (end > reached) slice(thread, name, "node", reached, end, "{}");
        reached = std::max(reached, end);
      };
      stage("launch", node.launched.value_or(node.until));
      stage("boot", node.ready.value_or(node.until));
      stage("GPUs not offered yet", node.allocatable.value_or(node.until));
      stage("Ready", node.draining.value_or(node.until));
      stage("draining", node.until);
    }
  }

  void add_gpus() {
    const std::vector<std::vector<GpuGuest>> guests = gpu_guests(recording_);
    for (std::size_t g = 0; g < recording_.gpus.size(); ++g) {
      const sim::RecordedGpu& gpu = recording_.gpus[g];
      const int process = process_of(gpu.node);
      const std::string name = gpu_lane_name(gpu);
      const Thread thread = new_thread(process, name + " (" + gpu.model + ")");
      for (const GpuCompany& company : company_over_time(guests[g])) {
        slice(thread, company_name(company), "gpu", company.from, company.until,
              company_args(company));
      }
      add_turns(static_cast<std::uint32_t>(g), process, name);
      const auto percent = [&](const std::vector<Duration>& series) {
        return [&](std::size_t n) { return 100 * to_seconds(series[n]) / bucket_seconds(n); };
      };
      counter(process, name + " memory", "GiB", [&](std::size_t n) {
        return static_cast<double>(gpu.memory[n].count) / 1'073'741'824.0;
      });
      counter(process, name + " time busy", "percent", percent(gpu.busy));
      if (!gpu.sm_active.empty()) {
        counter(process, name + " SM active", "percent", percent(gpu.sm_active));
      }
      counter(process, name + " context switches", "percent", percent(gpu.switching));
    }
  }

  // On a track of their own: a turn may go on while somebody comes or leaves.
  void add_turns(std::uint32_t gpu, int process, const std::string& name) {
    std::optional<Thread> thread;
    for (const sim::RecordedTurn& turn : recording_.turns.turns) {
      if (turn.gpu != gpu) continue;
      if (!thread) thread = new_thread(process, name + " turns");
      slice(*thread, turn.is_switch ? "switch" : recording_.pods[turn.pod].name, "turn", turn.from,
            turn.until, "{}");
    }
  }

  std::string company_name(const GpuCompany& company) const {
    constexpr std::size_t kNamed = 3;
    if (company.pods.size() > kNamed) return fmt::format("{} pods", company.pods.size());
    std::string name;
    for (const std::uint32_t pod : company.pods) {
      name += (name.empty() ? "" : " + ") + recording_.pods[pod].name;
    }
    return name;
  }

  std::string company_args(const GpuCompany& company) const {
    std::string names;
    for (const std::uint32_t pod : company.pods) add_name(names, recording_.pods[pod].name);
    return fmt::format(R"({{"pods":{}}})", json_line(names));
  }

  // While it has no GPU a pod is the cluster's; then it has a lane on each node that it gets to.
  void add_pods() {
    for (const sim::RecordedPod& pod : recording_.pods) {
      std::map<int, Thread> lanes;
      const auto lane_of = [&](const LaneInterval& interval) -> const Thread& {
        const int process = interval.gpus.empty()
                                ? kClusterProcess
                                : process_of(recording_.gpus[interval.gpus.front()].node);
        const auto found = lanes.find(process);
        if (found != lanes.end()) return found->second;
        return lanes[process] = new_thread(process, pod.name);
      };
      for (const LaneInterval& interval : pod.intervals) {
        slice(lane_of(interval), lane_phase_word(interval.phase), "pod", interval.from,
              interval.until, interval_args(interval));
      }
      for (const sim::LaneMark& mark : pod.marks) {
        const auto at = std::ranges::find_if(
            pod.intervals, [&](const LaneInterval& interval) { return interval.until >= mark.at; });
        if (at != pod.intervals.end()) instant(lane_of(*at), lane_mark_word(mark.kind), mark.at);
      }
    }
  }

  std::string interval_args(const LaneInterval& interval) const {
    if (interval.gpus.empty()) return "{}";
    std::string gpus;
    for (const std::uint32_t gpu : interval.gpus) {
      add_name(gpus, gpu_lane_name(recording_.gpus[gpu]));
    }
    return fmt::format(R"({{"gpu":{},"memoryBytes":{}}})", json_line(gpus), interval.memory.count);
  }

  void add_workloads() {
    for (const sim::RecordedWorkload& workload : recording_.workloads) {
      const auto per_second = [&](const std::vector<std::int64_t>& series) {
        return [&](std::size_t n) { return static_cast<double>(series[n]) / bucket_seconds(n); };
      };
      const auto count = [](const std::vector<std::int64_t>& series) {
        return [&](std::size_t n) { return static_cast<double>(series[n]); };
      };
      const auto add_counter = [&](const char* what, const char* unit, const auto& value_of) {
        counter(kClusterProcess, workload.name + " " + what, unit, value_of);
      };
      if (!workload.running.empty()) add_counter("running", "pods", count(workload.running));
      if (workload.arrived.empty()) continue;
      add_counter("arrivals", "per s", per_second(workload.arrived));
      add_counter("late or lost", "per s", [&](std::size_t n) {
        return static_cast<double>(workload.late[n] + workload.lost[n]) / bucket_seconds(n);
      });
      if (!workload.waiting.empty()) add_counter("waiting", "requests", count(workload.waiting));
      add_counter("latency p99", "ms", [&](std::size_t n) {
        return workload.p99[n] ? to_seconds(*workload.p99[n]) * 1e3 : 0;
      });
    }
  }

  void add_pools() {
    for (const sim::RecordedPool& pool : recording_.pools) {
      counter(kClusterProcess, pool.name + " Ready", "nodes",
              [&](std::size_t n) { return static_cast<double>(pool.ready[n]); });
    }
  }

  const Recording& recording_;
  std::map<std::string, int> processes_;  // by node
  int threads_ = 0;
  std::string events_;
};

}  // namespace

std::string perfetto_trace(const sim::Recording& recording) {
  return TraceWriter(recording).write();
}

}  // namespace slicewise::reports
