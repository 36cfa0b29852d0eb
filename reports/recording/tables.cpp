#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../document/csv_rows.hpp"
#include "../document/record_json.hpp"
#include "lane_words.hpp"

namespace slicewise::reports {
namespace {

using sim::Recording;

// One row; the fields of numbers are made by seconds_field and its like.
void add_row(std::string& table, std::initializer_list<std::string> fields) {
  std::string row;
  for (const std::string& field : fields) row += csv_text(field) + ",";
  row.pop_back();
  table += row + "\r\n";
}

std::string number_field(double value) { return fmt::format("{:.9g}", value); }
std::string seconds_field(Duration time) { return number_field(to_seconds(time)); }
std::string seconds_field(TimePoint at) { return seconds_field(at - TimePoint{}); }
template <class Time>
std::string seconds_field(const std::optional<Time>& at) {
  return at ? seconds_field(*at) : "";
}
std::string dollars_field(Usd amount) { return fmt::format("{:.9f}", to_dollars(amount)); }

std::string_view end_word(sim::RecordedNode::End end) {
  switch (end) {
    case sim::RecordedNode::End::OfRun:
      return "run ended";
    case sim::RecordedNode::End::Removed:
      return "removed";
    case sim::RecordedNode::End::TakenBack:
      return "taken back by EC2";
  }
  return "";
}

std::string gpu_list(const Recording& recording, const std::vector<std::uint32_t>& gpus) {
  std::string list;
  for (const std::uint32_t gpu : gpus) {
    list += (list.empty() ? "" : "; ") + gpu_lane_name(recording.gpus[gpu]);
  }
  return list;
}

std::string nodes_table(const Recording& recording) {
  std::string table =
      "node,pool,instanceType,decided,launched,ready,gpusOffered,draining,ended,why,usdPerHour,"
      "billedUsd\r\n";
  for (const sim::RecordedNode& node : recording.nodes) {
    add_row(table, {node.name, node.pool_name, node.instance_type, seconds_field(node.decided),
                    seconds_field(node.launched), seconds_field(node.ready),
                    seconds_field(node.allocatable), seconds_field(node.draining),
                    seconds_field(node.until), std::string(end_word(node.end)),
                    dollars_field(node.price.per_hour), dollars_field(node.billed)});
  }
  return table;
}

std::string pods_table(const Recording& recording) {
  std::string table = "pod,workload,namespace,phase,from,until,node,gpus,memoryBytes\r\n";
  for (const sim::RecordedPod& pod : recording.pods) {
    const sim::RecordedWorkload& workload = recording.workloads[pod.workload];
    for (const sim::LaneInterval& interval : pod.intervals) {
      const bool placed = !interval.gpus.empty();
      add_row(table, {pod.name, workload.name, workload.namespace_name,
                      std::string(lane_phase_word(interval.phase)), seconds_field(interval.from),
                      seconds_field(interval.until),
                      placed ? recording.gpus[interval.gpus.front()].node : "",
                      gpu_list(recording, interval.gpus),
                      placed ? fmt::format("{}", interval.memory.count) : ""});
    }
    for (const sim::LaneMark& mark : pod.marks) {
      add_row(table, {pod.name, workload.name, workload.namespace_name,
                      std::string(lane_mark_word(mark.kind)), seconds_field(mark.at),
                      seconds_field(mark.at), "", "", ""});
    }
  }
  return table;
}

std::string turns_table(const Recording& recording) {
  std::string table = "node,gpu,pod,what,from,until\r\n";
  for (const sim::RecordedTurn& turn : recording.turns.turns) {
    add_row(table, {recording.gpus[turn.gpu].node, gpu_lane_name(recording.gpus[turn.gpu]),
                    recording.pods[turn.pod].name, turn.is_switch ? "switch" : "turn",
                    seconds_field(turn.from), seconds_field(turn.until)});
  }
  return table;
}

std::string_view outcome_word(sim::RecordedRequest::Outcome outcome) {
  using Outcome = sim::RecordedRequest::Outcome;
  switch (outcome) {
    case Outcome::InTime:
      return "in time";
    case Outcome::Late:
      return "late";
    case Outcome::Refused:
      return "refused";
    case Outcome::Dropped:
      return "dropped";
    case Outcome::TimedOut:
      return "timed out";
  }
  return "";
}

std::string requests_table(const Recording& recording) {
  std::string table =
      "workload,pod,arrived,over,latency,outcome,retries,warmup,inputTokens,outputTokens\r\n";
  for (const sim::RecordedRequest& request : recording.requests) {
    const std::string& workload = recording.workloads[request.workload].name;
    const auto tokens = [](std::int64_t count) {
      return count > 0 ? fmt::format("{}", count) : std::string();
    };
    const bool warmup = request.arrived - TimePoint{} < recording.warmup;
    add_row(table, {workload, request.pod ? fmt::format("{}-{}", workload, *request.pod + 1) : "",
                    seconds_field(request.arrived), seconds_field(request.over),
                    seconds_field(request.over - request.arrived),
                    std::string(outcome_word(request.outcome)), fmt::format("{}", request.retries),
                    warmup ? "true" : "false", tokens(request.input_tokens),
                    tokens(request.output_tokens)});
  }
  return table;
}

std::string workloads_table(const Recording& recording) {
  std::string table =
      "workload,kind,completed,throughputPerSecond,goodputPerSecond,arrived,answered,inObjectives,"
      "latencyP50,latencyP95,latencyP99,waitMean,gpuBusyShare,boundBy\r\n";
  const auto quantile = [](const std::optional<sim::TimeSummary>& summary,
                           Duration sim::TimeSummary::*at) {
    return summary ? seconds_field((*summary).*at) : "";
  };
  for (const sim::WorkloadResult& w : recording.result.workloads) {
    add_row(
        table,
        {w.name, w.kind, number_field(w.completed), number_field(w.throughput_per_second),
         number_field(w.goodput_per_second), w.requests ? number_field(w.requests->arrived) : "",
         w.requests ? number_field(w.requests->answered) : "",
         w.requests ? number_field(w.requests->in_objectives) : "",
         quantile(w.latency, &sim::TimeSummary::p50), quantile(w.latency, &sim::TimeSummary::p95),
         quantile(w.latency, &sim::TimeSummary::p99), quantile(w.wait, &sim::TimeSummary::mean),
         number_field(w.gpu_busy_share), w.bound_by});
  }
  return table;
}

// Limits and values in the unit that documents give them: seconds, shares, per second.
std::string objectives_table(const Recording& recording) {
  std::string table = "workload,objective,bound,limit,value,unit,pass\r\n";
  const auto field = [](const nlohmann::json& value) {
    return value.is_number() ? number_field(value.get<double>()) : "";
  };
  for (const sim::WorkloadResult& w : recording.result.workloads) {
    for (const sim::ObjectiveResult& o : w.objectives) {
      const nlohmann::json written = described_json(o);
      add_row(table, {w.name, o.name, o.at_least ? "at least" : "at most",
                      field(written.value("limit", nlohmann::json())),
                      field(written.value("value", nlohmann::json())),
                      written.value("unit", std::string()), o.pass ? "true" : "false"});
    }
  }
  return table;
}

std::string cost_table(const Recording& recording) {
  const sim::CostLedger& ledger = recording.result.cost.ledger;
  std::string table = "reason,usd\r\n";
  const auto add = [&](const char* reason, Usd amount) {
    add_row(table, {reason, dollars_field(amount)});
  };
  add("useful", ledger.useful);
  add("idle", ledger.idle);
  add("switching", ledger.switching);
  add("failed", ledger.failed);
  add("coldStart", ledger.cold_start);
  add("missedSlo", ledger.missed_slo);
  add("thrash", ledger.thrash);
  add("total", ledger.total);
  return table;
}

class TimelineTable {
 public:
  explicit TimelineTable(const Recording& recording) : recording_(recording) {}

