#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

namespace slicewise::sim {

// The smallest number of nodes that passes, where more nodes pass whenever fewer do: one by one
// from the least on, since bounds are close, then in doubling steps and by bisection.
class NodeSearch {
 public:
  // REQUIRES: 1 <= least <= most.
  NodeSearch(int least, int most) : failed_(least - 1), most_(most), first_(least) {}

  // nullopt: found, or none passes.
  std::optional<int> next() const;
  void record(int nodes, bool passes);

  std::optional<int> found() const { return next() ? std::nullopt : passed_; }
  int failed() const { return failed_; }  // the most that failed, least - 1 before any
  bool passed() const { return passed_.has_value(); }
  int steps() const { return failed_ - first_ + 1; }  // that failed, of those one by one

 private:
  static constexpr int kOneByOne = 8;

  int failed_;
  int most_;
  int first_;
  std::optional<int> passed_;
};

// What a pool's nodes are to the pods of a block, beyond their price.
struct NodeKind {
  const GpuModel* gpu = nullptr;
  const models::Interconnect* interconnect = nullptr;
  int gpus = 0;
  int vcpus = 0;             // 0: none of the work is the host's
  bool is_all_gpus = false;  // whoever gets a GPU finds CPU, memory and a place, and needs no more
};

// A configuration that no closed form rules out.
struct BlockCandidate {
  explicit BlockCandidate(NodeSearch search) : nodes(search) {}

  PoolChoice choice;
  double monthly = 0;  // dollars, of one node
  double steady = 0;   // dollars, of the nodes that are always there, at the least
  int kept = 0;        // NodeBound::kept
  NodeKind kind;
  Outage survive = Outage::None;  // nodes are counted that are left then
  double arrivals = 0;  // requests in a month that could be answered in time; 0: not known
  int most = 1;         // nodes that may be tried
  int mixed_nodes = 0;  // bought in two ways: how many of so many are on-demand is searched for
  NodeSearch nodes;
  bool climbing = false;      // a number of nodes stands; more may have a better goal
  bool looked_ahead = false;  // whether it may stand with all the nodes that it may have
  bool done = false;
  bool too_dear = false;  // more nodes than were tried cost more than others that stand
  std::optional<PlanOption> best;
  // What is minimised must be less, if it is to be an option.
  double below = std::numeric_limits<double>::infinity();
  std::optional<PlanAnswer> last;  // of the largest number of nodes that failed
  bool has_spares = false;         // it did with those that may be lost, or after their loss
  Reason stopped;                  // why the search ended before it found one

  // The choice with a number of nodes, or of them on-demand, that the search is about.
  PoolChoice with(int number) const {
    PoolChoice chosen = choice;
    (mixed_nodes > 0 ? chosen.on_demand : chosen.nodes) = number;
    if (mixed_nodes > 0) chosen.nodes = mixed_nodes;
    return chosen;
  }
  // Dollars of so many nodes, with those that may be lost.
  double monthly_of(int number) const {
    return std::max(steady, monthly * with_spares(survive, number));
  }
  int tried(const PoolChoice& chosen) const {
    return mixed_nodes > 0 ? chosen.on_demand : chosen.nodes;
  }
};

// Candidates of a block with every purchase option; what cannot run goes to `result`.
std::vector<BlockCandidate> block_candidates(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             BlockResult& result);

// Those on whose nodes the same happens as on others that cost less: of a family of instance types
// with one GPU each all but the smallest that has the CPU and the memory for its pods.
void leave_out_the_same_for_more(std::vector<BlockCandidate>& candidates);

}  // namespace slicewise::sim
