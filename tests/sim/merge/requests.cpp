#include <span>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/judge.hpp"

#include "result/merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Figure;

RequestRecord record(std::int64_t answered) {
  RequestRecord r;
  r.arrived = answered + 10;
  r.answered = answered;
  r.in_objectives = answered / 2;
  r.refused = 1;
  r.dropped = 2;
  r.timed_out = 3;
  r.retried = 7;
  r.batches = 100;
  r.batched = answered;
  r.in_system_ns = 5e9 * 60;  // 5 requests for 60 s
  for (std::int64_t i = 0; i < answered; ++i) {
    r.latency.add(milliseconds(i + 1));
    r.queueing.add(milliseconds(1));
  }
  return r;
}

// A service with its own traffic and a pipeline, on one node of 10 USD an hour, for 70 s of which
// 10 s are the warm-up.
World world_of_service() {
  World w;
  w.warmup = seconds(10);
  w.workloads.resize(1);
  w.workloads[0].name = "asr";
  w.workloads[0].spec.kind = scenarios::WorkloadKind::Service;
  w.workloads[0].spec.traffic.emplace();
  w.pipelines.resize(1);
  w.pipelines[0].name = "voice";
  w.pipelines[0].spec.objectives = {{Figure::LatencyP99, milliseconds(500), {"f.yaml", 7, 1, 1}},
                                    {Figure::Availability, scenarios::Share{0.9}, {}}};
  return w;
}

Replication replication(std::int64_t answered) {
  Replication r;
  r.length = seconds(70);
  r.workloads.resize(1);
  r.shared_domain.resize(1);
  r.workloads[0].requests = record(answered);
  r.workloads[0].units_done = answered;
  r.workloads[0].units_in_objective = answered / 2;
  r.pipelines.resize(1);
  r.pipelines[0].requests = record(answered);
  r.pipelines[0].units_done = answered;
  r.pipelines[0].units_in_objective = answered / 2;
  return r;
}

TEST(MergeRequests, CountsAreMeansPerReplication) {
  const std::vector<Replication> runs = {replication(200), replication(400)};
  const WorkloadResult service = workload_result(world_of_service(), 0, runs);
  const RequestCounts& counts = service.requests.value();
  EXPECT_EQ(counts.arrived, 310);
  EXPECT_EQ(counts.answered, 300);
  EXPECT_EQ(counts.in_objectives, 150);
  EXPECT_EQ(counts.refused, 1);
  EXPECT_EQ(counts.dropped, 2);
  EXPECT_EQ(counts.timed_out, 3);
  EXPECT_EQ(counts.retried, 7);
  EXPECT_EQ(counts.mean_batch, 3);
  EXPECT_DOUBLE_EQ(counts.mean_in_system, 5);
  EXPECT_DOUBLE_EQ(service.throughput_per_second, 5);
  EXPECT_DOUBLE_EQ(service.goodput_per_second, 2.5);
  EXPECT_EQ(service.latency->count, 600);
  EXPECT_EQ(service.queueing->mean, milliseconds(1));
}

// Four of 310 are still on their way when the run ends: they were not lost.
TEST(MergeRequests, AvailabilityIsOfRequestsWhoseFateIsKnown) {
  const std::vector<Replication> runs = {replication(300)};
  EXPECT_DOUBLE_EQ(workload_result(world_of_service(), 0, runs).requests->availability,
                   300.0 / 306.0);
  std::vector<Replication> stuck = {replication(0)};
  stuck[0].workloads[0].requests.refused = 0;
  stuck[0].workloads[0].requests.dropped = 0;
  stuck[0].workloads[0].requests.timed_out = 0;
  EXPECT_EQ(workload_result(world_of_service(), 0, stuck).requests->availability, 0);
  stuck[0].workloads[0].requests.arrived = 0;
  EXPECT_EQ(workload_result(world_of_service(), 0, stuck).requests->availability, 1);
}

