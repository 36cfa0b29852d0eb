#include "interleaving.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "slicewise/split_mix.hpp"

namespace slicewise::sim {
namespace {

constexpr std::uint32_t kNoKind = UINT32_MAX;
// What 1, 2, 3 and 4 jobs in a group cost each other beyond waiting for stages.
constexpr std::array<double, StageLaw::kMostInGroup> kCostOfGroup = {1, 1.33 / 1.015, 1.5 / 1.015,
                                                                     1.37 / 1.015};
constexpr std::size_t kHost = 0, kGpu = 1, kNetwork = 2;

// Seconds from one round of the pipeline to the next, members taking turns in this order. A stage
// waits for the one before it in its own job and for its turn at the resource.
double round_of(std::span<const Stages* const> order) {
  constexpr std::size_t kTurns = StageLaw::kMostInGroup;
  std::array<double, 2 * kTurns + 1> done{};
  const auto stage = [&](std::size_t turn, std::size_t which) {
    const std::size_t member = turn % kTurns;
    return member < order.size() ? order[member]->each[which] : 0.0;
  };
  for (std::size_t turn = 0; turn < 2 * kTurns; ++turn) {
    double& next = done[turn + 1];
    if ((turn + 1) % kTurns < order.size()) {
      next = std::max(next, done[turn] + stage(turn + 1, kNetwork));
    }
    if ((turn + 2) % kTurns < order.size()) {
      next = std::max(next, done[turn] + stage(turn + 2, kGpu));
    }
    if (turn > 0 && (turn + 3) % kTurns < order.size()) {
      next = std::max(next, done[turn - 1] + stage(turn + 3, kHost));
    }
    if (turn < kTurns) continue;
    const double round = next - done[turn - 3];
    const double before = done[turn] - done[turn - 4];
    if (round > 0 && std::abs(round - before) <= 1e-3 * std::max(round, before)) return round;
  }
  return done[2 * kTurns] - done[kTurns];
}

}  // namespace

StageLaw::StageLaw(const JobStream& jobs) : jobs_(jobs), known_(std::size_t{1} << 16U) {
  const scenarios::JobTrace& trace = jobs.trace();
  std::map<Stages, std::uint32_t> kinds;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    Stages stages;
    stages.iteration = to_seconds(trace.iteration[row]);
    stages.each = {to_seconds(trace.iteration_host[row]), to_seconds(trace.iteration_gpu[row]),
                   to_seconds(trace.iteration_network[row])};
    const auto [kind, is_new] =
        kinds.try_emplace(stages, static_cast<std::uint32_t>(stages_.size()));
    if (is_new) stages_.push_back(stages);
    kind_of_row_.push_back(kind->second);
  }
}

StageLaw::Kinds StageLaw::kinds_of(std::span<const JobNumber> group) const {
  Kinds kinds;
  kinds.fill(kNoKind);
  for (std::size_t at = 0; at < group.size(); ++at) {
    kinds[at] = kind_of_row_[jobs_.row(group[at])];
  }
  std::ranges::sort(kinds);
  return kinds;
}

double StageLaw::period(std::span<const JobNumber> group) {
  if (group.size() == 1) return of(group.front()).iteration;
  const Kinds kinds = kinds_of(group);
  std::uint64_t hash = 0;
  for (const std::uint32_t kind : kinds) hash = split_mix(hash ^ kind);
  Known& known = known_[hash >> 48U];
  if (known.kinds != kinds || known.period == 0) known = {kinds, best_order(kinds, group.size())};
  return known.period;
}

double StageLaw::best_order(const Kinds& group, std::size_t members) const {
  Kinds order = group;
  const std::span<std::uint32_t> used = std::span(order).first(members);
  double best = std::numeric_limits<double>::infinity();
  do {
    std::array<const Stages*, kMostInGroup> stages{};
    for (std::size_t at = 0; at < members; ++at) stages[at] = &stages_[used[at]];
    best = std::min(best, round_of(std::span(stages).first(members)));
  } while (std::next_permutation(used.begin(), used.end()));
  if (members == 2) {
    // One loads while the other computes and communicates.
    const auto& [a, b] = std::pair(stages_[group[0]].each, stages_[group[1]].each);
    best = std::min(best, std::max(a[kHost], b[kGpu] + b[kNetwork]) +
                              std::max(b[kHost], a[kGpu] + a[kNetwork]));
  }
  double round = best * kCostOfGroup[members - 1];
  for (const std::uint32_t kind : used) round = std::max(round, stages_[kind].iteration);
  return round;
}

