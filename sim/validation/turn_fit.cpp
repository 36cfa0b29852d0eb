#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/least_squares.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "neighbour_fit.hpp"
#include "profile_parts.hpp"

namespace slicewise::sim::profile_fit {
namespace {

// Log of how many times as much of its turn the first uses as the second.
struct Ratio {
  std::size_t first;
  std::size_t second;
  double log_ratio;
};

class TurnPairs {
 public:
  TurnPairs(const std::vector<Measurement>& pairs, const models::GpuModel& gpu,
            FittedProfiles& fitted)
      : fitted_(fitted), overhead_(overhead_on(gpu)) {
    for (const Measurement& m : pairs) {
      if (m.gpu == gpu.name) add(m, pairs);
    }
  }

  void add_figures() {
    if (ratios_.empty()) return;
    solve();
    for (std::size_t n = 0; n < jobs_.size(); ++n) {
      FittedProfile& fit = *jobs_[n];
      fit.profile.turn_use = use_[n];
      if (width_[n] == 0) {
        fit.figures.push_back({"turnUse", use_[n], std::nullopt, "uses most of them, has 1"});
        fit.profile.provenance["turnUse"] = "fitted in turns beside others, which use no more";
        continue;
      }
      fit.figures.push_back({"turnUse", use_[n], width_[n], "fitted"});
      fit.profile.uncertainty.push_back({"turnUse", width_[n], {}});
      fit.profile.provenance["turnUse"] = fmt::format(
          "fitted in turns beside others, of which the one that uses most has 1, 95 % within "
          "{:.2g}",
          width_[n]);
    }
    for (const Measurement* m : seen_) add_point(*m);
  }

 private:
  static double speed_of(const Measurement& m, const FittedProfile& fit) {
    return std::min(1.0, to_seconds(*fit.profile.solo_step) / to_seconds(m.time));
  }
  static double duty_of(const FittedProfile& fit) { return fit.profile.duty.value_or(1); }

  std::size_t number_of(FittedProfile* fit) {
    const auto found = std::ranges::find(jobs_, fit);
    const auto number = static_cast<std::size_t>(found - jobs_.begin());
    if (found == jobs_.end()) jobs_.push_back(fit);
    return number;
  }

  void add(const Measurement& m, const std::vector<Measurement>& pairs) {
    const auto other =
        std::ranges::find_if(pairs, [&](const Measurement& o) { return models::are_a_pair(m, o); });
    if (other == pairs.end()) {
      add_note(fitted_.notes, Code::InputMissing, m.where,
               fmt::format("{} took turns with {}, of which there is no row: nothing follows",
                           m.workload, m.beside),
               "give a row for each of the two");
      return;
    }
    FittedProfile& mine = *alone_of(fitted_, m);
    FittedProfile& theirs = *alone_of(fitted_, *other);
    seen_.push_back(&m);
    if (&mine == &theirs) return;  // equals say nothing of it
    const double log_ratio = portable_log(speed_of(m, mine) * duty_of(mine)) -
                             portable_log(speed_of(*other, theirs) * duty_of(theirs));
    ratios_.push_back({number_of(&mine), number_of(&theirs), log_ratio});
  }

