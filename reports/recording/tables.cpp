#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/metrics/cost_ledger.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../document/csv_rows.hpp"
#include "lane_words.hpp"

// Each table is the declaration of its columns and the rows that they are of.
namespace slicewise::reports {
namespace {

using sim::field;
using sim::Record;
using sim::Recording;

std::string_view end_word(const sim::RecordedNode& node) {
  switch (node.end) {
    case sim::RecordedNode::End::OfRun:
      return "run ended";
    case sim::RecordedNode::End::Removed:
      return "removed";
    case sim::RecordedNode::End::TakenBack:
      return "taken back by EC2";
  }
  return "";
}

const Record& node_columns() {
  using N = sim::RecordedNode;
  static const Record declared{
      "a node from the decision to start it to its end",
      {field<&N::name>("node"), field<&N::pool_name>("pool"),
       field<&N::instance_type>("instanceType"), field<&N::decided>("decided"),
       field<&N::launched>("launched"), field<&N::ready>("ready"),
       field<&N::allocatable>("gpusOffered"), field<&N::draining>("draining"),
       field<&N::until>("ended"), field<&end_word>("why"),
       field<&N::price, &UsdPerHour::per_hour>("usdPerHour"), field<&N::billed>("billedUsd")}};
  return declared;
}

struct PodRow {
  std::string_view pod;
  std::string_view workload;
  std::string_view namespace_name;
  std::string_view phase;
  TimePoint from;
  TimePoint until;
  std::string_view node = {};
  std::string gpus = {};
  std::optional<Bytes> memory = std::nullopt;
};

const Record& pod_columns() {
  using P = PodRow;
  static const Record declared{
      "a phase of a pod, or what happened to it",
      {field<&P::pod>("pod"), field<&P::workload>("workload"),
       field<&P::namespace_name>("namespace"), field<&P::phase>("phase"), field<&P::from>("from"),
       field<&P::until>("until"), field<&P::node>("node"), field<&P::gpus>("gpus"),
       field<&P::memory>("memoryBytes")}};
  return declared;
}

std::string gpu_list(const Recording& recording, const std::vector<std::uint32_t>& gpus) {
  std::string list;
  for (const std::uint32_t gpu : gpus) {
    list += (list.empty() ? "" : "; ") + gpu_lane_name(recording.gpus[gpu]);
  }
  return list;
}

std::vector<PodRow> pods_of(const Recording& recording) {
  std::vector<PodRow> rows;
  for (const sim::RecordedPod& pod : recording.pods) {
    const sim::RecordedWorkload& workload = recording.workloads[pod.workload];
    for (const sim::LaneInterval& interval : pod.intervals) {
      rows.push_back({pod.name, workload.name, workload.namespace_name,
                      lane_phase_word(interval.phase), interval.from, interval.until});
      if (interval.gpus.empty()) continue;
      rows.back().node = recording.gpus[interval.gpus.front()].node;
      rows.back().gpus = gpu_list(recording, interval.gpus);
      rows.back().memory = interval.memory;
    }
    for (const sim::LaneMark& mark : pod.marks) {
      rows.push_back({pod.name, workload.name, workload.namespace_name, lane_mark_word(mark.kind),
                      mark.at, mark.at});
    }
  }
  return rows;
}

struct TurnRow {
  std::string_view node;
  std::string gpu;
  std::string_view pod;
  std::string_view what;
  TimePoint from;
  TimePoint until;
};

const Record& turn_columns() {
  using T = TurnRow;
  static const Record declared{
      "a turn of a pod on a GPU, or a switch to its context",
      {field<&T::node>("node"), field<&T::gpu>("gpu"), field<&T::pod>("pod"),
       field<&T::what>("what"), field<&T::from>("from"), field<&T::until>("until")}};
  return declared;
}

std::vector<TurnRow> turns_of(const Recording& recording) {
  std::vector<TurnRow> rows;
  for (const sim::RecordedTurn& turn : recording.turns.turns) {
    const sim::RecordedGpu& gpu = recording.gpus[turn.gpu];
    rows.push_back({gpu.node, gpu_lane_name(gpu), recording.pods[turn.pod].name,
                    turn.is_switch ? "switch" : "turn", turn.from, turn.until});
  }
  return rows;
}

std::string_view outcome_word(sim::RecordedRequest::Outcome outcome) {
  using Request = sim::RecordedRequest;
  switch (outcome) {
    case Request::Outcome::InTime:
      return "in time";
    case Request::Outcome::Late:
      return "late";
    case Request::Outcome::Refused:
      return "refused";
    case Request::Outcome::Dropped:
      return "dropped";
    case Request::Outcome::TimedOut:
      return "timed out";
  }
  return "";
}

struct RequestRow {
  std::string_view workload;
  std::string pod;
  TimePoint arrived;
  TimePoint over;
  Duration latency;
  std::string_view outcome;
  int retries = 0;
  bool warmup = false;
  std::optional<std::int64_t> input_tokens;
  std::optional<std::int64_t> output_tokens;
};

const Record& logged_request_columns() {
  using R = RequestRow;
  static const Record declared{
      "a request from its first attempt to its answer or its loss",
      {field<&R::workload>("workload"), field<&R::pod>("pod"), field<&R::arrived>("arrived"),
       field<&R::over>("over"), field<&R::latency>("latency"), field<&R::outcome>("outcome"),
       field<&R::retries>("retries"), field<&R::warmup>("warmup"),
       field<&R::input_tokens>("inputTokens"), field<&R::output_tokens>("outputTokens")}};
  return declared;
}

std::vector<RequestRow> requests_of(const Recording& recording) {
  std::vector<RequestRow> rows;
  const auto tokens = [](std::int64_t count) {
    return count > 0 ? std::optional(count) : std::nullopt;
  };
  for (const sim::RecordedRequest& request : recording.requests) {
    const std::string& workload = recording.workloads[request.workload].name;
    rows.push_back({workload, request.pod ? fmt::format("{}-{}", workload, *request.pod + 1) : "",
                    request.arrived, request.over, request.over - request.arrived,
                    outcome_word(request.outcome), request.retries,
                    request.arrived - TimePoint{} < recording.warmup, tokens(request.input_tokens),
                    tokens(request.output_tokens)});
  }
  return rows;
}

template <std::optional<sim::TimeSummary> sim::WorkloadResult::*Summary,
          Duration sim::TimeSummary::*Part>
std::optional<Duration> part_of(const sim::WorkloadResult& workload) {
  return workload.*Summary ? std::optional((*(workload.*Summary)).*Part) : std::nullopt;
}

const Record& workload_columns() {
  using W = sim::WorkloadResult;
  using R = sim::RequestCounts;
  using T = sim::TimeSummary;
  static const Record declared{
      "a workload in this replication",
      {field<&W::name>("workload"), field<&W::kind>("kind"), field<&W::completed>("completed"),
       field<&W::throughput_per_second>("throughputPerSecond"),
       field<&W::goodput_per_second>("goodputPerSecond"),
       field<&W::requests, &R::arrived>("arrived"), field<&W::requests, &R::answered>("answered"),
       field<&W::requests, &R::in_objectives>("inObjectives"),
       field<&part_of<&W::latency, &T::p50>>("latencyP50"),
       field<&part_of<&W::latency, &T::p95>>("latencyP95"),
       field<&part_of<&W::latency, &T::p99>>("latencyP99"),
       field<&part_of<&W::wait, &T::mean>>("waitMean"), field<&W::gpu_busy_share>("gpuBusyShare"),
       field<&W::bound_by>("boundBy")}};
  return declared;
}

struct ObjectiveRow {
  std::string_view workload;
  sim::ObjectiveResult objective;
};

std::string_view bound_word(const ObjectiveRow& row) {
  return row.objective.at_least ? "at least" : "at most";
}
std::string_view unit_of_row(const ObjectiveRow& row) {
  return sim::unit_word(row.objective.limit);
}

// Limits and values in the unit that documents give them: seconds, shares, per second.
const Record& objective_csv_columns() {
  using R = ObjectiveRow;
  using O = sim::ObjectiveResult;
  static const Record declared{
      "an objective of a workload",
      {field<&R::workload>("workload"), field<&R::objective, &O::name>("objective"),
       field<&bound_word>("bound"), field<&R::objective, &O::limit>("limit"),
       field<&R::objective, &O::value>("value"), field<&unit_of_row>("unit"),
       field<&R::objective, &O::pass>("pass")}};
  return declared;
}

std::vector<ObjectiveRow> objectives_of(const Recording& recording) {
  std::vector<ObjectiveRow> rows;
  for (const sim::WorkloadResult& workload : recording.result.workloads) {
    for (const sim::ObjectiveResult& o : workload.objectives) rows.push_back({workload.name, o});
  }
  return rows;
}

struct CostRow {
  std::string_view reason;
  Usd usd;
};

const Record& cost_columns() {
  static const Record declared{"what the bill is for",
                               {field<&CostRow::reason>("reason"), field<&CostRow::usd>("usd")}};
  return declared;
}

std::vector<CostRow> costs_of(const Recording& recording) {
  const sim::CostLedger& ledger = recording.result.cost.ledger;
  std::vector<CostRow> rows;
  rows.reserve(sim::kLedgerParts.size() + 1);
  for (const sim::LedgerPart& part : sim::kLedgerParts) {
    rows.push_back({part.key, ledger.*part.usd});
  }
  rows.push_back({"total", ledger.total});
  return rows;
}

const Record& manifest_columns() {
  using T = CsvTable;
  static const Record declared{
      "a table",
      {field<&T::file>("file"), field<&T::rows>("rows"), field<&T::left_out>("leftOut")}};
  return declared;
}

struct TimelineRow {
  TimePoint from;
  TimePoint until;
  std::string_view of;
  std::string name;
  std::string_view figure;
  std::string value;
};

const Record& timeline_columns() {
  using T = TimelineRow;
  static const Record declared{
      "a figure in a bucket of time",
      {field<&T::from>("from"), field<&T::until>("until"), field<&T::of>("of"),
       field<&T::name>("name"), field<&T::figure>("figure"), field<&T::value>("value")}};
  return declared;
}

class Timeline {
 public:
  explicit Timeline(const Recording& recording) : recording_(recording) {}

