#include <fmt/format.h>
#include <gmock/gmock.h>

#include "imported_jobs.hpp"

namespace slicewise::scenarios {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kStart = 1'718'000'000;

std::string answer(const std::string& series) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + series + "]}}";
}

// A series; values: one a minute from `first` on.
std::string series(const std::string& metric, const std::string& labels,
                   const std::vector<std::string>& values, std::int64_t first = kStart) {
  std::string text = fmt::format(R"({{"metric":{{"__name__":"{}",{}}},"values":[)", metric, labels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += fmt::format(R"({}[{},"{}"])", i == 0 ? "" : ",",
                        first + 60 * static_cast<std::int64_t>(i), values[i]);
  }
  return text + "]}";
}

std::string pod_label(const std::string& name, const std::string& uid) {
  return fmt::format(R"("namespace":"ml","pod":"{}","uid":"{}","node":"n1")", name, uid);
}

// kube-state-metrics of a pod that is created at `kStart`, scheduled 12 s later, and done 731 s
// after it was created; it was seen for 20 minutes.
std::string facts(const std::string& name, const std::string& uid,
                  const std::string& resource = "nvidia_com_gpu", const std::string& amount = "1") {
  const std::string pod = pod_label(name, uid);
  const std::vector<std::string> ones(20, "1");
  return series("kube_pod_created", pod, std::vector<std::string>(20, "1.718e+09")) + "," +
         series("kube_pod_status_scheduled_time", pod, {"1.718000012e+09"}) + "," +
         series("kube_pod_completion_time", pod, {"1718000731"}) + "," +
         series(
             "kube_pod_container_resource_requests",
             pod + fmt::format(R"(,"container":"main","resource":"{}","unit":"integer")", resource),
             {amount}) +
         "," + series("kube_pod_status_phase", pod + R"(,"phase":"Succeeded")", ones);
}

std::string gpu(const std::string& device, const std::string& pod, const std::string& more = "") {
  return fmt::format(R"("gpu":"0","UUID":"{}","modelName":"NVIDIA A10G","exported_namespace":"ml",
"exported_pod":"{}","exported_container":"main","namespace":"gpu-operator","pod":"dcgm-exporter-x1"{})",
                     device, pod, more);
}

ImportedJobs import_answers(const std::vector<std::string>& texts,
                            const ImportOptions& options = {}) {
  ImportedJobs jobs = imported_jobs(ImportKind::Prometheus, texts, options);
  for (const Diagnostic& error : jobs.errors) {
    ADD_FAILURE() << error.where.file << ":" << error.where.line << " " << error.message;
  }
  return jobs;
}

TEST(ImportPrometheus, TimesRequestsAndControllerOfAPod) {
  const std::string pod = pod_label("train-abc-0", "u1");
  const ImportedJobs jobs = import_answers(
      {answer(facts("train-abc-0", "u1") + "," +
              series("kube_pod_info",
                     pod + R"(,"created_by_kind":"Job","created_by_name":"train-abc")", {"1"}) +
              "," +
              series("kube_pod_container_resource_requests",
                     pod + R"(,"container":"main","resource":"cpu","unit":"core")", {"3.5"}) +
              "," +
              series("kube_pod_container_resource_requests",
                     pod + R"(,"container":"main","resource":"memory","unit":"byte")",
                     {"1.5032385536e+10"}))});
  ASSERT_EQ(jobs.trace.size(), 1U);
  const JobTrace& trace = jobs.trace;
  EXPECT_EQ(trace.origin_unix_s, kStart);
  EXPECT_EQ(trace.observed_wait[0], seconds(12));
  EXPECT_EQ(trace.run[0], seconds(719));
  EXPECT_EQ(trace.gpus[0], 1);
  EXPECT_EQ(trace.cpu_milli[0], 3500);
  EXPECT_EQ(trace.memory[0], gibibytes(14));
  EXPECT_EQ(trace.state[0], JobState::Completed);
  EXPECT_EQ(trace.name(trace.id, 0), "ml/train-abc-0");
  EXPECT_EQ(trace.name(trace.work, 0), "Job/train-abc");
  EXPECT_EQ(trace.name(trace.resource, 0), "nvidia.com/gpu");
  EXPECT_TRUE(trace.gpu_permille.empty());  // no DCGM
}

