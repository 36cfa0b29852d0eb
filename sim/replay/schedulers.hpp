#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay_state.hpp"

// In which order waiting jobs start: one class for each queue policy.
namespace slicewise::sim {

// Strict first come, first served: the queue is a stretch of the trace, so it needs no memory.
template <class State>
class Fifo {
 public:
  explicit Fifo(State& state) : state_(state) {}

  void add(JobNumber job) {
    if (waiting_ == 0) head_ = job;
    ++waiting_;
    head_may_fit_ = head_may_fit_ || waiting_ == 1;
  }
  // A job that was killed keeps its place: all that wait are younger.
  void add_again(JobNumber job) {
    again_.insert(std::ranges::upper_bound(again_, job), job);
    head_may_fit_ = true;
  }
  void freed(const RunningJob& /*ended*/) { head_may_fit_ = true; }

  void schedule(TimePoint now) {
    while (head_may_fit_ && !again_.empty()) {
      head_may_fit_ = state_.start(again_.front(), now);
      if (head_may_fit_) again_.erase(again_.begin());
    }
    while (head_may_fit_ && waiting_ > 0) {
      if (!state_.is_queued(head_)) {
        ++head_;
      } else if (state_.start(head_, now)) {
        ++head_;
        --waiting_;
      } else {
        head_may_fit_ = false;
      }
    }
  }
  std::int64_t waiting() const { return waiting_ + static_cast<std::int64_t>(again_.size()); }

 private:
  State& state_;
  std::vector<JobNumber> again_;  // in order
  JobNumber head_ = 0;
  std::int64_t waiting_ = 0;
  bool head_may_fit_ = true;  // nothing was given back since it was turned down
};

// First fit, by priority where jobs have one. Waiting jobs of the same priority and shape ask for
// the same, so when the oldest of them does not fit, none does: a pass looks at one job of each
// such kind, however many wait.
template <class State>
class Backfill {
 public:
  Backfill(State& state, const TraceShapes& shapes, bool by_priority)
      : state_(state), by_priority_(by_priority) {
    name_kinds(shapes);
  }

  void add(JobNumber job) {
    if (Kind& kind = kinds_[kind_of(job)]; kind.head == kNone) {
      arrived_.push_back(job);
    }
    enqueue(job);
  }
  void add_again(JobNumber job) { add(job); }
  void freed(const RunningJob& ended) {
    something_freed_ = true;
    count(ended.job, -1);
  }

  void schedule(TimePoint now) {
    if (something_freed_ || (by_priority_ && arrived_.size() > 1)) {
      something_freed_ = true;
      pass(now);
    } else {
      open_.clear();
      for (const JobNumber job : arrived_) open_.push_back(kind_of(job));
      start_open(now);
      if (something_freed_) pass(now);  // a preemption left room
    }
    arrived_.clear();
  }
  std::int64_t waiting() const { return waiting_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Waiting {
    JobNumber job = 0;
    std::uint32_t next = kNone;  // of the same kind, into line_
  };
  struct Kind {
    std::uint32_t head = kNone;  // into line_
    std::uint32_t tail = kNone;
    int priority = 0;
    std::int64_t gpu_milli = 0;
  };

  struct Running {
    std::int64_t jobs = 0;
    std::int64_t gpu_milli = 0;
  };

  std::uint32_t kind_of(JobNumber job) const { return kind_of_row_[state_.jobs.row(job)]; }

  void name_kinds(const TraceShapes& shapes) {
    const JobStream& jobs = state_.jobs;
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    kind_of_row_.resize(jobs.trace().size());
    for (JobNumber row = 0; row < kind_of_row_.size(); ++row) {
      const int priority = by_priority_ ? jobs.priority(row) : 0;
      const bool is_gang = jobs.rows_of(row).size() > 1;
      // A gang is a kind of its own.
      const std::uint64_t what =
          is_gang ? shapes.shapes.size() + jobs.rows_of(row).front() : shapes.of_row[row];
      const std::uint64_t key = (what << 32U) | static_cast<std::uint32_t>(priority);
      const auto [entry, is_new] =
          known.try_emplace(key, static_cast<std::uint32_t>(kinds_.size()));
      if (is_new) kinds_.push_back({kNone, kNone, priority, jobs.gpu_milli(row)});
      kind_of_row_[row] = entry->second;
    }
    open_.reserve(kinds_.size());
  }

  std::uint32_t place_for(JobNumber job) {
    if (free_ == kNone) {
      free_ = static_cast<std::uint32_t>(line_.size());
      line_.emplace_back();
    }
    const std::uint32_t place = std::exchange(free_, line_[free_].next);
    line_[place] = {job, kNone};
    return place;
  }

  void enqueue(JobNumber job) {
    Kind& kind = kinds_[kind_of(job)];
    ++waiting_;
    const std::uint32_t place = place_for(job);
    if (kind.head == kNone || job < line_[kind.head].job) {
      line_[place].next = kind.head;
      if (kind.head == kNone) kind.tail = place;
      kind.head = place;
      return;
    }
    // Only preempted jobs come back in front of others.
    std::uint32_t before = job > line_[kind.tail].job ? kind.tail : kind.head;
    for (std::uint32_t next = line_[before].next; next != kNone && line_[next].job < job;
         next = line_[before].next) {
      before = next;
    }
    line_[place].next = std::exchange(line_[before].next, place);
    if (line_[place].next == kNone) kind.tail = place;
  }

  void take_first(Kind& kind) {
    const std::uint32_t place = kind.head;
    kind.head = std::exchange(line_[place].next, free_);
    free_ = place;
    --waiting_;
  }

  bool try_start(Kind& kind, TimePoint now) {
    const JobNumber job = line_[kind.head].job;
    bool started = kind.gpu_milli <= state_.resources.free_milli() && state_.start(job, now);
    if (!started && by_priority_) started = preempt_for(job, now);
    if (!started) return false;
    count(job, 1);
    take_first(kind);
    return true;
  }

  // Over all kinds that wait.
  void pass(TimePoint now) {
    while (something_freed_) {
      something_freed_ = false;
      open_.clear();
      for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
        if (kinds_[kind].head != kNone) open_.push_back(kind);
      }
      start_open(now);
    }
  }