  std::vector<TimelineRow> rows() {
    for (const sim::RecordedWorkload& workload : recording_.workloads) add_workload(workload);
    for (const sim::RecordedGpu& gpu : recording_.gpus) add_gpu(gpu);
    for (const sim::RecordedPool& pool : recording_.pools) {
      of_ = "nodePool";
      name_ = pool.name;
      counts("nodesReady", pool.ready);
      counts("nodesBilled", pool.billed);
    }
    return std::move(rows_);
  }

 private:
  void add(const char* figure, std::size_t n, const std::string& value) {
    const TimePoint from = n == 0 ? TimePoint{} : recording_.bucket_end(n - 1);
    rows_.push_back({from, recording_.bucket_end(n), of_, name_, figure, value});
  }
  void counts(const char* figure, const std::vector<std::int64_t>& series) {
    for (std::size_t n = 0; n < series.size(); ++n) add(figure, n, fmt::format("{}", series[n]));
  }
  void times(const char* figure, const std::vector<Duration>& series) {
    for (std::size_t n = 0; n < series.size(); ++n)
      add(figure, n, csv_number(to_seconds(series[n])));
  }
  void times(const char* figure, const std::vector<std::optional<Duration>>& series) {
    for (std::size_t n = 0; n < series.size(); ++n) {
      if (series[n]) add(figure, n, csv_number(to_seconds(*series[n])));
    }
  }