TEST(ImportPrometheus, SeriesComeInAnyOrderAndFromSeveralFiles) {
  const std::string use = series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"), {"37", "41"});
  const ImportedJobs together = import_answers({answer(use + "," + facts("a", "u1"))});
  const ImportedJobs apart = import_answers({answer(facts("a", "u1")), answer(use)});
  const ImportedJobs joined = import_answers({answer(facts("a", "u1")) + "\n" + answer(use)});
  for (const ImportedJobs* jobs : {&together, &apart, &joined}) {
    ASSERT_EQ(jobs->trace.size(), 1U);
    EXPECT_EQ(jobs->trace.gpu_permille[0], 390);
  }
}

TEST(ImportPrometheus, SmActivityIsKeptBesideUse) {
  const ImportedJobs jobs = import_answers({answer(
      facts("a", "u1") + "," + series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"), {"80", "100"}) +
      "," + series("DCGM_FI_PROF_SM_ACTIVE", gpu("GPU-1", "a"), {"0.2", "0.31"}))});
  ASSERT_EQ(jobs.trace.size(), 1U);
  EXPECT_EQ(jobs.trace.gpu_permille[0], 900);
  EXPECT_EQ(jobs.trace.sm_permille[0], 255);
}

TEST(ImportPrometheus, WhatPromtoolPrintsIsRead) {
  EXPECT_EQ(import_answers({"[" + facts("a", "u1") + "]"}).trace.size(), 1U);
  const std::string instant =
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{
"__name__":"kube_pod_created","pod":"a","namespace":"ml","uid":"u1"},"value":[1718000000.5,"1718000000"]}]}})";
  EXPECT_EQ(import_answers({instant, answer(facts("a", "u1"))}).trace.size(), 1U);
}

TEST(ImportPrometheus, NoNumbersAndBlanksAreLeftOutAndCounted) {
  const ImportedJobs jobs = import_answers(
      {answer(facts("a", "u1") + "," +
              series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"),
                     {"20", "NaN", "9223372036854775794", "+Inf", "40", "2147483632"}))});
  EXPECT_EQ(jobs.trace.gpu_permille[0], 300);
  EXPECT_EQ(jobs.count("NaN"), 2);
  EXPECT_EQ(jobs.count("DCGM's blanks"), 2);
}

TEST(ImportPrometheus, PodLabelsInTheirThreeForms) {
  const auto use = [](const std::string& labels) {
    const ImportedJobs jobs = import_answers({answer(
        facts("a", "u1") + "," +
        series("DCGM_FI_DEV_GPU_UTIL", R"("UUID":"GPU-1","Hostname":"n1",)" + labels, {"50"}))});
    return jobs.trace.size() == 1 ? jobs.trace.gpu_permille[0] : -2;
  };
  EXPECT_EQ(use(R"("exported_pod":"a","exported_namespace":"ml","pod":"x","namespace":"y")"), 500);
  EXPECT_EQ(use(R"("pod":"a","namespace":"ml","container":"main")"), 500);
  EXPECT_EQ(use(R"("pod_name":"a","pod_namespace":"ml","container_name":"main")"), 500);
}

TEST(ImportPrometheus, DevicesWithoutUuidAreToldApartByHost) {
  for (const std::string label : {"Hostname", "hostname"}) {
    const auto on = [&](const std::string& host) {
      return series(
          "DCGM_FI_DEV_GPU_UTIL",
          fmt::format(R"("gpu":"0","{}":"{}","exported_pod":"a","exported_namespace":"ml")", label,
                      host),
          {"50"});
    };
    const ImportedJobs jobs = import_answers({answer(on("n1") + "," + on("n2"))});
    EXPECT_EQ(jobs.trace.gpus[0], 2);
  }
}

