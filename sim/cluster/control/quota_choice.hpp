#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "quota_book.hpp"

namespace slicewise::sim {

// What Kueue has admitted as a whole, a job here, and what it has of its queue's quota.
struct AdmittedJob {
  std::uint32_t job = 0;  // its first pod
  std::size_t queue = 0;
  int priority = 0;
  TimePoint submitted;
  TimePoint admitted;
  QuotaAmounts held;
};

// In which flavors a job would be admitted, and which jobs would have to go for that: each of its
// pod sets in one. A flavor will do where its quota has room, in the queue or borrowed, or where
// others give way; of several the order of the queue decides, see ClusterQueue::when_can_borrow.
// Jobs that give way are taken as Kueue's classical preemption takes them: of other queues first,
// while these borrow; the lowest priority first, then the one that was admitted last; and those
// come back that need not have gone. A job that neither fits nor may stop others is admitted with
// fewer pods if that is enough for it, with the most that do. Source: sigs.k8s.io/kueue
// pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets, fitsResourceQuota,
// isPreferred and shouldTryNextFlavor; pkg/scheduler/preemption/preemption.go,
// classicalPreemptions; pkg/scheduler/preemption/classical/candidate_generator.go;
// pkg/scheduler/flavorassigner/podset_reducer.go. Unlike there every cycle looks at all flavors,
// and cohorts have one level.
class QuotaChoice {
 public:
  enum class Mode : std::uint8_t { NoFit, Preempt, Fit };
  struct PodSet {
    const QueuedJobs* of;
    int pods;  // that are not done
  };
  struct Decision {
    struct Set {
      int pods = 0;
      PoolMask pools = kAnyPool;
      QuotaAmounts each;  // of a pod
    };
    Mode mode = Mode::NoFit;
    bool borrows = false;
    std::vector<Set> sets;
    QuotaAmounts amounts;                // of all
    std::vector<std::uint32_t> victims;  // of Preempt; empty: it has to wait

    bool has_to_wait() const {
      return mode == Mode::NoFit || (mode == Mode::Preempt && victims.empty());
    }
  };

  // Changes the book and puts it back.
  QuotaChoice(const World& world, QuotaBook& book, const std::vector<AdmittedJob>& admitted)
      : world_(world), book_(book), admitted_(admitted) {}

  // Of a job with these sets, which are of one queue.
  Decision decide(std::span<const PodSet> sets, int priority, TimePoint submitted);

 private:
  enum class Way : std::uint8_t { None, WaitsForOthers, Preempts, Reclaims, Fits };
  struct Rank {
    Way way = Way::None;
    bool borrows = true;
  };
  struct Asking {
    std::size_t queue;
    int priority;
    TimePoint submitted;
  };
  struct Candidate {
    const AdmittedJob* job;
    bool while_borrowing;  // also for a job that borrows
  };

  static bool is_preferred(const Rank& a, const Rank& b);
  bool goes_on(const Asking& who, const Rank& rank) const;
  Rank rank_of(const Asking& who, const QuotaAmount& wanted);
  void choose(const Asking& who, const QuotaGroup& group, Decision& decision,
              std::vector<std::size_t>& lacking);
  Decision assign(const Asking& who, std::span<const PodSet> sets);
  std::vector<const AdmittedJob*> victims_for(const Asking& who, const QuotaAmounts& wanted,
                                              const std::vector<std::size_t>& lacking);
  std::vector<Candidate> candidates(const Asking& who, const std::vector<std::size_t>& lacking,
                                    bool is_within_own) const;
  bool fits(std::size_t queue, const QuotaAmounts& wanted, bool may_borrow) const;
  bool is_within_nominal(std::size_t queue, const std::vector<std::size_t>& cells) const;

  const World& world_;
  QuotaBook& book_;
  const std::vector<AdmittedJob>& admitted_;
};

}  // namespace slicewise::sim
