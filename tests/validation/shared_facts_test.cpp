#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/replay/sharing.hpp"

#include "../../models/validation/user_table.hpp"
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

// Part of its GPU_UTIL that a job of these pairs holds the GPU for, if its neighbours do, too.
double error_of_pairs(const std::vector<const models::MeasuredPair*>& pairs, double part,
                      double overhead) {
  double error = 0;
  for (const models::MeasuredPair* pair : pairs) {
    const double first = part * *pair->first_utilisation;
    const double second = part * *pair->second_utilisation;
    const auto off = [&](double own, double speed) {
      return std::abs(1 / models::overlapped_slowdown(own, first + second, overhead) / speed - 1);
    };
    error += (off(first, pair->first_speed) + off(second, pair->second_speed)) / 2;
  }
  return error / static_cast<double>(pairs.size());
}

// The range of `replay --inputs sampled`: what each job's pairs fit best, where they say at all:
// where parts that are off by less than a point more lie above one half.
TEST(SharedFacts, JobsOfPairsHoldTheGpuForPartsOfItsUtilisationInTheRange) {
  SLICEWISE_MEASUREMENTS_OR_SKIP(text, "lucid_pairs_half.csv");
  const auto source = models::read_pairs({"lucid_pairs_half.csv", *text});
  ASSERT_TRUE(source);
  const models::Catalogue catalogue = models::load_catalogue();
  const models::ValidationSet set = models::load_validation_set();
  const models::GpuModel* gpu = catalogue.find_gpu(source->gpu);
  if (gpu == nullptr) {
    gpu = &*std::find_if(set.gpus.begin(), set.gpus.end(),
                         [&](const models::GpuModel& g) { return g.name == source->gpu; });
  }
  const double overhead = to_seconds(models::usual_switch_cost(*gpu)) / to_seconds(gpu->time_slice);
  std::map<std::string, std::vector<const models::MeasuredPair*>> by_job;
  for (const models::MeasuredPair& pair : source->pairs) {
    by_job[pair.first].push_back(&pair);
    if (pair.second != pair.first) by_job[pair.second].push_back(&pair);
  }
  double least = 1;
  double most = 0;
  int said = 0;
  for (const auto& [job, pairs] : by_job) {
    std::map<int, double> errors;  // by percent
    for (int percent = 40; percent <= 100; ++percent) {
      errors[percent] = error_of_pairs(pairs, percent / 100.0, overhead);
    }
    const auto best = std::min_element(errors.begin(), errors.end(),
                                       [](auto a, auto b) { return a.second < b.second; });
    const auto first = std::find_if(errors.begin(), errors.end(), [&](const auto& entry) {
      return entry.second <= best->second + 0.01;
    });
    if (first->first <= 50) continue;
    ++said;
    least = std::min(least, best->first / 100.0);
    most = std::max(most, best->first / 100.0);
  }
  EXPECT_GE(said, 30);
  EXPECT_NEAR(least, kLeastBusyOfGpuUtil, 0.025);
  EXPECT_GT(most, 0.9);  // more, up to all of it, is of processes that saturate other GPUs
  EXPECT_LE(most, kMostBusyOfGpuUtil);
}

}  // namespace
}  // namespace slicewise::sim