double StageLaw::left_over(const Stages& guest, const Stages& owner) {
  std::array<double, 3> open = guest.each;
  const auto& [host, gpu, network] = owner.each;
  double iterations = 0;  // of the owner
  // Rounds of the owner that the stage needs; returns what is left of the last.
  const auto rounds = [&](double needed, double free_each) {
    if (needed <= 0) return 0.0;
    if (free_each <= 0) iterations = std::numeric_limits<double>::infinity();
    if (std::isinf(iterations)) return 0.0;
    iterations += std::floor(needed / free_each);
    return std::fmod(needed, free_each);
  };
  double rest = rounds(open[kHost], gpu + network);
  if (rest > 0) {
    ++iterations;
    open[kGpu] -= std::min({open[kGpu], network, gpu + network - rest});
  }
  rest = rounds(open[kGpu], host + network);
  if (rest > 0) {
    ++iterations;
    if (rest < host) open[kNetwork] -= std::min(open[kNetwork], host + gpu - rest);
  }
  rest = rounds(open[kNetwork], host + gpu);
  if (rest > host) ++iterations;
  return std::max(guest.iteration, iterations * owner.iteration);
}

bool MuriGroups::take(std::int64_t gpus) {
  for (int& free : free_) {
    if (free < gpus) continue;
    free -= static_cast<int>(gpus);
    return true;
  }
  // Whole nodes, and a part of one.
  std::vector<int> before = free_;
  for (std::size_t node = 0; node < free_.size() && gpus > 0; ++node) {
    if (free_[node] < nodes_[node] || free_[node] > gpus) continue;
    gpus -= free_[node];
    free_[node] = 0;
  }
  const auto rest = std::ranges::find_if(free_, [&](int free) { return free >= gpus; });
  if (gpus > 0 && rest != free_.end()) {
    *rest -= static_cast<int>(gpus);
    gpus = 0;
  }
  if (gpus > 0) free_ = std::move(before);
  return gpus == 0;
}

void MuriGroups::name_members(const std::vector<InterleavedJob>& jobs, const Group& group) {
  members_.clear();
  for (const std::uint32_t at : group) members_.push_back(jobs[at].job);
}

double MuriGroups::period(const std::vector<InterleavedJob>& jobs, const Group& group) {
  name_members(jobs, group);
  return law_.period(members_);
}

// The share of the time of all resources, of which a fourth is storage, that the group uses.
double MuriGroups::efficiency(const std::vector<InterleavedJob>& jobs, const Group& group) {
  double used = 0;
  for (const std::uint32_t at : group) {
    const Stages& stages = law_.of(jobs[at].job);
    used += std::accumulate(stages.each.begin(), stages.each.end(), 0.0);
  }
  return used / period(jobs, group);
}

// As many of each number of GPUs as there would be room for if all were in full groups.
void MuriGroups::choose(const std::vector<InterleavedJob>& jobs) {
  struct Room {
    std::size_t jobs = 0;
    std::size_t looked_at = 0;
    bool is_full = false;
  };
  std::map<std::int64_t, Room> room;  // by GPUs of a job
  free_ = nodes_;
  for (const std::uint32_t at : order_) {
    Room& alike = room[jobs[at].gpus];
    if (alike.looked_at++ < alike.jobs || alike.is_full) continue;
    alike.is_full = !take(jobs[at].gpus);
    if (!alike.is_full) alike.jobs += StageLaw::kMostInGroup;
  }
  is_chosen_.assign(jobs.size(), 0);
  for (const std::uint32_t at : order_) {
    Room& alike = room[jobs[at].gpus];
    if (alike.jobs == 0) continue;
    --alike.jobs;
    is_chosen_[at] = 1;
  }
}

// Groups whose members were all chosen again, then the others alone.
void MuriGroups::keep_groups(const std::vector<InterleavedJob>& jobs) {
  by_gpus_.clear();
  wanted_ = 0;
  const auto add = [&](Group group) {
    const std::int64_t gpus = jobs[group.front()].gpus;
    by_gpus_[gpus].push_back(std::move(group));
    wanted_ += gpus;
  };
  for (const std::vector<JobNumber>& before : kept_) {
    Group group;
    for (const JobNumber job : before) {
      const auto at = std::ranges::lower_bound(jobs, job, {}, &InterleavedJob::job) - jobs.begin();
      const auto found = static_cast<std::size_t>(at);
      if (found == jobs.size() || jobs[found].job != job || is_chosen_[found] == 0) break;
      group.push_back(static_cast<std::uint32_t>(found));
    }
    if (group.size() < before.size()) continue;
    for (const std::uint32_t at : group) is_chosen_[at] = 0;
    add(std::move(group));
  }
  for (const std::uint32_t at : order_) {
    if (is_chosen_[at] != 0) add({at});
  }
}

