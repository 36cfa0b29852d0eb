#pragma once

#include <cstddef>
#include <optional>
#include <vector>

// What pools must cost at the least, each of whole nodes: a covering problem with far too many
// columns to list, solved by column generation (Gilmore and Gomory, Operations Research 9(6),
// 1961).
namespace slicewise::sim {

// Pools that differ in the number of their nodes and in who lives there, and in nothing else.
struct PoolFamily {
  // Something that there is so much of. What a group takes, by its number; infinity: it may not
  // live in these pools.
  struct Row {
    std::vector<double> takes;
    double per_node = 0;
    double however_many = 0;  // ... nodes there are
  };
  std::vector<Row> rows;
  int least_nodes = 1;
  std::vector<double> monthly;  // dollars with least_nodes, one more, ...; ascending
};

// No choice of pools that has a place for each of `groups` groups costs less. It is the optimum of
// the linear program, or less where finding that would take too long. nullopt: some group has no
// place in any pool.
std::optional<double> least_cost_of_pools(std::size_t groups,
                                          const std::vector<PoolFamily>& families);

}  // namespace slicewise::sim
