#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imported_csv.hpp"

namespace slicewise::scenarios {
namespace {

using testing::HasSubstr;

const std::string kOpenb =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

TEST(Openb, DurationIsDeletionMinusScheduledAndWasMeasuredUnderSharing) {
  const ImportedCsv got = imported_csv(
      ImportKind::Openb, {kOpenb + "p0,12000,16384,1,460,V100M16|V100M32,LS,Running,10,110,15\n"});
  EXPECT_EQ(got.csv,
            "# run_under_sharing=true\n"
            "arrival_s,run_s,gpus,gpu_milli,cpu_milli,memory_bytes,observed_wait_s,state,id,group,"
            "gpu_models\n"
            "0,95,1,460,12000,17179869184,5,Running,p0,LS,V100M16|V100M32\n");
  EXPECT_THAT(got.remarks, HasSubstr("1 pods last seen Running that have a deletion_time"));
}

TEST(Openb, PendingPodsHaveADeletionTimeButNeverStarted) {
  const ImportedCsv got =
      imported_csv(ImportKind::Openb, {kOpenb + "p0,1,1,0,0,,LS,Pending,10,110,\n"
                                                "p1,1,0,2,1000,,BE,Failed,10,20,12\n"});
  EXPECT_THAT(got.csv, HasSubstr("0,,0,1,1048576,,Pending,p0,LS\n0,8,2,1,0,2,Failed,p1,BE\n"));
  EXPECT_THAT(got.remarks, HasSubstr("1 pods that never started"));
  EXPECT_THAT(got.remarks, HasSubstr("1 pods that ask for no memory"));
}

TEST(Openb, FilesWithFiveColumnsHaveNoTimes) {
  const ImportedCsv got = imported_csv(
      ImportKind::Openb, {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1,1,8,1000\n"});
  EXPECT_THAT(got.csv,
              HasSubstr("arrival_s,run_s,gpus,cpu_milli,memory_bytes,id\n0,,8,1,1048576,p0"));
  EXPECT_THAT(got.remarks, HasSubstr("the file has no times"));
}

TEST(Openb, PartsOfAGpuAreOnlyAskedForOneAtATime) {
  EXPECT_THAT(
      imported_csv(ImportKind::Openb, {kOpenb + "p,1,1,2,500,,LS,Running,0,9,1\n"}).first_error(),
      HasSubstr("f:2:9: gpu_milli: \"500\" is a part of each of several GPUs"));
  EXPECT_THAT(
      imported_csv(ImportKind::Openb, {kOpenb + "p,1,1,1,0,,LS,Running,0,9,1\n"}).first_error(),
      HasSubstr("num_gpu is not 0"));
}

TEST(Openb, FromSkipsTheGapBeforeTheBusyDays) {
  ImportOptions options;
  options.from = hours(24 * 100);
  const std::string rows =
      "p0,1,1,1,1000,,LS,Failed,0,9,1\np1,1,1,1,1000,,LS,Failed,8640007,8640017,8640008\n";
  const ImportedCsv got = imported_csv(ImportKind::Openb, {kOpenb + rows}, options);
  EXPECT_THAT(got.csv, HasSubstr("\n0,9,1,1,1048576,1,Failed,p1,LS\n"));
  EXPECT_THAT(got.remarks, HasSubstr("1 rows outside the window"));
}

TEST(Import, BadRowsStopItUnlessTheyAreSkipped) {
  const std::string rows = "p0,1,1,1,1000,,LS,Failed,0,9,1\np1,x,1,1,1000,,LS,Failed,0,9,1\np2\n";
  const ImportedCsv stopped = imported_csv(ImportKind::Openb, {kOpenb + rows});
  ASSERT_EQ(stopped.errors.size(), 2U);
  EXPECT_EQ(stopped.errors[0].code, Code::TraceRow);
  EXPECT_THAT(stopped.first_error(), HasSubstr("f:3:4: cpu_milli: \"x\""));
  ImportOptions options;
  options.skip_bad = true;
  EXPECT_THAT(imported_csv(ImportKind::Openb, {kOpenb + rows}, options).remarks,
              HasSubstr("2 rows that cannot be read\n"
                        "1 of them: cpu_milli is no whole number from 0 to 2000000000\n"
                        "1 of them: 1 values where the header has 11 columns\n"));
}

TEST(Import, ALogWithoutAJobIsNoTrace) {
  EXPECT_THAT(imported_table("arrival_s,run_s,gpus\n").first_error(), HasSubstr("no job in it"));
  EXPECT_THAT(imported_csv(ImportKind::Openb, {kOpenb}).first_error(), HasSubstr("no job in it"));
  EXPECT_THAT(imported_csv(ImportKind::Swf, {"; Version: 2.2\n"}).first_error(),
              HasSubstr("no job in it"));
  const ImportedCsv pods = imported_csv(
      ImportKind::Pods,
      {R"({"kind":"Pod","metadata":{"name":"a","creationTimestamp":"2024-06-10T06:13:20Z"},)"
       R"("spec":{"containers":[{"name":"c"}]}})"});
  EXPECT_THAT(pods.first_error(), HasSubstr("no job in it"));
  EXPECT_EQ(pods.errors.at(0).help, "skipped: 1 pods without a GPU");
}

std::optional<std::string> shared_trace(const std::string& path) {
  std::ifstream file(std::filesystem::path(SLICEWISE_SHARED_DIR) / "traces" / path);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ThoroughRealTraces, CountsAreThePublishedOnes) {
  const auto pods = shared_trace("openb/openb_pod_list_default.csv");
  const auto philly = shared_trace("philly/philly_attempts.csv");
  if (!pods || !philly) GTEST_SKIP() << "no shared traces";
  const ImportedCsv openb = imported_csv(ImportKind::Openb, {*pods});
  EXPECT_THAT(openb.remarks, HasSubstr("897 pods that never started"));
  EXPECT_THAT(openb.remarks, HasSubstr("5193 pods last seen Running"));
  EXPECT_THAT(openb.remarks, HasSubstr("1 pods that ask for no memory"));
  EXPECT_EQ(std::ranges::count(openb.csv, '\n'), 8'152 + 2);
  EXPECT_EQ(std::ranges::count(imported_table(*philly).csv, '\n'), 151'816 + 2);
}

}  // namespace
}  // namespace slicewise::scenarios
