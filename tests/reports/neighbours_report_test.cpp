#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "golden_file.hpp"
#include "load_samples.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The scheduler keeps api and lab apart.
sim::NeighbourMatrix put_together() {
  sim::NeighbourMatrix matrix = samples::flat();
  matrix.rows[0].beside[2] = {3.5, 0.1, true, true};
  matrix.rows[1].beside[2] = {1.4, 0.02, true, true};
  matrix.rows[3].beside[0] = {1.08, 0.01, true, true};
  return matrix;
}

TEST(NeighboursReport, MatchesTheGoldenFiles) {
  expect_golden("neighbours.txt", Report(put_together()).table(kTerminal, false));
  expect_golden("neighbours.md", Report(put_together()).markdown());
  expect_golden("neighbours.csv", Report(put_together()).csv());
  expect_golden("neighbours.json", Report(put_together()).json());
}

TEST(NeighboursReport, SaysOnlyWhatWasMeasured) {
  sim::NeighbourMatrix matrix = samples::flat();
  for (sim::NeighbourRow& row : matrix.rows) {
    for (sim::NeighbourEffect& effect : row.beside) {
      if (effect.slowdown) effect.slowdown = 1.0;
    }
    row.beside_all.slowdown = 1.0;
  }
  EXPECT_THAT(Report(matrix).table(kTerminal, false),
              HasSubstr("No workload slows another one down."));
  matrix.rows[2].beside_all.slowdown = 1.5;
  EXPECT_THAT(Report(matrix).table(kTerminal, false),
              HasSubstr("No pair disturbs each other; all together do, see ALL OTHERS."));
  for (sim::NeighbourRow& row : matrix.rows) {
    for (sim::NeighbourEffect& effect : row.beside) effect.slowdown.reset();
    row.beside_all.slowdown.reset();
  }
  for (const std::string& text :
       {Report(matrix).table(kTerminal, false), Report(matrix).markdown()}) {
    EXPECT_THAT(text, Not(HasSubstr("slows another one down")));
    EXPECT_THAT(text, Not(HasSubstr("disturbs")));
  }
}

TEST(NeighboursReport, AsciiHasNoOtherBytes) {
  const std::string text = Report(samples::flat()).table({false, false, 100}, true);
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80U) << text;
}

TEST(NeighboursReport, ColumnsThatDoNotFitAreNamed) {
  const std::string text = Report(samples::flat()).table({false, true, 50}, false);
  EXPECT_THAT(text, HasSubstr("ALL OTHERS"));
  EXPECT_THAT(text, HasSubstr("not shown: "));
}

TEST(NeighboursReport, NamesThePairsThatNeverMeet) {
  EXPECT_THAT(Report(samples::flat()).table({false, true, 0}, false),
              HasSubstr("if anything: api and lab, trainer and lab\n"));
  sim::NeighbourMatrix met = samples::flat();
  for (sim::NeighbourRow& row : met.rows) {
    for (sim::NeighbourEffect& effect : row.beside) effect.shares_gpu = true;
  }
  EXPECT_THAT(Report(met).table(kTerminal, false), Not(HasSubstr("never on one GPU")));
}

TEST(NeighboursReport, NamesThePairsThatWerePutTogether) {
  const sim::NeighbourMatrix matrix = put_together();
  EXPECT_THAT(
      Report(matrix).table({false, true, 0}, false),
      HasSubstr("one pod of each was put on one GPU, against that pod alone: api and lab\n"));
  EXPECT_TRUE(json::parse(Report(matrix).json())["rows"][0]["beside"][1]["putTogether"]);
  EXPECT_THAT(Report(samples::flat()).table(kTerminal, false), Not(HasSubstr("was put on")));
}

TEST(NeighboursReport, TwoWorkloadsNeedNoColumnForAll) {
  sim::NeighbourMatrix two = samples::flat();
  two.workloads.pop_back();
  two.rows.pop_back();
  for (sim::NeighbourRow& row : two.rows) row.beside.pop_back();
  EXPECT_THAT(Report(two).table(kTerminal, false), Not(HasSubstr("ALL OTHERS")));
}

TEST(NeighboursReport, AnUnfinishedMatrixSaysSo) {
  sim::NeighbourMatrix partial = samples::flat();
  partial.interrupted = true;
  EXPECT_THAT(Report(partial).table(kTerminal, false), HasSubstr("INTERRUPTED"));
  EXPECT_THAT(Report(partial).markdown(), HasSubstr("INTERRUPTED"));
  EXPECT_EQ(json::parse(Report(partial).json())["metadata"]["interrupted"], true);
}

TEST(NeighboursReport, EveryCsvRecordHasAsManyFieldsAsTheHeader) {
  std::istringstream csv(Report(samples::flat()).csv());
  std::string header;
  std::getline(csv, header);
  int records = 0;
  for (std::string record; std::getline(csv, record); ++records) {
    EXPECT_EQ(std::ranges::count(record, ','), std::ranges::count(header, ',')) << record;
  }
  EXPECT_EQ(records, 4 * 3);  // two neighbours and all, for each figure
}

TEST(NeighboursReport, JsonCarriesTheNamesThatScriptsDependOn) {
  const json document = json::parse(Report(samples::flat()).json());
  EXPECT_EQ(document["apiVersion"], "slicewise.dev/neighbours.v1alpha1");
  EXPECT_EQ(document["kind"], "Neighbours");
  const json& p99 = document["rows"][0];
  EXPECT_EQ(p99["workload"], "api");
  EXPECT_EQ(p99["figure"], "latencyP99");
  EXPECT_EQ(p99["aloneSeconds"], 0.048);
  EXPECT_EQ(p99["beside"][0]["workload"], "trainer");
  EXPECT_EQ(p99["beside"][0]["slowdown"], 6.25);
  EXPECT_EQ(p99["beside"][1]["sharesGpu"], false);
  EXPECT_EQ(document["rows"][3]["aloneRatio"], 1.01);
}

// tests/tools/load_test.py holds what the program prints to it.
TEST(NeighboursReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file = std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" /
                    "neighbours.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << Report<sim::NeighbourMatrix>::schema();
  }
  EXPECT_EQ(file_text(file), Report<sim::NeighbourMatrix>::schema());
}

}  // namespace
}  // namespace slicewise::reports
