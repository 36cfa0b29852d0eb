#include "../../../sim/studies/load/load_search.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

struct Found {
  double passed = 0;
  double failed = 0;
  std::vector<double> tried;
};

// Searches where `verdict` is what a probe would say, and `excess` what its figure is to its limit.
Found search(double precision, double most, const std::function<LoadVerdict(double)>& verdict,
             const std::function<std::optional<double>(double)>& excess = {}) {
  LoadSearch search(precision, most);
  Found found;
  while (const auto factor = search.next()) {
    const LoadVerdict said = verdict(*factor);
    found.tried.push_back(*factor);
    if (said == LoadVerdict::Passes) found.passed = std::max(found.passed, *factor);
    if (said == LoadVerdict::Fails && (found.failed == 0 || *factor < found.failed)) {
      found.failed = *factor;
    }
    search.record(*factor, said, excess ? excess(*factor) : std::nullopt);
    if (found.tried.size() > 100) break;
  }
  return found;
}

std::function<LoadVerdict(double)> sharp(double limit) {
  return [=](double factor) { return factor <= limit ? LoadVerdict::Passes : LoadVerdict::Fails; };
}

TEST(LoadSearch, ClosesInOnALimitAboveAndBelowTheScenariosLoad) {
  for (const double limit : {0.0031, 0.4, 0.999, 1.0, 1.7, 37.0, 900.0}) {
    const Found found = search(0.02, 1000, sharp(limit));
    EXPECT_LE(found.passed, limit);
    EXPECT_GT(found.failed, limit);
    EXPECT_LE(found.failed / found.passed, 1.02);
    EXPECT_LT(found.tried.size(), 20U) << limit;
  }
}

// A latency of which some stays and some grows with the load.
TEST(LoadSearch, FiguresShowWhereTheLimitIsMet) {
  for (const double limit : {0.77, 0.9, 1.3, 2.2}) {
    const auto excess = [=](double factor) { return 0.3 + 0.7 * std::pow(factor / limit, 3); };
    const Found found = search(0.02, 1000, sharp(limit), excess);
    EXPECT_LE(found.passed, limit);
    EXPECT_GT(found.failed, limit);
    EXPECT_LE(found.failed / found.passed, 1.02);
    EXPECT_LT(found.tried.size(), search(0.02, 1000, sharp(limit)).tried.size()) << limit;
  }
}

// A queue: steep near the end, and nothing is answered beyond it.
TEST(LoadSearch, WhereFiguresMisleadItTakesNoLonger) {
  for (const double full : {0.03, 0.7, 1.9, 40.0}) {
    const double limit = full * 10 / 11;
    const auto excess = [=](double factor) -> std::optional<double> {
      if (factor >= full) return std::nullopt;
      return 1 / (11 * (1 - factor / full));
    };
    const Found found = search(0.02, 1000, sharp(limit), excess);
    EXPECT_LE(found.failed / found.passed, 1.02);
    EXPECT_LE(found.tried.size(), search(0.02, 1000, sharp(limit)).tried.size()) << full;
  }
}

TEST(LoadSearch, EndsWhereEverythingPassesOrNothingDoes) {
  const Found all = search(0.02, 1000, sharp(1e9));
  EXPECT_EQ(all.passed, 1000);
  EXPECT_EQ(all.failed, 0);
  const Found none = search(0.02, 1000, sharp(0));
  EXPECT_EQ(none.passed, 0);
  EXPECT_EQ(none.failed, 0.001);
  const Found unclear = search(0.02, 8, [](double /*factor*/) { return LoadVerdict::Undecided; });
  EXPECT_EQ(unclear.tried, (std::vector<double>{1, 0.5, 0.25, 0.125}));
}

// What noise leaves undecided lies inside the interval, which hugs it from both sides.
TEST(LoadSearch, HugsWhatStaysUndecided) {
  const Found found = search(0.02, 1000, [](double factor) {
    if (factor < 2.0) return LoadVerdict::Passes;
    return factor > 2.2 ? LoadVerdict::Fails : LoadVerdict::Undecided;
  });
  EXPECT_LT(found.passed, 2.0);
  EXPECT_GT(found.passed, 2.0 / 1.04);
  EXPECT_GT(found.failed, 2.2);
  EXPECT_LT(found.failed, 2.2 * 1.04);
  EXPECT_LT(found.tried.size(), 25U);
}

TEST(LoadSearch, AnUndecidedStartIsSearchedOnBothSides) {
  const Found found = search(0.02, 1000, [](double factor) {
    if (factor < 0.95) return LoadVerdict::Passes;
    return factor > 1.05 ? LoadVerdict::Fails : LoadVerdict::Undecided;
  });
  EXPECT_LT(found.passed, 0.95);
  EXPECT_GT(found.failed, 1.05);
  EXPECT_LE(found.failed / found.passed, 1.05 / 0.95 * 1.04);
}

}  // namespace
}  // namespace slicewise::sim
