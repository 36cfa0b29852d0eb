#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/pool_choice.hpp"

// Which of the present pools go on as pools of a plan: their nodes keep their group, what the pods
// ask for and what these select, so that only what changes has to be changed.
namespace slicewise::sim {

// How a pool and one that may come in its place are alike.
struct Likeness {
  bool shares_alike = false;  // pods that ask for the same go on
  int workloads = 0;          // that both have
};

// Whether nodes that are there can be told to share their GPUs otherwise: those of Bottlerocket are
// told by their user data, when they start.
bool may_be_shared_anew(const scenarios::Scenario& base);

// By new pool, the old one whose nodes it takes over: first those that share alike, then those with
// most in common.
// `likeness` of an old and a new one; nullopt: its nodes cannot stay.
std::vector<std::optional<std::size_t>> successors(
    std::size_t from, std::size_t to,
    const std::function<std::optional<Likeness>(std::size_t from, std::size_t to)>& likeness);

struct StayingPool {
  const scenarios::NodePool* own = nullptr;  // of the scenario; nullptr: its nodes are new
  bool shares_alike = false;
};

// By choice. `pools`: made of the choices, in their order. Of those of one NodePool the first
// stays.
std::vector<StayingPool> staying_pools(const scenarios::Scenario& base,
                                       std::span<const PoolChoice> choices,
                                       std::span<const scenarios::NodePool> pools,
                                       const models::Catalogue& catalogue);

// The pool goes on under its name, or its NodePool's, with its labels, those that its pods select
// besides, and its taints; shared alike, under the names by which its GPUs are offered.
void stay_as(const scenarios::Scenario& base, const StayingPool& staying,
             scenarios::NodePool& pool);

// A pool whose nodes are new: a name that is not `taken`, its own one in labels of its group.
void name_anew(const PoolChoice& choice, std::set<std::string>& taken, scenarios::NodePool& pool);

// What the pool offers to pods.
std::vector<std::string> offered_by(const scenarios::NodePool& pool, const PoolChoice& choice);
// What the pods of its `index`-th workload ask for.
std::string resource_of(const scenarios::NodePool& pool, const PoolChoice& choice,
                        std::size_t index);

}  // namespace slicewise::sim