TEST(MergeRequests, APipelineIsAWorkloadOfItsOwnAndItsObjectivesAreJudged) {
  const std::vector<Replication> runs = {replication(600), replication(600)};
  const VariantResult variant = merge(world_of_service(), runs);
  ASSERT_EQ(variant.workloads.size(), 2U);
  const WorkloadResult& pipeline = variant.workloads[1];
  EXPECT_EQ(pipeline.name, "voice");
  EXPECT_EQ(pipeline.kind, "Pipeline");
  EXPECT_EQ(pipeline.completed, 600);
  EXPECT_DOUBLE_EQ(pipeline.throughput_per_second, 10);
  EXPECT_DOUBLE_EQ(pipeline.goodput_per_second, 5);
  ASSERT_EQ(pipeline.objectives.size(), 2U);
  EXPECT_FALSE(pipeline.objectives[0].pass);  // p99 is 594 ms
  EXPECT_TRUE(pipeline.objectives[1].pass);   // 600 of 606
  ASSERT_EQ(variant.findings.back().code, Code::ObjectiveMissed);
  EXPECT_EQ(variant.findings.back().where.line, 7);
}

// Of 1,000 that were asked 400 wait in a queue that grew: as an objective that is no availability.
TEST(MergeRequests, AnObjectiveOfAvailabilityCountsAQueueThatGrew) {
  std::vector<Replication> runs = {replication(600), replication(600)};
  for (Replication& run : runs) run.pipelines[0].requests.arrived = 1000;
  const VariantResult variant = merge(world_of_service(), runs);
  const ObjectiveResult& available = variant.workloads[1].objectives[1];
  EXPECT_FALSE(available.pass);
  EXPECT_NEAR(std::get<scenarios::Share>(available.value).of_one, 0.6, 0.01);
}

// As the objectives that Prometheus knows: without an event none was bad.
// 0.99 and 0.97 of the requests are answered, 594 and 194 in a minute.
TEST(MergeRequests, AFigureWithoutAnIntervalHasThatOfItsReplications) {
  constexpr double kStudentOfTwo = 12.706204736;  // t(0.975, 1)
  World w = world_of_service();
  w.workloads[0].spec.objectives = {{Figure::Availability, scenarios::Share{0.9}, {}},
                                    {Figure::Throughput, Rate{3}, {}}};
  const std::vector<Replication> runs = {replication(594), replication(194)};
  const std::vector<ObjectiveResult> judged = workload_result(w, 0, runs).objectives;
  EXPECT_NEAR(std::get<scenarios::Share>(*judged[0].ci95).of_one, kStudentOfTwo * 0.01, 1e-9);
  EXPECT_NEAR(std::get<Rate>(*judged[1].ci95).per_second, kStudentOfTwo * 200 / 60, 1e-9);
  EXPECT_EQ(standing_of(judged[0]), ObjectiveStanding::Undecided);
  const std::span one(runs.data(), 1);
  const std::vector<ObjectiveResult> of_one = workload_result(w, 0, one).objectives;
  EXPECT_FALSE(of_one[0].ci95);
  EXPECT_EQ(standing_of(of_one[0]), ObjectiveStanding::Holds);
}

TEST(MergeRequests, WhatNoRequestTestedIsNotMissed) {
  World w = world_of_service();
  w.pipelines.clear();
  w.workloads[0].spec.objectives = {{Figure::LatencyP99, milliseconds(500), {}},
                                    {Figure::Availability, scenarios::Share{0.999}, {}},
                                    {Figure::Throughput, Rate{1}, {}}};
  std::vector<Replication> runs = {replication(0), replication(0)};
  for (Replication& run : runs) {
    run.pipelines.clear();
    run.workloads[0].requests = {};
  }
  const VariantResult none = merge(w, runs);
  const std::vector<ObjectiveResult>& objectives = none.workloads[0].objectives;
  ASSERT_EQ(objectives.size(), 3U);
  EXPECT_TRUE(objectives[0].pass && objectives[0].is_unasked);
  EXPECT_TRUE(objectives[1].pass && objectives[1].is_unasked);
  EXPECT_FALSE(objectives[2].pass);  // one a second was promised
  EXPECT_EQ(none.findings.front().code, Code::SampleTooSmall);
  // Who was asked and did not answer misses.
  runs[1].workloads[0].requests.arrived = 1;
  const VariantResult one = merge(w, runs);
  EXPECT_FALSE(one.workloads[0].objectives[0].pass);
  EXPECT_FALSE(one.workloads[0].objectives[0].is_unasked);
  // Requests that no pod is there for are missed; of Jobs that are switched off nothing is.
  w.workloads[0].spec.count = 0;
  EXPECT_FALSE(merge(w, runs).workloads[0].objectives[0].pass);
  w.workloads[0].spec.kind = scenarios::WorkloadKind::Job;
  w.workloads[0].spec.traffic.reset();
  w.workloads[0].spec.objectives = {{Figure::CompletionP95, seconds(9), {}},
                                    {Figure::Deadline, seconds(9), {}}};
  const VariantResult off = merge(w, runs);
  for (const ObjectiveResult& o : off.workloads[0].objectives) {
    EXPECT_TRUE(o.pass && o.is_unasked) << o.name;
  }
}

