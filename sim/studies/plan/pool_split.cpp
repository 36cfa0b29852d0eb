#include "pool_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "flow_assignment.hpp"
#include "node_bounds.hpp"

namespace slicewise::sim {
namespace {

using Group = std::vector<std::string>;
// Groups in one pool, as bits.
using Block = std::uint32_t;

// So many groups can be divided in 15 ways.
constexpr std::size_t kExactGroups = 4;
// Moves of one group to another pool that are tried in all.
constexpr int kMostMoves = 12;
constexpr std::size_t kMostGroups = 16;
constexpr double kMicro = 1e6;

class Splitter {
 public:
  Splitter(const BlockSearch& search, ProbeBatch& probes, std::optional<double> cap)
      : search_(search),
        probes_(probes),
        groups_(separable_groups(search.base)),
        best_cost_(cap.value_or(std::numeric_limits<double>::infinity())) {}

  SplitResult run() {
    if (groups_.size() < 2 || groups_.size() > kMostGroups) return {};
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!bound_of(Block{1} << g)) return {};
    }
    const std::vector<Block> first = flow_division();
    consider(first);
    if (groups_.size() <= kExactGroups) {
      std::vector<Block> blocks;
      divide(0, blocks);
    } else {
      improve(first);
    }
    return confirmed();
  }

 private:
  std::vector<std::string> names_of(Block block) const {
    std::vector<std::string> names;
    for (const auto& workload : search_.base.workloads) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const bool inside = (block >> g & 1U) != 0 &&
                            std::ranges::find(groups_[g], workload.name.value) != groups_[g].end();
        if (inside) names.push_back(workload.name.value);
      }
    }
    return names;
  }

  // No pool for the block costs less.
  std::optional<double> bound_of(Block block) {
    const auto known = bounds_.find(block);
    if (known != bounds_.end()) return known->second;
    return bounds_[block] = least_monthly(search_, names_of(block));
  }

  // The cheapest pool for the block that costs no more than `cap`.
  const std::optional<BlockOption>& best_of(Block block, double cap) {
    const auto known = solved_.find(block);
    const bool usable =
        known != solved_.end() && (known->second.option || known->second.cap >= cap);
    if (usable) return known->second.option;
    BlockResult result = search_block(search_, names_of(block), 1, cap, false, probes_);
    configurations_ += result.configurations;
    exhaustive_ += result.exhaustive;
    Solved& solved = solved_[block];
    solved.cap = cap;
    solved.option.reset();
    if (!result.options.empty()) solved.option = std::move(result.options.front());
    return solved.option;
  }

  void consider(const std::vector<Block>& division) {
    if (division.size() < 2) return;
    double rest = 0;
    for (const Block block : division) {
      const auto bound = bound_of(block);
      if (!bound) return;
      rest += *bound;
    }
    double cost = 0;
    std::vector<BlockOption> options;
    for (const Block block : division) {
      rest -= *bound_of(block);
      const double cap = best_cost_ - cost - rest;
      if (cap <= 0) return;
      const auto& option = best_of(block, cap);
      if (!option) return;
      cost += option->goal;
      options.push_back(*option);
    }
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    best_division_ = division;
    found_.push_back(std::move(options));
  }

  // Every way to put the groups from `next` on into pools.
  void divide(std::size_t next, std::vector<Block>& blocks) {
    if (probes_.interrupted()) return;
    if (next == groups_.size()) {
      consider(blocks);
      return;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      blocks[b] |= Block{1} << next;
      divide(next + 1, blocks);
      blocks[b] &= ~(Block{1} << next);
    }
    blocks.push_back(Block{1} << next);
    divide(next + 1, blocks);
    blocks.pop_back();
  }

  void improve(std::vector<Block> division) {
    int moves = 0;
    for (bool better = true; better && moves < kMostMoves;) {
      better = false;
      for (std::size_t g = 0; g < groups_.size() && moves < kMostMoves; ++g) {
        for (std::size_t to = 0; to <= division.size() && moves < kMostMoves; ++to) {
          const double before = best_cost_;
          consider(moved(division, Block{1} << g, to));
          ++moves;
          if (best_cost_ >= before) continue;
          division = best_division_;
          better = true;
          break;
        }
      }
    }
  }

  static std::vector<Block> moved(std::vector<Block> division, Block group, std::size_t to) {
    for (Block& block : division) block &= ~group;
    if (to < division.size()) {
      division[to] |= group;
    } else {
      division.push_back(group);
    }
    std::erase(division, Block{0});
    return division;
  }

  std::map<std::string, std::string> selected_by(const Group& group) const {
    std::map<std::string, std::string> labels;
    for (const auto& workload : search_.base.workloads) {
      if (std::ranges::find(group, workload.name.value) == group.end()) continue;
      for (const auto& label : workload.pod.node_selector) {
        if (!names_the_node(label.first)) labels.insert(label);
      }
    }
    return labels;
  }

  // A pod costs the share of a node that it takes of the resource it takes most of.
  std::vector<Block> flow_division() {
    FlowProblem problem;
    std::vector<PoolChoice> places;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      int pods = 0;
      for (const auto& workload : search_.base.workloads) {
        const bool own = std::ranges::find(groups_[g], workload.name.value) != groups_[g].end();
        if (own) pods += workload.count;
      }
      problem.pods.push_back(pods);
    }
    problem.cost.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) add_places(g, places, problem);
    for (auto& row : problem.cost) row.resize(places.size(), -1);
    const std::vector<std::size_t> to = assign_by_flow(problem);
    // Nodes of one pool have one label of a key.
    std::map<std::pair<std::size_t, std::map<std::string, std::string>>, Block> blocks;
    for (std::size_t g = 0; g < to.size(); ++g) {
      blocks[{to[g], selected_by(groups_[g])}] |= Block{1} << g;
    }
    std::vector<Block> division;
    division.reserve(blocks.size());
    for (const auto& [apart, block] : blocks) division.push_back(block);
    return division;
  }

  void add_places(std::size_t group, std::vector<PoolChoice>& places, FlowProblem& problem) {
    const std::vector<std::string> names = names_of(Block{1} << group);
    for (const models::InstanceType* type : search_.space.types) {
      const PoolChoices found =
          pool_choices(search_.base, names, *type, search_.space, search_.catalogue);
      for (PoolChoice choice : found.choices) {
        choice.nodes = 1;
        choice.purchase = search_.space.purchases.front();
        const auto world = world_on_one_node(search_, choice);
        if (!world) continue;
        const NodeBound bound = node_bound(*world);
        if (!bound.refused.empty() || bound.least > search_.space.max_nodes) continue;
        choice.workloads.clear();
        choice.mig_profiles.clear();
        const auto at = std::ranges::find(places, choice);
        const auto place = static_cast<std::size_t>(at - places.begin());
        const double monthly = to_dollars(cost_of(world->pools.front().price.usd, kMonth));
        const int pods = problem.pods[group];
        if (at == places.end()) {
          places.push_back(choice);
          problem.capacity.push_back(pods * search_.space.max_nodes / bound.least);
        }
        auto& row = problem.cost[group];
        if (row.size() <= place) row.resize(place + 1, -1);
        row[place] = std::llround(monthly * bound.least / std::max(1, pods) * kMicro);
      }
    }
  }

  // Pools that stand alone may not stand together: the scheduler and the controllers see all.
  SplitResult confirmed() {
    SplitResult result;
    result.configurations = configurations_;
    result.exhaustive = exhaustive_;
    for (auto options = found_.rbegin(); options != found_.rend(); ++options) {
      PlanProbe probe;
      for (const BlockOption& option : *options) probe.pools.push_back(option.choice);
      probe.replications = search_.replications;
      probe.input = search_.input;
      probe.factor = search_.factor;
      PlanAnswer answer = probes_.ask_one(probe);
      if (!answer.figures || !answer.figures->stands()) continue;
      const auto goal = goal_of(search_.goal, *answer.figures);
      if (!goal) continue;
      result.pools = std::move(probe.pools);
      result.figures = std::move(*answer.figures);
      result.goal = *goal;
      say_leader(search_, result.pools, result.figures.monthly);
      return result;
    }
    return result;
  }

  struct Solved {
    std::optional<BlockOption> option;
    double cap = 0;  // that was searched up to
  };

  const BlockSearch& search_;
  ProbeBatch& probes_;
  std::vector<Group> groups_;
  std::map<Block, std::optional<double>> bounds_;
  std::map<Block, Solved> solved_;
  double best_cost_;
  std::vector<Block> best_division_;
  std::vector<std::vector<BlockOption>> found_;  // each better than the one before
  std::int64_t configurations_ = 0;
  std::int64_t exhaustive_ = 0;
};

}  // namespace

