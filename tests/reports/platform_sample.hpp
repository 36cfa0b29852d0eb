#pragma once

#include "result_samples.hpp"

// One cluster with every kind of work: a voice pipeline, an autoscaled language model, notebooks
// and training. Nothing here was simulated.
namespace slicewise::reports::samples {

inline sim::TimeSummary times(std::int64_t count, std::int64_t p50_ms, std::int64_t p95_ms,
                              std::int64_t p99_ms, std::int64_t p999_ms) {
  sim::TimeSummary t = summary(count, milliseconds(p50_ms * 6 / 5), milliseconds(p50_ms),
                               milliseconds(p95_ms), milliseconds(p99_ms));
  t.p999 = milliseconds(p999_ms);
  t.p50_ci95 = milliseconds(p50_ms / 50);
  t.p95_ci95 = milliseconds(p95_ms / 24 + 1);
  t.p99_ci95 = milliseconds(p99_ms / 12);
  t.p999_ci95 = milliseconds(p999_ms / 5);
  t.p999_is_rough = count < 10'000;
  return t;
}

inline sim::WorkloadResult service(std::string name, sim::RequestCounts counts,
                                   sim::TimeSummary latency) {
  sim::WorkloadResult w;
  w.name = std::move(name);
  w.kind = "Service";
  w.unit_name = "request";
  w.completed = counts.answered;
  w.throughput_per_second = counts.answered / 3600;
  w.goodput_per_second = counts.in_objectives / 3600;
  counts.mean_in_system = w.throughput_per_second * to_seconds(latency.mean);
  w.requests = counts;
  w.latency = latency;
  return w;
}

inline sim::WorkloadResult voice_pipeline() {
  sim::WorkloadResult w =
      service("voice", requests(35'900, 35'210), times(179'500, 310, 720, 1180, 1900));
  w.kind = "Pipeline";
  w.requests->arrived = 36'000;
  w.requests->timed_out = 90;
  w.requests->availability = 35'900.0 / 35'990;
  w.objectives = {{"latencyP95", milliseconds(800), milliseconds(720), milliseconds(31), true},
                  {"latencyP99", milliseconds(1000), milliseconds(1180), milliseconds(98), false}};
  return w;
}

inline sim::WorkloadResult language_model() {
  sim::WorkloadResult w =
      service("chat", requests(1799, 1712), times(8'995, 6200, 14'300, 19'100, 24'000));
  w.requests->arrived = 1805;
  w.requests->dropped = 0.5;
  w.requests->availability = 0.99972;
  w.requests->mean_batch = 11.4;
  w.queueing = times(8'995, 40, 320, 810, 1500);
  w.gpu_busy_share = 0.38;
  sim::TokenFigures tokens;
  tokens.input_tokens = 1'842'000;
  tokens.output_tokens = 402'000;
  tokens.output_per_second = 111.7;
  tokens.first_token = times(8'995, 180, 742, 1310, 2100);
  tokens.first_token->p95_ci95 = milliseconds(31);
  tokens.per_token = times(8'995, 24, 37, 52, 70);
  tokens.kv_cache_peak = 0.97;
  tokens.kv_cache = gibibytes(17);
  tokens.preemptions = 12.4;
  tokens.per_million_output = from_dollars(7.31);
  w.tokens = tokens;
  sim::ScalingFigures scaling;
  scaling.mean_replicas = 2.34;
  scaling.max_replicas = 4;
  scaling.scale_ups = 3;
  scaling.scale_downs = 2.4;
  scaling.start_up = times(15, 41'000, 93'000, 97'000, 97'000);
  w.scaling = scaling;
  w.objectives = {
      {"ttftP95", milliseconds(800), milliseconds(742), milliseconds(31), true},
      {"tpotP95", milliseconds(40), milliseconds(37), milliseconds(2), true},
      {"availability", scenarios::Share{0.999}, scenarios::Share{0.99972}, {}, true, true}};
  return w;
}

inline sim::WorkloadResult lab() {
  sim::WorkloadResult w;
  w.name = "lab";
  w.kind = "Notebook";
  w.gpu_busy_share = 0.03;
  sim::NotebookFigures n;
  n.users = 60;
  n.sessions = 71.2;
  n.cells = 1930;
  n.culled = 22.6;
  n.gave_up = 0.4;
  n.session_start = times(356, 21'000, 74'000, 181'000, 181'000);
  n.cell_slowdown = sim::NumberSummary{9650, 1.24, 1.05, 2.41, 3.7};
  n.oom_per_user_month = 0.12;
  n.waiting_per_user_month_s = 5'310;
  n.per_active_user_month = from_dollars(48.6);
  w.notebooks = n;
  w.objectives = {{"sessionStartP95", minutes(3), seconds(74), {}, true},
                  {"cellSlowdownP95", 2.0, 2.41, {}, false},
                  {"oomPerUserMonth", 0.2, 0.12, {}, true}};
  return w;
}

inline sim::Result platform() {
  sim::VariantResult v = after_memory_growth();
  v.name = "platform";
  v.description = "Voice, chat, notebooks and training on four T4";
  sim::WorkloadResult asr =
      service("asr", requests(35'990, 35'990), times(179'950, 58, 141, 260, 410));
  asr.queueing = times(179'950, 4, 61, 120, 190);
  asr.requests->mean_batch = 2.41;
  asr.gpu_busy_share = 0.21;
  sim::WorkloadResult tts =
      service("tts", requests(35'940, 35'940), times(179'700, 201, 488, 830, 1310));
  tts.queueing = times(179'700, 30, 222, 401, 690);
  tts.requests->mean_batch = 3.1;
  tts.gpu_busy_share = 0.29;
  const sim::WorkloadResult training = v.workloads[0];
  v.workloads.clear();
  v.workloads.push_back(asr);
  v.workloads.push_back(tts);
  v.workloads.push_back(language_model());
  v.workloads.push_back(training);
  v.workloads.push_back(lab());
  v.workloads.push_back(voice_pipeline());
  v.cost.per_1k_requests_in_slo = from_dollars(0.112);
  v.findings = {
      finding(Code::RequestsDropped, "0.25 % of the requests of \"voice\" were given up", 61),
      finding(Code::ObjectiveMissed, "\"voice\" misses latencyP99: 1180 ms against 1000 ms", 66),
      finding(Code::ObjectiveMissed, "\"lab\" misses cellSlowdownP95: 2.41 against 2", 80)};

  sim::Result result = aws_demo();
  result.stamp.scenario = "platform";
  v.verdict = sim::judge(v, false);
  result.variants = {v};
  return result;
}

}  // namespace slicewise::reports::samples
