#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imported_csv.hpp"

namespace slicewise::scenarios {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Jobs, PhillyOfLumosIsEpochSecondsOfATimeZoneThatIsATrap) {
  const ImportedCsv got =
      imported_table(",run_time,submit_time,gpu_num\n0,60,1502114581,6\n1,7,1502114590,48");
  EXPECT_EQ(got.csv, "# origin_unix_s=1502114581\narrival_s,run_s,gpus\n0,60,6\n9,7,48\n");
  EXPECT_THAT(got.remarks, HasSubstr("read as --columns philly"));
  EXPECT_THAT(got.remarks, HasSubstr("if it is Pacific they are 3 h early"));
}

TEST(Jobs, PhillyOfPolluxIsUnsortedAndEndsWithABlankLine) {
  const ImportedCsv got = imported_table(
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-03 01:00:10,5,1,5,a\n"
      "2017-10-03 01:00:00,6,2,12,b\n\n");
  EXPECT_EQ(got.csv, "# origin_unix_s=1506992400\narrival_s,run_s,gpus,group\n0,6,2,b\n10,5,1,a\n");
  EXPECT_THAT(got.remarks, HasSubstr("1 rows that arrive before the row above them"));
  EXPECT_THAT(got.remarks, HasSubstr("not used: gpu_time"));
}

TEST(Jobs, MuriIsInMillisecondsWithCrlf) {
  const ImportedCsv got = imported_table(
      "\xEF\xBB\xBFjob_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
      "iteration_time,priority\r\n7,4,1456,10,bert,4,1900000,0,190000,1\r\n"
      "8,4,1456,10,bert,4,5000,0,190000,0\r\n");
  EXPECT_EQ(got.csv,
            "arrival_s,run_s,gpus,priority,id,work\n0.456,1900,4,1,7,bert\n0.456,5,4,0,8,bert\n");
  EXPECT_THAT(got.remarks, HasSubstr("1 rows whose duration is not iterations x iteration_time"));
}

TEST(Jobs, MuriSaysWhatAnIterationDoes) {
  const ImportedCsv got = imported_table(
      "num_gpu,submit_time,duration,iteration_time,resource_time_0,resource_time_1,"
      "resource_time_2\n1,0,16000,109,114,80,0.6\n",
      "muri");
  EXPECT_EQ(got.csv,
            "arrival_s,run_s,gpus,iteration_s,iteration_host_s,iteration_gpu_s,"
            "iteration_network_s\n0,16,1,0.109,0.114,0.08,0.0006\n");
}

TEST(Jobs, ThetaGpuHasObservedWaitsLimitsAndUnitsOfAllocation) {
  const ImportedCsv got = imported_table(
      "index,job,user,project,state,gpu_num,cpu_num,node_num,submit_time,wait_time,run_time,"
      "wall_time,node_hour,new_status\n"
      "0,9,u1,p1,x,1,1,1,1663804800,8,4000,3600,1,Pass\n1,10,u1,p1,x,1,1,1,1663804801,8,40,3600,1,"
      "Killed");
  EXPECT_EQ(got.csv,
            "# origin_unix_s=1663804800\n"
            "arrival_s,run_s,gpus,observed_wait_s,time_limit_s,state,id,user,group\n"
            "0,4000,1,8,3600,Completed,9,u1,p1\n1,40,1,8,3600,Cancelled,10,u1,p1\n");
  EXPECT_THAT(got.remarks, HasSubstr("units of allocation"));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs that ran longer than their time limit"));
}

TEST(Jobs, PaiHasNoHeaderPercentOfGpusAndGangsOfInstances) {
  const ImportedCsv got = imported_table(
      "j1,ps,1,Terminated,100,200,600,29.5,,CPU\nj1,worker,2,Failed,100,160,50,1,50,MISC\n"
      "j2,tensorflow,1,Waiting,,,600,29,200,T4\n",
      "pai");
  EXPECT_EQ(got.csv,
            "# run_under_sharing=true\n"  // of parts of a GPU nobody says beside whom
            "arrival_s,run_s,gpus,gpu_milli,cpu_milli,memory_bytes,state,gpu_models,work,gang\n"
            "0,100,0,1000,6000,29500000000,Completed,CPU,ps,j1\n"
            "0,60,1,500,500,1000000000,Failed,MISC,worker,j1\n"
            "0,60,1,500,500,1000000000,Failed,MISC,worker,j1\n");
  EXPECT_THAT(got.remarks, HasSubstr("1 rows without a time of arrival"));
  EXPECT_THAT(got.remarks, HasSubstr("no header"));
}

