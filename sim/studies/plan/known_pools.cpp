#include "known_pools.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "slicewise/lookup.hpp"

#include "block_outcome.hpp"
#include "pool_split.hpp"

namespace slicewise::sim {

std::vector<std::string> KnownPools::names_of(const Members& block) const {
  std::vector<std::string> names;
  for (const auto& workload : search_.base.workloads) {
    const bool inside = std::ranges::any_of(
        block, [&](std::size_t g) { return contains(model_.names(g), workload.name.value); });
    if (inside) names.push_back(workload.name.value);
  }
  return names;
}

std::optional<double> KnownPools::bound_of(const Members& block) {
  const auto known = bounds_.find(block);
  if (known != bounds_.end()) return known->second;
  std::optional<double>& bound = bounds_[block];
  if (model_.size() <= kExactGroups) return bound = least_monthly(search_, names_of(block));
  Members always = block;
  std::erase_if(always,
                [&](std::size_t g) { return !need_nodes_always(search_, model_.names(g)); });
  if (always.empty()) return bound = 0;
  for (std::size_t t = 0; t < search_.space.types.size(); ++t) {
    const double least = model_.least_on(t, always);
    bound = std::min(bound.value_or(least), least);
  }
  return bound;
}

std::optional<double> KnownPools::hoped_of(const Members& block) {
  const auto bound = bound_of(block);
  if (!bound || model_.size() <= kExactGroups) return bound;
  const Solved* solved = find(block);
  if (solved != nullptr && solved->option) return solved->option->goal;
  constexpr double kHope = 0.9;  // of what the model says
  return std::max(*bound, kHope * model_.price(model_.room(block)).value_or(0));
}

const KnownPools::Solved& KnownPools::best_of(const Members& block, double cap) {
  look_for_best({{block, cap}});
  return solved_.at(block);
}

void KnownPools::look_for_best(std::vector<Question> questions) {
  search(std::move(questions), model_.size() > kExactGroups ? Depth::First : Depth::Ranked);
}

void KnownPools::glance_at_all(std::vector<Question> questions) {
  search(std::move(questions), Depth::Glance);
}

void KnownPools::look_for_lone(double most) {
  std::vector<Question> questions;
  for (std::size_t g = 0; g < model_.size(); ++g) questions.push_back({{g}, most});
  look_for_best(std::move(questions));
}

std::vector<KnownPools::Question> KnownPools::questions_about(const std::vector<Members>& division,
                                                              double most) {
  std::vector<double> hoped;
  for (const Members& block : division) {
    const auto least = hoped_of(block);
    if (!least) return {};
    hoped.push_back(*least);
  }
  const double left = most - kSamePrice - sum_of(hoped);
  std::vector<Question> questions;
  for (std::size_t b = 0; b < division.size() && left >= 0; ++b) {
    questions.push_back({division[b], left + hoped[b]});
  }
  return questions;
}

std::optional<double> KnownPools::cost_at_a_glance(const std::vector<Members>& division,
                                                   double most) {
  std::vector<Question> questions = questions_about(division, most);
  if (questions.empty()) return std::nullopt;
  glance_at_all(std::move(questions));
  double cost = 0;
  for (const Members& block : division) {
    const Solved* solved = find(block);
    if (solved == nullptr || !solved->option) return std::nullopt;
    cost += *solved->option->goal;
  }
  return cost < most ? std::optional(cost) : std::nullopt;
}

bool KnownPools::is_known(const Question& question, Depth depth) const {
  const Solved* known = find(question.block);
  return known != nullptr && (known->is_sure || depth == Depth::Glance) &&
         (known->option || known->cap >= question.cap);
}

// Of a block asked for twice up to the larger price. Closed forms are asked with nobody else in the
// scenario, and of types of which a pool may cost so little.
void KnownPools::search(std::vector<Question> questions, Depth depth) {
  std::ranges::sort(questions, [](const Question& a, const Question& b) {
    return a.block != b.block ? a.block < b.block : a.cap > b.cap;
  });
  const auto same = [](const Question& a, const Question& b) { return a.block == b.block; };
  questions.erase(std::unique(questions.begin(), questions.end(), same), questions.end());
  std::erase_if(questions, [&](const Question& asked) { return is_known(asked, depth); });
  std::deque<Scenario> scenarios;
  std::deque<PlanSpace> spaces;
  std::deque<BlockSearch> searches;
  std::vector<BlockQuestion> asked;
  for (const Question& question : questions) {
    std::vector<std::string> names = names_of(question.block);
    const Scenario& own = scenarios.emplace_back(parts_.with(names));
    PlanSpace& space = spaces.emplace_back(search_.space);
    const bool is_bounded = !may_come_and_go(search_, names) || need_nodes_always(search_, names);
    if (model_.size() > kExactGroups && is_bounded) {
      std::size_t t = 0;
      std::erase_if(space.types, [&](const auto*) {
        return model_.least_on(t++, question.block) > question.cap;
      });
    }
    asked.push_back({searches.emplace_back(search_within(search_, own, space)), std::move(names),
                     question.cap});
  }
  std::vector<BlockResult> results = search_blocks(asked, depth);
  for (std::size_t q = 0; q < questions.size(); ++q) {
    note(questions[q], depth, std::move(results[q]));
  }
}

void KnownPools::note(const Question& question, Depth depth, BlockResult result) {
  configurations_ += result.configurations;
  exhaustive_ += result.exhaustive;
  Solved& solved = solved_[question.block];
  // What stands at first sight only is the cheapest that may.
  solved.cap = solved.option ? std::max(question.cap, *solved.option->goal) : question.cap;
  solved.missed = std::move(result.missed);
  solved.option.reset();
  solved.is_sure = depth != Depth::Glance || result.options.empty();
  if (!result.options.empty()) solved.option = std::move(result.options.front());
}

KnownColumns KnownPools::columns(double most) const {
  KnownColumns columns;
  columns.alone.assign(model_.size(), most);
  for (const auto& [block, solved] : solved_) {
    if (!solved.option) {
      columns.searched.push_back({block, solved.cap});
      continue;
    }
    columns.stand.push_back({block, *solved.option->goal});
    if (block.size() == 1) columns.alone[block.front()] = *solved.option->goal;
  }
  columns.worth = worth_of_groups(columns.alone, columns.stand);
  return columns;
}

void KnownPools::refute(const Members& block) {
  const auto solved = solved_.find(block);
  search_.refuted.push_back(std::move(solved->second.option->pools.front()));
  solved_.erase(solved);
}

const KnownPools::Solved* KnownPools::find(const Members& block) const {
  const auto solved = solved_.find(block);
  return solved == solved_.end() ? nullptr : &solved->second;
}

std::vector<std::string> KnownPools::missed_alone() const {
  std::vector<std::string> all;
  for (const auto& [block, solved] : solved_) {
    if (block.size() > 1 || solved.option) continue;
    all.insert(all.end(), solved.missed.begin(), solved.missed.end());
  }
  return all;
}

double KnownPools::price(const Members& block, double thought) const {
  const Solved* solved = find(block);
  if (solved == nullptr) return thought;
  if (solved->option) return *solved->option->goal;
  return std::max(thought, solved->cap + kSamePrice);
}

}  // namespace slicewise::sim