  // Highest priority first, then the oldest, of the kinds in `open_`.
  void start_open(TimePoint now) {
    const auto goes_after = [this](std::uint32_t a, std::uint32_t b) {
      if (kinds_[a].priority != kinds_[b].priority) return kinds_[a].priority < kinds_[b].priority;
      return line_[kinds_[a].head].job > line_[kinds_[b].head].job;
    };
    std::ranges::make_heap(open_, goes_after);
    while (!open_.empty()) {
      std::ranges::pop_heap(open_, goes_after);
      Kind& kind = kinds_[open_.back()];
      if (kind.head != kNone && try_start(kind, now) && kind.head != kNone) {
        std::ranges::push_heap(open_, goes_after);
      } else {
        open_.pop_back();
      }
    }
  }

  void count(JobNumber job, std::int64_t by) {
    if (!by_priority_) return;
    Running& running = running_[state_.jobs.priority(job)];
    running.jobs += by;
    running.gpu_milli += by * state_.jobs.gpu_milli(job);
  }

  // Whether enough GPUs are free or held by lower priorities.
  bool may_preempt(JobNumber job) const {
    std::int64_t milli = state_.resources.free_milli();
    std::int64_t jobs = 0;
    for (auto at = running_.begin(); at != running_.end() && at->first < state_.jobs.priority(job);
         ++at) {
      milli += at->second.gpu_milli;
      jobs += at->second.jobs;
    }
    return jobs > 0 && milli >= state_.jobs.gpu_milli(job);
  }

  // As kube-scheduler does: takes the place of jobs of lower priority, as few and as low as
  // possible, and only if that makes it fit. Of all of them, lowest priority and youngest first,
  // as many are stopped as it takes; then each that was in nobody's way goes on where it was.
  bool preempt_for(JobNumber job, TimePoint now) {
    const int priority = state_.jobs.priority(job);
    if (!may_preempt(job)) return false;
    state_.running.list(victims_);
    std::erase_if(victims_, [&](std::uint32_t slot) {
      return state_.jobs.priority(state_.running[slot].job) >= priority;
    });
    if (victims_.empty()) return false;
    std::ranges::sort(victims_, [this](std::uint32_t a, std::uint32_t b) {
      const RunningJob& left = state_.running[a];
      const RunningJob& right = state_.running[b];
      const int left_priority = state_.jobs.priority(left.job);
      const int right_priority = state_.jobs.priority(right.job);
      if (left_priority != right_priority) return left_priority < right_priority;
      return left.since != right.since ? left.since > right.since : left.job > right.job;
    });
    aside_.clear();
    std::optional<Holding> held;
    while (!held && aside_.size() < victims_.size()) {
      const RunningJob& victim = state_.running[victims_[aside_.size()]];
      aside_.push_back(state_.resources.set_aside(victim.job, victim.held));
      held = state_.resources.take(job);
    }
    for (std::size_t left = aside_.size(); left > 0; --left) {
      const std::uint32_t slot = victims_[left - 1];
      RunningJob& victim = state_.running[slot];
      if (const auto again = state_.resources.take_again(victim.job, aside_[left - 1])) {
        victim.held = *again;
        continue;
      }
      const RunningJob gone = state_.stop(slot, now);
      count(gone.job, -1);
      enqueue(gone.job);
      something_freed_ = true;
    }
    state_.resources.forget();
    if (held) state_.run({job, *held, now});
    return held.has_value();
  }

