#pragma once

#include <string>
#include <vector>

#include "block_search.hpp"
#include "node_search.hpp"

namespace slicewise::sim {

// A configuration that no closed form rules out.
struct BlockCandidate {
  explicit BlockCandidate(NodeSearch search) : nodes(search) {}

  PoolChoice choice;
  double monthly = 0;   // dollars, of one node
  double arrivals = 0;  // requests in a month that could be answered in time; 0: not known
  int most = 1;         // nodes that may be tried
  NodeSearch nodes;
  bool screened = false;  // fewer replications did not fail clearly with the number that is next
  bool climbing = false;  // a number of nodes stands; more may have a better goal
  bool done = false;
  std::optional<BlockOption> best;
  std::optional<OptionFigures> last;  // of the largest number of nodes that failed
  std::string stopped;                // why the search ended before it found one
};

// Candidates of a block with every purchase option; what cannot run goes to `result`.
std::vector<BlockCandidate> block_candidates(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             BlockResult& result);

}  // namespace slicewise::sim