const std::string kPaiTask = "j1,worker,2,Terminated,100,160,50,1,200,V100\n";

TEST(Jobs, PaiSensorsAndUsersComeBesideItsTasks) {
  const std::string sensors =
      "j1,worker,w1,i1,m1,/dev/nvidia0,140,90,1,2,1,2.5,0,0,0,0\n"
      "j1,worker,w2,i1,m2,/dev/nvidia1,140,30.5,1,2,1,4.5,0,0,0,0\n"
      "j1,ps,w3,i1,m2,,140,,1,2,,,0,0,0,0\n";
  ImportOptions options;
  options.columns = "pai";
  const ImportedCsv got =
      imported_csv(ImportKind::Jobs, {sensors, kPaiTask, "j1,i1,ana,Terminated,90,160\n"}, options);
  EXPECT_EQ(got.csv,
            "arrival_s,run_s,gpus,cpu_milli,memory_bytes,gpu_memory_bytes,gpu_permille,state,user,"
            "gpu_models,work,gang\n"
            "0,60,2,500,1000000000,2250000000,301,Completed,ana,V100,worker,j1\n"
            "0,60,2,500,1000000000,2250000000,301,Completed,ana,V100,worker,j1\n");
  // On one GPU, of which it asked for a part: who was beside it there can be taken out.
  const ImportedCsv alone =
      imported_csv(ImportKind::Jobs,
                   {"j1,worker,w1,i1,m1,/dev/nvidia0,140,40,1,2,1,2.5,0,0,0,0\n",
                    "j1,worker,1,Terminated,100,160,50,1,50,V100\n"},
                   options);
  EXPECT_THAT(alone.csv, HasSubstr("# run_under_sharing=true\n"));
  EXPECT_THAT(alone.csv, HasSubstr("work,gang,ran_on\n0,60,1,500,"));
  EXPECT_THAT(alone.csv, HasSubstr(",V100,worker,j1,m1/nvidia0\n"));
  // Two instances, and the GPU of one of them: the other was not beside it there.
  const ImportedCsv one_seen =
      imported_csv(ImportKind::Jobs,
                   {"j1,worker,w1,i1,m1,/dev/nvidia0,140,80,1,2,1,2.5,0,0,0,0\n",
                    "j1,worker,2,Terminated,100,160,50,1,100,V100\n"},
                   options);
  EXPECT_THAT(one_seen.csv, HasSubstr("gpu_permille"));
  EXPECT_THAT(one_seen.csv, Not(HasSubstr("ran_on")));
  EXPECT_THAT(imported_csv(ImportKind::Jobs, {sensors, sensors}, options).first_error(),
              HasSubstr("no table of jobs"));
  const std::string bad = "j1,worker,w,i,m,g,1,-3,1,2,1,4.5,0,0,0,0\n";
  EXPECT_THAT(imported_csv(ImportKind::Jobs, {bad, kPaiTask}, options).first_error(),
              HasSubstr("gpu_wrk_util: \"-3\" is no GPU use"));
}

TEST(Jobs, PaiTagsSayTheGroupAndWhatItRuns) {
  ImportOptions options;
  options.columns = "pai";
  const std::string jobs = "j1,i1,ana,Terminated,90,160\nj2,i2,bo,Terminated,90,160\n";
  const std::string tasks =
      "j1,worker,1,Terminated,100,160,50,1,100,V100\nj2,worker,1,Terminated,101,160,50,1,100,T4\n";
  const std::string machines = "m1,V100,96,512,8\n";
  for (const std::string header : {"", "inst_id,user,gpu_type_spec,group,workload\n"}) {
    const ImportedCsv got = imported_csv(
        ImportKind::Jobs, {header + "i1,ana,V100,g7,bert\ni2,bo,,g8,\n", jobs, tasks}, options);
    EXPECT_EQ(got.csv,
              "arrival_s,run_s,gpus,cpu_milli,memory_bytes,state,user,group,gpu_models,work,gang\n"
              "0,60,1,500,1000000000,Completed,ana,g7,V100,bert,j1\n"
              "1,59,1,500,1000000000,Completed,bo,g8,T4,worker,j2\n");
  }
  EXPECT_THAT(imported_csv(ImportKind::Jobs, {machines, jobs, tasks}, options).first_error(),
              HasSubstr("5 values where the header has 10"));
}

