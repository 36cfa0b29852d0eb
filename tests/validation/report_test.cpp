#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "studies.hpp"

namespace slicewise::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TextStyle kStyle{false, true, 100};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

sim::ValidationResult small_result() { return sim::result_of({"nos-mps", "igniter", "gavel-k80"}); }

TEST(ValidationTable, SaysWhatWasFittedOnWhatAndNamesTheWeakest) {
  const std::string text = Report(small_result()).table(kStyle, false);
  EXPECT_THAT(text, HasSubstr("3 of 3 studies within their bounds; 0 above target; 0 worse than a "
                              "naive rule."));
  EXPECT_THAT(text, HasSubstr("fit: 20 and 80 % of the threads; check: 40, 50, 60 %"));
  EXPECT_THAT(text, HasSubstr("Weakest: resnet50 2.7 % of 12 rows"));
  EXPECT_THAT(text, HasSubstr("github:icloud-ecnu/igniter@"));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    // An address is kept whole.
    const bool has_address = line.find("github:") != line.npos;
    EXPECT_TRUE(has_address || line.size() <= 100) << line;
    begin = end + 1;
  }
}

TEST(ValidationTable, NamesTheStudiesAboveTheirBound) {
  sim::ValidationResult result = small_result();
  result.studies[1].within_bound = false;
  EXPECT_THAT(Report(result).table(kStyle, false),
              HasSubstr("2 of 3 studies within their bounds (all but " +
                        result.studies[1].study.id + ");"));
  EXPECT_THAT(Report(result).markdown(), HasSubstr("| ABOVE BOUND |"));
}

// The line of a study in the Markdown table; its cells are not padded.
std::string line_of(const sim::ValidationResult& result, const std::string& id) {
  const std::string page = Report(result).markdown();
  const std::size_t begin = page.find("\n| " + id + " |");
  return page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
}

// A mean error of 3.504 % misses a target of 3.5 %: one decimal would deny it.
TEST(ValidationTable, ShowsTheDecimalsThatItsVerdictNeeds) {
  sim::ValidationResult result = sim::result_of({"nos-mps"});
  sim::StudyResult& study = result.studies[0];
  study.study.target_percent = 3.5;
  study.study.bound_percent = 4;
  study.check.mean_percent = 3.504;
  EXPECT_THAT(line_of(result, "nos-mps"), HasSubstr("| 3.504 |"));
  EXPECT_THAT(line_of(result, "nos-mps"), HasSubstr("| above target |"));
  EXPECT_THAT(Report(result).markdown(), HasSubstr("; 1 above target (nos-mps); 0 worse"));
  study.check.mean_percent = 3.54;
  EXPECT_THAT(line_of(result, "nos-mps"), HasSubstr("| 3.54 |"));
  study.check.mean_percent = 3.5;
  EXPECT_THAT(line_of(result, "nos-mps"), HasSubstr("| 3.5 |"));
  EXPECT_THAT(line_of(result, "nos-mps"), HasSubstr("| ok |"));
}

TEST(ValidationTable, SaysWhereANaiveRuleIsBetter) {
  for (const bool even : {true, false}) {
    sim::ValidationResult result = sim::result_of({"nos-mps"});
    sim::StudyResult& study = result.studies[0];
    study.study.target_percent = study.check.mean_percent / 2;
    (even ? study.even_share_percent : study.no_slowdown_percent) = study.check.mean_percent / 2;
    EXPECT_THAT(line_of(result, "nos-mps"), HasSubstr("| worse than naive |"));
    EXPECT_THAT(Report(result).markdown(),
                HasSubstr("; 1 above target (nos-mps); 1 worse than a naive rule (nos-mps).\n"));
  }
}

TEST(ValidationTable, NamesTheStudiesThatNeedTheUsersMeasurements) {
  const char* line = "3 studies need measurements that may not be redistributed";
  EXPECT_THAT(Report(sim::result_of()).table(kStyle, false), HasSubstr(line));
  EXPECT_THAT(Report(sim::result_of()).markdown(), HasSubstr(line));
  EXPECT_THAT(Report(small_result()).table(kStyle, false), Not(HasSubstr("--pairs")));
}

TEST(ValidationJson, KeepsFitAndCheckApart) {
  const auto document = nlohmann::json::parse(Report(small_result()).json());
  EXPECT_EQ(document["apiVersion"], "slicewise.dev/validation.v1alpha1");
  EXPECT_EQ(document["withinBounds"], true);
  const auto& igniter = document["studies"][0];
  EXPECT_EQ(igniter["name"], "igniter");
  EXPECT_EQ(igniter["fit"]["rows"], 32);
  EXPECT_EQ(igniter["check"]["rows"], 48);
  EXPECT_EQ(igniter["targetPercent"], 2.0);
  EXPECT_GT(igniter["naive"]["noSlowdownPercent"], igniter["check"]["meanErrorPercent"]);
  EXPECT_EQ(igniter["source"]["gpuModel"], "V100-SXM2-16GB");
  EXPECT_EQ(igniter["workloads"].size(), 4U);
}

TEST(ValidationCsv, HasOneRowPerPoint) {
  const sim::ValidationResult result = small_result();
  std::size_t points = 0;
  for (const sim::StudyResult& study : result.studies) points += study.points.size();
  const std::string text = Report(result).csv();
  EXPECT_EQ(count(text, "\r\n"), points + 1);
  EXPECT_EQ(count(text, ",fit,"), 32U + 2U + 36U);
  EXPECT_THAT(text,
              HasSubstr("igniter,igniter,MPS,V100-SXM2-16GB,alexnet,\"b4, 40 % of threads\","));
}

TEST(ValidationChart, HasAPanelPerStudyWithCountsErrorsAndAxes) {
  const sim::ValidationResult result = small_result();
  const std::string page = validation_chart(result);
  EXPECT_THAT(page, HasSubstr("check 48 rows, 1.8 %"));
  EXPECT_THAT(page, HasSubstr("fitted or given 32 rows, 0.0 %"));
  EXPECT_THAT(page, HasSubstr("resnet50 2.7 %"));
  EXPECT_EQ(count(page, "predicted time per step, ms"), 2U);
  EXPECT_EQ(count(page, "measured speed, alone = 1"), 1U);
  EXPECT_EQ(count(page, "<polygon"), 3U);  // +-10 %
  EXPECT_EQ(count(page, "<g "), count(page, "</g>"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  const std::string one = study_chart(result.studies[0]);
  EXPECT_THAT(one, testing::StartsWith("<svg xmlns="));
  EXPECT_EQ(count(one, "<polygon"), 1U);
}

TEST(ValidationChart, SameResultSameBytes) {
  EXPECT_EQ(validation_chart(small_result()), validation_chart(small_result()));
}

TEST(ValidationChart, NamesOfFilesAndJobsAreText) {
  sim::ValidationResult result = sim::result_of({"nos-mps"});
  result.studies[0].source.title = "<b>&\"";
  EXPECT_THAT(study_chart(result.studies[0]), HasSubstr("&lt;b&gt;&amp;&quot;"));
}

}  // namespace
}  // namespace slicewise::reports