// As long as GPUs are left over, the least efficient first.
void MuriGroups::take_apart(const std::vector<InterleavedJob>& jobs) {
  struct Shared {
    double efficiency;
    std::vector<Group>* alike;
    std::size_t at;
  };
  if (wanted_ >= total_) return;
  std::vector<Shared> shared;
  for (auto& [gpus, groups] : by_gpus_) {
    for (std::size_t at = 0; at < groups.size(); ++at) {
      if (groups[at].size() > 1) shared.push_back({efficiency(jobs, groups[at]), &groups, at});
    }
  }
  std::ranges::stable_sort(shared, {}, &Shared::efficiency);
  for (const auto& [efficiency, alike, at] : shared) {
    if (wanted_ >= total_) return;
    const Group group = std::exchange((*alike)[at], {(*alike)[at].front()});
    for (std::size_t member = 1; member < group.size(); ++member) {
      alike->push_back({group[member]});
      wanted_ += jobs[group[member]].gpus;
    }
  }
}

void MuriGroups::pair_up(std::vector<Group>& groups, std::int64_t gpus,
                         const std::vector<InterleavedJob>& jobs) {
  constexpr int kMostCompared = 64;  // of different ones, so that many do not cost their square
  using Alike = std::vector<std::size_t>;  // groups, the first at the end
  std::map<StageLaw::Kinds, Alike> by_kinds;
  for (std::size_t left = groups.size(); left > 0; --left) {
    if (groups[left - 1].size() == StageLaw::kMostInGroup) continue;
    name_members(jobs, groups[left - 1]);
    by_kinds[law_.kinds_of(members_)].push_back(left - 1);
  }
  struct Pair {
    double efficiency;
    Alike* first;
    Alike* second;
  };
  std::vector<Pair> pairs;
  for (auto first = by_kinds.begin(); first != by_kinds.end(); ++first) {
    int compared = 0;
    for (auto second = first; second != by_kinds.end() && compared < kMostCompared; ++second) {
      ++compared;
      Group both = groups[first->second.front()];
      const Group& other = groups[second->second.front()];
      both.insert(both.end(), other.begin(), other.end());
      if (both.size() > StageLaw::kMostInGroup) continue;
      pairs.push_back({efficiency(jobs, both), &first->second, &second->second});
    }
  }
  std::ranges::stable_sort(pairs, std::greater(), &Pair::efficiency);
  const auto last_of = [](Alike& alike) {
    const std::size_t last = alike.back();
    alike.pop_back();
    return last;
  };
  for (const auto& [efficiency, first, second] : pairs) {
    const std::size_t least = first == second ? 2 : 1;
    while (wanted_ > total_ && first->size() >= least && !second->empty()) {
      Group& kept = groups[last_of(*first)];
      Group& joining = groups[last_of(*second)];
      kept.insert(kept.end(), joining.begin(), joining.end());
      joining.clear();
      wanted_ -= gpus;
    }
  }
  std::erase_if(groups, [](const Group& group) { return group.empty(); });
}

void MuriGroups::plan(std::vector<InterleavedJob>& jobs) {
  const auto gpu_time = [&](std::uint32_t at) {
    return jobs[at].served_s * static_cast<double>(jobs[at].gpus);
  };
  order_.resize(jobs.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, {}, gpu_time);
  choose(jobs);
  keep_groups(jobs);
  take_apart(jobs);
  for (std::size_t round = 0; round < StageLaw::kMostInGroup && wanted_ > total_; ++round) {
    for (auto& [gpus, groups] : by_gpus_) pair_up(groups, gpus, jobs);
  }
  std::vector<std::pair<double, Group>> planned;
  for (const auto& [gpus, groups] : by_gpus_) {
    for (const Group& group : groups) {
      double one_by_one = 0;
      double least = std::numeric_limits<double>::infinity();
      for (const std::uint32_t at : group) {
        one_by_one += law_.of(jobs[at].job).iteration;
        least = std::min(least, gpu_time(at));
      }
      if (period(jobs, group) <= one_by_one) {
        planned.emplace_back(least, group);
      } else {
        for (const std::uint32_t at : group) planned.emplace_back(gpu_time(at), Group{at});
      }
    }
  }
  std::ranges::stable_sort(planned, {}, &std::pair<double, Group>::first);
  free_ = nodes_;
  kept_.clear();
  for (InterleavedJob& job : jobs) job.pace = 0;
  for (const auto& [least, group] : planned) {
    if (!take(jobs[group.front()].gpus)) continue;
    const double each = period(jobs, group);
    for (const std::uint32_t at : group) jobs[at].pace = each / law_.of(jobs[at].job).iteration;
    if (group.size() > 1) kept_.push_back(members_);
  }
}

AntMan::AntMan(const JobStream& jobs, std::vector<int> nodes)
    : jobs_(jobs), law_(jobs), nodes_(std::move(nodes)) {
  for (const int of_node : nodes_) {
    first_gpu_.push_back(gpus_);
    gpus_ += static_cast<std::uint32_t>(of_node);
  }
}

