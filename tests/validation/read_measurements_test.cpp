// Measurements as people and tools write them.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/sim/calibration.hpp"

#include "shipped.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredSharing;
using testing::HasSubstr;

TEST(ReadMeasurements, RatesAndLatenciesOfAllWays) {
  const auto read = models::read_measurements(
      {"m.csv",
       "workload,gpu,batch,slice,sharing,clients,threads_percent,latency_ms,rate_per_s\n"
       "a,T4,8,,,,,,400\n"
       "a,T4,8,full,mps,3,50,30.5,\n"},
      shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  EXPECT_EQ((*read)[0].time, milliseconds(20));
  EXPECT_EQ((*read)[1].clients, 3);
  EXPECT_EQ((*read)[1].active_threads, 0.5);
  const auto json = models::read_measurements(
      {"m.json", R"([{"workload": "a", "gpu": "T4", "batch": 8, "rate_per_s": 400},
                     {"workload": "a", "gpu": "T4", "latency_ms": 3, "sharing": "mps", "clients": 2}])"},
      shipped());
  ASSERT_TRUE(json.has_value()) << json.error().front().message;
  EXPECT_EQ((*json)[0].time, milliseconds(20));
  EXPECT_EQ((*json)[1].sharing, MeasuredSharing::Mps);
}