TEST(Jobs, SmActivityAndDeadlinesAreColumnsOfAMap) {
  const std::string map = "arrival=t,run=r,gpus=g,gpu_use=u,sm_active=s:share,deadline=d,project=p";
  const ImportedCsv got = imported_table(
      "t,r,g,u,s,d,p\n1970-01-02 00:00:00,60,1,80,0.31,1970-01-02 00:02:00,nlp\n"
      "1970-01-02 00:00:05,60,1,,,90,\n",
      map);
  EXPECT_THAT(got.csv,
              HasSubstr("arrival_s,run_s,gpus,deadline_s,gpu_permille,sm_permille,project\n"
                        "0,60,1,120,800,310,nlp\n5,60,1,90,,,\n"));
  EXPECT_THAT(imported_table("t,r,g,u,s,d,p\n9,60,1,80,1.31,,\n", map).first_error(),
              HasSubstr("f:2:11: s: \"1.31\" is no SM activity from 0 to 100 %"));
  EXPECT_THAT(imported_table("t,r,g,u,s,d,p\n1970-01-02 00:00:05,6,1,,,1970-01-02 00:00:00,\n", map)
                  .first_error(),
              HasSubstr("is before the arrival"));
}

TEST(Jobs, WhereAJobRanAndHowOftenItComesBackAreColumnsOfAMap) {
  const std::string map = "arrival=t,run=r,gpus=g,backoff_limit=b,instance_type=i,ran_on=d";
  EXPECT_THAT(imported_table("t,r,g,b,i,d\n0,60,1,0,g5.xlarge,n1/0\n5,60,1,,,\n", map).csv,
              HasSubstr("arrival_s,run_s,gpus,backoff_limit,instance_type,ran_on\n"
                        "0,60,1,0,g5.xlarge,n1/0\n5,60,1,,,\n"));
  EXPECT_THAT(imported_table("t,r,g,b,i,d\n0,60,1,-2,,\n", map).first_error(),
              HasSubstr("f:2:8: b: \"-2\" is no number of times to come back"));
}

// Each a log with one bad row between two good ones: what is said, and where.
TEST(Jobs, BadRowsAreCountedByReasonWithTheirFirstLine) {
  const std::string head = "arrival,run,gpus,gpu_memory,gpu_use\n";
  const auto said = [&](const std::string& row) {
    ImportOptions options;
    options.skip_bad = true;
    const std::string good = "0,60,1,,\n";
    return imported_table(head + good + row + "\n" + good + row + "\n",
                          "arrival=arrival,run=run,gpus=gpus,gpu_memory=gpu_memory,gpu_use=gpu_use",
                          options)
        .remarks;
  };
  EXPECT_THAT(said("-5,60,1,,"), HasSubstr("2 of them: arrival is no time"));
  EXPECT_THAT(said("0,-60,1,,"), HasSubstr("2 of them: run is no length of time"));
  EXPECT_THAT(said("0,inf,1,,"), HasSubstr("2 of them: run is no length of time"));
  EXPECT_THAT(said("0,60,1000001,,"), HasSubstr("2 of them: gpus is no number of GPUs"));
  EXPECT_THAT(said("0,60,-1,,"), HasSubstr("2 of them: gpus is no number of GPUs"));
  EXPECT_THAT(said("0,60,1,-4Gi,"), HasSubstr("2 of them: gpu_memory is no amount of memory"));
  EXPECT_THAT(said("0,60,1,,101"), HasSubstr("2 of them: gpu_use is no GPU use from 0 to 100 %"));
  EXPECT_THAT(said("NaN,60,1,,"), HasSubstr("2 rows without a time of arrival"));
  EXPECT_THAT(said("0,NaN,1,,"), HasSubstr("2 jobs that never started or had not ended"));
}

TEST(Jobs, KalosOfAcmeCountsTheWaitIntoItsDuration) {
  const ImportedCsv got = imported_table(
      "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,state,submit_time,start_time,"
      "end_time,duration,queue,gpu_time\n"
      "d,u,8,64,960,1000,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
      "2023-05-17 11:01:16+00:00,18,10.0,1152.0\n");
  EXPECT_THAT(got.csv, HasSubstr("\n0,8,64,960000,8000000000000,10,Failed,d,u,Other\n"))
      << "memory is of each of its 8 pods";
  EXPECT_THAT(got.remarks, HasSubstr("1 rows whose duration counts the wait in"));
}