std::uint32_t AntMan::Holders::free_from(std::uint32_t gpu, std::uint32_t most) const {
  const auto first = jobs_.begin() + std::min(gpu, size());
  const auto last = jobs_.begin() + std::min(gpu + most, size());
  return most - static_cast<std::uint32_t>(last - first - std::count(first, last, kNobody));
}

std::uint32_t AntMan::free_on(std::size_t node) const {
  return owner_.free_from(first_gpu_[node], static_cast<std::uint32_t>(nodes_[node]));
}

void AntMan::own(InterleavedJob& job, std::size_t node, std::int64_t most) {
  const std::uint32_t end = first_gpu_[node] + static_cast<std::uint32_t>(nodes_[node]);
  for (std::uint32_t gpu = first_gpu_[node]; gpu < end && most > 0; ++gpu) {
    if (owner_[gpu] != kNobody) continue;
    owner_.give(gpu, job.job);
    job.on.push_back(gpu);
    --most;
  }
}

// The first node that has room for so many, else the one with the most.
std::size_t AntMan::roomiest(std::int64_t gpus) const {
  std::vector<std::int64_t> room;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    room.push_back(std::min<std::int64_t>(free_on(node), gpus));
  }
  return static_cast<std::size_t>(std::ranges::max_element(room) - room.begin());
}

void AntMan::place_owner(InterleavedJob& job) {
  const auto missing = [&] { return job.gpus - static_cast<std::int64_t>(job.on.size()); };
  const int largest = *std::ranges::max_element(nodes_);
  if (job.gpus <= largest) {
    const std::size_t node =
        job.on.empty()
            ? roomiest(job.gpus)
            : static_cast<std::size_t>(std::ranges::upper_bound(first_gpu_, job.on.front()) -
                                       first_gpu_.begin() - 1);
    own(job, node, missing());
  }
  // More than a node has: whole nodes as they come free, then a part of one.
  for (std::size_t node = 0; job.gpus > largest && node < nodes_.size(); ++node) {
    const auto free = static_cast<std::int64_t>(free_on(node));
    const bool fits_rest = missing() < largest && free >= missing();
    if ((free == nodes_[node] && missing() >= free) || fits_rest) own(job, node, missing());
  }
  if (missing() == 0) whole_.insert(job.job);
}

void AntMan::place_guest(InterleavedJob& job) {
  if (guest_.free_from(0, gpus_) < job.gpus) return;
  // Those that nobody owns first.
  for (const bool owned : {false, true}) {
    const std::uint32_t end = owned ? owner_.size() : gpus_;
    for (std::uint32_t gpu = 0; gpu < end && std::ssize(job.on) < job.gpus; ++gpu) {
      if (guest_[gpu] != kNobody || (owner_[gpu] != kNobody) != owned) continue;
      guest_.give(gpu, job.job);
      job.on.push_back(gpu);
    }
  }
}

void AntMan::plan(std::vector<InterleavedJob>& jobs) {
  const auto is_owner = [this](const InterleavedJob& job) { return jobs_.priority(job.job) == 0; };
  for (InterleavedJob& job : jobs) {
    if (is_owner(job) && !whole_.contains(job.job)) place_owner(job);
  }
  for (InterleavedJob& job : jobs) {
    if (!is_owner(job) && job.on.empty()) place_guest(job);
  }
  for (InterleavedJob& job : jobs) {
    job.pace = 0;
    if (is_owner(job)) {
      if (whole_.contains(job.job)) job.pace = 1;
      continue;
    }
    if (job.on.empty()) continue;
    const Stages& own = law_.of(job.job);
    double each = own.iteration;
    for (const std::uint32_t gpu : job.on) {
      const JobNumber owner = owner_[gpu];
      if (owner == kNobody || !whole_.contains(owner)) continue;
      each = std::max(each, StageLaw::left_over(own, law_.of(owner)));
    }
    if (!std::isinf(each)) job.pace = each / own.iteration;
  }
}

std::int64_t AntMan::gpus_in_use() const {
  std::int64_t gpus = 0;
  for (std::uint32_t gpu = 0; gpu < std::max(owner_.size(), guest_.size()); ++gpu) {
    gpus += owner_[gpu] != kNobody || guest_[gpu] != kNobody ? 1 : 0;
  }
  return gpus;
}

void AntMan::ended(const InterleavedJob& job) {
  Holders& held = jobs_.priority(job.job) == 0 ? owner_ : guest_;
  for (const std::uint32_t gpu : job.on) held.give(gpu, kNobody);
  whole_.erase(job.job);
}

}  // namespace slicewise::sim