TEST(ReadMeasurements, KernelsAreOfAProcessAloneAndGoIntoItsProfile) {
  const std::string header = "workload,gpu,batch,sharing,clients,kernel_us,latency_ms\n";
  const auto read = models::read_measurements(
      {"m.csv", header + "a,T4,8,,,85.5,20\na,T4,8,mps,2,,31\nb,T4,1,,,,9\n"}, shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  const models::WorkloadProfile& a = fitted->profiles[0].profile;
  EXPECT_EQ(a.kernel_time, nanoseconds(85'500));
  EXPECT_EQ(a.provenance.at("kernelMs"), "measured on T4");
  EXPECT_FALSE(fitted->profiles[1].profile.kernel_time.has_value());
  const auto shared =
      models::read_measurements({"m.csv", header + "a,T4,8,mps,2,85,20\n"}, shipped());
  ASSERT_FALSE(shared.has_value());
  EXPECT_THAT(shared.error().front().message, HasSubstr("of a process alone"));
}

// "this one included" reads as if two on the GPU were two clients.
TEST(ReadMeasurements, TwoClientsOfANeighbourAreToldToBeOne) {
  const auto read = models::read_measurements(
      {"m.csv",
       "workload,gpu,sharing,clients,beside,latency_ms\n"
       "a,T4,,1,,10\nb,T4,,1,,20\na,T4,time-slicing,2,b,20\nb,T4,time-slicing,,a,40\n"},
      shipped());
  ASSERT_FALSE(read.has_value());
  ASSERT_EQ(read.error().size(), 1U);
  EXPECT_EQ(read.error().front().where.column, 19);
  EXPECT_THAT(read.error().front().message, HasSubstr("`clients` counts equal processes"));
  EXPECT_THAT(read.error().front().help, HasSubstr("write 1"));
}

TEST(ReadMeasurements, PerfAnalyzersLowestConcurrencyIsTheWorkloadAlone) {
  const SourceText report{
      "perf.csv",
      "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server "
      "Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 "
      "latency,p95 latency,p99 latency\n"
      "4,270.1,31,1002,9001,20,3650,12,2,14700,14800,14900,15000\n"
      "1,221.8,30,740,20,19,3667,11,2,4400,4600,4700,5200\n"};
  const auto read = models::read_measurements(report, shipped(), {"resnet", "T4", 4, {}});
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().time, microseconds(3667));
  EXPECT_EQ(read->front().batch, 4);
  EXPECT_THAT(models::read_measurements(report, shipped()).error().front().help,
              HasSubstr("--workload"));
  EXPECT_THAT(models::what_is_read_of(report), HasSubstr("lowest concurrency"));
}

// --percentile=97 and --collect-metrics add columns.
TEST(ReadMeasurements, PerfAnalyzersColumnsOfItsFlags) {
  const SourceText report{
      "perf.csv",
      "Concurrency,Inferences/Second,Client Send,Server Compute Infer,p50 latency,p97 latency,"
      "Avg GPU Utilization,Avg GPU Power Usage\n"
      "1,150,50,6000,6600,7600,GPU-abc:0.45;,GPU-abc:50.5;\n"};
  const auto read = models::read_measurements(report, shipped(),
                                              {"resnet", "T4", {}, {}, "550.54", "2026-11-01"});
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  // 150 times 6 ms are 0.9 of the time, and in half of that kernels ran.
  EXPECT_NEAR(read->front().activity.gpu_util.value_or(0), 0.5, 1e-12);
  EXPECT_EQ(read->front().driver, "550.54");
  EXPECT_EQ(read->front().date, "2026-11-01");
  SourceText several = report;
  several.text.replace(several.text.find("GPU-abc:0.45;"), 13, "GPU-abc:0.45;GPU-def:0.1;");
  const auto unknown = models::read_measurements(several, shipped(), {"resnet", "T4"});
  ASSERT_TRUE(unknown.has_value());
  EXPECT_FALSE(unknown->front().activity.gpu_util.has_value());
  SourceText other = report;
  other.text.replace(other.text.find("p97"), 3, "pxx");
  EXPECT_EQ(models::read_measurements(other, shipped(), {"resnet", "T4"}).error().front().code,
            Code::FieldUnknown);
  const auto undated =
      models::read_measurements(report, shipped(), {"resnet", "T4", {}, {}, "", "today"});
  EXPECT_THAT(undated.error().front().message, HasSubstr("--date"));
}

// Triton may have put requests together.
TEST(ReadMeasurements, ALowestConcurrencyAboveOneIsSaid) {
  const std::string header = "Concurrency,Inferences/Second,Server Compute Infer\n";
  EXPECT_THAT(models::what_is_read_of({"perf.csv", header + "16,800,18000\n32,900,30000\n"}),
              HasSubstr("Its lowest concurrency is 16"));
  EXPECT_THAT(models::what_is_read_of({"perf.csv", header + "16,800,18000\n1,150,6000\n"}),
              testing::Not(HasSubstr("Its lowest")));
}

// 0.0.16 (JsonExporter) write them; the figures are made up.
TEST(ReadMeasurements, BenchmarksOfLanguageModelServers) {
  const SourceText vllm{"vllm.json",
                        R"({"date": "20261014-224400", "backend": "vllm", "model_id": "llama-8b",
  "num_prompts": 64, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 8,
  "duration": 10.5, "completed": 64, "request_throughput": 6.1, "mean_ttft_ms": 61.5,
  "mean_tpot_ms": 12.5, "median_tpot_ms": 12.1, "p99_tpot_ms": 19.0})"};
  const auto read = models::read_measurements(vllm, shipped(), {"", "T4", {}, {}});
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().workload, "llama-8b");
  EXPECT_EQ(read->front().batch, 8);
  EXPECT_EQ(read->front().time, microseconds(12'500));
  EXPECT_EQ(read->front().date, "2026-10-14");
  const SourceText genai_perf{"profile_export_genai_perf.json",
                              R"({"request_throughput": {"unit": "requests/sec", "avg": 2.87},
  "inter_token_latency": {"unit": "ms", "avg": 18.2, "p50": 18, "p99": 22, "std": 1.1}})"};
  const auto other = models::read_measurements(genai_perf, shipped(), {"llama", "T4", 4, {}});
  ASSERT_TRUE(other.has_value()) << other.error().front().message;
  EXPECT_EQ(other->front().batch, 4);
  EXPECT_EQ(other->front().time, microseconds(18'200));
  const auto bare = models::read_measurements(genai_perf, shipped());
  ASSERT_FALSE(bare.has_value());
  EXPECT_EQ(bare.error().size(), 3U);  // --workload, --batch, --gpu
}

// genai-perf says how many requests it kept going, in one of two places.
TEST(ReadMeasurements, GenaiPerfSaysHowManyWereServedAtATime) {
  for (const char* told : {R"({"model": ["m"], "concurrency": 4, "request_rate": null})",
                           R"({"perf_analyzer": {"stimulus": {"concurrency": 4}}})"}) {
    const auto read = models::read_measurements(
        {"g.json",
         fmt::format(R"({{"inter_token_latency": {{"avg": 18.2}}, "input_config": {}}})", told)},
        shipped(), {"llama", "NVIDIA A10G", {}, {}});
    ASSERT_TRUE(read.has_value()) << read.error().front().message;
    EXPECT_EQ(read->front().batch, 4);
    EXPECT_EQ(read->front().gpu, "A10G");
  }
}

TEST(ReadMeasurements, GenaiPerfSaysWhatItMeasured) {
  for (const char* config :
       {R"({"model": ["llama-x"], "concurrency": 8})", R"({"model": "llama-x", "concurrency": 8})",
        R"({"model_names": ["llama-x"], "concurrency": 8})"}) {
    const auto read = models::read_measurements(
        {"g.json",
         fmt::format(R"({{"inter_token_latency": {{"avg": 18.2}}, "input_config": {}}})", config)},
        shipped(), {"", "A10G"});
    ASSERT_TRUE(read.has_value()) << read.error().front().message;
    EXPECT_EQ(read->front().workload, "llama-x");
  }
}

// How many requests were served at a time is chance, and the mean time per token holds prompts of
// others: it is no "alone" of a profile. Such a run stops no calibration of others.
TEST(ReadMeasurements, RunsAtARequestRateAreLeftOut) {
  const SourceText run{"rate.json",
                       R"({"model_id": "llama", "request_rate": 4.0, "max_concurrency": null,
                           "completed": 200, "total_input_tokens": 204800,
                           "total_output_tokens": 25600, "request_throughput": 3.62,
                           "mean_ttft_ms": 210.3, "mean_tpot_ms": 24.1})"};
  const auto read = models::read_measurements(run, shipped(), {"", "A10G"});
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  EXPECT_TRUE(read->empty());
  const auto said = models::read_measurements(run, shipped(), {"", "A10G", 6});
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->front().batch, 6);
}

// One problem that names the cause, not one for each column that is not of a table.
TEST(ReadMeasurements, WhatToolsWriteThatNoTimeFollowsFromIsNamed) {
  const std::pair<const char*, const char*> outputs[] = {
      {"Metric,avg,min,max\nTime To First Token (ms),16.26,12.39,17.25\n",
       "profile_export_genai_perf.json"},
      {"Request Rate,Inferences/Second,Client Send\n50,49.8,10\n", "--concurrency-range"},
      {"Processing [r.sqlite] with [nvtx_sum.py]...\n\n ** NVTX Range Summary (nvtx_sum):\n\n"
       " Time (%)  Total Time (ns)  Instances  Avg (ns)\n",
       "--format csv"},
      {"workload;gpu;latency_ms\na;A10G;12,4\n", "separate them by commas"}};
  for (const auto& [text, help] : outputs) {
    const auto read = models::read_measurements({"tool.csv", text}, shipped());
    ASSERT_FALSE(read.has_value());
    ASSERT_EQ(read.error().size(), 1U) << text;
    EXPECT_THAT(read.error().front().help, HasSubstr(help));
  }
}

TEST(ReadMeasurements, ColumnsByOtherNamesAreMeant) {
  const auto read = models::read_measurements(
      {"m.csv", "model,gpu,mode,processes,batch_size,latency (ms)\na,A10G,mps,2,1,12.3\n"},
      shipped());
  ASSERT_FALSE(read.has_value());
  std::vector<std::string> helps;
  for (const Diagnostic& problem : read.error()) helps.push_back(problem.help);
  EXPECT_THAT(helps, testing::ElementsAre("did you mean `workload`?", "did you mean `sharing`?",
                                          "did you mean `clients`?", "did you mean `batch`?",
                                          "did you mean `latency_ms`?"));
}

// Lines and columns as Nsight Systems 2022 to 2025 writes them; the figures are made up.
TEST(ReadMeasurements, NsysRangesAreSteps) {
  const SourceText report{"nvtx.csv",
                          "Generating SQLite file step.sqlite from step.nsys-rep\n"
                          "Processing [step.sqlite] with [nvtx_sum.py]...\n"
                          "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max "
                          "(ns),StdDev (ns),Style,Range\n"
                          "90.0,900000000,50,18000000.0,17900000.0,17000000,20000000,120000.0,"
                          "PushPop,:step\n"
                          "10.0,100000000,1,100000000.0,100000000.0,100000000,100000000,0.0,"
                          "PushPop,:warm-up\n"};
  const auto read = models::read_measurements(report, shipped(), {"step", "T4", 16, {}});
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().workload, "step");
  EXPECT_EQ(read->front().time, milliseconds(18));
  EXPECT_EQ(read->front().batch, 16);
  EXPECT_EQ(read->front().where.line, 4);
  const auto unnamed = models::read_measurements(report, shipped(), {"", "T4", {}, {}});
  ASSERT_FALSE(unnamed.has_value());
  EXPECT_THAT(unnamed.error().front().help, HasSubstr("step, warm-up"));
  EXPECT_EQ(models::read_measurements(report, shipped()).error().size(), 2U);  // and --gpu
}

