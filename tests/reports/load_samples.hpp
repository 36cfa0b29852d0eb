#pragma once

#include <string>

#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/neighbours.hpp"

#include "comparison_samples.hpp"

// Hand-built answers about load. Nothing here was simulated.
namespace slicewise::reports::samples {

inline sim::ProbedObjective p99_of(const std::string& workload, Duration value,
                                   sim::LoadVerdict verdict) {
  sim::ObjectiveResult result;
  result.name = "latencyP99";
  result.limit = milliseconds(200);
  result.value = value;
  result.ci95 = milliseconds(4);
  result.pass = value <= milliseconds(200);
  return {workload, result, verdict};
}

inline sim::LoadProbe load_probe(double factor, Duration asr, Duration tts, int replications,
                                 sim::LoadVerdict verdict) {
  sim::LoadProbe probe;
  probe.factor = factor;
  probe.replications = replications;
  probe.verdict = verdict;
  probe.objectives = {p99_of("asr", asr, verdict), p99_of("tts", tts, sim::LoadVerdict::Passes)};
  return probe;
}

// Two Services; asr gives way at 2.5 times the load.
inline sim::MaxLoad voice_load() {
  using sim::LoadVerdict;
  sim::MaxLoad found;
  found.stamp.scenario = "voice";
  found.stamp.scenario_sha256 = "9f3c1e0a5b7d";
  found.stamp.variant = "busy";
  found.stamp.variants = 2;
  found.stamp.seed = 42;
  found.stamp.replications = 5;
  found.verdict.emplace();
  found.most_replications = 20;
  found.precision = 0.02;
  found.most = 1000;
  found.stamp.price_date = "2026-07-20";
  found.loads = {{"workloads.asr.traffic", "asr", sim::LoadUnit::RequestsPerSecond, 20, 48, 50},
                 {"pipelines.talk.traffic", "talk", sim::LoadUnit::Streams, 400, 960, 1000}};
  found.probes = {load_probe(1, milliseconds(50), milliseconds(30), 5, LoadVerdict::Passes),
                  load_probe(4, seconds(90), milliseconds(60), 5, LoadVerdict::Fails),
                  load_probe(2.45, milliseconds(199), milliseconds(50), 20, LoadVerdict::Undecided),
                  load_probe(2.4, milliseconds(190), milliseconds(50), 10, LoadVerdict::Passes),
                  load_probe(2.5, milliseconds(212), milliseconds(50), 10, LoadVerdict::Fails)};
  found.passed = 3;
  found.failed = 4;
  found.binding = 0;
  found.at_passed =
      option(configuration("g5.xlarge", sim::Strategy::TimeSlicing, 4, 1), 1.006, milliseconds(190))
          .result;
  found.notes = {make_diagnostic(Code::SettingConflict, {},
                                 "the throughput objective of \"asr\" is left out")};
  return found;
}

// A Service, a Job and a Notebook; the Notebook has a GPU of its own.
inline sim::NeighbourMatrix flat() {
  using sim::NeighbourEffect;
  using sim::NeighbourFigure;
  sim::NeighbourMatrix matrix;
  matrix.stamp.scenario = "flat";
  matrix.stamp.scenario_sha256 = "9f3c1e0a5b7d";
  matrix.stamp.variant = "shared";
  matrix.stamp.seed = 42;
  matrix.stamp.replications = 5;
  matrix.workloads = {"api", "trainer", "lab"};
  const NeighbourEffect none;
  const NeighbourEffect apart{1.0, 0.001, false};
  const auto by = [](double slowdown, double ci95) {
    return NeighbourEffect{slowdown, ci95, true};
  };
  matrix.rows = {
      {0, NeighbourFigure::LatencyP99, 0.048, {none, by(6.25, 0.31), apart}, by(6.25, 0.31)},
      {0, NeighbourFigure::LatencyMean, 0.0105, {none, by(2.1, 0.02), apart}, by(2.1, 0.02)},
      {1, NeighbourFigure::TimePerUnit, 18, {by(1.12, 0.004), none, apart}, by(1.12, 0.004)},
      {2, NeighbourFigure::CellTime, 1.01, {apart, apart, none}, apart}};
  matrix.notes = {
      make_diagnostic(Code::SettingConflict, {},
                      "pipeline \"talk\" is taken apart: every stage has its requests as its own")};
  return matrix;
}

}  // namespace slicewise::reports::samples
