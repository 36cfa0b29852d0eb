#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "studies.hpp"

namespace slicewise::sim {
namespace {

using models::read_pairs;
using testing::ElementsAre;

constexpr const char* kHeader = "model1,model2,ratio1,ratio2,iso_gpu_util1,iso_gpu_util2\n";

std::vector<std::string> problems_of(const std::string& text) {
  const auto source = read_pairs({"pairs.csv", text});
  std::vector<std::string> problems;
  if (source) return problems;
  for (const Diagnostic& d : source.error()) {
    problems.push_back(std::string(info(d.code).name) + " " + std::to_string(d.where.line) + ":" +
                       std::to_string(d.where.column));
  }
  return problems;
}

TEST(Pairs, ColumnsMayStandInAnyOrderAndNameTheJobs) {
  const auto source = read_pairs(
      {"dir/pairs.csv",
       "\xEF\xBB\xBFratio2,ratio1,model1,dataset1,batch1,amp1,model2,iso_gpu_util1,iso_gpu_util2,"
       "flag\r\n0.5,0.75,\"Res,Net\",CIFAR,32,1,VGG,50,100,noisy\r\n\r\n"});
  ASSERT_TRUE(source);
  EXPECT_EQ(source->id, models::kUserPairs);
  EXPECT_EQ(source->title, "pairs.csv");
  EXPECT_EQ(source->gpu, "RTX-3090");
  ASSERT_EQ(source->pairs.size(), 1U);
  EXPECT_EQ(source->pairs[0].first, "Res,Net/CIFAR b32 amp1");
  EXPECT_EQ(source->pairs[0].second, "VGG");
  EXPECT_EQ(source->pairs[0].first_speed, 0.75);
  EXPECT_EQ(*source->pairs[0].second_utilisation, 1);
}

TEST(Pairs, EveryMistakeIsReportedWithItsPlace) {
  EXPECT_THAT(
      problems_of(std::string(kHeader) + "a,b,x,0.5,30,120\na,b,1\nä,b,0,1,2,3\n"),
      ElementsAre("FIELD_TYPE 2:5", "VALUE_RANGE 2:14", "FIELD_MISSING 3:1", "VALUE_RANGE 4:5"));
}

TEST(Pairs, ColumnsThatAreUnknownMissingOrRepeatedAreRefused) {
  EXPECT_THAT(problems_of("model1,model1,model2,ratio,ratio2,iso_gpu_util1,iso_gpu_util2\n"),
              ElementsAre("FIELD_DUPLICATE 1:8", "FIELD_UNKNOWN 1:22", "FIELD_MISSING 1:1"));
  EXPECT_THAT(problems_of(""), testing::SizeIs(6));
  EXPECT_THAT(problems_of(kHeader), ElementsAre("FIELD_MISSING 1:1"));
  EXPECT_THAT(problems_of(std::string(kHeader) + "\"a,b\n"), ElementsAre("FIELD_TYPE 2:1"));
}

TEST(Pairs, NumbersAreWholeAndFinite) {
  for (const char* wrong : {"", "nan", "inf", "1e999", "1 1", "0x1", "1,5"}) {
    EXPECT_FALSE(problems_of(std::string(kHeader) + "a,b," + wrong + ",1,50,50\n").empty())
        << wrong;
  }
}

// Two jobs that hold the GPU for 20 % of their time each do not meet; two that never let go take
// turns: half the speed, less what switching costs.
TEST(Pairs, LightJobsDoNotMeetAndBusyOnesTakeTurns) {
  models::ValidationSet set = set_of({"pairs-utilisation", "pairs-serial"});
  const auto source =
      read_pairs({"p.csv", std::string(kHeader) + "a,b,1,1,20,20\nc,d,0.5,0.5,100,100\n"});
  ASSERT_TRUE(source);
  set.sources.push_back(*source);
  const ValidationResult result = validate(models::load_catalogue(), set);
  ASSERT_EQ(result.studies.size(), 2U);
  const auto& points = result.studies[0].points;
  ASSERT_EQ(points.size(), 4U);
  EXPECT_NEAR(points[0].predicted, 1, 0.001);
  EXPECT_LT(points[2].predicted, 0.65);
  EXPECT_GT(points[2].predicted, 0.5);
  EXPECT_EQ(points[2].predicted, points[3].predicted);
  EXPECT_EQ(points[0].setting, "beside b");
}

TEST(Pairs, WithoutAFileTheirStudiesAreNotRun) {
  for (const StudyResult& study : result_of({"nos-mps", "pairs-utilisation"}).studies) {
    EXPECT_NE(study.study.source, models::kUserPairs);
  }
}

}  // namespace
}  // namespace slicewise::sim
