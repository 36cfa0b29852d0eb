#include "gpu_company.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace slicewise::sim {
namespace {

// As whole numbers where nobody is slowed down, so that a job alone ends when the trace says.
Duration work_in(Duration elapsed, double pace) {
  if (pace == 1) return elapsed;
  return {std::llround(static_cast<double>(elapsed.ns) / pace)};
}

// Rounded up, so that the work is done when the timer fires.
Duration time_for(Duration work, double pace) {
  constexpr double kBeyondTheClock = 4.6e18;  // the replay is too long then
  if (pace == 1) return work;
  const double ns = std::ceil(static_cast<double>(work.ns) * pace - 1e-3);
  return {static_cast<std::int64_t>(std::min(ns, kBeyondTheClock))};
}

}  // namespace

GpuCompany::GpuCompany(const JobStream& jobs, const JobUses& uses, std::span<const NodeShape> nodes)
    : jobs_(jobs),
      uses_(uses),
      tickets_(static_cast<std::uint32_t>(uses.sharing().tickets)),
      isolated_(uses.sharing().isolates()) {
  for (const NodeShape& node : nodes) {
    first_gpu_.push_back(static_cast<std::uint32_t>(gpus_.size()));
    Gpu gpu;
    gpu.pool = uses.sharing().pool_of(node.name);
    gpus_.insert(gpus_.end(), static_cast<std::size_t>(node.gpus), gpu);
  }
  members_.resize(gpus_.size() * tickets_);
  present_.resize(tickets_);
}

const GpuUse& GpuCompany::use_of(const Seat& seat) const {
  const std::uint32_t use = uses_.use_of(seat.row);
  const std::uint32_t pool = gpus_[seat.gpu].pool;
  return seat.whole_gpus > 0 ? uses_.with_whole(pool, use) : uses_.with_ticket(pool, use);
}

void GpuCompany::find_seats(std::uint32_t slot, const RunningJob& job,
                            const NodeResources& resources) {
  Running& running = running_[slot];
  running.has_seat = false;
  running.in_step = false;
  resources.visit_parts(job.job, job.held, [&](std::uint32_t row, const AllocatedPart& part) {
    if (part.gpus == 0) return;
    const auto first = static_cast<std::uint32_t>(std::countr_zero(part.gpus));
    const bool is_ticket = jobs_.trace().gpus[row] == 1;
    const Seat seat{first_gpu_[part.node] + first, row,
                    is_ticket ? 0 : static_cast<std::uint32_t>(std::popcount(part.gpus))};
    if (!running.has_seat) {
      running.has_seat = true;
      running.seat = seat;
      return;
    }
    if (!running.in_step) more_[slot].assign(1, running.seat);
    running.in_step = true;
    more_[slot].push_back(seat);
  });
}

// Beside those who are there and, of the same gang, the ranks before it.
bool GpuCompany::has_memory(std::span<const Seat> seats, std::size_t at) const {
  const Seat& seat = seats[at];
  const Gpu& gpu = gpus_[seat.gpu];
  Bytes needed = uses_.memory(gpu.pool, seat.row);
  if (seat.whole_gpus > 0) return needed <= uses_.whole_memory(gpu.pool);
  if (needed > uses_.ticket_memory(gpu.pool)) return false;
  if (isolated_) return true;
  for (const Seat& before : seats.first(at)) {
    if (before.gpu == seat.gpu) needed += uses_.memory(gpu.pool, before.row);
  }
  return gpu.memory + needed <= uses_.domain_memory(gpu.pool);
}

void GpuCompany::use_gpus(std::int64_t more) {
  gpus_in_use_ += more;
  most_gpus_ = std::max(most_gpus_, gpus_in_use_);
}

void GpuCompany::sit_down(std::uint32_t slot, const Seat& seat, TimePoint now) {
  if (seat.whole_gpus > 0) return use_gpus(seat.whole_gpus);
  Gpu& gpu = gpus_[seat.gpu];
  account(gpu, now);
  if (gpu.members == 0) use_gpus(1);
  members_[seat.gpu * tickets_ + gpu.members++] = {slot, uses_.use_of(seat.row), 1};
  gpu.memory += uses_.memory(gpu.pool, seat.row);
}

void GpuCompany::stand_up(std::uint32_t slot, const Seat& seat, Duration on_gpu, TimePoint now) {
  Gpu& gpu = gpus_[seat.gpu];
  if (seat.whole_gpus > 0) {
    const GpuUse& use = use_of(seat);
    const double gpu_ns = static_cast<double>(on_gpu.ns) * seat.whole_gpus;
    busy_ns_ += gpu_ns * use.member.duty;
    sm_ns_ += gpu_ns * use.sm_active;
    return use_gpus(-static_cast<std::int64_t>(seat.whole_gpus));
  }
  account(gpu, now);
  const std::span<Member> members = members_of(seat.gpu);
  *std::ranges::find(members, slot, &Member::slot) = members.back();
  if (--gpu.members == 0) use_gpus(-1);
  gpu.memory -= uses_.memory(gpu.pool, seat.row);
}

