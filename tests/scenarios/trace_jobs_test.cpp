#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"

#include "one_workload.hpp"

// `kind: TraceJobs`: which workloads become of the jobs of a trace.
namespace slicewise::scenarios {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHeader = "arrival_s,run_s,gpus";

FileReader reader_of(const std::string& csv) {
  return [csv](const std::string& path) -> Expected<SourceText> { return SourceText{path, csv}; };
}

std::string with_trace(const std::string& more, const std::string& fields = "") {
  return with_workload("kind: TraceJobs, trace: {file: t.csv" + (more.empty() ? "" : ", " + more) +
                       "}" + (fields.empty() ? "" : ", " + fields));
}

std::vector<Workload> expanded(const std::string& csv, const std::string& more = "",
                               const std::string& fields = "") {
  return scenario_of(with_trace(more, fields), reader_of(csv)).workloads;
}

std::vector<std::string> names_of(const std::vector<Workload>& workloads) {
  std::vector<std::string> names;
  for (const Workload& workload : workloads) {
    names.push_back(workload.name.value + " x" + std::to_string(workload.count));
  }
  return names;
}

void expect_mistake(const std::string& csv, const std::string& more, Code code,
                    const std::string& message) {
  expect_problem(with_trace(more), code, message, reader_of(csv));
}

TEST(TraceJobs, AlikeJobsAreOneWorkloadWithTheirOwnTimesAndLengths) {
  const auto workloads = expanded(kHeader + "\n100,60,1\n160,30.5,1\n400,7200,8\n");
  ASSERT_THAT(names_of(workloads), ElementsAre("a-1gpu x2", "a-8gpu x1"));
  const Workload& small = workloads[0];
  EXPECT_EQ(small.kind, WorkloadKind::Job);
  const auto& jobs = *small.trace->jobs;
  EXPECT_EQ(jobs[0].submitted, Duration{});  // the first of the trace
  EXPECT_EQ(jobs[1].submitted, seconds(60));
  EXPECT_EQ(jobs[1].run, milliseconds(30'500));
  EXPECT_EQ(small.measured->unit_time, seconds(1));
  EXPECT_EQ(small.pod.extended.at(0).name.value, "nvidia.com/gpu");
  EXPECT_EQ(workloads[1].pod.extended.at(0).count, 8);
  EXPECT_EQ((*workloads[1].trace->jobs)[0].submitted, seconds(300));
}

TEST(TraceJobs, WhatTheTraceKnowsIsMeasuredAndTheRestIsOfTheFile) {
  const std::string csv = kHeader +
                          ",cpu_milli,memory_bytes,gpu_memory_bytes,gpu_permille,sm_permille,"
                          "priority,instance_type\n"
                          "0,60,1,3500,8589934592,1500000000,430,210,5,g5.xlarge\n"
                          "1,60,1,3500,8589934592,1400000000,390,190,5,g5.xlarge\n"
                          "2,60,1,,,,,,0,\n";
  const std::string fields =
      "podTemplate: {resources: {requests: {cpu: 250m, memory: 1Gi}, "
      "limits: {nvidia.com/gpu.shared: 1}}}, gpuMemory: {resident: 3Gi}, "
      "measured: {gpuBusy: 70%}";
  const auto workloads = expanded(csv, "", fields);
  ASSERT_EQ(workloads.size(), 2U);
  const Workload& unknown = workloads[0];
  EXPECT_EQ(unknown.pod.cpu_request.count, 250);
  EXPECT_EQ(unknown.gpu_memory.resident, gibibytes(3));
  EXPECT_EQ(unknown.measured->gpu_busy, 0.7);
  EXPECT_EQ(unknown.measured->provenance, Provenance::Assumed);
  const Workload& known = workloads[1];
  EXPECT_EQ(known.count, 2);
  EXPECT_EQ(known.pod.cpu_request.count, 3500);
  EXPECT_EQ(known.pod.memory_request, gibibytes(8));
  EXPECT_EQ(known.pod.extended.at(0).name.value, "nvidia.com/gpu.shared");
  EXPECT_EQ(known.gpu_memory.resident, mebibytes(1431));  // of the largest, in whole MiB
  EXPECT_FALSE(known.measured->gpu_busy.has_value());
  EXPECT_EQ(known.measured->gpu_util, 0.41);
  EXPECT_EQ(known.measured->sm_active, 0.2);
  EXPECT_EQ(known.measured->provenance, Provenance::Measured);
  EXPECT_EQ(known.priority, 5);
  EXPECT_EQ(known.trace->gpu, "g5.xlarge");
  EXPECT_EQ(expanded(csv, "hostRequests: false", fields).back().pod.cpu_request.count, 250);
}

TEST(TraceJobs, AFractionThatWasAskedForStandsForAnUnknownUse) {
  const auto workloads = expanded(kHeader + ",gpu_milli\n0,60,1,480\n1,60,1,500\n2,60,1,1000\n");
  ASSERT_THAT(names_of(workloads), ElementsAre("a-1gpu-fx x1", "a-1gpu-f50 x2"));
  EXPECT_EQ(workloads[1].measured->gpu_busy, 0.49);  // the rows', not that in the name
  EXPECT_EQ(workloads[1].measured->provenance, Provenance::Assumed);
  EXPECT_EQ(workloads[1].pod.extended.at(0).count, 1);
}

TEST(TraceJobs, WindowsUsersGroupsAndNumbersOfGpusAreChosen) {
  const std::string csv = kHeader +
                          ",user,group\n0,60,1,ana,vision\n3600,60,2,bo,vision\n"
                          "5400,60,1,ana,speech\n7200,60,1,bo,speech\n";
  const auto count = [&](const std::string& more) {
    int jobs = 0;
    for (const Workload& workload : expanded(csv, more)) jobs += workload.count;
    return jobs;
  };
  EXPECT_EQ(count(""), 4);
  EXPECT_EQ(count("from: 1h"), 3);
  EXPECT_EQ(count("from: 1h, length: 1h"), 2);
  EXPECT_EQ(count("users: [bo]"), 2);
  EXPECT_EQ(count("users: [ana, bo], groups: [speech]"), 2);
  EXPECT_EQ(count("leastGpus: 2"), 1);
  EXPECT_EQ(count("mostGpus: 1"), 3);
  const auto late = expanded(csv, "from: 30m, length: 1h, scale: 2");
  EXPECT_EQ((*late[0].trace->jobs)[0].submitted, seconds(1'800));  // scaled when it is run
  EXPECT_EQ(late[0].trace->scale, 2);
  const auto split = expanded(csv, "splitBy: user");
  ASSERT_THAT(names_of(split), ElementsAre("a-1gpu-ana x2", "a-1gpu-bo x1", "a-2gpu x1"));
  EXPECT_EQ(split[0].namespace_name, "ana");
  EXPECT_EQ(split[0].pod.labels.at("user"), "ana");
}

TEST(TraceJobs, WhatDoesNotRunAsRecordedIsCountedWithItsFirstLine) {
  const std::string csv = "# a remark\n" + kHeader +
                          ",gang,time_limit_s,gpu_milli\n0,60,0,,,\n1,60,1,g,90,\n2,60,1,g,,\n"
                          "3,,1,,,\n4,60,0,,,\n5,60,4,,,\n6,0,1,,,\n7,60,2,,,500\n";
  const auto workloads = expanded(csv, "mostGpus: 2");
  ASSERT_EQ(workloads.size(), 2U);
  const RecordedJobs& trace = *workloads[0].trace;
  EXPECT_EQ(trace.first.text(), "line 4");
  std::vector<std::string> apart;
  for (const ApartJobs& jobs : *trace.apart) {
    apart.push_back(std::to_string(jobs.jobs) + " " + std::string(apart_text(jobs.why)) + ", " +
                    jobs.first.text() + ", row " + std::to_string(jobs.first.row));
  }
  EXPECT_THAT(apart, ElementsAre("1 that ran for no time, line 9, row 7",
                                 "1 whose run time is not known, line 6, row 4",
                                 "1 with another number of GPUs, line 8, row 6",
                                 "2 without a GPU, line 3, row 1",
                                 "2 of a gang, whose rows start each by itself, line 4, row 2",
                                 "1 with a time limit, which ends none of them, line 4, row 2",
                                 "1 that ask for a part of each of several GPUs: they get whole "
                                 "ones, line 10, row 8"));
}

TEST(TraceJobs, MistakesAreSaidWithTheirPlace) {
  const std::string csv = kHeader + ",user\n0,60,1,ana\n7200,,1,bo\n7200,60,0,bo\n";
  expect_mistake(csv, "users: [anna]", Code::ValueRange, "the trace has no user \"anna\"");
  expect_mistake(csv, "groups: [x]", Code::ValueRange, "the trace has no group \"x\"");
  expect_mistake(csv, "from: 3h", Code::ValueRange, "behind the last job");
  expect_mistake(csv, "from: 1h", Code::ValueRange,
                 "no job of the trace is left: 1 whose run time is not known, 1 without a GPU");
  expect_mistake(csv, "scale: 0", Code::ValueRange, "scale must be at least 0.000001");
  expect_mistake(csv, "leastGpus: 4, mostGpus: 2", Code::SettingConflict, "below leastGpus");
  expect_mistake(kHeader + "\n", "", Code::ValueRange, "there is no job in the trace");
  expect_mistake("arrival,run,gpus\n", "", Code::TraceColumnMissing, "no column arrival_s, run_s");
  const Diagnostics rows =
      read_scenario_file({"f.yaml", with_trace("")}, {}, reader_of(kHeader + "\n0,-1,1\n"))
          .problems;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].where.file, "t.csv");
  EXPECT_EQ(rows[0].where.line, 2);
  EXPECT_EQ(rows[0].code, Code::TraceRow);
  std::string many = kHeader + "\n";
  for (int i = 0; i < 200'001; ++i) many += "0,1,1\n";
  expect_mistake(many, "", Code::ValueRange, "200001 jobs are more than 200000");
}

TEST(TraceJobs, FieldsOfOtherKindsAreRefused) {
  const FileReader reader = reader_of(kHeader + "\n0,60,1\n");
  for (const char* field : {"count: 3", "submitInterval: 1s", "work: {units: 3}", "replicas: 2",
                            "measured: {unitTime: 3s}", "traffic: {mean: 1/s}"}) {
    expect_problem(with_trace("", field), Code::SettingConflict, "on a TraceJobs", reader);
  }
  expect_problem(with_workload("kind: TraceJobs"), Code::FieldMissing, "\"trace\" is missing");
  expect_problem(with_workload("kind: Job, trace: {file: t.csv}, work: {units: 1}, "
                               "measured: {unitTime: 1s}"),
                 Code::SettingConflict, "trace on a Job", reader);
  expect_problem(with_workload("kind: TraceJob"), Code::EnumUnknown, "TraceJob");
}

TEST(TraceJobs, JobsOfManyKindsAreToldApartMoreCoarsely) {
  std::string csv = kHeader + ",cpu_milli,memory_bytes,gpu_permille,priority\n";
  for (int i = 0; i < 400; ++i) {
    csv += std::to_string(i) + ",60,1," + std::to_string(1'000 * (i % 37 + 1)) + "," +
           std::to_string((i % 41 + 1) * (1LL << 30)) + "," + std::to_string(i * 13 % 1'000) + "," +
           std::to_string(i) + "\n";
  }
  const auto workloads = expanded(csv);
  EXPECT_LE(workloads.size(), 64U);
  int jobs = 0;
  for (const Workload& workload : workloads) jobs += workload.count;
  EXPECT_EQ(jobs, 400);
}

TEST(TraceJobs, ANoteSaysWhatBecameOfTheTrace) {
  const auto loaded = load_scenario(
      {"f.yaml", with_trace("mostGpus: 1")}, {},
      reader_of("# run_under_sharing=true\n" + kHeader + "\n0,60,1\n1,60,4\n2,,1\n3,0,1\n"));
  ASSERT_TRUE(loaded.has_value());
  ASSERT_EQ(loaded->notes.size(), 1U);
  const std::string& text = loaded->notes[0].message;
  EXPECT_THAT(text, HasSubstr("1 jobs of the trace are 1 workload: a-1gpu (1); left out: 1 that "
                              "ran for no time, 1 whose run time is not known, 1 with another"));
  EXPECT_THAT(text, HasSubstr("recorded while they shared GPUs"));
}

TEST(TraceJobs, WhatNothingComesOfIsSaidAndCounted) {
  const auto note = [](const std::string& columns, const std::string& rows) {
    const auto loaded =
        load_scenario({"f.yaml", with_trace("")}, {}, reader_of(kHeader + columns + "\n" + rows));
    return loaded && loaded->notes.size() == 1 ? loaded->notes[0].message : "";
  };
  const std::string text = note(",gang,time_limit_s,resource,gpu_permille",
                                "0,60,1,g,90,mig-1g.5gb,300\n0,60,1,g,,amd.com/gpu,300\n"
                                "1,60,1,,,,300\n");
  EXPECT_THAT(text, HasSubstr("; the trace does not say their GPU memory; 2 of a gang, whose rows "
                              "start each by itself; 1 with a time limit, which ends none of "
                              "them; 1 with a resource that is not the one they ask for here"));
  EXPECT_THAT(note("", "0,60,1\n"),
              testing::EndsWith("does not say how much of their GPUs they used; nor their GPU "
                                "memory"));
}

TEST(TraceJobs, JobsComeBackAsOftenAsTheirRowsSay) {
  const auto workloads =
      expanded(kHeader + ",backoff_limit\n0,60,1,0\n1,60,1,3\n2,60,1,\n", "", "backoffLimit: 5");
  ASSERT_THAT(names_of(workloads), ElementsAre("a-1gpu-bx x1", "a-1gpu-b0 x1", "a-1gpu-b3 x1"));
  EXPECT_EQ(workloads[0].backoff_limit, 5);
  EXPECT_EQ(workloads[1].backoff_limit, 0);
  EXPECT_EQ(workloads[2].backoff_limit, 3);
}

TEST(TraceJobs, NamesEndInNoDash) {
  const std::string user = std::string(35, 'u') + "----" + "x";
  const auto workloads = expanded(kHeader + ",user,work,profile,gpu_permille\n0,60,1," + user +
                                      ",w," + std::string(17, 'p') + ",100\n0,60,1,v,w,q,1000\n",
                                  "splitBy: user");
  ASSERT_EQ(workloads.size(), 2U);
  for (const Workload& workload : workloads) {
    EXPECT_FALSE(workload.name.value.ends_with('-')) << workload.name.value;
    EXPECT_FALSE(workload.namespace_name.ends_with('-')) << workload.namespace_name;
  }
}

TEST(TraceJobs, ABinaryTraceIsReadAsWell) {
  const auto trace = read_job_trace({"t.csv", kHeader + "\n0,60,1\n5,60,1\n"});
  ASSERT_TRUE(trace.has_value());
  EXPECT_THAT(names_of(expanded(job_trace_binary(*trace))), ElementsAre("a-1gpu x2"));
}

TEST(TraceJobs, RulesGiveProfilesForWhatTheTraceDoesNotSay) {
  const auto workloads =
      expanded(kHeader + ",work\n0,60,1,bert\n1,60,1,x\n", "profileBy: ['name~=bert.*:p/b1']");
  ASSERT_THAT(names_of(workloads), ElementsAre("a-1gpu-none x1", "a-1gpu-p-b1 x1"));
  EXPECT_EQ(workloads[0].profile.value, "");
  EXPECT_EQ(workloads[1].profile.value, "p/b1");
  expect_mistake(kHeader + "\n0,60,1\n", "profileBy: ['name~=[:p']", Code::ValueRange,
                 "\"name~=[:p\": no regular expression");
}

TEST(TraceJobs, NeighboursOfTheTimeOfRecordingAreTakenOut) {
  const auto workloads =
      expanded("# run_under_sharing=true\n" + kHeader + ",ran_on\n0,100,1,n\n50,100,1,n\n");
  ASSERT_EQ(workloads.size(), 1U);
  // 50 s alone, and 3/7 of the 50 s beside each other.
  EXPECT_NEAR(to_seconds((*workloads[0].trace->jobs)[0].run), 500.0 / 7, 1e-6);
  EXPECT_EQ(workloads[0].measured->provenance, Provenance::Assumed);
}

}  // namespace
}  // namespace slicewise::scenarios
