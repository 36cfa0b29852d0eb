#include "quota_choice.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

using scenarios::FlavorSearch;
using scenarios::QuotaPreemption;

bool gives_way(QuotaPreemption policy, const AdmittedJob& job, int priority, TimePoint submitted) {
  switch (policy) {
    case QuotaPreemption::Never:
      return false;
    case QuotaPreemption::LowerPriority:
      return job.priority < priority;
    case QuotaPreemption::LowerOrNewerEqualPriority:
      return job.priority < priority || (job.priority == priority && submitted < job.submitted);
    case QuotaPreemption::Any:
      return true;
  }
  return false;
}

QuotaAmount* amount_in(QuotaAmounts& amounts, std::size_t cell) {
  return find_or_null(amounts, cell, &QuotaAmount::cell);
}

}  // namespace

bool QuotaChoice::is_preferred(const Rank& a, const Rank& b) {
  if (a.way == Way::None) return false;
  return a.way != b.way ? a.way > b.way : !a.borrows && b.borrows;
}

// Whether the next flavor is looked at.
bool QuotaChoice::goes_on(const Asking& who, const Rank& rank) const {
  if (rank.way <= Way::WaitsForOthers) return true;
  const scenarios::ClusterQueue& queue = world_.queues[who.queue].spec;
  const bool stops_others = rank.way != Way::Fits;
  return (stops_others && queue.when_can_preempt == FlavorSearch::TryNextFlavor) ||
         (rank.borrows && queue.when_can_borrow == FlavorSearch::TryNextFlavor);
}

QuotaChoice::Rank QuotaChoice::rank_of(const Asking& who, const QuotaAmount& wanted) {
  const std::size_t cell = wanted.cell;
  const std::int64_t count = wanted.count;
  if (count > book_.potential(who.queue, cell)) return {};
  const auto borrows = [&] {
    return book_.has_cohort(who.queue) && book_.borrows_with(who.queue, cell, count);
  };
  const bool borrows_now = borrows();
  if (count <= book_.available(who.queue, cell)) return {Way::Fits, borrows_now};
  const scenarios::ClusterQueue& queue = world_.queues[who.queue].spec;
  const bool may_stop_others = book_.limits(who.queue, cell).nominal >= count ||
                               (book_.has_cohort(who.queue) && !borrows_now) ||
                               queue.borrow_within_cohort != QuotaPreemption::Never;
  if (!may_stop_others) return {Way::None, borrows_now};
  const auto victims = victims_for(who, {wanted}, {cell});
  if (victims.empty()) return {Way::WaitsForOthers, borrows_now};
  for (const AdmittedJob* job : victims) book_.give(job->queue, job->held);
  const bool borrows_then = borrows();
  for (const AdmittedJob* job : victims) book_.take(job->queue, job->held);
  const bool of_its_own =
      std::ranges::any_of(victims, [&](const AdmittedJob* job) { return job->queue == who.queue; });
  return {of_its_own ? Way::Preempts : Way::Reclaims, borrows_then};
}

// For the last of its sets, beside what those before it take.
void QuotaChoice::choose(const Asking& who, const QuotaGroup& group, Decision& decision,
                         std::vector<std::size_t>& lacking) {
  Decision::Set& set = decision.sets.back();
  const QuotaGroup::Flavor* best = nullptr;
  Rank best_rank;
  std::vector<std::size_t> best_lacks;
  bool best_borrows = false;
  for (const QuotaGroup::Flavor& flavor : group.flavors) {
    Rank worst{Way::Fits, false};
    std::vector<std::size_t> lacks;
    bool borrows = false;
    for (QuotaAmount wanted : quota_of(flavor.each, set.pods)) {
      if (const QuotaAmount* taken = amount_in(decision.amounts, wanted.cell)) {
        wanted.count += taken->count;
      }
      const Rank rank = rank_of(who, wanted);
      borrows = borrows || rank.borrows;
      if (rank.way != Way::Fits) lacks.push_back(wanted.cell);
      if (rank.way == Way::None || is_preferred(worst, rank)) worst = rank;
      if (worst.way == Way::None) break;
    }
    const bool is_last = !goes_on(who, worst);
    if (!is_last && !is_preferred(worst, best_rank)) continue;
    best = &flavor;
    best_rank = worst;
    best_borrows = borrows;
    best_lacks = std::move(lacks);
    if (is_last) break;
  }
  if (best == nullptr) {
    decision.mode = Mode::NoFit;
    return;
  }
  if (best_rank.way != Way::Fits) decision.mode = std::min(decision.mode, Mode::Preempt);
  decision.borrows = decision.borrows || best_borrows;
  set.pools &= best->pools;
  set.each.insert(set.each.end(), best->each.begin(), best->each.end());
  for (const QuotaAmount& wanted : quota_of(best->each, set.pods)) {
    QuotaAmount* taken = amount_in(decision.amounts, wanted.cell);
    taken != nullptr ? static_cast<void>(taken->count += wanted.count)
                     : decision.amounts.push_back(wanted);
  }
  lacking.insert(lacking.end(), best_lacks.begin(), best_lacks.end());
}

QuotaChoice::Decision QuotaChoice::assign(const Asking& who, std::span<const PodSet> sets) {
  Decision decision;
  if (std::ranges::any_of(sets, [](const PodSet& set) { return !set.of->never.empty(); })) {
    return decision;
  }
  decision.mode = Mode::Fit;
  std::vector<std::size_t> lacking;
  for (const PodSet& set : sets) {
    decision.sets.push_back({set.pods, kAnyPool, {}});
    for (const QuotaGroup& group : set.of->groups) choose(who, group, decision, lacking);
  }
  if (decision.mode != Mode::Preempt) return decision;
  for (const AdmittedJob* job : victims_for(who, decision.amounts, lacking)) {
    decision.victims.push_back(job->job);
  }
  return decision;
}

