#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "slicewise/sim/world.hpp"

#include "domain_tallies.hpp"

namespace slicewise::sim {

// By pool, whether pods on its nodes count for a constraint of these pods: nodes have the labels of
// all that are required, or of all others, and by default suit the pods.
std::vector<char> counted_pools(const World& world, const scenarios::PodTemplate& pod,
                                const scenarios::TopologySpread& rule);

// Which pods may be where beside whom, as filters of kube-scheduler have it: PodTopologySpread of
// constraints with DoNotSchedule, InterPodAffinity of required terms, and NodePorts. A pod that is
// there refuses who comes, too. Source: Kubernetes 1.36, pkg/scheduler/framework/plugins:
// podtopologyspread/filtering.go, interpodaffinity/filtering.go, nodeports/node_ports.go.
class PodCompany {
 public:
  enum class Refusal : std::uint8_t {
    Affinity,              // pods that it wants near are not there
    AntiAffinity,          // its own
    ExistingAntiAffinity,  // of a pod that is there
    Spread,                // the domain has too many of the pods
    SpreadLabel,           // ... and the node is of none
  };

  PodCompany() = default;
  // Nobody is anywhere, and no node is there. `pool_of`: each node's pool.
  PodCompany(const World& world, const std::vector<std::size_t>& pool_of);

  // Whether anybody has rules.
  bool any() const { return any_; }
  // Whether where pods of the workload may be hangs on who is on other nodes, too.
  bool reaches(std::size_t workload) const { return any_ && rules_[workload].reaches; }
  // Those that may fit somewhere when a pod of the workload has come to a node.
  const std::vector<std::size_t>& woken_by(std::size_t workload) const { return wakes_[workload]; }

  // Whether the node counts among those over which pods are spread.
  void set_there(std::size_t node, bool is_there);
  // Nodes of the pool that are not there are no less for that: Karpenter starts them.
  void foresee(std::size_t pool) { foreseen_[pool] = 1; }
  // So many pods of the workload more are on the node, or fewer.
  void count(std::size_t node, std::size_t workload, std::int64_t pods);
  // Who ends is not among those who are spread.
  void count_spread(std::size_t node, std::size_t workload, std::int64_t pods);
  // The node is there, with the pods that another has on it. REQUIRES: of the same world.
  void copy(std::size_t node, const PodCompany& from);
  // The node is not there, nor are its pods.
  void clear(std::size_t node);

  // Why a pod of the workload may not come to the node; nullopt: it may, but for its ports.
  std::optional<Refusal> reject(std::size_t node, std::size_t workload) const;
  // Whether one that is there has a port that it wants.
  bool lacks_port(std::size_t node, std::size_t workload) const;
  bool admits(std::size_t node, std::size_t workload) const {
    return !any_ || (!reject(node, workload) && !lacks_port(node, workload));
  }
  // Of so many, how many may come.
  std::int64_t room(std::size_t node, std::size_t workload, std::int64_t pods) const;
  // ... to a node of the pool where nobody is, at best.
  std::int64_t on_empty(std::size_t pool, std::size_t workload, std::int64_t pods) const;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Spread {
    std::size_t tally = 0;
    int max_skew = 1;
    int min_domains = 1;
    bool counts_itself = false;
  };
  // Of a workload: tallies of who is meant, one for each label of nodes.
  struct Rules {
    std::vector<Spread> spreads;
    std::vector<std::size_t> near;        // somebody has to be there
    std::vector<std::size_t> far;         // nobody may be there
    std::vector<std::size_t> refused_by;  // likewise, by their rules
    std::vector<std::size_t> alone;       // of `far`: it means itself, too
    bool meets_itself = false;            // it is one of those that it wants near
    bool near_nobody = false;             // ... which are no pods at all
    bool reaches = false;
  };
  // The domains that have a node, and the fewest pods of one of them.
  struct Least {
    std::size_t domain = kNone;
    std::int64_t pods = INT64_MAX;
    std::int64_t of_others = INT64_MAX;
    std::int64_t domains = 0;
    std::uint64_t version = 0;
  };
  std::int64_t there(std::size_t node, std::size_t workload) const {
    return there_[node * parties_.size() + party_[workload]];
  }
  using Weights = std::vector<std::int64_t>;  // by workload
  using TallyKey = std::tuple<const DomainTallies*, std::string, std::vector<char>, Weights>;

  std::size_t tally_of(DomainTallies& tallies, std::string_view label,
                       const std::vector<char>& counted, const Weights& weights);
  void join(std::size_t workload);
  void add_near(const World& world, std::size_t workload);
  void add_far(const World& world, std::size_t workload);
  void add_spreads(const World& world, std::size_t workload);
  const Least& least(std::size_t tally) const;
  bool is_near(const Rules& rules, std::size_t node) const;
  bool has_any(const std::vector<std::size_t>& tallies, std::size_t node) const;

  bool any_ = false;
  std::map<TallyKey, std::size_t> known_;  // tallies, while they are made
  DomainTallies company_;
  DomainTallies spread_;
  std::vector<Rules> rules_;                      // by workload
  std::vector<std::vector<std::size_t>> wakes_;   // by workload
  std::vector<std::vector<std::size_t>> rivals_;  // by workload: who has a port that it wants
  std::vector<std::size_t> parties_;              // workloads whose pods somebody's rules are about
  std::vector<std::size_t> party_;                // by workload; kNone
  std::vector<std::int64_t> there_;               // pods, by node and party
  std::vector<char> is_there_;                    // by node
  std::vector<char> foreseen_;                    // by pool
  std::uint64_t version_ = 1;                     // of what is spread
  mutable std::vector<Least> least_;              // by tally of spread_
  mutable std::vector<char> seen_;                // scratch, by domain
};

}  // namespace slicewise::sim