TEST(Jobs, HeliosTimesTakeTheZoneThatIsGiven) {
  ImportOptions options;
  options.time_zone = TimeZone{hours(8)};
  const ImportedCsv got = imported_table(
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
      "queue\n1,u,v,4,16,1,NODE_FAIL,1970-01-02 08:00:00,1970-01-02 08:00:05,1970-01-02 08:01:05,"
      "60,5\n2,u,v,4,16,1,CANCELLED,1970-01-02 08:00:00,None,None,0,5\n",
      "helios", options);
  EXPECT_THAT(got.csv, HasSubstr("\n0,60,4,16000,5,Failed,1,u,v\n"));
}

TEST(Jobs, DlrmInstancesMayHaveBeenThereBefore) {
  const ImportedCsv got = imported_table(
      "instance_sn,role,app_name,gpu_request,creation_time,scheduled_time,deletion_time\n"
      "i1,HN,a,1,,,500\ni2,CN,a,0,100,103,\n");
  EXPECT_THAT(got.csv, HasSubstr("\n0,500,1,,i1,HN,a\n100,,0,3,i2,CN,a\n"));
  EXPECT_THAT(got.remarks, HasSubstr("1 instances without a creation_time: they arrive at 0"));
}

TEST(Jobs, GavelsDurationsAreStepsByThroughput) {
  const std::string seven = "ResNet (batch size 16)\tcmd --x\t-n\t1\t100\t6.5\t2\n";
  const std::string ten = "LM\tcmd\tdir\t-n\t1\t50\t1\t3.0\t-1.000000\t0\n";
  const std::string rates =
      R"json({"v100": {"('ResNet (batch size 16)', 2)": {"null": 4.0, "x": [1, 2]}}})json";
  ImportOptions options;
  options.columns = "gavel";
  const ImportedCsv got = imported_csv(ImportKind::Jobs, {seven + ten, rates}, options);
  EXPECT_EQ(got.csv,
            "arrival_s,run_s,gpus,priority,work\n0,,1,3,LM\n6.5,25,2,0,ResNet (batch size 16)\n");
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs of which the throughput is not known"));
  EXPECT_THAT(imported_csv(ImportKind::Jobs, {seven}, options).remarks,
              HasSubstr("need throughputs"));
}

TEST(Jobs, ShockwaveLinesHaveADuration) {
  const ImportedCsv got =
      imported_table("LM\tc\td\t-n\t1\t50\t2\t1\tstatic\t1\t-1\t800\t0.0\n", "shockwave");
  EXPECT_THAT(got.first_error(), HasSubstr("13 fields"));
  const ImportedCsv fine =
      imported_table("LM\tc\td\t-n\t1\t50\t2\tstatic\t1\t-1\t800\t3.0\n", "shockwave");
  EXPECT_EQ(fine.csv, "arrival_s,run_s,gpus,priority,work\n0,800,2,1,LM\n");
}

TEST(Jobs, AMapNamesColumnsAndUnits) {
  const ImportedCsv got =
      imported_table("when;how long;cards;kind\n1000;90;0.5;\"a, b\"\n2000;30;1.5;\n",
                     "arrival=when:ms,run=how long:min,gpus=cards,work=kind");
  EXPECT_EQ(got.csv,
            "# run_under_sharing=true\n"
            "arrival_s,run_s,gpus,gpu_milli,work\n0,5400,1,500,\"a, b\"\n1,1800,2,750,\n");
  EXPECT_THAT(got.remarks, HasSubstr("1 rows that ask for one and a part of a GPU"));
}

TEST(Jobs, MistakesInAMapAreExplained) {
  EXPECT_THAT(imported_table("a,b\n1,2\n", "arival=a").first_error(),
              HasSubstr("did you mean \"arrival\""));
  EXPECT_THAT(imported_table("a,b\n1,2\n", "philli").first_error(), HasSubstr("not FIELD=COLUMN"));
  EXPECT_THAT(imported_table("submit,b\n1,2\n", "arrival=submitt,gpus=b,run=b").first_error(),
              HasSubstr("no column submitt for arrival"));
  EXPECT_THAT(imported_table("submit,b\n1,2\n").first_error(), HasSubstr("how many GPUs"));
}