TEST(ImportPrometheus, IdleGpusAreNobodys) {
  // The exporter's own pod label is not a pod on the GPU.
  const std::string idle =
      series("DCGM_FI_DEV_GPU_UTIL", R"("UUID":"GPU-2","pod":"dcgm-exporter-x1","namespace":"gpu")",
             {"0"});
  const ImportedJobs jobs = import_answers(
      {answer(facts("a", "u1") + "," + idle + "," +
              series("DCGM_FI_DEV_GPU_UTIL", R"("UUID":"GPU-3","pod":"","namespace":"")", {"0"}))});
  EXPECT_EQ(jobs.trace.size(), 1U);
  EXPECT_EQ(jobs.count("without a pod"), 2);
}

TEST(ImportPrometheus, MigInstancesCountByTheirEngine) {
  const std::string mig = R"(,"GPU_I_PROFILE":"1g.5gb","GPU_I_ID":"7")";
  const ImportedJobs jobs = import_answers(
      {answer(facts("a", "u1", "nvidia_com_mig_1g_5gb") + "," +
              series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu("GPU-1", "a", mig), {"0.25", "0.75"}) +
              "," + series("DCGM_FI_DEV_FB_USED", gpu("GPU-1", "a", mig), {"3021", "2900"}))});
  EXPECT_EQ(jobs.trace.gpu_permille[0], 500);
  EXPECT_EQ(jobs.trace.gpu_memory[0], mebibytes(3021));
  EXPECT_EQ(jobs.trace.name(jobs.trace.resource, 0), "nvidia.com/mig-1g.5gb");
  EXPECT_EQ(jobs.trace.gpu_milli[0], 142);
  EXPECT_EQ(jobs.count("GR_ENGINE_ACTIVE"), 1);
  // Instances of one GPU are devices of their own.
  const std::string other = R"(,"GPU_I_PROFILE":"1g.5gb","GPU_I_ID":"8")";
  const ImportedJobs two = import_answers({answer(
      facts("a", "u1", "nvidia_com_mig_1g_5gb") + "," + facts("b", "u2", "nvidia_com_mig_1g_5gb") +
      "," + series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu("GPU-1", "a", mig), {"0.5"}) + "," +
      series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu("GPU-1", "b", other), {"0.5"}))});
  EXPECT_EQ(two.trace.gpu_permille[1], 500);
}

TEST(ImportPrometheus, ValuesOfAWholeDeviceAreNotCountedTwice) {
  // --kubernetes-virtual-gpus: each pod carries the device's value. The second comes a minute
  // later.
  const ImportedJobs jobs = import_answers({answer(
      facts("a", "u1", "nvidia_com_gpu_shared") + "," + facts("b", "u2", "nvidia_com_gpu_shared") +
      "," +
      series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a", R"(,"vgpu":"0")"), {"40", "80", "60"}) +
      "," +
      series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "b", R"(,"vgpu":"1")"), {"80", "60"},
             kStart + 60) +
      "," + series("DCGM_FI_DEV_FB_USED", gpu("GPU-1", "a", R"(,"vgpu":"0")"), {"0", "6000", "0"}) +
      "," +
      series("DCGM_FI_DEV_FB_USED", gpu("GPU-1", "b", R"(,"vgpu":"1")"), {"6000"}, kStart + 60))});
  ASSERT_EQ(jobs.trace.size(), 2U);
  EXPECT_EQ(jobs.trace.gpu_permille[0], 367);  // 40, then half of 80 and of 60
  EXPECT_EQ(jobs.trace.gpu_permille[1], 350);
  EXPECT_EQ(jobs.trace.gpu_memory[1], mebibytes(3000));
  EXPECT_EQ(jobs.count("split evenly"), 6);
  // Two pods were on the GPU: the replicas are at least two.
  EXPECT_EQ(jobs.trace.gpu_milli[0], 500);
  EXPECT_EQ(jobs.count("replicas taken as the most pods"), 2);
  // And that they were beside each other can be taken out of their runs.
  EXPECT_EQ(jobs.trace.name(jobs.trace.ran_on, 0), "GPU-1");
  EXPECT_EQ(jobs.trace.name(jobs.trace.ran_on, 1), "GPU-1");
  EXPECT_TRUE(jobs.trace.run_under_sharing);
}