  std::string write() {
    for (const sim::RecordedWorkload& workload : recording_.workloads) add_workload(workload);
    for (const sim::RecordedGpu& gpu : recording_.gpus) add_gpu(gpu);
    for (const sim::RecordedPool& pool : recording_.pools) {
      of_ = "nodePool," + csv_text(pool.name);
      counts("nodesReady", pool.ready);
      counts("nodesBilled", pool.billed);
    }
    return std::move(table_);
  }

 private:
  void add(const char* figure, std::size_t n, const std::string& value) {
    const TimePoint from = n == 0 ? TimePoint{} : recording_.bucket_end(n - 1);
    table_ += fmt::format("{},{},{},{},{}\r\n", seconds_field(from),
                          seconds_field(recording_.bucket_end(n)), of_, figure, value);
  }
  void counts(const char* figure, const std::vector<std::int64_t>& series) {
    for (std::size_t n = 0; n < series.size(); ++n) add(figure, n, fmt::format("{}", series[n]));
  }
  void times(const char* figure, const std::vector<Duration>& series) {
    for (std::size_t n = 0; n < series.size(); ++n) add(figure, n, seconds_field(series[n]));
  }
  void times(const char* figure, const std::vector<std::optional<Duration>>& series) {
    for (std::size_t n = 0; n < series.size(); ++n) {
      if (series[n]) add(figure, n, seconds_field(series[n]));
    }
  }

