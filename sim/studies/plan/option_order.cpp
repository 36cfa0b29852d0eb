#include "option_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/judge.hpp"

namespace slicewise::sim {
namespace {

using Options = std::span<const PlanOption* const>;

// What differs by less is as much: a run of minutes counts few units of work.
constexpr double kAsMuchDone = 0.1;

// How far the work comes beside how far it might; 1: as far.
double share_of(const WorkRate& is, const WorkRate& might) {
  double share = might.per_hour > 0 ? is.per_hour / might.per_hour : 1;
  if (is.completion && might.completion && is.completion->ns > 0) {
    share = std::min(share, to_seconds(*might.completion) / to_seconds(*is.completion));
  }
  return share;
}

const WorkRate* rate_of(const OptionFigures& figures, const std::string& workload) {
  return find_or_null(figures.work, workload, &WorkRate::workload);
}

// Each workload where it comes furthest.
std::vector<WorkRate> most_done(Options options, std::span<const std::size_t> places) {
  std::vector<WorkRate> most = options[places.front()]->figures.work;
  for (WorkRate& best : most) {
    for (const std::size_t place : places) {
      const WorkRate* rate = rate_of(options[place]->figures, best.workload);
      if (rate == nullptr) continue;
      best.per_hour = std::max(best.per_hour, rate->per_hour);
      if (!rate->completion) continue;
      best.completion = std::min(best.completion.value_or(*rate->completion), *rate->completion);
    }
  }
  return most;
}

// The mean over the workloads.
double share_of(const OptionFigures& figures, const std::vector<WorkRate>& most) {
  if (most.empty()) return 1;
  double sum = 0;
  for (const WorkRate& might : most) {
    const WorkRate* rate = rate_of(figures, might.workload);
    if (rate != nullptr) sum += share_of(*rate, might);
  }
  return sum / static_cast<double>(most.size());
}

bool gets_as_much_done(const OptionFigures& a, const OptionFigures& b) {
  return std::ranges::all_of(b.work, [&](const WorkRate& rate) {
    const WorkRate* own = rate_of(a, rate.workload);
    return own != nullptr && share_of(*own, rate) >= 1 - kAsMuchDone;
  });
}

// Of options that cost the same.
void sort_equals(Options options, std::span<std::size_t> places) {
  const std::vector<WorkRate> most = most_done(options, places);
  std::vector<std::pair<double, std::size_t>> left;
  left.reserve(places.size());
  for (const std::size_t place : places) {
    left.emplace_back(share_of(options[place]->figures, most), place);
  }
  for (std::size_t& place : places) {
    const double furthest = std::ranges::max_element(left)->first;
    auto next = left.end();
    for (auto it = left.begin(); it != left.end(); ++it) {
      if (it->first < (1 - kAsMuchDone) * furthest) continue;
      const auto by_distance = [&](const auto& each) {
        const PlanOption& option = *options[each.second];
        return std::pair(option.figures.worst_ratio, option.pools.size());
      };
      if (next == left.end() || by_distance(*it) < by_distance(*next)) next = it;
    }
    place = next->second;
    left.erase(next);
  }
}

// Of the options, best first.
std::vector<std::size_t> places_by_rank(Options options) {
  std::vector<std::size_t> places(options.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto key = [&](std::size_t place) {
    const OptionFigures& figures = options[place]->figures;
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return std::tuple(options[place]->goal.value_or(kNone), figures.monthly,
                      figures.worst_ratio >= kCloseToLimits, figures.unfinished_jobs.size());
  };
  std::ranges::stable_sort(places, {}, key);
  for (std::size_t from = 0; from < places.size();) {
    std::size_t to = from + 1;
    while (to < places.size() && key(places[to]) == key(places[from])) ++to;
    sort_equals(options, std::span(places).subspan(from, to - from));
    from = to;
  }
  return places;
}

}  // namespace

void put_best_first(std::vector<PlanOption>& options) {
  std::vector<const PlanOption*> ranked;
  ranked.reserve(options.size());
  for (const PlanOption& option : options) ranked.push_back(&option);
  std::vector<PlanOption> sorted;
  sorted.reserve(options.size());
  for (const std::size_t place : places_by_rank(ranked)) {
    sorted.push_back(std::move(options[place]));
  }
  options = std::move(sorted);
}

void put_unfinished_last(PlanGoal goal, std::vector<PlanOption>& options) {
  if (goal != PlanGoal::CostPerJob) return;
  std::vector<std::vector<UnfinishedJobs>> left;
  left.reserve(options.size());
  for (const PlanOption& option : options) left.push_back(option.figures.unfinished_jobs);
  std::stable_partition(options.begin(), options.end(), [&](const PlanOption& option) {
    return std::ranges::none_of(left, [&](const auto& other) {
      return gets_more_jobs_done(other, option.figures.unfinished_jobs);
    });
  });
}

bool is_better(const PlanOption& a, const PlanOption& b) {
  const PlanOption* const both[] = {&b, &a};
  return places_by_rank(both).front() == 1;
}

void mark_pareto(std::vector<PlanOption>& options) {
  for (PlanOption& option : options) {
    option.pareto = std::ranges::none_of(options, [&](const PlanOption& other) {
      const OptionFigures& a = other.figures;
      const OptionFigures& b = option.figures;
      const bool no_worse =
          a.monthly <= b.monthly && a.worst_ratio <= b.worst_ratio && gets_as_much_done(a, b);
      return no_worse &&
             (a.monthly < b.monthly || a.worst_ratio < b.worst_ratio || !gets_as_much_done(b, a));
    });
  }
}

}  // namespace slicewise::sim
