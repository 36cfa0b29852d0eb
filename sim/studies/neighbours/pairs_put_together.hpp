#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/neighbours.hpp"

#include "companies.hpp"

namespace slicewise::sim {

// Pairs that the scheduler keeps apart, put on one GPU, and what they are held against.
class PairsPutTogether {
 public:
  // `apart`: the pair, simulated as the scheduler has it.
  void add(const Scenario& base, const Companions& apart, Duration length,
           const Catalogue& catalogue);

  void simulate(Simulations& simulations);

  // Of those that then met.
  void fill(NeighbourMatrix& matrix) const;

 private:
  // What the workload is held against there, into companies_.
  std::optional<std::size_t> held_against(const Scenario& base, std::size_t workload,
                                          std::size_t pool, Duration length,
                                          const Catalogue& catalogue);

  struct Pair {
    std::size_t company;               // into companies_
    std::array<std::size_t, 2> alone;  // likewise, of its first and second
  };
  std::vector<Companions> companies_;
  std::vector<Pair> pairs_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> alone_;  // by workload and pool
};

}  // namespace slicewise::sim
