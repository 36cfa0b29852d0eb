#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay_state.hpp"

namespace slicewise::sim {

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

}  // namespace slicewise::sim
