#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imported_csv.hpp"

namespace slicewise::scenarios {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Swf, EighteenFieldsMinusOneAndHeaders) {
  const ImportedCsv got =
      imported_csv(ImportKind::Swf, {"; UnixStartTime: 1718000000\n;  TimeZoneString: UTC\n"
                                     "1 0 402 6929 2 -1 -1 2 14400 1024 1 3 7 -1 1 1 -1 -1\n"
                                     "  2 10 5 -1 -1 -1 -1 -1 -1 -1 5 3 1 -1 1 2 -1 -1\n"});
  EXPECT_EQ(got.csv,
            "# origin_unix_s=1718000000\n"
            "arrival_s,run_s,gpus,memory_bytes,observed_wait_s,time_limit_s,state,id,user,group,"
            "project\n"
            "0,6929,2,2097152,402,14400,Completed,1,3,1,7\n10,,1,,5,,Cancelled,2,3,2,1\n");
  EXPECT_THAT(got.remarks, HasSubstr("every processor counts as one"));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs cancelled before they started"));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs without a number of processors"));
}

TEST(Swf, PartitionsSayHowManyGpusAProcessorHas) {
  ImportOptions options;
  options.partitions = "1=4,2=0";
  const std::string row = " 0 0 60 2 -1 -1 -1 -1 -1 1 3 1 -1 1 ";
  const ImportedCsv got =
      imported_csv(ImportKind::Swf,
                   {"1" + row + "1 -1 -1\n2" + row + "2 -1 -1\n3" + row + "9 -1 -1\n"}, options);
  EXPECT_THAT(got.csv, HasSubstr("\n0,60,8,0,Completed,1,3,1,1\n0,60,0,0,Completed,2,3,2,1\n"));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs in partitions that --partitions does not name"));
  EXPECT_THAT(imported_csv(ImportKind::Swf, {"1 2 3\n"}).first_error(), HasSubstr("3 values"));
}

const std::string kSacct =
    "JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES|"
    "State|Priority|\n";

TEST(Sacct, TypedAndUntypedGpusAreTheSameOnes) {
  const ImportedCsv got = imported_csv(
      ImportKind::Sacct,
      {kSacct + "4711|ana|gpu|2024-06-10T06:13:20|2024-06-10T06:13:20|2024-06-10T06:20:02|"
                "2024-06-10T08:15:31|6929|240|billing=16,cpu=16,gres/gpu:a100=2,gres/gpu=2,"
                "mem=65536M,node=1|gres/gpu=2|COMPLETED|1200|\n"});
  EXPECT_EQ(got.csv,
            "# origin_unix_s=1718000000\n"
            "arrival_s,run_s,gpus,cpu_milli,memory_bytes,observed_wait_s,time_limit_s,priority,"
            "state,id,user,group,gpu_models\n"
            "0,6929,2,16000,68719476736,402,14400,1200,Completed,4711,ana,gpu,a100\n");
  EXPECT_THAT(got.remarks, HasSubstr("names no zone"));
}

TEST(Sacct, StepsRequeuesUnknownTimesAndWordsBehindTheState) {
  const std::string times = "2024-06-10T06:00:00|2024-06-10T06:01:00|2024-06-10T06:02:00|";
  const ImportedCsv got = imported_csv(
      ImportKind::Sacct,
      {kSacct + "5|bo|gpu|" + times +
       "2024-06-10T06:03:00|60|UNLIMITED|gres/gpu=1||CANCELLED by "
       "1001|1|\n5.batch||||||||||||||\n" +
       "5.0|||" + times + "Unknown|60|||gres/gpu=9|COMPLETED||\n" + "5|bo|gpu|" + times +
       "Unknown|60|1|gres/gpu=1||RUNNING|1|\n" +
       "6_[1-4]|bo|gpu|2024-06-10T06:05:00|Unknown|Unknown|Unknown|0|1||gres/gpu=3|PENDING|1|\n"});
  ASSERT_EQ(got.first_error(), "f:3:1: 15 values where the header has 13 columns");
  const ImportedCsv fine = imported_csv(
      ImportKind::Sacct,
      {kSacct + "5|bo|gpu|" + times +
       "2024-06-10T06:03:00|60||gres/gpu=1||CANCELLED by "
       "1001|1|\n5.0|||" +
       times + "Unknown|60|||gres/gpu=9|COMPLETED||\n" + "5|bo|gpu|" + times +
       "Unknown|60|1|gres/gpu=1||RUNNING|1|\n" +
       "6_[1-4]|bo|gpu|2024-06-10T06:05:00|Unknown|Unknown|Unknown|0|1||gres/gpu=3|PENDING|1|\n"});
  EXPECT_THAT(fine.csv,
              HasSubstr("\n0,60,1,60,,1,Cancelled,5,bo,gpu\n0,,1,60,60,1,Running,5,bo,gpu\n"
                        "240,,3,,60,1,Pending,6_[1-4],bo,gpu\n"));
  EXPECT_THAT(fine.remarks, HasSubstr("1 rows of steps"));
  EXPECT_THAT(fine.remarks, HasSubstr("1 rows whose id was there before"));
  EXPECT_THAT(fine.remarks, HasSubstr("2 jobs that became eligible after they were submitted"));
  EXPECT_THAT(fine.remarks, HasSubstr("1 arrays of which tasks still wait"));
}