QuotaChoice::Decision QuotaChoice::decide(std::span<const PodSet> sets, int priority,
                                          TimePoint submitted) {
  const Asking who{sets.front().of->queue, priority, submitted};
  Decision all = assign(who, sets);
  PodSet some = sets.front();
  if (sets.size() > 1 || some.of->least >= some.pods || !all.has_to_wait()) return all;
  std::optional<Decision> most;
  int too_many = some.pods;
  for (int enough = some.of->least; enough < too_many;) {
    some.pods = enough + (too_many - enough) / 2;
    Decision with_fewer = assign(who, {&some, 1});
    if (with_fewer.has_to_wait()) {
      too_many = some.pods;
    } else {
      enough = some.pods + 1;
      most = std::move(with_fewer);
    }
  }
  return most ? std::move(*most) : all;
}

bool QuotaChoice::fits(std::size_t queue, const QuotaAmounts& wanted, bool may_borrow) const {
  return std::ranges::all_of(wanted, [&](const QuotaAmount& one) {
    return (may_borrow || !book_.borrows_with(queue, one.cell, one.count)) &&
           one.count <= book_.available(queue, one.cell);
  });
}

bool QuotaChoice::is_within_nominal(std::size_t queue,
                                    const std::vector<std::size_t>& cells) const {
  return std::ranges::none_of(cells,
                              [&](std::size_t cell) { return book_.borrows_with(queue, cell, 0); });
}

// Those of other queues first.
std::vector<QuotaChoice::Candidate> QuotaChoice::candidates(const Asking& who,
                                                            const std::vector<std::size_t>& lacking,
                                                            bool is_within_own) const {
  const scenarios::ClusterQueue& queue = world_.queues[who.queue].spec;
  std::vector<Candidate> all;
  for (const AdmittedJob& job : admitted_) {
    const bool is_of_use = std::ranges::any_of(
        job.held, [&](const QuotaAmount& held) { return contains(lacking, held.cell); });
    const bool is_own = job.queue == who.queue;
    if (!is_of_use) continue;
    if (!is_own && (!book_.has_cohort(who.queue) || !book_.is_same_cohort(who.queue, job.queue) ||
                    is_within_nominal(job.queue, lacking))) {
      continue;
    }
    const QuotaPreemption policy = is_own ? queue.within_queue : queue.reclaim;
    if (!gives_way(policy, job, who.priority, who.submitted)) continue;
    const bool is_low = queue.borrow_within_cohort != QuotaPreemption::Never &&
                        job.priority < who.priority &&
                        job.priority <= queue.most_priority_preempted.value_or(job.priority);
    all.push_back({&job, is_own || is_within_own || is_low});
  }
  std::ranges::sort(all, {}, [&](const Candidate& candidate) {
    const AdmittedJob& job = *candidate.job;
    return std::tuple(job.queue == who.queue, job.priority, -job.admitted.ns, job.job);
  });
  return all;
}

std::vector<const AdmittedJob*> QuotaChoice::victims_for(const Asking& who,
                                                         const QuotaAmounts& wanted,
                                                         const std::vector<std::size_t>& lacking) {
  const scenarios::ClusterQueue& queue = world_.queues[who.queue].spec;
  const bool is_within_own = std::ranges::none_of(wanted, [&](const QuotaAmount& one) {
    return book_.borrows_with(who.queue, one.cell, one.count);
  });
  const std::vector<Candidate> all = candidates(who, lacking, is_within_own);
  const bool no_others =
      std::ranges::none_of(all, [&](const Candidate& c) { return c.job->queue != who.queue; });
  const bool is_forbidden = queue.borrow_within_cohort == QuotaPreemption::Never;
  const bool has_own_left = std::ranges::all_of(lacking, [&](std::size_t cell) {
    return book_.used(who.queue, cell) < book_.limits(who.queue, cell).nominal;
  });
  std::vector<bool> attempts = {true, false};  // whether it may borrow in the end
  if (no_others || (is_forbidden && !has_own_left)) {
    attempts = {true};
  } else if (is_forbidden && !is_within_own) {
    attempts = {false, true};
  }
  for (const bool may_borrow : attempts) {
    std::vector<const AdmittedJob*> gone;
    bool is_enough = false;
    for (const Candidate& candidate : all) {
      const AdmittedJob& job = *candidate.job;
      const bool is_own = job.queue == who.queue;
      if (!is_own && may_borrow && !candidate.while_borrowing) continue;
      if (!is_own && is_within_nominal(job.queue, lacking)) continue;
      book_.give(job.queue, job.held);
      gone.push_back(&job);
      is_enough = fits(who.queue, wanted, may_borrow);
      if (is_enough) break;
    }
    for (std::size_t back = gone.size(); is_enough && back-- > 1;) {
      const AdmittedJob& job = *gone[back - 1];
      book_.take(job.queue, job.held);
      if (fits(who.queue, wanted, may_borrow)) {
        gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(back - 1));
      } else {
        book_.give(job.queue, job.held);
      }
    }
    for (const AdmittedJob* job : gone) book_.take(job->queue, job->held);
    if (is_enough) return gone;
  }
  return {};
}

}  // namespace slicewise::sim
