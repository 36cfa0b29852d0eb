#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../probe/some_workloads.hpp"
#include "fleet_model.hpp"
#include "pool_columns.hpp"

namespace slicewise::sim {

// Prices that differ by less are the same.
inline constexpr double kSamePrice = 0.01;

// What is known of pools, and what they say of groups.
struct KnownColumns {
  std::vector<KnownPool> stand;
  std::vector<KnownPool> searched;  // in vain, up to so much
  std::vector<double> alone;        // of each group by itself
  std::vector<double> worth;        // see worth_of_groups
};

// What simulations have said of pools for some groups, which are not asked again.
class KnownPools {
 public:
  struct Solved {
    std::optional<PlanOption> option;
    std::vector<std::string> missed;
    double cap = 0;       // that was searched up to
    bool is_sure = true;  // that the option stands with other random numbers, too
  };

  // REQUIRES: all three outlive it.
  KnownPools(BlockSearch& search, const FleetModel& model)
      : search_(search), model_(model), parts_(search.base) {}

  std::vector<std::string> names_of(const Members& block) const;
  // No pool for the block costs less; nullopt: none holds it.
  std::optional<double> bound_of(const Members& block);
  // What the block should cost at the least. Where not every division is tried anyway, those whose
  // other pools are likely to cost too much are given up early.
  std::optional<double> hoped_of(const Members& block);
  // The cheapest pool for the block that costs no more than `cap`.
  const Solved& best_of(const Members& block, double cap);
  // That, and what is as cheap at first sight where nothing that costs less stands, of many, of
  // which simulations are asked for together: they are known from then on.
  struct Question {
    Members block;
    double cap = 0;
  };
  void look_for_best(std::vector<Question> questions);
  void glance_at_all(std::vector<Question> questions);
  // The best pool of each group by itself that costs no more than `most`.
  void look_for_lone(double most);
  // What each block may cost if the others cost what is hoped for and all together less than
  // `most`; empty: they do not.
  std::vector<Question> questions_about(const std::vector<Members>& division, double most);
  // What the division costs at first sight; nullopt: as much as `most`, or more.
  std::optional<double> cost_at_a_glance(const std::vector<Members>& division, double most);
  // The best one stands alone, but not beside others.
  void refute(const Members& block);

  // Where a group that has no pool of its own would cost `most`.
  KnownColumns columns(double most) const;
  const Solved* find(const Members& block) const;
  // Workloads that miss something in every pool that was tried for their group alone.
  std::vector<std::string> missed_alone() const;
  // What it costs, of which the model thinks so much.
  double price(const Members& block, double thought) const;
  std::int64_t configurations() const { return configurations_; }
  std::int64_t exhaustive() const { return exhaustive_; }

 private:
  bool is_known(const Question& question, Depth depth) const;
  void search(std::vector<Question> questions, Depth depth);
  void note(const Question& question, Depth depth, BlockResult result);

  BlockSearch& search_;
  const FleetModel& model_;
  SomeWorkloads parts_;
  std::map<Members, std::optional<double>> bounds_;
  std::map<Members, Solved> solved_;
  std::int64_t configurations_ = 0;
  std::int64_t exhaustive_ = 0;
};

}  // namespace slicewise::sim
