#pragma once

#include <cstdint>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// The room that a provisioner sees on nodes, and what it puts there in thought. One room per place
// for a node. Allocates once.
class NodeRooms {
 public:
  // Which tickets of a node's it counts.
  enum class Tickets : std::uint8_t {
    Free,      // what is free on the node now
    Expected,  // what the provisioner takes a node for that it has not seen yet, labels included
    All,       // what the node will have
  };

  explicit NodeRooms(const ClusterState& cluster);

  void close(std::uint32_t node) {
    rooms_[node].open = false;
    company_.clear(node);
  }
  // Its pods stay, and none comes.
  void cordon(std::uint32_t node) {
    rooms_[node].open = false;
    company_.copy(node, cluster_.company);
  }
  bool is_open(std::uint32_t node) const { return rooms_[node].open; }
  // What is free on the node, but for the tickets.
  void open(std::uint32_t node, Tickets tickets);
  // Puts up to `pods` pods of the workload on the node; returns how many went in.
  std::int64_t take(std::uint32_t node, std::size_t workload, std::int64_t pods);
  // Whether what goes in hangs on other nodes.
  bool reaches(std::size_t workload) const { return company_.reaches(workload); }
  // How many would go in.
  std::int64_t room(std::uint32_t node, std::size_t workload) const;
  // One of them is gone.
  void give(std::uint32_t node, std::size_t workload);
  // How many pods of the workload fit on an empty node of the pool.
  std::int64_t on_empty(std::size_t pool, std::size_t workload, Tickets tickets) const;

 private:
  struct Room {
    bool open = false;
    PodRoom left;  // but for the tickets
  };

  // So many of its pods are gone; negative: have come.
  void change(std::uint32_t node, std::size_t workload, std::int64_t pods);
  std::int64_t tickets_of(std::size_t pool, std::size_t offer, std::size_t layout,
                          Tickets tickets) const;

  const ClusterState& cluster_;
  std::vector<Room> rooms_;  // by node
  PodCompany company_;
  std::size_t offers_ = 1;             // the most of a pool
  std::vector<std::int64_t> tickets_;  // by node and offer
  std::vector<char> admits_;           // by pool and workload
  std::vector<char> expects_;          // ... as far as labels are known before a node joins
};

}  // namespace slicewise::sim
