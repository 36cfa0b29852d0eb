#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "slicewise/models/execution_law.hpp"

// How much the batch processes of one domain slow each other down while the host has CPU to spare:
// the law of jobs that somebody wrote down and of jobs that were recorded.
namespace slicewise::sim {

// How they use the domain.
enum class Company : std::uint8_t { Turns, SerialTurns, Together, Slots };

// One of them.
struct CompanyMember {
  double duty = 1;      // D/(D + Z): the share of its time alone in which kernels run
  double turn_use = 0;  // part of a turn that it uses, models::TurnTaker; 0: not known
  bool serial = false;  // GPU phase and host phase take turns
  double held = 0;      // of its time alone, what a limit adds that waiting for others counts as
  models::DomainClient law;
  double slowdown = 1;  // by the others
};

struct CompanyState {
  Company company = Company::Turns;
  double duties = 0;    // sum
  double overhead = 0;  // c/q; 0 when nobody is switched to
};

// Extra GPU time per unit of work while two or more contexts take turns: c/q.
inline double overhead_of(const models::TimeSlice& slice) {
  return static_cast<double>(slice.switch_cost.ns) / static_cast<double>(slice.turn.ns);
}

// Keeps its working memory: allocates only when a domain has more members than any before it.
class CompanyLaw {
 public:
  // Sets the slowdown of each member, but for SerialTurns, which ClosedNetworkSolver solves.
  // `driver`: the turns of processes that meet where nothing was set up for it. `slots()`: running
  // vGPUs under equal share. REQUIRES: a member.
  template <class Member, class Slots>
  CompanyState find_slowdowns(const models::Sharing& sharing, const models::TimeSlice& driver,
                              std::span<Member> members, Slots slots) {
    CompanyState state;
    for (const CompanyMember& member : members) state.duties += member.duty;
    using VgpuPolicy = models::Vgpu::Policy;
    std::visit(
        models::Overloaded{
            [&](const models::Exclusive&) { take_turns(driver, members, state); },
            [&](const models::TimeSlicing& slicing) { take_turns(slicing.slice, members, state); },
            [&](const models::Mps&) { run_together(members, state); },
            [&](const models::Vgpu& vgpu) {
              if (vgpu.policy == VgpuPolicy::BestEffort) {
                return take_turns(vgpu.slice, members, state);
              }
              const int each = vgpu.policy == VgpuPolicy::FixedShare ? vgpu.per_gpu : slots();
              state.company = Company::Slots;
              state.overhead = each > 1 ? overhead_of(vgpu.slice) : 0;
              for (Member& member : members) {
                member.slowdown = slowdown_among(member, member.duty * each, state.overhead);
              }
            }},
        sharing);
    return state;
  }

 private:
  // Beside others whose shares of the GPU's time, its own included, add up to `duties`.
  static double slowdown_among(const CompanyMember& member, double duties, double overhead) {
    if (!member.serial) return models::overlapped_slowdown(member.duty, duties, overhead);
    const double waits = models::slowdown(member.duty, duties * (1 + overhead), 1);
    return std::max(1.0, waits - member.held);
  }

  // Where the use of turns is known of all.
  template <class Member>
  bool leave_turns_early(std::span<Member> members) {
    takers_.clear();
    for (const CompanyMember& member : members) {
      if (member.turn_use <= 0) return false;
      takers_.push_back({member.duty, member.turn_use});
    }
    return true;
  }

  template <class Member>
  void take_turns(const models::TimeSlice& slice, std::span<Member> members, CompanyState& state) {
    state.overhead = members.size() == 1 ? 0 : overhead_of(slice);
    if (std::ranges::all_of(members, &Member::serial)) {
      state.company = Company::SerialTurns;
      state.overhead = overhead_of(slice);  // the solver knows who is alone
      return;
    }
    state.company = Company::Turns;
    const bool early = leave_turns_early(members);
    const auto meets = [](const CompanyMember& member) { return member.serial || member.held > 0; };
    if (!early && std::ranges::any_of(members, meets)) {
      return meet_at_the_gpu(members, state.overhead);
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      Member& member = members[m];
      const bool like_the_last = m > 0 && members[m - 1].duty == member.duty &&
                                 members[m - 1].turn_use == member.turn_use &&
                                 members[m - 1].serial == member.serial;
      if (like_the_last) {
        member.slowdown = members[m - 1].slowdown;
        continue;
      }
      const double duties = early ? models::demand_in_turns(takers_, m) : state.duties;
      member.slowdown = slowdown_among(member, duties, state.overhead);
    }
  }