std::vector<std::vector<std::string>> separable_groups(const scenarios::Scenario& scenario) {
  std::vector<Group> groups;
  // Recorded jobs of one trace: those that take several GPUs, and the others by how many of them
  // fit a GPU.
  std::map<std::pair<std::string, int>, std::size_t> of_traces;
  const auto size_of = [](const scenarios::Workload& workload) {
    if (has_several_gpus(workload)) return 0;
    const Bytes memory = workload.gpu_memory.resident;
    return memory <= gibibytes(8) ? 1 : memory <= gibibytes(16) ? 2 : 3;
  };
  for (const auto& workload : scenario.workloads) {
    if (workload.count == 0) continue;
    if (workload.trace) {
      const auto [at, is_new] =
          of_traces.try_emplace({workload.trace->workload, size_of(workload)}, groups.size());
      if (!is_new) {
        groups[at->second].push_back(workload.name.value);
        continue;
      }
    }
    groups.push_back({workload.name.value});
  }
  for (const auto& pipeline : scenario.pipelines) {
    Group together;
    std::vector<Group> apart;
    for (Group& group : groups) {
      const bool part = std::ranges::any_of(pipeline.stages, [&](const auto& stage) {
        return std::ranges::find(group, stage.workload.value) != group.end();
      });
      if (part) {
        together.insert(together.end(), group.begin(), group.end());
      } else {
        apart.push_back(std::move(group));
      }
    }
    if (!together.empty()) apart.push_back(std::move(together));
    groups = std::move(apart);
  }
  return groups;
}

SplitResult split_pools(const BlockSearch& search, std::optional<double> cap, ProbeBatch& probes) {
  return Splitter(search, probes, cap).run();
}

}  // namespace slicewise::sim