  State& state_;
  bool by_priority_;
  std::vector<Waiting> line_;   // of all kinds
  std::uint32_t free_ = kNone;  // places in it, one after the other
  std::vector<std::uint32_t> kind_of_row_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> open_;
  std::map<int, Running> running_;  // by priority
  std::vector<JobNumber> arrived_;
  std::vector<std::uint32_t> victims_;
  std::vector<std::size_t> aside_;  // by victim
  std::int64_t waiting_ = 0;
  bool something_freed_ = false;
};

// EASY backfilling: the oldest job has a reservation at the time when enough GPUs will be free by
// the estimates of those that run; a later job starts now if it ends before that, or takes only
// GPUs that the oldest will not need. Nobody's estimate knows of sharing. Source: Lifka, "The
// ANL/IBM SP scheduling system", JSSPP'95. On nodes the reservation counts GPUs of the whole
// cluster, not their places.
template <class State>
class Easy {
 public:
  Easy(State& state, const TraceShapes& shapes)
      : state_(state), shapes_(shapes), fits_nowhere_(shapes.shapes.size()) {}

  void add(JobNumber job) { queue_.push_back(waiting_job(job)); }
  void add_again(JobNumber job) {
    queue_.insert(std::ranges::upper_bound(queue_, job, {}, &Waiting::job), waiting_job(job));
    looked_at_ = 0;
  }
  void freed(const RunningJob& ended) {
    ends_.erase(estimated_end(ended));
    looked_at_ = 0;
    std::ranges::fill(fits_nowhere_, char{0});
  }

  void schedule(TimePoint now) {
    if (looked_at_ == 0) start_oldest(now);
    if (looked_at_ < queue_.size()) backfill(now);
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(queue_.size()); }

 private:
  using EstimatedEnd = std::pair<TimePoint, JobNumber>;

  // What a look at the queue needs of each job.
  struct Waiting {
    JobNumber job = 0;
    std::uint32_t shape = kNoShape;
    std::int64_t gpu_milli = 0;
    Duration estimate;
  };
  // Jobs of one shape ask for the same: when one does not fit, none does until something is freed.
  // Gangs have none, and a pool asks for GPUs alone.
  static constexpr std::uint32_t kNoShape = UINT32_MAX;

  Waiting waiting_job(JobNumber job) const {
    const bool has_shape = !shapes_.of_row.empty() && state_.jobs.rows_of(job).size() == 1;
    return {job, has_shape ? shapes_.of_row[state_.jobs.row(job)] : kNoShape,
            state_.jobs.gpu_milli(job), state_.jobs.estimate(job)};
  }

  void start_oldest(TimePoint now) {
    std::size_t started = 0;
    while (started < queue_.size() && start(queue_[started], now)) ++started;
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(started));
    if (queue_.empty()) return;
    looked_at_ = 1;
    reserve(now);
  }

  EstimatedEnd estimated_end(const RunningJob& job) const {
    return {job.since + state_.jobs.estimate(job.job), job.job};
  }

  bool may_fit(const Waiting& waiting) const {
    return waiting.shape == kNoShape || fits_nowhere_[waiting.shape] == 0;
  }

  bool start(const Waiting& waiting, TimePoint now) {
    if (!may_fit(waiting)) return false;
    if (state_.start(waiting.job, now)) {
      ends_.insert({now + waiting.estimate, waiting.job});
      return true;
    }
    if (waiting.shape != kNoShape) fits_nowhere_[waiting.shape] = 1;
    return false;
  }

  // When the oldest can start, and how much is then left over.
  void reserve(TimePoint now) {
    const std::int64_t wanted = queue_.front().gpu_milli;
    std::int64_t free = state_.resources.free_milli();
    reserved_at_ = now;
    // At least one end: on nodes enough GPUs may be free, but in the wrong places.
    bool any = false;
    for (const auto& [end, job] : ends_) {
      if (any && free >= wanted && end > reserved_at_) break;
      free += state_.jobs.gpu_milli(job);
      reserved_at_ = std::max(now, end);  // a job may outlast its estimate
      any = true;
    }
    spare_milli_ = free - wanted;
  }

  void backfill(TimePoint now) {
    std::size_t kept = looked_at_;
    std::int64_t free = state_.resources.free_milli();
    for (std::size_t at = looked_at_; at < queue_.size(); ++at) {
      const Waiting& waiting = queue_[at];
      const std::int64_t wanted = waiting.gpu_milli;
      const bool ends_before = now + waiting.estimate <= reserved_at_;
      if ((ends_before || wanted <= spare_milli_) && wanted <= free && start(waiting, now)) {
        if (!ends_before) spare_milli_ -= wanted;
        free = state_.resources.free_milli();
      } else {
        if (kept != at) queue_[kept] = waiting;
        ++kept;
      }
    }
    queue_.resize(kept);
    looked_at_ = kept;
  }

