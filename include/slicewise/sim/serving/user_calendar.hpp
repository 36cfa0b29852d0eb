#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/units.hpp"

// When people come to their notebooks, and what they run there.
namespace slicewise::sim {

// A stay of a user who asks for a notebook server.
struct Session {
  TimePoint start = kNever;
  Duration length;  // waiting included
  Bytes memory;     // that its process comes to hold, without its CUDA context

  friend auto operator<=>(const Session&, const Session&) = default;
};

// What a user runs next.
struct Cell {
  Duration pause;     // since the end of the cell before it, or since the kernel was ready
  Duration gpu_time;  // alone in the domain where it runs
};

// The cells of one session, in order.
class CellStream {
 public:
  CellStream(const scenarios::Notebooks& notebooks, RandomStream random)
      : notebooks_(&notebooks), random_(random) {}
  // `mean_gpu_time`: of a cell, alone in the domain where it runs.
  Cell next(Duration mean_gpu_time);

 private:
  const scenarios::Notebooks* notebooks_;
  RandomStream random_;
};

// The sessions that one user wants, in order of start. A working day (Monday to Friday, local time)
// has a Poisson number of them; each starts at a random one of the peaks, normally distributed
// around it and folded into the day, or anywhere between 08:00 and 20:00 without peaks. Nobody is
// logged in when the run starts. Who is still there when the next session was to start goes on with
// it afterwards: as many are simulated as were asked for.
//
// The numbers depend on the user alone: the same people want the same in every variant, and the
// n-th cell of a session is the same however fast the GPU was. Grows to the busiest day seen, then
// allocates no more.
class UserCalendar {
 public:
  // `starts_at`: of the run, since Monday 00:00 UTC. The scenario's figures must outlive this.
  UserCalendar(const scenarios::Notebooks& notebooks, Duration starts_at, std::uint64_t seed,
               std::uint32_t replication, std::uint32_t user);

  // start == kNever when none comes within ten years.
  const Session& next() const { return day_.back(); }
  CellStream cells_of_next() const;
  // The next session is over, or given up: the one after it starts at `from` where it was to start
  // before that. REQUIRES: next() is not kNever.
  void move_on(TimePoint from);

 private:
  void plan_day();
  Duration time_of_day();

  const scenarios::Notebooks* notebooks_;
  Duration local_start_;  // of the run, since Monday 00:00 local time
  std::uint64_t seed_;
  std::uint32_t replication_;
  std::uint32_t user_;
  RandomStream random_;
  std::int64_t first_day_;    // of the run: days since Monday, local time
  std::int64_t next_day_;     // not planned yet
  std::uint32_t taken_ = 0;   // sessions before next()
  std::vector<Session> day_;  // still to come on the last day planned, the latest first
};

}  // namespace slicewise::sim