TEST(ImportPrometheus, ValuesOfProcessesAreTakenAsTheyAre) {
  // Since March 2026; the series of the device is kept, without a pod.
  const ImportedJobs jobs = import_answers({answer(
      facts("a", "u1") + "," + facts("b", "u2") + "," +
      series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", ""), {"90", "90"}) + "," +
      series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a", R"(,"vgpu":"0")"), {"60", "50"}) + "," +
      series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "b", R"(,"vgpu":"1")"), {"30", "40"}))});
  EXPECT_EQ(jobs.trace.gpu_permille[0], 550);
  EXPECT_EQ(jobs.trace.gpu_permille[1], 350);
  EXPECT_EQ(jobs.count("those of their processes"), 4);
  EXPECT_EQ(jobs.count("without a pod"), 1);
}

TEST(ImportPrometheus, AnswersThatOverlapCountOnce) {
  const std::string first = series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"), {"10", "20"});
  const std::string next =
      series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"), {"20", "60"}, kStart + 60);
  const ImportedJobs jobs = import_answers({answer(facts("a", "u1")), answer(first), answer(next)});
  EXPECT_EQ(jobs.trace.gpu_permille[0], 300);
}

TEST(ImportPrometheus, ASharedResourceCountsReplicas) {
  ImportOptions four;
  four.replicas = 4;
  const ImportedJobs jobs =
      import_answers({answer(facts("a", "u1", "nvidia_com_gpu_shared"))}, four);
  EXPECT_EQ(jobs.trace.gpu_milli[0], 250);
  EXPECT_EQ(jobs.trace.name(jobs.trace.resource, 0), "nvidia.com/gpu.shared");
  EXPECT_EQ(import_answers({answer(facts("a", "u1", "nvidia_com_gpu_shared"))}).count("--replicas"),
            1);
  const std::string node = series("kube_node_labels",
                                  R"("node":"n1","label_nvidia_com_gpu_replicas":"10",
"label_node_kubernetes_io_instance_type":"g5.xlarge")",
                                  {"1"});
  const ImportedJobs labelled =
      import_answers({answer(facts("a", "u1", "nvidia_com_gpu_shared") + "," + node)});
  EXPECT_EQ(labelled.trace.gpu_milli[0], 100);
  EXPECT_EQ(labelled.trace.name(labelled.trace.instance_type, 0), "g5.xlarge");
}

TEST(ImportPrometheus, PodsAreKnownByUid) {
  // A StatefulSet's db-0 came twice; DCGM knows names only, so time tells whose use it was.
  const std::string later =
      series("kube_pod_created", pod_label("db-0", "u2"), {"1718003600"}) + "," +
      series("kube_pod_completion_time", pod_label("db-0", "u2"), {"1718004200"}) + "," +
      series("kube_pod_container_resource_requests",
             pod_label("db-0", "u2") + R"(,"container":"m","resource":"nvidia_com_gpu")", {"1"});
  const ImportedJobs jobs = import_answers(
      {answer(facts("db-0", "u1") + "," + later + "," +
              series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "db-0"), {"10", "10"}) + "," +
              series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "db-0"), {"70"}, kStart + 3660))});
  ASSERT_EQ(jobs.trace.size(), 2U);
  EXPECT_EQ(jobs.trace.gpu_permille[0], 100);
  EXPECT_EQ(jobs.trace.gpu_permille[1], 700);
}