  // Each in turn as its neighbours have it, until nothing moves.
  void solve() {
    constexpr int kMostSweeps = 10'000;
    constexpr double kNear = 1e-12;
    std::vector<double> logs(jobs_.size(), 0.0);
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      double moved = 0;
      for (std::size_t n = 0; n < logs.size(); ++n) {
        double sum = 0;
        int count = 0;
        for (const Ratio& ratio : ratios_) {
          if (ratio.first == n) sum += logs[ratio.second] + ratio.log_ratio;
          if (ratio.second == n) sum += logs[ratio.first] - ratio.log_ratio;
          count += ratio.first == n || ratio.second == n ? 1 : 0;
        }
        const double next = count > 0 ? sum / count : 0;
        moved = std::max(moved, std::abs(next - logs[n]));
        logs[n] = next;
      }
      if (moved < kNear) break;
    }
    const std::vector<std::size_t> group = groups();
    use_.assign(jobs_.size(), 1);
    width_.assign(jobs_.size(), 0);
    const auto [known, off] = known_of(logs);
    for (std::size_t n = 0; n < jobs_.size(); ++n) {
      std::size_t most = n;
      for (std::size_t other = 0; other < jobs_.size(); ++other) {
        if (group[other] == group[n] && logs[other] > logs[most]) most = other;
      }
      if (most == n) continue;
      use_[n] = portable_exp(logs[n] - logs[most]);
      std::vector<double> apart(jobs_.size(), 0.0);
      apart[n] = 1;
      apart[most] = -1;
      width_[n] = use_[n] * off * std::sqrt(known.variance(apart));
    }
  }

  // What the pairs say of the logarithms, and how far off each of them is, 95 %.
  std::pair<models::Determination, double> known_of(const std::vector<double>& logs) const {
    models::Design design{jobs_.size(), std::vector<double>(ratios_.size() * jobs_.size())};
    double squares = 0;
    for (std::size_t r = 0; r < ratios_.size(); ++r) {
      const Ratio& ratio = ratios_[r];
      design.values[r * design.columns + ratio.first] += 1;
      design.values[r * design.columns + ratio.second] -= 1;
      const double off = logs[ratio.first] - logs[ratio.second] - ratio.log_ratio;
      squares += off * off;
    }
    models::Determination known(design);
    const double spare = static_cast<double>(ratios_.size() - known.rank());
    const double noise = spare > 0 ? std::sqrt(squares / spare) : 0;
    // Each is of two speeds.
    const double least = std::sqrt(2.0) * kLeastNoise;
    const double quantile = noise > least ? student_t_975(spare) : kNormal95;
    return {std::move(known), quantile * std::max(noise, least)};
  }

  // By job, those that met, directly or over others: the number of the first of them.
  std::vector<std::size_t> groups() const {
    std::vector<std::size_t> group(jobs_.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    for (bool merged = true; merged;) {
      merged = false;
      for (const Ratio& ratio : ratios_) {
        const std::size_t least = std::min(group[ratio.first], group[ratio.second]);
        merged = merged || group[ratio.first] != group[ratio.second];
        group[ratio.first] = group[ratio.second] = least;
      }
    }
    return group;
  }

  void add_point(const Measurement& m) {
    FittedProfile& fit = *alone_of(fitted_, m);
    const auto other = std::ranges::find_if(
        seen_, [&](const Measurement* o) { return models::are_a_pair(m, *o); });
    const FittedProfile& theirs = *alone_of(fitted_, **other);
    const std::array<models::TurnTaker, 2> takers = {
        {{duty_of(fit), fit.profile.turn_use.value_or(1)},
         {duty_of(theirs), theirs.profile.turn_use.value_or(1)}}};
    const double slowdown =
        models::overlapped_slowdown(takers[0].duty, models::demand_in_turns(takers, 0), overhead_);
    fit.points.push_back({m, in_ms(m.time), in_ms(*fit.profile.solo_step) * slowdown, {}});
  }

  FittedProfiles& fitted_;
  double overhead_;
  std::vector<FittedProfile*> jobs_;
  std::vector<const Measurement*> seen_;
  std::vector<Ratio> ratios_;
  std::vector<double> use_;
  std::vector<double> width_;  // of 95 %; 0: it is the one that uses most
};

}  // namespace

void add_turn_uses(const std::vector<Measurement>& pairs, const models::Catalogue& catalogue,
                   FittedProfiles& fitted) {
  std::set<std::string> gpus;
  for (const Measurement& m : pairs) gpus.insert(m.gpu);
  for (const std::string& gpu : gpus) {
    TurnPairs(pairs, *catalogue.find_gpu(gpu), fitted).add_figures();
  }
}

}  // namespace slicewise::sim::profile_fit
