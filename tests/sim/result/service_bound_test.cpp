#include <string>

#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

constexpr auto kFixed = scenarios::ServiceTime::Law::Deterministic;

std::string bound_of(const scenarios::Workload& service) {
  scenarios::Scenario s = demo::scenario(demo::pool(0), {service});
  s.duration = seconds(60);
  return demo::result(s).workloads.front().bound_by;
}

TEST(ServiceBound, NothingBindsAServiceThatAnswersAtOnce) {
  EXPECT_EQ(bound_of(demo::service(1, 0.5, milliseconds(10), kFixed)), "");
}

TEST(ServiceBound, RequestsWaitForABusyGpu) {
  EXPECT_EQ(bound_of(demo::service(1, 80, milliseconds(10), kFixed)), "GPU");
}

TEST(ServiceBound, AFullQueueLosesThem) {
  scenarios::Workload service = demo::service(1, 200, milliseconds(10), kFixed);
  service.serving.queue_limit = 2;
  EXPECT_EQ(bound_of(service), "queue limit");
}

TEST(ServiceBound, ABatchThatFillsHoldsThem) {
  scenarios::Workload service = demo::service(1, 2, milliseconds(10), kFixed);
  service.serving.max_batch = 8;
  service.serving.max_delay = milliseconds(100);
  EXPECT_EQ(bound_of(service), "batch window");
}

TEST(ServiceBound, BusyCpusOfTheNodeHoldThem) {
  scenarios::Workload service = demo::service(1, 60, milliseconds(1), kFixed);
  service.serving.cpu_before = milliseconds(520);  // 31 of 32 vCPUs
  EXPECT_EQ(bound_of(service), "host CPU");
}

// At 70 % of the vCPUs nothing is full, and yet requests wait for nothing else.
TEST(ServiceBound, WhatTheyWaitForIsNamedBelowSaturationToo) {
  scenarios::Workload service = demo::service(1, 45, milliseconds(1), kFixed);
  service.serving.cpu_before = milliseconds(500);
  EXPECT_EQ(bound_of(service), "");  // 32 vCPUs, 22.5 of them busy: hardly a wait
  service.pod.cpu_limit = Millicores{24'000};
  EXPECT_EQ(bound_of(service), "host CPU");
}

// All wait for a worker, and the workers for what the CPU limit leaves them.
TEST(ServiceBound, WhoWaitsForAWorkerWaitsForWhatHoldsIt) {
  scenarios::Workload service = demo::service(1, 100, milliseconds(2), kFixed);
  service.serving.cpu_before = milliseconds(25);
  service.serving.concurrency = 4;
  service.pod.cpu_limit = Millicores{200};
  EXPECT_EQ(bound_of(service), "host CPU");
}

// 160 ms a request, of which the GPU works 40: the pod is full and the GPU is not.
TEST(ServiceBound, HostWorkBetweenBurstsHoldsThePodNotTheGpu) {
  scenarios::Workload service = demo::service(1, 5, milliseconds(40), kFixed);
  service.serving.bursts = 4;
  service.serving.cpu_between = milliseconds(40);
  EXPECT_EQ(bound_of(service), "bursts");
  service.serving.cpu_between = milliseconds(1);
  service.traffic->mean = {20};
  EXPECT_EQ(bound_of(service), "GPU");
}

}  // namespace
}  // namespace slicewise::sim