TEST(ImportPrometheus, DeletedPodsEndWhenTheyWereSeenLast) {
  const auto seen = [](const std::string& name, const std::string& uid, std::size_t times) {
    return series("kube_pod_created", pod_label(name, uid),
                  std::vector<std::string>(times, "1718000000")) +
           "," + series("kube_pod_status_scheduled_time", pod_label(name, uid), {"1718000000"}) +
           "," +
           series("kube_pod_container_resource_requests",
                  pod_label(name, uid) + R"(,"container":"m","resource":"nvidia_com_gpu")", {"1"});
  };
  const ImportedJobs jobs =
      import_answers({answer(seen("a", "u1", 11) + "," + seen("b", "u2", 61))});
  EXPECT_EQ(jobs.trace.run[0], minutes(10));
  EXPECT_EQ(jobs.count("were deleted"), 1);
  EXPECT_EQ(jobs.trace.run[1], kUnknownDuration);  // there at the end of the data
  EXPECT_EQ(jobs.trace.state[1], JobState::Running);
  EXPECT_EQ(jobs.count("still running"), 1);
}

TEST(ImportPrometheus, ContainersAddUpInitContainersAreSeriesOfTheirOwn) {
  const auto gpus = [](const std::string& more) {
    return import_answers({answer(facts("a", "u1") + "," + more)}).trace.gpus[0];
  };
  const std::string pod = pod_label("a", "u1");
  const std::string resource = R"(,"container":"second","resource":"nvidia_com_gpu")";
  EXPECT_EQ(gpus(series("kube_pod_container_resource_requests", pod + resource, {"1"})), 2);
  EXPECT_EQ(gpus(series("kube_pod_init_container_resource_requests", pod + resource, {"1"})), 1);
  EXPECT_EQ(gpus(series("kube_pod_init_container_resource_requests", pod + resource, {"4"})), 4);
}

TEST(ImportPrometheus, DcgmAloneGivesJobsAsTheyWereSeen) {
  const ImportedJobs jobs = import_answers(
      {answer(series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"), {"10", "20", "30"}) + "," +
              series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-2", "a"), {"10", "20", "30"}) + "," +
              series("DCGM_FI_DEV_GPU_UTIL", gpu("GPU-1", "a"), {"50", "50"}, kStart + 7200))});
  ASSERT_EQ(jobs.trace.size(), 2U);
  EXPECT_EQ(jobs.trace.gpus[0], 2);
  EXPECT_EQ(jobs.trace.name(jobs.trace.ran_on, 0), "");  // on two
  EXPECT_EQ(jobs.trace.name(jobs.trace.ran_on, 1), "GPU-1");
  EXPECT_EQ(jobs.trace.run[0], minutes(2));
  EXPECT_EQ(jobs.trace.gpu_permille[0], 200);
  EXPECT_EQ(jobs.trace.arrival[1], hours(2));  // a gap ends a life
  EXPECT_EQ(jobs.trace.state[1], JobState::Running);
  EXPECT_EQ(jobs.count("known from DCGM alone"), 2);
}

TEST(ImportPrometheus, FailuresOfTheServerAreShown) {
  const auto error = [](const std::string& text) {
    return imported_jobs(ImportKind::Prometheus, {text}).errors.at(0).message;
  };
  EXPECT_NE(
      error(R"({"status":"error","errorType":"bad_data","error":"exceeded maximum resolution"})")
          .find("bad_data): exceeded maximum resolution"),
      std::string::npos);
  EXPECT_NE(error(R"({"status":"success"})").find("there is no result"), std::string::npos);
  EXPECT_NE(error(answer("")).find("no series of kube-state-metrics"), std::string::npos);
  EXPECT_NE(error("<html>502</html>").find("not JSON"), std::string::npos);
  EXPECT_NE(error("timestamp,gpu,DCGM_FI_DEV_GPU_UTIL\n1,0,87\n").find("a file of their own"),
            std::string::npos);
  const ImportedJobs warned =
      import_answers({R"({"status":"success","warnings":["a store is away"],"data":{"result":[)" +
                      facts("a", "u1") + "]}}"});
  EXPECT_EQ(warned.count("a store is away"), 1);
}

