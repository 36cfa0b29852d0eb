#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/job_trace.hpp"

// What is done to a trace before its jobs meet on GPUs: neighbours of the time when it was recorded
// are taken out of its run times, and jobs get profiles.
namespace slicewise::scenarios {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

JobTrace prepared_trace(const std::string& csv) { return *read_job_trace({"t.csv", csv}); }

const std::string kShared =
    "# run_under_sharing=true\narrival_s,run_s,gpus,observed_wait_s,gpu_permille,ran_on\n";

std::vector<double> runs_alone(const std::string& rows) {
  JobTrace trace = prepared_trace(kShared + rows);
  take_out_company(trace);
  std::vector<double> runs;
  for (const Duration run : trace.run.values()) runs.push_back(to_seconds(run));
  return runs;
}

TEST(RecordedCompany, TwoJobsThatMeetForHalfOfTheirTimeHaveThreeQuartersOfItLessTheTurns) {
  // 50 s alone and 50 s at 3/7 of the pace, each: half, of which a seventh goes into switches.
  constexpr double kEach = 50 + 50 * 3.0 / 7;
  EXPECT_THAT(runs_alone("0,100,1,,,n1/0\n50,100,1,,,n1/0\n"),
              ElementsAre(DoubleNear(kEach, 1e-6), DoubleNear(kEach, 1e-6)));
  // The start counts, not the arrival.
  EXPECT_THAT(runs_alone("0,100,1,0,,n1/0\n0,100,1,50,,n1/0\n"),
              ElementsAre(DoubleNear(kEach, 1e-6), DoubleNear(kEach, 1e-6)));
  EXPECT_THAT(runs_alone("0,100,1,,,n1/0\n0,100,1,100,,n1/0\n"), ElementsAre(100, 100));
}

TEST(RecordedCompany, WhoWantsLittleIsNotSlowedDown) {
  EXPECT_THAT(runs_alone("0,100,1,,500,n1/0\n50,100,1,,500,n1/0\n"), ElementsAre(100, 100));
  // 50 s beside each other at 1 / 1.4 of the pace: of its utilisation a job holds the GPU for 3/4.
  EXPECT_THAT(runs_alone("0,100,1,,800,n1/0\n50,100,1,,800,n1/0\n"),
              ElementsAre(DoubleNear(85.714, 1e-3), DoubleNear(85.714, 1e-3)));
}

TEST(RecordedCompany, OnlyTheSameGpuCounts) {
  EXPECT_THAT(runs_alone("0,100,1,,,n1/0\n50,100,1,,,n1/1\n60,10,1,,,\n"),
              ElementsAre(100, 100, 10));
}

TEST(RecordedCompany, WithoutTheGpuItCannotBeTakenOutAndIsStillSaid) {
  JobTrace trace = prepared_trace("# run_under_sharing=true\narrival_s,run_s,gpus\n0,9,1\n");
  take_out_company(trace);
  EXPECT_TRUE(trace.run_under_sharing);
  JobTrace taken = prepared_trace(kShared + "0,100,1,,,a\n50,100,1,,,a\n200,5,1,,,a\n");
  take_out_company(taken);
  EXPECT_FALSE(taken.run_under_sharing);
  EXPECT_EQ(taken.company_taken_out, 2);
  // Run times that were recorded alone are left alone.
  JobTrace alone = prepared_trace("arrival_s,run_s,gpus,ran_on\n0,100,1,a\n50,100,1,a\n");
  take_out_company(alone);
  EXPECT_EQ(alone.run[0], seconds(100));
}

std::vector<std::string> profiles_by(const std::vector<std::string>& texts, JobTrace& trace,
                                     std::uint64_t seed = 42) {
  std::vector<ProfileRule> rules;
  for (const std::string& text : texts) rules.push_back(*read_profile_rule(text));
  give_profiles(trace, rules, seed);
  std::vector<std::string> profiles;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    profiles.emplace_back(trace.name(trace.profile, row));
  }
  return profiles;
}

const std::string kNamed = "arrival_s,run_s,gpus,gpu_permille,user,work,profile\n";

TEST(ProfileRules, TheFirstThatFitsGivesItsProfile) {
  JobTrace trace = prepared_trace(kNamed +
                                  "0,1,1,,ana,bert-large,\n"
                                  "0,1,1,,bo,bert,\n"
                                  "0,1,1,,ana,albert,\n"
                                  "0,1,1,300,bo,other,\n"
                                  "0,1,1,,bo,other,\n"
                                  "0,1,1,,ana,bert,mine/b1\n"
                                  "0,1,0,,ana,bert,\n");
  EXPECT_THAT(profiles_by({"name=bert:exact/b1", "name~=bert-.*:b/b1", "user=ana:ana/b1",
                           "use=0.2..0.5:light/b1"},
                          trace),
              ElementsAre("b/b1", "exact/b1", "ana/b1", "light/b1", "", "mine/b1", ""));
}

TEST(ProfileRules, HowManyHaveNoneIsTold) {
  JobTrace trace = prepared_trace(kNamed + "0,1,1,,,bert,\n0,1,1,,,x,\n0,1,0,,,y,\n");
  const std::vector<ProfileRule> rules = {*read_profile_rule("name=bert:p/b1")};
  EXPECT_EQ(give_profiles(trace, rules, 42), 1);
}

TEST(ProfileRules, ADrawHasItsWeightsAndItsSeed) {
  std::string csv = "arrival_s,run_s,gpus,work\n";
  for (int job = 0; job < 4'000; ++job) csv += "0,1,1,j\n";
  const auto drawn = [&](std::uint64_t seed) {
    JobTrace trace = prepared_trace(csv);
    return profiles_by({"name~=.*:p/b1*3|q/b1"}, trace, seed);
  };
  const auto first = drawn(1);
  EXPECT_EQ(first, drawn(1));
  EXPECT_NE(first, drawn(2));
  EXPECT_NEAR(static_cast<double>(std::ranges::count(first, "p/b1")), 3'000, 110);  // 4 sigma
}

// More than a minute, when each way of splitting the letters was tried.
TEST(ProfileRules, NoPatternHangs) {
  JobTrace trace =
      prepared_trace("arrival_s,run_s,gpus,work\n0,1,1," + std::string(60, 'a') + "\n0,1,1,aab\n");
  EXPECT_THAT(profiles_by({"name~=(a+)+b:p/b1"}, trace), ElementsAre("", "p/b1"));
}

TEST(ProfileRules, MistakesAreSaidWithTheirPlace) {
  for (const auto& [rule, why] : {std::pair{"bert", "no rule"},
                                  {"name=bert", "no rule"},
                                  {"nam=bert:p", "none of name, user"},
                                  {"name~=[:p", "no regular expression"},
                                  {"name~=(a)\\1:p", "a back-reference"},
                                  {"name=a:", "no profile"},
                                  {"name=a:p*0", "no profile, or a weight"},
                                  {"use=0.5:p", "from one share to another"},
                                  {"use=0.5..0.2:p", "from one share to another"}}) {
    const auto read = read_profile_rule(rule);
    ASSERT_FALSE(read.has_value()) << rule;
    EXPECT_THAT(read.error().front().message, HasSubstr(why)) << rule;
  }
  const auto rules = read_profile_rules({"rules.txt", "# mine\nname=a:p\n\nuser=b\n"});
  ASSERT_FALSE(rules.has_value());
  EXPECT_EQ(rules.error().front().where.line, 4);
  EXPECT_EQ(read_profile_rules({"rules.txt", "# mine\nname=a:p\n\nuser=b:q\r\n"})->size(), 2U);
}

}  // namespace
}  // namespace slicewise::scenarios