// As `nsys stats --format csv` writes all its reports into one file.
TEST(ReadMeasurements, NsysWritesSeveralTablesIntoAFile) {
  const std::string ranges =
      "Processing [r.sqlite] with [nvtx_sum.py]... \n\n ** NVTX Range Summary (nvtx_sum):\n\n"
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev "
      "(ns),Style,Range\n"
      "100.0,2000000000,100,20000000.0,20000000.0,19000000,21000000,100000.0,PushPop,:step\n\n";
  const std::string calls =
      "Processing [r.sqlite] with [cuda_api_sum.py]... \n\n ** CUDA API Summary (cuda_api_sum):\n\n"
      "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "100.0,500000,100,5000.0,5000.0,4000,6000,1.0,cudaLaunchKernel\n\n";
  const std::string kernels =
      "Processing [r.sqlite] with [cuda_gpu_kern_sum.py]... \n\n"
      " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "60.0,600000000,6000,100000.0,100000.0,90000,110000,1.0,\"void gemm<float, 1>(int)\"\n"
      "40.0,400000000,44000,10000.0,10000.0,9000,11000,1.0,relu\n";
  const auto all =
      models::read_measurements({"nsys.csv", ranges + calls + kernels}, shipped(), {"", "A10G"});
  ASSERT_TRUE(all.has_value()) << all.error().front().message;
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().workload, "step");
  EXPECT_EQ(all->front().time, milliseconds(20));
  EXPECT_EQ(all->front().kernel_time, microseconds(20));  // 1 s over 50,000 kernels
  EXPECT_EQ(all->front().where.line, 6);
  EXPECT_FALSE(models::is_kernel_summary({"nsys.csv", ranges + kernels}));
  const SourceText alone{"kernels.csv", kernels};
  ASSERT_TRUE(models::is_kernel_summary(alone));
  EXPECT_EQ(*models::read_kernel_summary(alone), microseconds(20));
  const std::string bad = kernels + "1.0,x,1,10000.0,10000.0,9000,11000,1.0,tanh\n";
  const auto mistake = models::read_kernel_summary({"kernels.csv", bad});
  ASSERT_FALSE(mistake.has_value());
  EXPECT_EQ(mistake.error().front().where.line, 8);
}