// "12" of a column vram_gb was 12 bytes, and a unit of something else was read over.
TEST(Jobs, AUnitIsThatOfItsField) {
  const auto map = [](const std::string& more) {
    return imported_table("t,r,g,vram_gb,user\n0,60,1,12,ana\n", "arrival=t,run=r,gpus=g," + more);
  };
  const ImportedCsv bare = map("gpu_memory=vram_gb");
  EXPECT_THAT(bare.first_error(), HasSubstr("f:2:8: vram_gb: \"12\" has no unit"));
  ASSERT_FALSE(bare.errors.empty());
  EXPECT_THAT(bare.errors.front().help, HasSubstr("--columns gpu_memory=vram_gb:gib"));
  EXPECT_THAT(map("gpu_memory=vram_gb:bytes").csv, HasSubstr(",12\n"));
  for (const char* gib : {"gib", "GiB", "Gi"}) {
    EXPECT_THAT(map("user=user,gpu_memory=vram_gb:" + std::string(gib)).csv,
                HasSubstr("12884901888"));
  }
  EXPECT_THAT(map("gpu_memory=vram_gb:GB").csv, HasSubstr("12000000000"));
  for (const char* wrong :
       {"gpu_memory=vram_gb:percent", "gpu_memory=vram_gb:ms", "user=user:ms"}) {
    EXPECT_THAT(map(wrong).first_error(), HasSubstr("is no unit of")) << wrong;
  }
  EXPECT_THAT(map("gpu_memory=vram_gb:gigs").errors.front().help,
              HasSubstr("bytes, kib, mib, gib"));
  EXPECT_THAT(map("gpu_util=user").first_error(), HasSubstr("did you mean \"gpu_use\"?"));
}

TEST(Jobs, UnknownTablesGoByTheUsualNames) {
  const ImportedCsv got = imported_table("job,submit_time,runtime,gpus\na,10,5,1\na,12,5,1\n");
  EXPECT_EQ(got.csv, "arrival_s,run_s,gpus,id\n0,5,1,a\n2,5,1,a\n");
  EXPECT_THAT(got.remarks, HasSubstr("guessed by their names: --columns arrival=submit_time"));
  EXPECT_THAT(got.remarks, HasSubstr("1 rows whose id was there before"));
}

TEST(Jobs, PercentMayHaveItsSign) {
  const ImportedCsv got = imported_table("submit,run,gpus,use\n0,9,1,26.6%\n0,9,1,5%\n",
                                         "arrival=submit,run=run,gpus=gpus,gpu_use=use");
  EXPECT_THAT(got.csv, HasSubstr(",266\n"));
  EXPECT_THAT(got.csv, HasSubstr(",50\n"));
}

TEST(Jobs, AShareOfOneIsNoPercentage) {
  const std::string table = "submit,run,gpus,use\n0,9,1,0.95\n0,9,1,0.5\n";
  const ImportedCsv percent = imported_table(table, "arrival=submit,run=run,gpus=gpus,gpu_use=use");
  EXPECT_THAT(percent.remarks, HasSubstr("say --columns gpu_use=use:share"));
  const ImportedCsv share =
      imported_table(table, "arrival=submit,run=run,gpus=gpus,gpu_use=use:share");
  EXPECT_THAT(share.remarks, testing::Not(HasSubstr("say --columns")));
  EXPECT_THAT(share.csv, HasSubstr(",950"));
}

TEST(Jobs, AQueueHasANameAndIsNoTimeOfWaiting) {
  const ImportedCsv got = imported_table("submit,duration_s,gpus,queue\n0,9,1,prod\n0,9,1,test\n");
  EXPECT_THAT(got.remarks, HasSubstr("columns that are not used: queue"));
}

TEST(Jobs, OwnTracesGoFromOneFormToTheOther) {
  const ImportedCsv got = imported_table("arrival_s,run_s,gpus\n3,4,5\n");
  EXPECT_EQ(got.csv, "arrival_s,run_s,gpus\n3,4,5\n");
}

TEST(Jobs, PartsOfOwnTracesAndTheirBadRows) {
  const std::string head = "# origin_unix_s=1000\narrival_s,run_s,gpus,sm_permille\n";
  ImportOptions options;
  options.from = seconds(10);
  options.length = seconds(20);
  EXPECT_EQ(imported_table(head + "3,4,5,\n13,4,1,120\n32.5,4,2,\n33,1,1,\n", "", options).csv,
            "# origin_unix_s=1013\narrival_s,run_s,gpus,sm_permille\n0,4,1,120\n19.5,4,2,\n");
  options = {};
  options.skip_bad = true;
  const ImportedCsv got =
      imported_table(head + "3,4,1,\n3,-4,1,\n3,4,1,1001\n5,1,nan,\n", "", options);
  EXPECT_EQ(got.csv, head + "3,4,1,\n");
  EXPECT_THAT(got.remarks, HasSubstr("3 rows that cannot be read\n"
                                     "1 of them: run_s is no number of seconds from 0 to"));
  EXPECT_THAT(got.remarks, HasSubstr("1 of them: sm_permille is no whole number from 0 to 1000\n"));
}

}  // namespace
}  // namespace slicewise::scenarios