  void add_workload(const sim::RecordedWorkload& workload) {
    of_ = "workload," + csv_text(workload.name);
    counts("arrived", workload.arrived);
    counts("completed", workload.completed);
    counts("late", workload.late);
    counts("lost", workload.lost);
    counts("inSystem", workload.in_system);
    counts("waiting", workload.waiting);
    counts("podsRunning", workload.running);
    times("gpuBusySeconds", workload.gpu_busy);
    times("latencyMeanSeconds", workload.mean);
    times("latencyP50Seconds", workload.p50);
    times("latencyP99Seconds", workload.p99);
  }

  void add_gpu(const sim::RecordedGpu& gpu) {
    of_ = "gpu," + csv_text(gpu.node + " " + gpu_lane_name(gpu));
    times("busySeconds", gpu.busy);
    times("smActiveSeconds", gpu.sm_active);
    times("switchingSeconds", gpu.switching);
    for (std::size_t n = 0; n < gpu.memory.size(); ++n) {
      add("memoryBytes", n, fmt::format("{}", gpu.memory[n].count));
    }
  }

  const Recording& recording_;
  std::string of_;
  std::string table_ = "from,until,of,name,figure,value\r\n";
};

}  // namespace

std::vector<CsvTable> recording_tables(const Recording& recording) {
  const auto& left_out = recording.left_out;
  std::vector<CsvTable> tables = {{"workloads.csv", workloads_table(recording)},
                                  {"objectives.csv", objectives_table(recording)},
                                  {"cost.csv", cost_table(recording)},
                                  {"nodes.csv", nodes_table(recording), left_out.nodes},
                                  {"pods.csv", pods_table(recording), left_out.intervals},
                                  {"turns.csv", turns_table(recording)},
                                  {"requests.csv", requests_table(recording), left_out.requests},
                                  {"timeline.csv", TimelineTable(recording).write()}};
  std::string manifest = "file,rows,leftOut\r\n";
  for (CsvTable& table : tables) {
    table.rows = std::ranges::count(table.text, '\n') - 1;  // without the header
    add_row(manifest,
            {table.file, fmt::format("{}", table.rows), fmt::format("{}", table.left_out)});
  }
  tables.push_back({"manifest.csv", std::move(manifest)});
  return tables;
}

}  // namespace slicewise::reports