TEST(ImportPrometheus, BadSamplesAreShownWithTheirPlace) {
  const ImportedJobs jobs = imported_jobs(
      ImportKind::Prometheus, {answer("\n" + series("kube_pod_created", R"("pod":"a")", {"x"}))});
  ASSERT_EQ(jobs.errors.size(), 1U);
  EXPECT_EQ(jobs.errors[0].code, Code::TraceRow);
  EXPECT_EQ(jobs.errors[0].where.line, 2);
}

std::string scenario_of_answers(const std::string& series) {
  const SourceText file{"a.json", answer(series)};
  const auto imported = import_log(ImportKind::Prometheus, {&file, 1}, {});
  return imported ? scenario_of(*imported, ImportKind::Prometheus, {}).yaml : "error";
}

// 60 + 30 + 40 requests in 120 s, of two models, one of which began anew; the mesh counts more.
TEST(ImportPrometheus, RequestCountersGiveTheTraffic) {
  const std::string pod = R"("namespace":"ml","pod":"a")";
  const std::string known =
      facts("a", "u1") + "," +
      series("kube_pod_info",
             pod_label("a", "u1") + R"(,"created_by_kind":"StatefulSet","created_by_name":"asr")",
             {"1"});
  const std::string counted =
      series("nv_inference_request_success", pod + R"(,"model":"x")", {"100", "160", "30"}) + "," +
      series("nv_inference_request_success", pod + R"(,"model":"y")", {"5", "5", "45"}) + "," +
      series("istio_requests_total", pod + R"(,"reporter":"destination")", {"0", "900", "1800"});
  EXPECT_THAT(scenario_of_answers(known + "," + counted),
              HasSubstr("mean: 1.0833/s}  # mean of nv_inference_request_success"));
  const std::string by_mesh =
      series("istio_requests_total", pod + R"(,"reporter":"destination")", {"0", "60", "120"}) +
      "," + series("istio_requests_total", pod + R"(,"reporter":"source")", {"0", "600", "1200"});
  EXPECT_THAT(scenario_of_answers(known + "," + by_mesh), HasSubstr("mean: 1.0000/s}"));
  EXPECT_THAT(scenario_of_answers(known), HasSubstr("mean: 1/s, provenance: Assumed"));
  const auto counted_as = [&](const std::string& labels, const std::vector<std::string>& values) {
    return series("vllm:request_success_total", pod + labels, values);
  };
  // Asked for by two jobs.
  const std::string twice = counted_as(R"(,"job":"a","instance":"1")", {"0", "60", "120"}) + "," +
                            counted_as(R"(,"job":"b","instance":"2")", {"0", "60", "118"});
  EXPECT_THAT(scenario_of_answers(known + "," + twice), HasSubstr("mean: 1.0000/s}"));
  EXPECT_THAT(scenario_of_answers(known + "," + counted_as("", {"0", "1e308", "0", "1e308"})),
              HasSubstr("mean: 1/s, provenance: Assumed"));
  EXPECT_THAT(scenario_of_answers(known + "," + counted_as("", {"0", "0", "1e-6"})),
              HasSubstr("mean: 0.00003000/h}"));
}