std::vector<Code> codes_of(const Diagnostics& findings) {
  std::vector<Code> codes;
  for (const Diagnostic& d : findings) codes.push_back(d.code);
  return codes;
}

TEST(RequestFindings, SayWhatWasLostAndWhatIsTooFew) {
  World w = world_of_service();
  w.pipelines.clear();
  w.workloads[0].spec.objectives = {{Figure::LatencyP999, seconds(9), {}}};
  std::vector<Replication> runs = {replication(600)};
  runs[0].pipelines.clear();
  EXPECT_THAT(codes_of(merge(w, runs).findings),
              ::testing::IsSupersetOf(
                  {Code::RequestsRefused, Code::RequestsDropped, Code::SampleTooSmall}));
  RequestRecord& record = runs[0].workloads[0].requests;
  record.refused = record.dropped = record.timed_out = 0;
  for (int i = 0; i < 10'000; ++i) record.latency.add(milliseconds(5));
  EXPECT_TRUE(merge(w, runs).findings.empty());
}

TEST(RequestFindings, SayThatAnAutoscalerCouldNotFollowAndThatTheCacheWasFull) {
  World w = world_of_service();
  w.pipelines.clear();
  w.workloads[0].spec.autoscaling.emplace().max_replicas = 4;
  w.workloads[0].spec.llm.emplace();
  VariantResult variant;
  variant.workloads.resize(1);
  variant.workloads[0].scaling.emplace().max_replicas = 3;
  variant.workloads[0].tokens.emplace();
  Diagnostics found;
  request_findings(w, {}, variant, found);
  EXPECT_TRUE(found.empty());
  // By a window of its schedule, or as it began: no load asked for them.
  variant.workloads[0].scaling->max_replicas = 4;
  variant.workloads[0].scaling->max_by_metric = 3;
  request_findings(w, {}, variant, found);
  EXPECT_TRUE(found.empty());
  variant.workloads[0].scaling->max_by_metric = 9;
  variant.workloads[0].tokens->preemptions = 2;
  request_findings(w, {}, variant, found);
  EXPECT_EQ(codes_of(found), (std::vector{Code::AutoscalerAtMax, Code::KvCachePreempted}));
}

// 300 of the service's own and 300 of the pipeline, both within the objectives of a request.
TEST(MergeRequests, ThePriceCountsRequestsAsUsersDo) {
  World w = world_of_service();
  w.pools.resize(1);
  w.pools[0].nodes = 1;
  w.pools[0].price.usd = {from_dollars(36)};
  std::vector<Replication> runs = {replication(600)};
  runs[0].nodes.resize(1);
  runs[0].nodes[0].cost.total = from_dollars(0.7);
  runs[0].nodes[0].observed = from_dollars(0.6);  // the minute whose requests count
  runs[0].workloads[0].held = from_dollars(0.2);
  runs[0].workloads[0].observed = from_dollars(0.1);
  EXPECT_EQ(cost_result(w, runs).per_1k_requests_in_slo, Usd{from_dollars(0.6).nano * 1000 / 600});
  EXPECT_EQ(cost_result(w, runs).monthly, from_dollars(36 * 730));
  // A Service that only pipelines use: its requests are stages of theirs.
  w.workloads[0].spec.traffic.reset();
  EXPECT_EQ(cost_result(w, runs).per_1k_requests_in_slo, Usd{from_dollars(0.6).nano * 1000 / 300});
}

}  // namespace
}  // namespace slicewise::sim
