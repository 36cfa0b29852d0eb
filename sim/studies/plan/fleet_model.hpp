#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"
#include "node_bounds.hpp"
#include "pool_bound.hpp"

// Pools priced in closed form: thousands of divisions of the workloads are looked at before one is
// simulated. Tickets, memory, CPU and GPU time are what is necessary; what neighbours cost is an
// estimate, which simulations correct.
namespace slicewise::sim {

// Groups of workloads by their numbers in the model, ascending.
using Members = std::vector<std::size_t>;

// GPUs, by the slices that pods take at the least: neither kind can be had twice. One over the most
// instances of a GPU would be too much where instances of several sizes lie beside each other.
struct MigSlices {
  double memory = 0;
  double compute = 0;

  double gpus() const { return std::max(memory, compute); }
};

// What some groups take of a type's nodes together.
struct RoomOnType {
  bool possible = true;
  bool several_gpus = false;  // some pod asks for more than one
  double pods = 0;
  double cpu = 0;                                 // nodes
  double memory = 0;                              // nodes
  double slots = 0;                               // nodes, by the pods that one may have
  double tickets = 0;                             // GPUs, where nothing is shared
  std::array<double, kPackings.size()> packed{};  // nodes, there: see packed_parts
  int least_nodes = 1;                            // ... whoever waits for whom
  MigSlices mig;                                  // of instances that hold its pods
  double company = 0;                             // GPUs that are busy
  double bears = GpuNeed::kAny;                   // how busy a shared GPU may be
  Bytes largest_process;
  std::vector<Bytes> largest_pods = {};  // largest first, no more than a GPU is shared among
};

struct Room {
  std::vector<RoomOnType> on;                      // by PlanSpace::types
  std::map<std::string, std::string> labels = {};  // that their nodes must have
  bool possible = true;                            // in one pool

  void add(const Room& more);
};

// Labels that the nodes of the workloads must have, beyond those that name the node.
std::map<std::string, std::string> labels_of(const Scenario& base,
                                             const std::vector<std::string>& workloads);

class FleetModel {
 public:
  FleetModel(const BlockSearch& search, std::vector<std::vector<std::string>> groups);

  std::size_t size() const { return groups_.size(); }
  const std::vector<std::string>& names(std::size_t group) const { return groups_[group]; }

  Room room(const Members& members) const;
  // Dollars a month of the cheapest pool; nullopt: none holds them.
  std::optional<double> price(const Room& room) const;
  // ... if neighbours cost nothing.
  std::optional<double> price_alone(Room room) const;
  // Whether pods of the cheapest pool have their GPUs or instances to themselves.
  bool is_unshared(const Room& room) const;

  // All pools that closed forms know of; empty: of so many groups, or where nodes come and go, they
  // say nothing.
  std::vector<PoolFamily> families() const;

  // Pods of the group bear less company than was thought (a factor below 1), or more.
  void correct(std::size_t group, double factor);

  // What each group is worth, so that no pool costs less than its groups are worth together: each
  // goes to whatever types are cheapest for it, in any parts, and nodes are full of what there is
  // least of on them. nullopt: some group runs nowhere.
  std::optional<std::vector<double>> least_in_parts() const;
  // The same of the linear program over all pools of the families.
  std::optional<std::vector<double>> least_worth() const;
  // All together as a bound of what plans cost: no fleet costs less, of pools that may be tried:
  // whole nodes, of which each has room, GPU memory and GPU time for who lives there. What
  // neighbours do to latency is not counted. nullopt: it bounds nothing.
  std::optional<double> as_bound(const std::optional<std::vector<double>>& worth) const;
  // No pool of the type that holds the groups costs less, by PlanSpace::types; 0: nothing is known.
  double least_on(std::size_t type, const Members& members) const;

 private:
  struct Type {
    double monthly = 0;   // of a node, bought as the first purchase option says
    double cheapest = 0;  // ... however it may be bought
    int gpus = 1;
    Bytes memory;        // of a GPU, that processes can use
    Bytes memory_total;  // that MPS divides
    bool alone = false, turns = false, mps = false, mig = false;  // strategies that may be tried
    bool shares_cut = false;                                      // instances of MIG may be shared
    bool overlaps = false;  // kernels of several pods may run at once
    double most_meet = 1;   // pods on a GPU, whatever the strategy
  };
  // Nodes that a group takes at the very least, by what there is of them.
  static constexpr std::size_t kResources = 6;
  static constexpr std::size_t kGpuMemory = 3;  // of them; nothing before it is of GPUs
  using Shares = std::array<double, kResources>;
  struct Need {
    RoomOnType room;
    double own = 0;      // of a GPU's time, of its busiest pod
    double busy = 0;     // GPUs
    double sm_busy = 0;  // ... whose every SM is
    Shares least{};

    // What the same group takes when it serves in one of two ways.
    void take_less(const Need& other);
  };
  struct Way {
    double monthly = 0;
    bool shared = false;
  };

  std::optional<Need> least_need(const BlockSearch& search, const std::vector<std::string>& names,
                                 std::size_t type);
  void note_type(std::size_t type, const World& world);
  Need need_on(std::size_t type, const World& world) const;
  int pods_per_gpu(const Type& type, const RoomOnType& room, bool mps) const;
  std::optional<Way> best_way(const Room& room) const;

  std::vector<Members> apart_by_labels() const;
  std::vector<int> further_nodes() const;
  PoolFamily family(std::size_t type, int least_nodes) const;
  PoolFamily::Row row(std::size_t type, double per_node,
                      const std::function<double(const Need&)>& takes) const;
  void add_unshared(std::size_t type, std::vector<PoolFamily>& families) const;
  void add_time_slicing(std::size_t type, std::vector<PoolFamily>& families) const;
  void add_mps(std::size_t type, std::vector<PoolFamily>& families) const;

  const BlockSearch& search_;
  std::vector<std::vector<std::string>> groups_;
  std::vector<std::map<std::string, std::string>> labels_;  // by group
  std::vector<Type> types_;
  std::vector<std::vector<std::optional<Need>>> needs_;  // by group and type
};

// Groups that need no nodes at times are worth nothing for sure: an hour costs as good as nothing.
void leave_out_those_that_go(const BlockSearch& search, const FleetModel& model,
                             std::vector<double>& worth);

}  // namespace slicewise::sim