  // A unit of GPU work takes as many turns as members are at the GPU, each there for a share of its
  // time: of a serial one GPU phase and wait, of an overlapped one as long as its work lasts.
  template <class Member>
  void wait_for_turns(std::span<Member> members, double overhead) {
    constexpr int kRounds = 200;
    constexpr double kNear = 1e-12;
    at_gpu_.assign(members.size(), 0);
    double sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      double moved = 0;
      for (std::size_t m = 0; m < members.size(); ++m) {
        Member& member = members[m];
        const double phase = member.duty * (1 + overhead) * (1 + sum - at_gpu_[m]);
        const double host = member.serial ? 1 - member.duty - member.held : 0;
        member.slowdown = std::max(1.0, host + phase);
        const double before = std::exchange(at_gpu_[m], phase / member.slowdown);
        sum += at_gpu_[m] - before;
        moved = std::max(moved, std::abs(at_gpu_[m] - before));
      }
      if (moved < kNear) break;
    }
  }

  // Serial members beside overlapped ones, or overlapped ones of which a limit holds some:
  // overlapped ones have what the serial ones leave.
  template <class Member>
  void meet_at_the_gpu(std::span<Member> members, double overhead) {
    if (std::ranges::any_of(members, &Member::serial)) wait_for_turns(members, overhead);
    double left = 1;
    waiting_.clear();
    for (std::size_t m = 0; m < members.size(); ++m) {
      const CompanyMember& member = members[m];
      if (member.serial) left -= member.duty * (1 + overhead) / member.slowdown;
      if (!member.serial) waiting_.push_back(m);
    }
    // Whom his limit slows more than the others would without it has all that he may have.
    double duties = 0;
    for (const std::size_t m : waiting_) duties += free_duty(members[m]);
    const auto slowdown_of = [&](std::size_t m) {
      const double duty = free_duty(members[m]);
      return (1 - members[m].held) * models::overlapped_slowdown(duty, duties / left, overhead);
    };
    const auto is_content = [&](std::size_t m) {
      return members[m].held > 0 && slowdown_of(m) <= 1;
    };
    auto next = std::ranges::find_if(waiting_, is_content);
    while (next != waiting_.end()) {
      CompanyMember& member = members[*next];
      member.slowdown = 1;
      left -= member.duty * (1 + overhead);
      duties -= free_duty(member);
      waiting_.erase(next);
      next = std::ranges::find_if(waiting_, is_content);
    }
    for (const std::size_t m : waiting_) members[m].slowdown = slowdown_of(m);
  }

  // If no limit held it.
  static double free_duty(const CompanyMember& member) { return member.duty / (1 - member.held); }

  template <class Member>
  void run_together(std::span<Member> members, CompanyState& state) {
    state.company = Company::Together;
    laws_.clear();
    for (const CompanyMember& member : members) laws_.push_back(member.law);
    speeds_.resize(laws_.size());
    models::shared_speeds(laws_, speeds_);
    for (std::size_t m = 0; m < speeds_.size(); ++m) members[m].slowdown = 1 / speeds_[m];
    const auto is_held = [](const CompanyMember& member) { return member.held > 0; };
    if (std::ranges::any_of(members, is_held)) find_who_is_there(members);
  }

  // One that a limit holds is beside the others for a part of the time, the longer the slower.
  template <class Member>
  void find_who_is_there(std::span<Member> members) {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t m = 0; m < members.size(); ++m) {
        for (std::size_t other = 0; other < members.size(); ++other) {
          const CompanyMember& member = members[other];
          const double there = other == m ? 1 : std::min(1.0, (1 - member.held) * member.slowdown);
          models::DomainClient& law = laws_[other];
          law.compute = member.law.compute * there;
          law.bandwidth = member.law.bandwidth * there;
          if (law.pressure) law.pressure = *member.law.pressure * there;
        }
        models::shared_speeds(laws_, speeds_);
        members[m].slowdown = 1 / speeds_[m];
      }
    }
  }

  std::vector<models::DomainClient> laws_;
  std::vector<double> speeds_;
  std::vector<models::TurnTaker> takers_;
  std::vector<double> at_gpu_;
  std::vector<std::size_t> waiting_;  // overlapped ones
};

// Of the domain's time, switches to a member that keeps it busy for the share `busy`. A turn ends
// in a switch when somebody else waits: always once the GPU is full, else about as often as others
// want it. A strict slot always begins with one.
inline double switch_share(const CompanyState& state, double duty, double busy) {
  const double demand = state.duties * (1 + state.overhead);
  const double others = demand - duty * (1 + state.overhead);
  const double waiting = std::min(1.0, std::max(demand * demand, others));
  return busy * state.overhead * (state.company == Company::Slots ? 1 : waiting);
}

// Side by side: the share of a unit's time in which kernels of the member run. What neighbours cost
// makes kernels longer, not the rest of the unit.
inline double kernel_share(double alone, double host, double slowdown, double unit) {
  const double kernels = alone * slowdown - host;
  return std::min(1.0, kernels / unit);
}

}  // namespace slicewise::sim