TEST(ReadMeasurements, NsysKernelsAreNoSteps) {
  const SourceText report{"kernels.csv",
                          "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max "
                          "(ns),StdDev (ns),Name\n"
                          "100.0,5000000,100,50000.0,50000.0,40000,60000,1000.0,\"gemm, fast\"\n"};
  const auto read = models::read_measurements(report, shipped(), {"step", "T4", 1, {}});
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().front().help, HasSubstr("nvtx_sum"));
}

// The highest quantile says how times scatter, by a lognormal distribution with that mean.
TEST(ReadMeasurements, QuantilesAloneGiveTheSpreadOfRequests) {
  const std::string header = "workload,gpu,sharing,clients,latency_ms,p50_ms,p99_ms\n";
  const auto read = models::read_measurements(
      {"q.csv", header + "a,T4,,,20,19.2,36.8\na,T4,mps,2,31,,\nb,T4,,,20,12.13,\n"}, shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  // exp(2.3263 x 0.2788 - 0.2788^2 / 2) = 1.84; with sigma 1 the median is exp(-0.5) of the mean.
  EXPECT_NEAR((*read)[0].time_sigma.value_or(0), 0.2788, 1e-3);
  EXPECT_NEAR((*read)[2].time_sigma.value_or(0), 1, 1e-3);
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  EXPECT_NEAR(fitted->profiles[0].profile.time_sigma.value_or(0), 0.2788, 1e-3);
  for (const char* row : {"a,T4,,,20,,15\n",       // below the mean
                          "a,T4,mps,2,20,,15\n",   // so, too
                          "a,T4,,,20,30,25\n"}) {  // out of order
    EXPECT_FALSE(models::read_measurements({"q.csv", header + row}, shipped()).has_value()) << row;
  }
}

// The whole file was refused.
TEST(ReadMeasurements, QuantilesOfRowsThatShareAreSaidToBeUnused) {
  const auto read = models::read_measurements(
      {"q.csv", "workload,gpu,sharing,clients,latency_ms,p99_ms\na,T4,,,20,\na,T4,mps,2,31,60\n"},
      shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  EXPECT_FALSE((*read)[1].time_sigma.has_value());
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  ASSERT_EQ(fitted->notes.size(), 1U);
  EXPECT_EQ(fitted->notes.front().where.line, 3);
}

TEST(ReadMeasurements, EveryMistakeIsReportedWithItsPlace) {
  const auto read =
      models::read_measurements({"m.csv",
                                 "workload,gpu,slice,sharing,clients,latency_ms,date\n"
                                 "a,A10,,,,12,\n"
                                 "a,T4,1g.5gb,,,12,\n"
                                 "a,T4,,mpss,,12,\n"
                                 "a,T4,,,3,12,\n"
                                 "a,T4,,,,-1,\n"
                                 "a,T4,,,,,\n"
                                 "a,T4,,mps,1.5,3,\n"
                                 "a,T4,,,,3,today\n"
                                 "a,T4,,,,3\n"
                                 "a,A100-SXM4-80GB,1g.10gb,time-slicing,2,3,\n"},
                                shipped());
  ASSERT_FALSE(read.has_value());
  std::vector<std::pair<int, Code>> found;
  for (const Diagnostic& problem : read.error())
    found.emplace_back(problem.where.line, problem.code);
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         std::pair(2, Code::GpuUnknown), std::pair(3, Code::MigConfigUnknown),
                         std::pair(4, Code::EnumUnknown), std::pair(5, Code::FieldMissing),
                         std::pair(6, Code::ValueRange), std::pair(7, Code::FieldMissing),
                         std::pair(8, Code::FieldType), std::pair(9, Code::FieldType),
                         std::pair(10, Code::FieldMissing), std::pair(11, Code::SettingConflict)));
}

}  // namespace
}  // namespace slicewise::sim