void GpuCompany::join(std::uint32_t slot, const RunningJob& job, Duration left,
                      const NodeResources& resources, RunningJobs& running) {
  if (slot >= running_.size()) {
    running_.resize(slot + 1);
    more_.resize(slot + 1);
  }
  Running& own = running_[slot];
  const TimePoint now = job.since;
  find_seats(slot, job, resources);
  own.begun_with = own.left = left;
  own.settled = now;
  own.pace = 0;
  own.whole = 1;
  own.killed = false;
  const std::span<const Seat> seats = seats_of(slot);
  const bool is_limited = uses_.may_run_out_of_memory();
  for (std::size_t at = 0; is_limited && at < seats.size(); ++at) {
    own.killed = own.killed || !has_memory(seats, at);
  }
  if (own.killed) return running.move_end(slot, now);
  for (const Seat& seat : seats) {
    sit_down(slot, seat, now);
    own.whole = std::max(&seat == seats.data() ? 0.0 : own.whole, use_of(seat).whole);
  }
  for (const Seat& seat : seats) {
    if (seat.whole_gpus == 0) members_changed(seat.gpu, now, running);
  }
  if (own.pace == 0) set_pace(slot, pace_of(slot), now, running);
}

GpuCompany::Stretch GpuCompany::leave(std::uint32_t slot, const RunningJob& job, TimePoint now,
                                      RunningJobs& running) {
  Running& own = running_[slot];
  const Duration on_gpu = now - job.since;
  if (own.killed) return {on_gpu, {}, own.whole, true};
  settle(own, now);
  const std::span<const Seat> seats = seats_of(slot);
  for (const Seat& seat : seats) stand_up(slot, seat, on_gpu, now);
  for (const Seat& seat : seats) {
    if (seat.whole_gpus == 0) members_changed(seat.gpu, now, running);
  }
  return {on_gpu, own.begun_with - own.left, own.whole, false};
}

void GpuCompany::account(Gpu& gpu, TimePoint now) {
  const auto elapsed = static_cast<double>((now - gpu.since).ns);
  gpu.since = now;
  busy_ns_ += gpu.busy * elapsed;
  sm_ns_ += gpu.sm * elapsed;
  switching_ns_ += gpu.switching * elapsed;
}

void GpuCompany::members_changed(std::uint32_t gpu, TimePoint now, RunningJobs& running) {
  find_paces(gpu);
  for (const Member& member : members_of(gpu)) {
    const bool in_step = running_[member.slot].in_step;
    set_pace(member.slot, in_step ? pace_of(member.slot) : member.pace, now, running);
  }
  find_rates(gpu);
}

// As far as the members of this GPU go.
void GpuCompany::find_paces(std::uint32_t number) {
  Gpu& gpu = gpus_[number];
  const std::span<Member> members = members_of(number);
  if (isolated_ || members.size() < 2) {
    for (Member& member : members) member.pace = uses_.with_ticket(gpu.pool, member.use).pace;
    return;
  }
  const std::span<CompanyMember> present(present_.data(), members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    present[m] = uses_.with_ticket(gpu.pool, members[m].use).member;
  }
  const PoolModel& pool = uses_.sharing().pools[gpu.pool];
  gpu.state =
      law_.find_slowdowns(pool.kinds.front().sharing, pool.driver_slice, present, [] { return 1; });
  for (std::size_t m = 0; m < members.size(); ++m) {
    members[m].pace = uses_.with_ticket(gpu.pool, members[m].use).pace * present[m].slowdown;
  }
}

// What the time of the GPU goes into from now on, at the paces that its members have.
void GpuCompany::find_rates(std::uint32_t number) {
  Gpu& gpu = gpus_[number];
  const std::span<const Member> members = members_of(number);
  const bool meet = !isolated_ && members.size() > 1;
  const double time_share = uses_.sharing().pools[gpu.pool].kinds.front().time_share;
  gpu.busy = gpu.sm = gpu.switching = 0;
  double quiet = 1;
  for (const Member& member : members) {
    const GpuUse& use = uses_.with_ticket(gpu.pool, member.use);
    // A gang that is about to start has no pace yet.
    const double pace = running_[member.slot].pace;
    const double slowdown = (pace > 0 ? pace : member.pace) / use.pace;
    const double duty = use.member.duty;
    const double busy = duty / slowdown;
    gpu.busy += busy * time_share;
    gpu.sm += use.sm_active / slowdown;
    if (!meet) continue;
    gpu.switching += switch_share(gpu.state, duty, busy);
    quiet *= 1 - kernel_share(1, 1 - duty, slowdown, slowdown);
  }
  if (!meet || gpu.state.company != Company::Together) return;
  gpu.busy = 1 - quiet;
  gpu.switching = 0;
}

// A job with several seats goes at the pace of the slowest of them.
double GpuCompany::pace_of(std::uint32_t slot) {
  double pace = 0;
  for (const Seat& seat : seats_of(slot)) {
    if (seat.whole_gpus > 0) {
      pace = std::max(pace, use_of(seat).pace);
      continue;
    }
    for (const Member& member : members_of(seat.gpu)) {
      if (member.slot == slot) pace = std::max(pace, member.pace);
    }
  }
  return pace > 0 ? pace : 1;
}

void GpuCompany::settle(Running& job, TimePoint now) {
  if (job.pace > 0) job.left -= work_in(now - job.settled, job.pace);
  job.left = std::max(job.left, Duration{});
  job.settled = now;
}

void GpuCompany::set_pace(std::uint32_t slot, double pace, TimePoint now, RunningJobs& running) {
  Running& job = running_[slot];
  if (job.pace == pace) return;
  settle(job, now);
  job.pace = pace;
  running.move_end(slot, now + time_for(job.left, pace));
  if (!job.in_step) return;
  for (const Seat& seat : more_[slot]) {
    if (seat.whole_gpus > 0) continue;
    account(gpus_[seat.gpu], now);
    find_rates(seat.gpu);
  }
}

}  // namespace slicewise::sim