// Two pods of one Deployment on a GPU each, of which one was in use twice as much.
TEST(ImportPrometheus, AScenarioHasWhatWasSeenAndSaysWhatWasNot) {
  const auto replica = [](const std::string& name, const std::string& uid,
                          const std::string& device, const std::string& use,
                          const std::string& fill, const std::string& memory) {
    return facts(name, uid) + "," +
           series(
               "kube_pod_info",
               pod_label(name, uid) + R"(,"created_by_kind":"StatefulSet","created_by_name":"asr")",
               {"1"}) +
           "," + series("DCGM_FI_DEV_GPU_UTIL", gpu(device, name), {use, use}) + "," +
           series("DCGM_FI_PROF_SM_ACTIVE", gpu(device, name), {fill, fill}) + "," +
           series("DCGM_FI_DEV_FB_USED", gpu(device, name), {"100", memory});
  };
  const std::string node = series(
      "kube_node_labels", R"("node":"n1","label_node_kubernetes_io_instance_type":"g5.xlarge",
"label_nvidia_com_gpu_replicas":"4")",
      {"1"});
  const SourceText file{"a.json",
                        answer(node + "," + replica("a", "u1", "GPU-1", "40", "0.3", "9000") + "," +
                               replica("b", "u2", "GPU-2", "20", "0.1", "5000"))};
  const auto imported = import_log(ImportKind::Prometheus, {&file, 1}, {});
  ASSERT_TRUE(imported.has_value());
  const ScenarioText scenario = scenario_of(*imported, ImportKind::Prometheus, {});
  EXPECT_THAT(scenario.yaml, HasSubstr("gpuMemory: {resident: 9000Mi}  # the most that was seen"));
  EXPECT_THAT(scenario.yaml, HasSubstr("smActive: 66.7%"));        // 20 % of 30 %
  EXPECT_THAT(scenario.yaml, HasSubstr("    nodes: 2  # TODO:"));  // one has replicas enough
  EXPECT_THAT(
      scenario.missing,
      HasSubstr("Missing: region (prices), nodes (g5-xlarge), measured (asr), traffic (asr)"));
}

TEST(ImportPrometheus, TensorFlowMapsAllMemory) {
  const auto with_image = [](const std::string& image) {
    return scenario_of_answers(
        facts("a", "u1") + "," +
        series("kube_pod_container_info",
               pod_label("a", "u1") + R"(,"container":"main","image":")" + image + "\"", {"1"}));
  };
  EXPECT_THAT(with_image("docker.io/tensorflow/tensorflow:2.16-gpu"), HasSubstr("Greedy"));
  EXPECT_THAT(with_image("pytorch/pytorch:2"), Not(HasSubstr("Greedy")));
}

TEST(ImportPrometheus, OtherSeriesAreNamed) {
  const ImportedJobs jobs =
      import_answers({answer(facts("a", "u1") + "," + series("node_load1", R"("job":"x")", {"1"}) +
                             "," + R"({"metric":{"pod":"a"},"values":[]})")});
  EXPECT_EQ(jobs.count("series of node_load1"), 1);
  EXPECT_EQ(jobs.count("without a name"), 1);
}

TEST(PrometheusQueries, NoAnswerHasMoreThan11000Points) {
  const auto window = prometheus_window("1718000000", "1719200000", "60s", 0);
  ASSERT_TRUE(window);
  std::int64_t points = 0;
  std::int64_t expected_start = 1'718'000'000;
  for (const PrometheusQuery& query : prometheus_queries(*window)) {
    if (query.metric != "kube_pod_created") continue;
    const auto value = [&](std::string_view key) {
      return std::stoll(query.path.substr(query.path.find(key) + key.size()));
    };
    const std::int64_t start = value("&start=");
    const std::int64_t of_answer = (value("&end=") - start) / 60 + 1;
    EXPECT_EQ(start, expected_start);  // seams neither repeat nor lose a point
    EXPECT_LE(of_answer, kMostPoints);
    expected_start = start + of_answer * 60;
    points += of_answer;
  }
  EXPECT_EQ(points, 20'001);
}

TEST(PrometheusQueries, TheWindowInWords) {
  const auto day = prometheus_window("", "2024-06-10T06:13:20Z", "", 0);
  ASSERT_TRUE(day);
  EXPECT_EQ(day->end_s, 1'718'000'000);
  EXPECT_EQ(day->start_s, 1'718'000'000 - 86'400);
  EXPECT_EQ(day->step_s, 60);
  EXPECT_EQ(prometheus_window("", "", "", 1'718'000'000)->end_s, 1'718'000'000);
  EXPECT_FALSE(prometheus_window("2", "1", "", 0));
  EXPECT_FALSE(prometheus_window("yesterday", "1", "", 0));
  EXPECT_FALSE(prometheus_window("1", "2", "100ms", 0));
}

}  // namespace
}  // namespace slicewise::scenarios
