#include "slicewise/scenarios/job_trace.hpp"

#include <cstring>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kEveryColumn =
    "# origin_unix_s=1502114581\n"
    "# run_under_sharing=true\n"
    "arrival_s,run_s,gpus,gpu_milli,cpu_milli,memory_bytes,gpu_memory_bytes,observed_wait_s,"
    "time_limit_s,deadline_s,gpu_permille,sm_permille,priority,backoff_limit,state,id,user,"
    "group,project,gpu_models,resource,work,profile,gang,ran_on\n"
    "0,12.5,1,460,6000,12884901888,1073741824,0.000000001,3600,7200.5,370,290,-5,3,Completed,a,ana,"
    "vc,nlp,V100M16|V100M32,mig-1g.5gb,\"bert, large\",bert/b1,g1,n/0\n"
    "0.25,,8,1000,,,,,,,,,2147483647,,Pending,\"say \"\"b\"\"\",,,,,,,,,\n";

std::string error_of(const std::string& text) {
  const auto trace = read_job_trace({"t.csv", text});
  if (trace) return "";
  const Diagnostic& first = trace.error().front();
  return first.where.file + ":" + std::to_string(first.where.line) + ":" +
         std::to_string(first.where.column) + ": " + first.message;
}

JobTrace sample() { return *read_job_trace({"t.csv", std::string(kEveryColumn)}); }

TEST(JobTrace, CsvToBinaryToCsvIsTheSameText) {
  const std::string binary = job_trace_binary(sample());
  EXPECT_TRUE(is_binary_job_trace(binary));
  const auto again = read_job_trace({"t.trace", binary});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(job_trace_csv(*again), kEveryColumn);
  EXPECT_TRUE(again->run_under_sharing);
  EXPECT_EQ(again->origin_unix_s, 1502114581);
}

TEST(JobTrace, EmptyFieldsAreUnknownAndColumnsMayBeAbsent) {
  const JobTrace trace = sample();
  EXPECT_EQ(trace.run[1], kUnknownDuration);
  EXPECT_EQ(trace.cpu_milli[1], kUnknownNumber);
  EXPECT_EQ(trace.run[0], milliseconds(12'500));
  EXPECT_EQ(trace.name(trace.id, 1), "say \"b\"");
  const auto few = read_job_trace({"t.csv", "gpus,run_s,arrival_s\r\n2,5,1"});
  ASSERT_TRUE(few.has_value());
  EXPECT_TRUE(few->id.empty());
  EXPECT_EQ(few->gpus[0], 2);
}

TEST(JobTrace, RowsMayBeInAnyOrder) {
  const auto trace = read_job_trace({"t.csv", "arrival_s,run_s,gpus\n5,1,1\n0,2,2\n5,3,3\n"});
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(job_trace_csv(*trace), "arrival_s,run_s,gpus\n0,2,2\n5,1,1\n5,3,3\n");
}

TEST(JobTrace, EveryBadRowIsCountedAndTheFirstAreShown) {
  std::string csv = "arrival_s,run_s,gpus\n";
  for (int i = 0; i < 9; ++i) csv += "x,1,1\n";
  const auto trace = read_job_trace({"t.csv", csv + "1,-2,1\n"});
  ASSERT_FALSE(trace.has_value());
  ASSERT_EQ(trace.error().size(), 6U);
  EXPECT_EQ(trace.error()[1].code, Code::TraceRow);
  EXPECT_EQ(trace.error()[1].where, (SourceLocation{"t.csv", 3, 1, 1}));
  EXPECT_THAT(trace.error()[5].message, testing::StartsWith("5 more rows"));
}

TEST(JobTrace, WhatIsNoTraceIsRefused) {
  const std::string header = "arrival_s,run_s,gpus\n";
  EXPECT_EQ(error_of(""), "t.csv:1:1: the trace is empty");
  EXPECT_EQ(error_of("a,b\n"), "t.csv:1:1: the trace has no column arrival_s, run_s, gpus");
  EXPECT_THAT(error_of("arrival_s,run_s,gpus,gpu_mili\n"),
              testing::HasSubstr("no column \"gpu_mili\""));
  EXPECT_THAT(error_of("arrival_s,run_s,gpus,gpus\n"), testing::HasSubstr("twice"));
  EXPECT_THAT(error_of(header + "1,2\n"), testing::HasSubstr("2 values"));
  EXPECT_THAT(error_of(header + "1,2,\n"), testing::HasSubstr("no whole number"));
  EXPECT_THAT(error_of(header + "1,2,1.5\n"), testing::HasSubstr("\"1.5\""));
  EXPECT_THAT(error_of(header + "1,4000000001,1\n"), testing::HasSubstr("number of seconds"));
}

// Whatever is in it: it is not even taken apart.
TEST(JobTrace, ALineOfMoreThanAMebibyteIsRefused) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  const std::string row = "1,2,3,";
  const auto padded = [&](std::size_t size) {
    return "arrival_s,run_s,gpus,id\n" + row + std::string(size - row.size(), 'a') + "\n";
  };
  EXPECT_TRUE(read_job_trace({"t.csv", padded(kMost)}).has_value());
  EXPECT_EQ(error_of(padded(kMost + 1)), "t.csv:2:1: a line of more than 1 MiB");
  EXPECT_EQ(error_of(std::string(kMost + 1, ',')), "t.csv:1:1: a line of more than 1 MiB");
}

TEST(JobTrace, MappedColumnsAreViewsThatKeepTheirBackingAlive) {
  const auto bytes = std::make_shared<std::string>(job_trace_binary(sample()));
  const auto trace = map_job_trace("t.trace", *bytes, bytes);
  ASSERT_TRUE(trace.has_value());
  EXPECT_TRUE(trace->arrival.owned.empty());
  EXPECT_EQ(bytes.use_count(), 2);
  EXPECT_EQ(job_trace_csv(*trace), kEveryColumn);
}

TEST(JobTrace, EveryTruncationOfABinaryTraceIsRefused) {
  const std::string binary = job_trace_binary(sample());
  for (std::size_t size = 8; size < binary.size(); ++size) {
    EXPECT_FALSE(read_job_trace({"t", binary.substr(0, size)}).has_value()) << size;
  }
}

// No byte of a damaged file may lead outside it; what is still accepted must be a valid trace.
TEST(JobTrace, ChangedBytesOfABinaryTraceNeverCrash) {
  const std::string binary = job_trace_binary(sample());
  int refused = 0;
  for (std::size_t at = 8; at < binary.size(); ++at) {
    std::string damaged = binary;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    const auto trace = read_job_trace({"t", damaged});
    refused += trace ? 0 : 1;
    if (trace) {
      EXPECT_TRUE(read_job_trace({"t.csv", job_trace_csv(*trace)}).has_value()) << at;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(JobTrace, ABinaryTraceOutOfOrderIsRefused) {
  std::string binary =
      job_trace_binary(*read_job_trace({"t", "arrival_s,run_s,gpus\n1,1,1\n2,1,1\n"}));
  const std::int64_t late = 3'000'000'000;
  const std::int64_t first = 1'000'000'000;
  const std::size_t at = binary.find(std::string(reinterpret_cast<const char*>(&first), 8));
  ASSERT_NE(at, std::string::npos);
  std::memcpy(binary.data() + at, &late, sizeof(late));
  const auto trace = read_job_trace({"t", binary});
  ASSERT_FALSE(trace.has_value());
  EXPECT_THAT(trace.error()[0].message, testing::HasSubstr("job 2 arrives before job 1"));
}

}  // namespace
}  // namespace slicewise::scenarios
