#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "../../cluster/give_up.hpp"
#include "sure_misses.hpp"

// A run of Services that stay where the scheduler put them is the sum of its islands: nodes whose
// pods belong to workloads that have none elsewhere. What happens on one does not depend on the
// others, to the last bit: random streams go by name (cluster/entity_streams.hpp). So each is
// simulated by itself, only when somebody asks for one of its workloads, and only once.
namespace slicewise::sim {

struct Island {
  std::vector<std::size_t> workloads;  // ascending; likewise
  std::vector<std::size_t> nodes;

  bool has(std::size_t workload) const { return contains(workloads, workload); }
};

// What one replication did on an island, in its order. Latencies are packed.
struct IslandRecord {
  std::vector<WorkloadRecord> workloads;
  std::vector<NodeRecord> nodes;
  std::vector<DomainTime> domains;
  std::vector<SureMiss>
      misses;  // what it was given up for; empty: it is whole, or was likely to hold
};

// Those that worlds of one scenario have in common. Any thread may ask.
class IslandRecords {
 public:
  using Make = std::function<std::optional<IslandRecord>()>;

  // Made once; who comes meanwhile waits. nullptr: `make` was interrupted.
  std::shared_ptr<const IslandRecord> get(const std::string& key, const Make& make);
  // nullptr: nobody has made it by now; somebody may be about to.
  std::shared_ptr<const IslandRecord> find(const std::string& key);
  std::size_t size();

 private:
  struct Place {
    std::mutex making;
    std::shared_ptr<const IslandRecord> record;
  };
  // The oldest are forgotten; some tens of kilobytes each.
  // Five replications of a pool for each of 400 Services, and as much again that was asked before.
  static constexpr std::size_t kMost = 8192;

  std::mutex lock_;
  std::map<std::string, std::shared_ptr<Place>> places_;
  std::deque<std::string> in_order_;
};

// What tells an island from the same pods on the same kind of nodes in another world, beyond who
// sits where; one for each pool.
struct IslandKeys {
  std::vector<std::string> pools;
  std::function<std::string(const Island&)> about;
};

// The replications of a world, as far as they were asked for.
class IslandRun {
 public:
  // REQUIRES: the world, its options and `known` outlive this. Without `known` nothing is shared.
  IslandRun(const World& world, const RunOptions& options, IslandRecords* known = nullptr,
            IslandKeys keys = {});

  // Whether the first replication ends as soon as a miss is sure: it is no use but to say so.
  void give_up_what_is_missed(bool give_up) {
    first_ = give_up ? First::UntilItMisses : First::Whole;
  }
  // ... as soon as it is likely what it will say of an island.
  void glance() { first_ = First::UntilItTells; }

  // More than one island.
  bool is_apart();
  // All workloads, those on the busiest islands first.
  std::vector<std::size_t> busiest_first();

  // Simulates what is still missing of each workload in its first `replications`, in parallel:
  // of the first `needed` of them all, of the others what comes without ado. false: interrupted.
  struct Wanted {
    std::size_t workload = 0;
    int replications = 1;
  };
  bool run(std::span<const Wanted> wanted, std::size_t needed);
  bool run_all(int replications);
  bool has(const Wanted& wanted) const;

  // What nobody knows of the first `replications`, each in one run of all its islands: for who will
  // ask for all of them. One by one each takes as long as the whole world does to begin.
  void run_together(int replications);

  // Complete as far as it was run. REQUIRES: run() of so many.
  std::span<const Replication> records(int replications) const {
    return std::span(records_).first(static_cast<std::size_t>(replications));
  }

  // What the first replication was given up for; empty: it was not.
  std::span<const SureMiss> misses() const { return misses_; }
  // ... on the workload's island.
  std::vector<SureMiss> misses_of(std::size_t workload) const;

 private:
  struct Replica {
    std::vector<Island> islands;
    bool in_one = false;     // it cannot be taken apart: one island has everything
    std::vector<char> done;  // by island
  };

  struct Missing {
    std::size_t replication = 0;
    std::size_t island = 0;

    bool operator==(const Missing&) const = default;
  };
  // When the first replication ends.
  enum class First : std::uint8_t { Whole, UntilItMisses, UntilItTells };
  using GetRecord =
      std::function<std::shared_ptr<const IslandRecord>(std::string_view until, First ends)>;

  void lay_out(int replications);
  std::vector<Missing> missing_of(std::span<const Wanted> wanted);
  void add_next(std::span<const Wanted> wanted, std::vector<Missing>& tasks);
  bool is_done(std::size_t replication, std::size_t island);
  std::size_t island_of(std::size_t replication, std::size_t workload) const;
  Replica apart(const Replication& quiet) const;
  IslandRecord cut_out(Replication& all, const Island& island) const;
  void simulate_together(std::size_t replication) const;
  std::optional<IslandRecord> simulate(std::size_t replication, const Island& island, First ends,
                                       const GiveUp& stop) const;
  // `stop`: it was begun in vain.
  std::shared_ptr<const IslandRecord> record_of(std::size_t replication, const Island& island,
                                                const GiveUp& stop);
  std::shared_ptr<const IslandRecord> record_by(std::size_t replication,
                                                const GetRecord& get) const;
  void put_in(std::size_t replication, std::size_t island, const IslandRecord& record);
  std::string key_of(std::size_t replication, const Island& island) const;

  const World& world_;
  const RunOptions& options_;
  IslandRecords* known_;
  IslandKeys keys_;
  World quiet_;                         // nothing ever comes: where pods sit
  std::vector<std::size_t> node_pool_;  // by node
  std::vector<std::size_t> first_domain_;
  bool stays_ = false;  // pods do, as far as one can say before
  First first_ = First::Whole;
  std::vector<SureMiss> misses_;
  std::vector<Replication> records_;
  std::vector<Replica> replicas_;
};

// Of one workload alone, with the verdict on it: nothing beyond its island can change that.
VariantResult result_of_workload(const World& world, std::size_t workload,
                                 std::span<const Replication> records);

}  // namespace slicewise::sim