  State& state_;
  const TraceShapes& shapes_;
  std::vector<char> fits_nowhere_;  // by shape
  std::vector<Waiting> queue_;
  std::size_t looked_at_ = 0;  // jobs at the front that cannot start until something is given back
  TimePoint reserved_at_;
  std::int64_t spare_milli_ = 0;
  std::set<EstimatedEnd> ends_;  // of the jobs that run
};

// Least remaining time (SRTF) or remaining time x GPUs (SRSF) first. At each event all jobs are
// placed anew in that order, each where it fits, so that running jobs may move: no cost of
// preemption or migration, the ideal that schedulers are measured against.
template <class State>
class Shortest {
 public:
  static constexpr std::int64_t kEventsPerLook = 256;

  Shortest(State& state, bool by_service) : state_(state), by_service_(by_service) {
    for (const std::int32_t gpus : state.jobs.trace().gpus.values()) {
      any_without_gpu_ = any_without_gpu_ || gpus == 0;
    }
  }

  void add(JobNumber job) { arrived_.push_back({key(job, state_.remaining(job)), job}); }

  void freed(const RunningJob& ended) {
    std::erase_if(order_, [&](const Ran& ran) { return ran.rank.second == ended.job; });
    freed_ = true;
  }

  void schedule(TimePoint now) {
    if (waiting_.empty()) start_at_once(now);
    const bool is_new = freed_ || !arrived_.empty();
    waiting_.insert(arrived_.begin(), arrived_.end());
    if (is_new && !waiting_.empty()) replan(now);
    arrived_.clear();
    freed_ = false;
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }

 private:
  using Ranked = std::pair<Int128, JobNumber>;
  struct Ran {
    Ranked rank;
    std::uint32_t slot;
  };

  Int128 key(JobNumber job, Duration remaining) const {
    return by_service_ ? static_cast<Int128>(remaining.ns) * state_.jobs.gpu_milli(job)
                       : remaining.ns;
  }

  // While nobody waits, all that fit run, in whatever order.
  void start_at_once(TimePoint now) {
    std::erase_if(arrived_, [&](const Ranked& job) {
      const auto held = state_.resources.take(job.second);
      if (held) order_.push_back({job, state_.run({job.second, *held, now})});
      return held.has_value();
    });
  }

  void replan(TimePoint now) {
    release_all(now);
    auto next = waiting_.begin();
    std::size_t ran = 0;
    stopped_.clear();
    chosen_.clear();
    kept_.clear();
    while (next != waiting_.end() || ran < order_.size()) {
      const bool is_full = state_.resources.free_milli() == 0 && !any_without_gpu_;
      if (next == waiting_.end() || (ran < order_.size() && order_[ran].rank < *next)) {
        const bool goes_on = !is_full && take_again(order_[ran]);
        (goes_on ? kept_ : stopped_).push_back(order_[ran++]);
      } else if (is_full) {
        next = waiting_.end();
      } else {
        const auto held = state_.resources.take(next->second);
        if (held) chosen_.push_back({next->second, *held, now});
        next = held ? waiting_.erase(next) : std::next(next);
      }
    }
    std::swap(order_, kept_);
    for (const Ran& stopped : stopped_) {
      const RunningJob job = state_.stop(stopped.slot, now);
      waiting_.insert({key(job.job, state_.remaining(job.job)), job.job});
    }
    for (const RunningJob& job : chosen_) order_.push_back({{0, job.job}, state_.run(job)});
  }

  // All that run give their GPUs back, in order of what they have left. The order of the plan
  // before it is nearly that of this one.
  void release_all(TimePoint now) {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      Ran ran = order_[at];
      const RunningJob& job = state_.running[ran.slot];
      state_.resources.give_back(job.job, job.held);
      ran.rank.first = key(job.job, state_.running.end_of(ran.slot) - now);
      std::size_t to = at;
      for (; to > 0 && ran.rank < order_[to - 1].rank; --to) order_[to] = order_[to - 1];
      order_[to] = ran;
    }
  }

  bool take_again(const Ran& ran) {
    RunningJob& job = state_.running[ran.slot];
    const auto held = state_.resources.take(job.job);
    if (held) job.held = *held;
    return held.has_value();
  }

  State& state_;
  bool by_service_;
  bool any_without_gpu_ = false;
  std::set<Ranked> waiting_;
  std::vector<Ranked> arrived_;
  std::vector<Ran> order_;  // of those that run
  std::vector<Ran> kept_;
  std::vector<Ran> stopped_;
  std::vector<RunningJob> chosen_;
  bool freed_ = false;
};

}  // namespace slicewise::sim
