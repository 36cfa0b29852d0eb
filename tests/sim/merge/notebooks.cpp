#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "result/merge.hpp"

namespace slicewise::sim {
namespace {

// 20 users on one node of 1 USD an hour for a tenth of a month.
World world() {
  World w;
  w.pools.resize(1);
  w.pools[0].nodes = 1;
  w.pools[0].price.usd = {from_dollars(1)};
  w.workloads.resize(1);
  w.workloads[0].spec.kind = scenarios::WorkloadKind::Notebook;
  w.workloads[0].spec.notebooks.emplace().users = 20;
  return w;
}

Replication replication(std::int64_t kills, std::int64_t active) {
  Replication r;
  r.length = hours(73);
  WorkloadRecord& w = r.workloads.emplace_back();
  w.oom_kills = kills;
  w.held = from_dollars(20);
  w.notebooks.sessions = 30;
  w.notebooks.cells = 900;
  w.notebooks.culled = 6;
  w.notebooks.gave_up = 2;
  w.notebooks.active_users = active;
  w.notebooks.waiting = hours(1);
  for (int i = 0; i < 100; ++i) {
    w.notebooks.session_start.add(seconds(20));
    w.notebooks.slowdown.add(i < 90 ? kUnitSlowdown : Duration{kUnitSlowdown.ns * 3});
  }
  return r;
}

// Of a month, by those who had a session.
std::optional<Usd> price_of_user(const World& w, const std::vector<Replication>& runs,
                                 std::size_t workload) {
  VariantResult result;
  for (std::size_t n = 0; n < w.workloads.size(); ++n) {
    result.workloads.emplace_back().notebooks = notebook_figures(w, n, runs);
  }
  price_workloads(w, runs, result);
  return result.workloads[workload].notebooks->per_active_user_month;
}

TEST(MergeNotebooks, FiguresAreOfOneUserAndAMonthOf730Hours) {
  const std::vector<Replication> runs = {replication(2, 12), replication(4, 8)};
  const NotebookFigures figures = notebook_figures(world(), 0, runs).value();
  EXPECT_EQ(figures.users, 20);
  EXPECT_EQ(figures.sessions, 30);
  EXPECT_EQ(figures.cells, 900);
  EXPECT_EQ(figures.culled, 6);
  EXPECT_EQ(figures.gave_up, 2);
  // 3 kills in a tenth of a month, 20 users.
  EXPECT_DOUBLE_EQ(figures.oom_per_user_month, 1.5);
  EXPECT_DOUBLE_EQ(figures.waiting_per_user_month_s, 1800);
  EXPECT_NEAR(to_seconds(figures.session_start->p95), 20, 0.08);
  EXPECT_NEAR(figures.cell_slowdown->p50, 1, 0.004);
  EXPECT_NEAR(figures.cell_slowdown->p95, 3, 0.012);
  EXPECT_NEAR(figures.cell_slowdown->mean, 1.2, 1e-6);
  EXPECT_EQ(price_of_user(world(), runs, 0), from_dollars(73));  // 730 USD, 10 users
}

TEST(MergeNotebooks, SeveralWorkloadsShareTheBillByWhatTheyHold) {
  World w = world();
  w.workloads.push_back(w.workloads[0]);
  std::vector<Replication> runs = {replication(0, 10)};
  runs[0].workloads.push_back(runs[0].workloads[0]);
  EXPECT_EQ(price_of_user(w, runs, 1), from_dollars(36.5));
  runs[0].workloads[1].held = from_dollars(60);
  EXPECT_EQ(price_of_user(w, runs, 1), from_dollars(36.5 * 1.5));
}

TEST(MergeNotebooks, AreAbsentForOthersAndPricelessWithoutUsers) {
  World w = world();
  std::vector<Replication> runs = {replication(0, 0)};
  EXPECT_FALSE(price_of_user(w, runs, 0).has_value());
  w.workloads[0].spec.notebooks.reset();
  EXPECT_FALSE(notebook_figures(w, 0, runs).has_value());
}

}  // namespace
}  // namespace slicewise::sim
