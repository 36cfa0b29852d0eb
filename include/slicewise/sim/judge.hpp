#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/serving.hpp"

// Whether what was simulated stands, that is, does what it should; and if not, why. The only judge:
// whatever recommends, ticks, colours, gates or exits asks it, and shows its words.
namespace slicewise::sim {

struct ObjectiveResult;
struct VariantResult;
struct WorkloadResult;

enum class ObjectiveStanding : std::uint8_t {
  Holds,      // with all of its 95 % interval, where it has one
  Undecided,  // the figure is within its limit, but not with all of its interval
  Missed,
};

// Whether all of value +- half_width is within the limit; the value itself without a half width.
bool clears_limit(const scenarios::FigureValue& value,
                  const std::optional<scenarios::FigureValue>& half_width,
                  const scenarios::FigureValue& limit, bool at_least);

// Whether none of value +- half_width is.
bool is_beyond_limit(const scenarios::FigureValue& value,
                     const std::optional<scenarios::FigureValue>& half_width,
                     const scenarios::FigureValue& limit, bool at_least);

// Whether anything is to be met.
bool has_objectives(const VariantResult& result);

ObjectiveStanding standing_of(const ObjectiveResult& objective);
// Nothing is to be said against it: it holds with its interval, or was not put to the test.
bool is_kept(const ObjectiveResult& objective);
// Within its limit as it is; more requests may be lost than the figure leaves out.
bool is_within_limit(const ObjectiveResult& objective);
// Missed without a figure that says by how much: nothing was observed, or more requests were lost
// than the figure leaves out.
bool is_missed_without_figure(const ObjectiveResult& objective);
// Missed with all of its 95 % interval, where it has one.
bool is_clearly_missed(const ObjectiveResult& objective);

// Of an objective that was missed without a figure, or with one that is no less than this.
inline constexpr double kHopelessShare = 1'000;

// The share of `limit` that `value` uses up, above 1 where it is missed; of an availability, of the
// requests that may be lost.
double share_of_limit(const scenarios::FigureValue& value, const scenarios::FigureValue& limit,
                      bool at_least);

struct Verdict {
  enum class Cause : std::uint8_t {
    NothingRan,  // no pod of any workload
    OutOfMemory,
    PodsFailed,        // for good: Jobs beyond their backoffLimit
    CrashLoopBackOff,  // at the end of the run
    PodsPending,       // at the end of the run, with no turn to come
    Overloaded,        // answers fewer requests than come, and no objective says how many may wait
    ObjectiveMissed,
    ObjectiveUndecided,
    PolicyDenies,
  };
  struct Reason {
    Cause cause = Cause::NothingRan;
    std::string workload;  // "" where it is about all of them
    std::string brief;     // for a cell of a table: "2 Pending"
    std::string text;      // one sentence, no full stop

    friend bool operator==(const Reason&, const Reason&) = default;
  };
  std::vector<Reason> reasons;  // by cause, then in the order of the workloads

  bool stands() const { return reasons.empty(); }
  bool has(Cause cause) const;
  // Some died, stayed Pending or ran out of memory.
  bool loses_pods() const;
  bool meets_objectives() const;  // all of them, with their intervals
  // Something did go wrong: any reason but that an interval reaches over a limit.
  bool fails() const;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

inline constexpr std::size_t kCauses = 9;

// As documents spell it: "podsPending".
std::string_view cause_name(Verdict::Cause cause);
// What keeps them from standing, whichever: "leave pods Pending or miss an objective". "" where
// all stand.
std::string causes_text(std::span<const Verdict> verdicts);

// It stands when every pod that should run does, every Service without objectives answers what
// comes, every objective holds with its interval, no policy denies it and nothing ran out of
// memory. Pods are judged by where they are at the end of the run: Jobs may queue and be done
// later, containers may crash and run again. No replication may leave one behind. Of notebooks, an
// objective about waiting or out-of-memory errors decides instead. `allow_pending`: pods that stay
// Pending do not count; dead ones still do.
Verdict judge(const VariantResult& variant, bool allow_pending);

// Whether every Job of a workload of Jobs was done before the run was over. One that was not may be
// done later and is no reason against what was simulated; beside what gets it done it is.
bool all_jobs_end(const WorkloadResult& workload);

// Jobs that were neither done nor failed for good when the run was over.
struct UnfinishedJobs {
  std::string workload;
  double jobs = 0;      // mean of the replications
  std::int64_t of = 0;  // all of the workload

  friend bool operator==(const UnfinishedJobs&, const UnfinishedJobs&) = default;
};

// Of each workload that has some, in the order of the workloads. Pods that stayed Pending with no
// turn to come are the verdict's.
std::vector<UnfinishedJobs> unfinished_jobs(const VariantResult& variant);

// Of the same workloads run in two ways: whether `a` gets all Jobs done that `b` gets done, and
// those of some workload that `b` does not.
bool gets_more_jobs_done(const std::vector<UnfinishedJobs>& a,
                         const std::vector<UnfinishedJobs>& b);

// "\"asr\" misses latencyP99: 812 ms against a limit of 500 ms".
std::string missed_text(const std::string& workload, const ObjectiveResult& objective);

}  // namespace slicewise::sim