// Every row was counted as damaged, and --skip-bad, which leaves none, advised.
TEST(Sacct, WhatIsNoTableOfBarsOrHasOtherColumnsIsSaidAtOnce) {
  const auto refused = [](const std::string& text) {
    ImportOptions options;
    options.skip_bad = true;
    const ImportedCsv got = imported_csv(ImportKind::Sacct, {text}, options);
    EXPECT_EQ(got.errors.size(), 1U) << text;
    return got.errors.empty() ? "" : got.first_error() + "; " + got.errors[0].help;
  };
  const std::string row = "1|ana|2024-06-10T08:13:20|2024-06-10T08:13:31|gres/gpu=1";
  EXPECT_THAT(refused(row + "\n"), HasSubstr("f:1:1: the file has no header, and 5 values in a row "
                                             "are not the usual 17 columns; say its columns with "
                                             "--columns"));
  EXPECT_THAT(refused(row + "|\n"), HasSubstr("5 values"));
  EXPECT_THAT(refused("JobID      JobName      State\n---------- ---------- ----------\n"),
              HasSubstr("no values between bars"));
  EXPECT_THAT(refused("{\"jobs\": []}\n"),
              HasSubstr("JSON of sacct is not read; write it with -P"));
  // Names without Submit are a header all the same.
  EXPECT_THAT(refused("JobID|State\n1|COMPLETED\n"), HasSubstr("Submit and AllocTRES"));
}

TEST(Sacct, TimesOfAZoneKnowItsSummerTime) {
  ImportOptions options;
  options.columns = "JobIDRaw,Submit,Start,End,AllocTRES";
  options.time_zone = time_zone("Europe/Berlin");
  const auto row = [](const char* id, const char* day) {
    std::string text = id;
    for (const char* time : {"00:00:00", "00:00:01", "00:00:11"}) {
      text += std::string("|") + day + "T" + time;
    }
    return text + "|gres/gpu=1\n";
  };
  // 24 h from one midnight to the next, 23 h over the night of 31 March.
  EXPECT_THAT(
      imported_csv(ImportKind::Sacct,
                   {row("1", "2024-03-30") + row("2", "2024-03-31") + row("3", "2024-04-01")},
                   options)
          .csv,
      AllOf(HasSubstr("# origin_unix_s=1711753200\n"), HasSubstr("\n86400,10,"),
            HasSubstr("\n169200,10,")));
}

TEST(Sacct, WithoutAHeaderMigShardsAndAZone) {
  ImportOptions options;
  options.columns = "JobIDRaw,Submit,Start,End,AllocTRES";
  options.time_zone = TimeZone{hours(2)};
  options.replicas = 8;
  const std::string times = "|2024-06-10T08:13:20|2024-06-10T08:13:21|2024-06-10T08:13:31|";
  const ImportedCsv got =
      imported_csv(ImportKind::Sacct,
                   {"1" + times + "gres/gpu:1g.5gb=1\n2" + times + "gres/shard=4\n"}, options);
  EXPECT_EQ(got.csv,
            "# origin_unix_s=1718000000\n# run_under_sharing=true\n"
            "arrival_s,run_s,gpus,gpu_milli,observed_wait_s,id,"
            "resource\n0,10,1,142,1,1,mig-1g.5gb\n0,10,1,500,1,2,shard\n");
  // Instances do not feel each other.
  EXPECT_THAT(imported_csv(ImportKind::Sacct, {"1" + times + "gres/gpu:1g.5gb=1\n"}, options).csv,
              Not(HasSubstr("run_under_sharing")));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs on MIG slices"));
}

