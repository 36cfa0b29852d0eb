#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "../../models/validation/csv_table.hpp"
#include "studies.hpp"

namespace slicewise::sim {
namespace {

// One of the published files that the shipped rows were taken from. They lie outside the
// repository, so nullopt where only the repository was checked out.
std::optional<std::string> measurements(const std::string& name) {
  std::ifstream in(std::string(SLICEWISE_SHARED_DIR) + "/facts/measurements/" + name);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of what is declared.
#define SLICEWISE_MEASUREMENTS_OR_SKIP(variable, name) \
  const auto variable = measurements(name);            \
  if (!variable) GTEST_SKIP() << "SKIPPED: no measurements/" name " to compare with"
// NOLINTEND(bugprone-macro-parentheses)

class Table {
 public:
  explicit Table(const std::string& text) : csv_(models::parse_csv(text)) {
    for (std::size_t i = 0; i < csv_.header.size(); ++i) columns_[csv_.header[i].text] = i;
  }
  std::size_t size() const { return csv_.rows.size(); }
  const std::string& at(std::size_t row, const std::string& column) const {
    return csv_.rows[row][columns_.at(column)].text;
  }
  double number(std::size_t row, const std::string& column) const {
    return *models::number_in(at(row, column));
  }

 private:
  models::CsvTable csv_;
  std::map<std::string, std::size_t> columns_;
};

const models::MeasurementSource& source_in(const models::ValidationSet& set,
                                           const std::string& id) {
  return *std::find_if(set.sources.begin(), set.sources.end(),
                       [&](const models::MeasurementSource& source) { return source.id == id; });
}

std::vector<double> seconds_of(const models::MeasurementSource& source) {
  std::vector<double> values;
  for (const models::MeasuredRow& row : source.rows) values.push_back(to_seconds(row.time));
  std::sort(values.begin(), values.end());
  return values;
}

void expect_same(std::vector<double> published, const std::vector<double>& shipped) {
  std::sort(published.begin(), published.end());
  ASSERT_EQ(published.size(), shipped.size());
  for (std::size_t i = 0; i < shipped.size(); ++i) {
    EXPECT_NEAR(shipped[i], published[i], 1e-5 * published[i]);
  }
}

TEST(ShippedRows, AreThosePublishedByMiso) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "miso_mig.csv");
  const Table table(*text);
  std::vector<double> published;
  for (std::size_t i = 0; i < table.size(); ++i) {
    published.push_back(table.number(i, "median_step_s"));
  }
  expect_same(published, seconds_of(source_in(set_of(), "miso")));
}

TEST(ShippedRows, AreThosePublishedByParvaGpuWithoutRepeatedOnes) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "parvagpu_a100_mig_mps.csv");
  const Table table(*text);
  std::vector<double> published;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table.at(i, "flags").empty()) continue;
    published.push_back(1 / table.number(i, "throughput_per_proc_rps"));
  }
  expect_same(published, seconds_of(source_in(set_of(), "parvagpu")));
}

TEST(ShippedRows, AreTheLatenciesPublishedByMigPerf) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "migperf.csv");
  const Table table(*text);
  std::vector<double> published;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.at(i, "metric") == "latency") published.push_back(table.number(i, "value") * 1e-3);
  }
  expect_same(published, seconds_of(source_in(set_of(), "migperf")));
}

TEST(ShippedRows, AreThosePublishedByMuxServe) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "muxserve_llama_mps_percent.csv");
  const Table table(*text);
  std::vector<double> published;
  for (std::size_t i = 0; i < table.size(); ++i) {
    published.push_back(table.number(i, "latency_ms") * 1e-3);
  }
  expect_same(published, seconds_of(source_in(set_of(), "muxserve")));
}

TEST(ShippedRows, AreThosePublishedByGavelWithoutContradictoryJobs) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "gavel_pairs_p100_k80.csv");
  const Table table(*text);
  const models::ValidationSet set = set_of();
  for (const auto& [gpu, id] : {std::pair{"P100", "gavel-p100"}, std::pair{"K80", "gavel-k80"}}) {
    const models::MeasurementSource& source = source_in(set, id);
    std::size_t next = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const bool contradictory =
          (table.at(i, "job1") + table.at(i, "job2")).find("Recommendation") != std::string::npos;
      if (table.at(i, "gpu") != gpu || !table.at(i, "flags").empty() || contradictory) continue;
      ASSERT_LT(next, source.pairs.size());
      EXPECT_EQ(source.pairs[next].first_speed, table.number(i, "ratio1"));
      EXPECT_EQ(source.pairs[next].second_speed, table.number(i, "ratio2"));
      ++next;
    }
    EXPECT_EQ(next, source.pairs.size());
  }
}

// Lucid's licence is non-commercial: none of its rows ship, the user brings them. From utilisation
// alone the speeds of its pairs are known to 9 %, also when the two constants of the law come from
// the other half of the rows.
TEST(UserPairs, SpeedsOfLucidsPairsFollowFromUtilisationAlone) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "lucid_pairs_half.csv");
  models::ValidationSet set = set_of({"pairs-utilisation", "pairs-refitted", "pairs-serial"});
  const auto source = models::read_pairs({"lucid_pairs_half.csv", *text});
  ASSERT_TRUE(source);
  EXPECT_EQ(source->pairs.size(), 694U);
  set.sources.push_back(*source);
  const ValidationResult result = validate(models::load_catalogue(), set);
  EXPECT_LE(study_in(result, "pairs-refitted").check.mean_percent, 9);
  EXPECT_EQ(study_in(result, "pairs-refitted").check.rows, 694);
  EXPECT_LE(study_in(result, "pairs-utilisation").check.mean_percent, 9);
  EXPECT_TRUE(result.within_bounds());
  for (const StudyResult& study : result.studies) {
    EXPECT_LT(study.check.mean_percent, *study.no_slowdown_percent);
    EXPECT_LT(study.check.mean_percent, *study.even_share_percent);
  }
}

}  // namespace
}  // namespace slicewise::sim
