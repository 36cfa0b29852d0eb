#include "option_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace slicewise::sim {
namespace {

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
  const auto found = std::ranges::find(figures.work, workload, &WorkRate::workload);
  return found == figures.work.end() ? nullptr : &*found;
}

// Each workload where it comes furthest.
std::vector<WorkRate> most_done(std::span<const Ranked> options,
                                std::span<const std::size_t> places) {
  std::vector<WorkRate> most = options[places.front()].figures->work;
  for (WorkRate& best : most) {
    for (const std::size_t place : places) {
      const WorkRate* rate = rate_of(*options[place].figures, best.workload);
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
void sort_equals(std::span<const Ranked> options, std::span<std::size_t> places) {
  const std::vector<WorkRate> most = most_done(options, places);
  std::vector<std::pair<double, std::size_t>> left;
  left.reserve(places.size());
  for (const std::size_t place : places) {
    left.emplace_back(share_of(*options[place].figures, most), place);
  }
  for (std::size_t& place : places) {
    const double furthest = std::ranges::max_element(left)->first;
    auto next = left.end();
    for (auto it = left.begin(); it != left.end(); ++it) {
      if (it->first < (1 - kAsMuchDone) * furthest) continue;
      const auto by_distance = [&](const auto& each) {
        const Ranked& option = options[each.second];
        return std::pair(option.figures->worst_ratio, option.pools);
      };
      if (next == left.end() || by_distance(*it) < by_distance(*next)) next = it;
    }
    place = next->second;
    left.erase(next);
  }
}

}  // namespace

std::vector<std::size_t> places_by_rank(std::span<const Ranked> options) {
  std::vector<std::size_t> places(options.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto key = [&](std::size_t place) {
    const OptionFigures& figures = *options[place].figures;
    return std::tuple(options[place].goal, figures.monthly, figures.worst_ratio >= kCloseToLimits,
                      figures.unfinished_jobs.size());
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

Ranked ranked_by(const PlanOption& option) {
  return {option.goal.value_or(std::numeric_limits<double>::infinity()), &option.figures,
          option.pools.size()};
}

Ranked ranked_by(const BlockOption& option) { return {option.goal, &option.figures}; }

bool is_better(const BlockOption& a, const BlockOption& b) {
  const Ranked both[] = {ranked_by(b), ranked_by(a)};
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