  void add_workload(const sim::RecordedWorkload& workload) {
    of_ = "workload";
    name_ = workload.name;
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
    of_ = "gpu";
    name_ = gpu.node + " " + gpu_lane_name(gpu);
    times("busySeconds", gpu.busy);
    times("smActiveSeconds", gpu.sm_active);
    times("switchingSeconds", gpu.switching);
    for (std::size_t n = 0; n < gpu.memory.size(); ++n) {
      add("memoryBytes", n, fmt::format("{}", gpu.memory[n].count));
    }
  }

  const Recording& recording_;
  std::string_view of_;
  std::string name_;
  std::vector<TimelineRow> rows_;
};

}  // namespace

std::vector<CsvTable> recording_tables(const Recording& recording) {
  const auto& left_out = recording.left_out;
  std::vector<CsvTable> tables = {
      {"workloads.csv", csv_table(workload_columns(), recording.result.workloads)},
      {"objectives.csv", csv_table(objective_csv_columns(), objectives_of(recording))},
      {"cost.csv", csv_table(cost_columns(), costs_of(recording))},
      {"nodes.csv", csv_table(node_columns(), recording.nodes), left_out.nodes},
      {"pods.csv", csv_table(pod_columns(), pods_of(recording)), left_out.intervals},
      {"turns.csv", csv_table(turn_columns(), turns_of(recording))},
      {"requests.csv", csv_table(logged_request_columns(), requests_of(recording)),
       left_out.requests},
      {"timeline.csv", csv_table(timeline_columns(), Timeline(recording).rows())}};
  for (CsvTable& table : tables) {
    table.rows = std::ranges::count(table.text, '\n') - 1;  // without the header
  }
  tables.push_back({"manifest.csv", csv_table(manifest_columns(), tables)});
  return tables;
}

}  // namespace slicewise::reports