TEST(Sacct, StepsTellTheUseOfGpusAndAccountsWhoIsCharged) {
  const std::string times = "|2024-06-10T06:13:20|2024-06-10T06:13:21|2024-06-10T06:13:31|";
  ImportOptions options;
  options.columns = "JobID,Account,Submit,Start,End,AllocTRES,NTasks,TRESUsageInAve,TRESUsageInMax";
  const std::string usage = "gres/gpumem=9G,gres/gpuutil=60|cpu=00:01:00,gres/gpumem=";
  const ImportedCsv got =
      imported_csv(ImportKind::Sacct,
                   {"1|nlp" + times + "gres/gpu=4|||\n1.0|nlp" + times +
                    "|1|gres/gpuutil=250|gres/gpumem=40G\n" + "2|nlp" + times +
                    "gres/gpu=4|||\n2.0|nlp" + times + "|4|" + usage + "10G\n" + "3|cv" + times +
                    "gres/gpu=1|||\n3.0|cv" + times + "|1|gres/gpuutil|\n" + "4|cv" + times +
                    "gres/gpu=1|||\n4.0|cv" + times + "|4|gres/gpuutil=15|gres/gpumem=3G\n"},
                   options);
  EXPECT_EQ(got.csv,
            "# origin_unix_s=1718000000\narrival_s,run_s,gpus,gpu_memory_bytes,observed_wait_s,"
            "gpu_permille,id,project\n"
            "0,10,4,10737418240,1,625,1,nlp\n0,10,4,10737418240,1,600,2,nlp\n0,10,1,,1,,3,cv\n"
            "0,10,1,12884901888,1,600,4,cv\n");  // four tasks of one GPU
  EXPECT_THAT(got.remarks, HasSubstr("1 lists of what was used that cannot be read"));
}

// One task of two GPUs, as torchrun starts it, counted as two that each used as much.
TEST(Sacct, WithoutNTasksItIsSaidWhoseTheUseIs) {
  const std::string times = "|2024-06-10T06:13:20|2024-06-10T06:13:21|2024-06-10T06:13:31|";
  ImportOptions options;
  options.columns = "JobID,Submit,Start,End,AllocTRES,TRESUsageInAve";
  const ImportedCsv got =
      imported_csv(ImportKind::Sacct,
                   {"1" + times + "gres/gpu=2|gres/gpumem=60G,gres/gpuutil=180\n2" + times +
                    "gres/gpu=1|gres/gpumem=10G,gres/gpuutil=140\n3" + times +
                    "gres/gpu=2|gres/gpumem=10G,gres/gpuutil=90\n"},
                   options);
  EXPECT_THAT(got.csv, HasSubstr("0,10,2,32212254720,1,900,1\n0,10,1,10737418240,1,1000,2\n"
                                 "0,10,2,10737418240,1,900,3\n"));
  EXPECT_THAT(got.remarks,
              HasSubstr("1 GPU use of jobs of several GPUs without NTasks, above 100 %"));
  EXPECT_THAT(got.remarks, HasSubstr("1 GPU use above 100 % of each GPU"));
  EXPECT_THAT(got.remarks,
              HasSubstr("1 GPU use and memory of jobs of several GPUs without NTasks"));
}

// Ten minutes at 96 % and ten hours at 10 % are 11.4 %; steps at once add up.
TEST(Sacct, StepsCountByTheTimeThatTheyTook) {
  const std::string times = "|2024-06-10T06:00:00|2024-06-10T06:00:00|2024-06-10T16:00:00|";
  ImportOptions options;
  options.columns = "JobID,Submit,Start,End,ElapsedRaw,AllocTRES,NTasks,TRESUsageInAve";
  const ImportedCsv got = imported_csv(
      ImportKind::Sacct,
      {"1" + times + "36000|gres/gpu=1||\n1.0" + times + "600||1|gres/gpuutil=96\n1.1" + times +
       "35400||1|gres/gpuutil=10\n2" + times + "36000|gres/gpu=1||\n2.0" + times +
       "36000||1|gres/gpuutil=30\n2.1" + times + "36000||1|gres/gpuutil=25\n"},
      options);
  EXPECT_THAT(got.csv, HasSubstr("0,36000,1,0,114,1\n0,36000,1,0,550,2\n"));
  const ImportedCsv own =
      imported_csv(ImportKind::Sacct,
                   {"1" + times + "36000|gres/gpu=1||\n1.0" + times +
                    "36000||1|gres/gpuutil=80\n2" + times + "36000|gres/gpu=1|1|gres/gpuutil=10\n"},
                   options);
  EXPECT_THAT(own.csv, HasSubstr("0,36000,1,0,800,1\n0,36000,1,0,100,2\n")) << "a job's own row";
}

// Berlin, 27 October 2024: 2:10 came twice.
TEST(Sacct, ClocksThatWerePutBackLoseNoHour) {
  ImportOptions options;
  options.columns = "JobID,Submit,Start,End,ElapsedRaw,AllocTRES";
  const ImportedCsv got = imported_csv(
      ImportKind::Sacct,
      {"2|2024-10-27T02:50:00|2024-10-27T02:10:00|2024-10-27T04:10:00|7200|gres/gpu=1\n"
       "3|2024-10-27T02:10:00|2024-10-27T02:10:00|2024-10-27T04:10:00|10800|gres/gpu=1\n"},
      options);
  EXPECT_THAT(got.csv, HasSubstr("0,7200,1,0,2\n0,10800,1,0,3\n"));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs that started up to an hour before"));
  EXPECT_THAT(got.remarks, HasSubstr("1 jobs that ran an hour longer"));
}

}  // namespace
}  // namespace slicewise::scenarios
