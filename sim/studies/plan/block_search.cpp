#include "block_search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../probe/probe.hpp"
#include "block_candidates.hpp"
#include "block_outcome.hpp"
#include "option_order.hpp"
#include "plan_sections.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// Probes of one round. Not the number of threads or ranks: what is asked must not depend on them.
constexpr std::size_t kRound = 24;
// ... where the first that stands ends the search, or is waited for.
constexpr std::size_t kShortRound = 4;
// Beside an answer nobody looks at what costs more than so many times as much.
constexpr double kMostTimesTheBest = 3;

// What is minimised is no less with so many nodes; 0: nothing is known.
double lower_bound(PlanGoal goal, const BlockCandidate& candidate, int nodes) {
  const double monthly = candidate.monthly_of(nodes);
  if (goal == PlanGoal::MonthlyCost) return monthly;
  if (goal != PlanGoal::CostPer1kInSlo || candidate.arrivals <= 0) return 0;
  // Chance may bring a tenth more requests than the mean.
  constexpr double kMoreArrivals = 1.1;
  return monthly / (kMoreArrivals * candidate.arrivals / 1000);
}

void give_up(BlockCandidate& too_dear, double monthly) {
  too_dear.done = too_dear.too_dear = true;
  too_dear.stopped =
      reason("it costs ${} a month or more: cheaper ones stand", fmt::format("{:.0f}", monthly));
}

bool is_same_with_more(const PlanAnswer& no) {
  return no.had_all_nodes && (no.partial || !no.figures->stands());
}

class BlockRun {
 public:
  BlockRun(const BlockSearch& search, std::size_t top, std::optional<double> cap, Depth depth,
           std::vector<BlockCandidate> candidates)
      : search_(search), top_(top), cap_(cap), depth_(depth), candidates_(std::move(candidates)) {}

  void run() {
    if (search_.glances != nullptr && depth_ == Depth::Explained) begin_with_the_likeliest();
    while (begin_round(round_size())) {
      screen();
      end_round();
    }
  }

  // false: nothing is left to ask.
  bool begin_round(std::size_t most) {
    round_ = next_round(most);
    return !round_.empty() && !search_.probes.interrupted();
  }

  // What the round asks before anything else, whatever the answers.
  std::vector<PlanProbe> asked_first() const {
    std::vector<PlanProbe> probes;
    probes.reserve(round_.size());
    for (const std::size_t c : round_) {
      const BlockCandidate& candidate = candidates_[c];
      const auto ahead = depth_ == Depth::Glance ? std::nullopt : nodes_ahead(candidate);
      const bool one = ahead || first_will_do();
      probes.push_back(probe_with(candidate, ahead.value_or(*next_nodes(candidate)),
                                  one ? 1 : search_.replications));
      probes.back().glance = !ahead && first_will_do();
    }
    return probes;
  }

  // Leaves in the round what has to be asked about in whole.
  void screen() {
    if (depth_ != Depth::Glance) round_ = with_hope(round_);
    if (first_will_do()) round_ = undecided(round_);
  }

  std::vector<PlanProbe> asked_in_whole() const {
    std::vector<PlanProbe> probes;
    probes.reserve(round_.size());
    for (const std::size_t c : round_) {
      const BlockCandidate& candidate = candidates_[c];
      probes.push_back(probe_with(candidate, *next_nodes(candidate), search_.replications));
    }
    return probes;
  }

  void end_round() {
    const std::vector<PlanProbe> probes = asked_in_whole();
    const std::vector<PlanAnswer> answers = search_.probes.ask(probes);
    for (std::size_t i = 0; i < round_.size(); ++i) {
      record(candidates_[round_[i]], probes[i], answers[i]);
    }
  }

  // Purchases that are mixed and nodes that come and go, once it is known what stands without.
  void go_on() {
    const auto run_also = [&](std::vector<BlockCandidate> more) {
      if (more.empty()) return;
      std::ranges::move(more, std::back_inserter(candidates_));
      run();
    };
    if (search_.space.survive == Outage::None) run_also(mixed_candidates(candidates_));
    std::vector<BlockCandidate> elastic = elastic_candidates(search_, candidates_);
    configurations_ = elastic.size();
    run_also(std::move(elastic));
  }

  void collect(BlockResult& result) {
    if (depth_ == Depth::Explained) complete_rejected(search_, candidates_);
    result.configurations += static_cast<std::int64_t>(configurations_);
    result.missed = missed_;
    sort_out(std::move(candidates_), search_.goal, top_, result);
  }

 private:
  // The cheapest that stands in the busiest minutes, with all of the scenario: whatever becomes of
  // it, the search goes on as ever, but knows a price.
  void begin_with_the_likeliest() {
    const BlockSearch there{*search_.busiest, search_.catalogue, search_.space,
                            *search_.glances, search_.goal,      1};
    BlockRun glance(there, 1, cap_, Depth::First, candidates_);
    glance.run();
    const BlockCandidate* likeliest = nullptr;
    for (const BlockCandidate& candidate : glance.candidates_) {
      if (!candidate.best) continue;
      if (likeliest == nullptr || is_better(*candidate.best, *likeliest->best)) {
        likeliest = &candidate;
      }
    }
    if (likeliest == nullptr || search_.glances->interrupted()) return;
    const PlanOption& option = *likeliest->best;
    say_pools(search_, "stands in the busiest minutes", option.pools, option.figures.monthly);
    const auto c = static_cast<std::size_t>(likeliest - glance.candidates_.data());
    const PlanProbe probe =
        probe_with(candidates_[c], option.pools.front().nodes, search_.replications);
    record(candidates_[c], probe, search_.probes.ask_one(probe));
  }

  // What a further option must not exceed to be among the best.
  double threshold() const {
    std::vector<double> goals;
    for (const BlockCandidate& candidate : candidates_) {
      if (candidate.best) goals.push_back(*candidate.best->goal);
    }
    std::ranges::sort(goals);
    double worst = std::numeric_limits<double>::infinity();
    if (!goals.empty() && goals.front() > 0) worst = kMostTimesTheBest * goals.front();
    if (goals.size() >= top_) worst = std::min(worst, goals[top_ - 1]);
    const bool money = search_.goal == PlanGoal::MonthlyCost;
    return money && cap_ ? std::min(worst, *cap_) : worst;
  }

  // No fewer of the same nodes stand with another way to serve: one of the ways will do.
  bool serves_otherwise(const BlockCandidate& candidate, int nodes) const {
    if (candidate.choice.serving.empty() || search_.goal != PlanGoal::MonthlyCost) return false;
    return std::ranges::any_of(candidates_, [&](const BlockCandidate& other) {
      return other.best && other.best->pools.front().nodes <= nodes && other.mixed_nodes == 0 &&
             same_nodes(other.choice, candidate.choice);
    });
  }

  std::optional<int> next_nodes(const BlockCandidate& candidate) const {
    if (candidate.done) return std::nullopt;
    if (!candidate.climbing) return candidate.nodes.next();
    const int nodes = candidate.best->pools.front().nodes + 1;
    return nodes <= candidate.most ? std::optional(nodes) : std::nullopt;
  }

  std::size_t round_size() const {
    const bool is_long = requests_of_a_simulation(search_) > kLongSimulation;
    return first_will_do() || is_long ? kShortRound : kRound;
  }

  std::vector<std::size_t> next_round(std::size_t round_size) {
    const double most = threshold();
    std::vector<std::pair<double, std::size_t>> waiting;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      BlockCandidate& candidate = candidates_[c];
      const auto nodes = next_nodes(candidate);
      if (!nodes) {
        candidate.done = true;
        continue;
      }
      const double least = lower_bound(search_.goal, candidate, *nodes);
      if (is_worse(least, most)) {
        give_up(candidate, candidate.monthly_of(*nodes));
        continue;
      }
      if (serves_otherwise(candidate, candidate.nodes.failed() + 1)) {
        candidate.done = true;
        candidate.stopped = {"not looked at: the same nodes stand with other batches"};
        continue;
      }
      waiting.emplace_back(least, c);
    }
    std::ranges::sort(waiting);
    if (waiting.size() > round_size) waiting.resize(round_size);
    std::vector<std::size_t> round;
    round.reserve(waiting.size());
    for (const auto& [least, c] : waiting) round.push_back(c);
    return round;
  }

  bool is_worse(double least, double threshold) const {
    return first_will_do() ? least >= threshold : least > threshold;
  }

  bool first_will_do() const { return depth_ == Depth::First || depth_ == Depth::Glance; }

  // It is not among the best though it stands, and with fewer nodes it does not: nobody asks
  // whether it does with other random numbers. Mixed purchases hang on what stands, whatever it
  // costs.
  bool is_too_dear(const BlockCandidate& candidate, int nodes, const OptionFigures& figures) const {
    return search_.goal == PlanGoal::MonthlyCost && search_.space.purchases.size() == 1 &&
           nodes == candidate.nodes.failed() + 1 &&
           is_worse(to_dollars(figures.monthly), threshold());
  }

  PlanProbe probe_with(const BlockCandidate& candidate, int nodes, int replications) const {
    PlanProbe probe = search_.about({candidate.with(nodes)});
    probe.replications = replications;
    return probe;
  }

  // The most nodes that are not too dear, where it is time to look whether any number will do.
  std::optional<int> nodes_ahead(const BlockCandidate& candidate) const {
    constexpr int kCloseSteps = 2;
    constexpr int kWorthALook = 3;
    const NodeSearch& nodes = candidate.nodes;
    if (candidate.looked_ahead || candidate.mixed_nodes > 0 || nodes.passed()) return std::nullopt;
    if (nodes.steps() < kCloseSteps) return std::nullopt;
    int ahead = candidate.most;
    while (ahead > nodes.failed() &&
           is_worse(lower_bound(search_.goal, candidate, ahead), threshold())) {
      --ahead;
    }
    return ahead - nodes.failed() >= kWorthALook ? std::optional(ahead) : std::nullopt;
  }

  // Of the round those that may stand with any number of nodes. What misses its limits for another
  // reason than too few of them, as an autoscaler that is too slow, is seen by one replication.
  std::vector<std::size_t> with_hope(std::vector<std::size_t> round) {
    std::vector<PlanProbe> probes;
    std::vector<std::size_t> of;
    for (const std::size_t c : round) {
      const auto ahead = nodes_ahead(candidates_[c]);
      if (!ahead) continue;
      candidates_[c].looked_ahead = true;
      probes.push_back(probe_with(candidates_[c], *ahead, 1));
      of.push_back(c);
    }
    const std::vector<PlanAnswer> answers = search_.probes.ask(probes);
    for (std::size_t p = 0; p < of.size(); ++p) {
      if (!answers[p].figures || !fails_clearly(*answers[p].figures)) continue;
      BlockCandidate& candidate = candidates_[of[p]];
      candidate.nodes.record(probes[p].pools.front().nodes, false);
      candidate.last = answers[p];
      note_missed(*answers[p].figures);
      std::erase(round, of[p]);
    }
    return round;
  }

  // Of the round those of which one replication does not say enough.
  std::vector<std::size_t> undecided(const std::vector<std::size_t>& round) {
    std::vector<PlanProbe> probes;
    probes.reserve(round.size());
    for (const std::size_t c : round) {
      probes.push_back(probe_with(candidates_[c], *next_nodes(candidates_[c]), 1));
      probes.back().glance = true;
    }
    const std::vector<PlanAnswer> answers = search_.probes.ask(probes);
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < round.size(); ++i) {
      const std::optional<OptionFigures>& figures = answers[i].figures;
      const bool tells = !figures || answers[i].partial || misses_enough(search_, *figures) ||
                         (depth_ == Depth::Glance && figures->stands());
      if (tells) {
        record(candidates_[round[i]], probes[i], answers[i]);
      } else {
        left.push_back(round[i]);
      }
    }
    return left;
  }

  void record(BlockCandidate& candidate, const PlanProbe& probe, const PlanAnswer& answer) {
    if (!answer.figures) {
      candidate.done = true;
      candidate.stopped = answer.refused.empty() ? Reason{"it was interrupted"} : answer.refused;
      return;
    }
    const OptionFigures& figures = *answer.figures;
    const bool whole = figures.replications >= search_.replications || !search_.input.empty() ||
                       depth_ == Depth::Glance;
    const auto& refuted = search_.refuted;
    bool stands =
        !answer.partial && whole && figures.stands() && !contains(refuted, probe.pools.front());
    if (stands && is_too_dear(candidate, candidate.tried(probe.pools.front()), figures)) {
      give_up(candidate, to_dollars(figures.monthly));
      return;
    }
    if (stands && depth_ == Depth::Explained && !leader_ && !said_first_) {
      said_first_ = true;
      say_pools(search_, "stands, to be confirmed", probe.pools, figures.monthly);
    }
    const bool is_doubted = depth_ != Depth::Glance;
    stands = stands && (!is_doubted || stands_again(search_, probe, figures));
    PlanOption option{probe.pools, figures, std::nullopt, false};
    std::optional<OptionFigures> fails_with_spares;
    if (stands) fails_with_spares = add_spares(probe, option);
    stands = stands && !fails_with_spares;
    const auto goal = goal_of(search_.goal, option.figures);
    const int nodes = candidate.tried(probe.pools.front());
    if (candidate.climbing) {
      if (!stands || !goal || *goal >= *candidate.best->goal) candidate.done = true;
    } else {
      candidate.nodes.record(is_same_with_more(answer) ? candidate.most : nodes,
                             stands && goal.has_value());
      if (!stands || !goal) {
        note_missed(figures);
        candidate.last = answer;
        candidate.has_spares = fails_with_spares.has_value();
        if (fails_with_spares) candidate.last->figures = std::move(fails_with_spares);
      }
    }
    if (!stands || !goal || candidate.done) return;
    if (*goal >= candidate.below) {
      candidate.stopped = {"nodes that stay cost no more"};
      return;
    }
    option.goal = goal;
    candidate.best = std::move(option);
    if (depth_ == Depth::Explained && (!leader_ || is_better(*candidate.best, *leader_))) {
      leader_ = candidate.best;
      say_pools(search_, "best so far", leader_->pools, leader_->figures.monthly);
    }
    const bool found = candidate.nodes.found().has_value();
    const bool by_use =
        search_.goal == PlanGoal::CostPer1kInSlo || search_.goal == PlanGoal::CostPerJob;
    candidate.climbing = found && by_use && candidate.mixed_nodes == 0;
  }

  // With the nodes that may be lost; what fails as long as they are there, or after the loss.
  std::optional<OptionFigures> add_spares(const PlanProbe& probe, PlanOption& option) {
    if (search_.space.survive == Outage::None) return std::nullopt;
    PlanProbe whole = probe;
    int& nodes = option.pools.front().nodes;
    nodes = with_spares(search_.space.survive, nodes);
    whole.pools = option.pools;
    PlanAnswer answer = search_.probes.ask_one(whole);
    if (!answer.figures) return option.figures;  // interrupted
    if (!stands(answer)) return std::move(answer.figures);
    option.figures = std::move(*answer.figures);
    return fails_after_outage(search_, whole, option.figures);
  }

  void note_missed(const OptionFigures& figures) {
    for (std::string& workload : missed_by(figures)) {
      if (!contains(missed_, workload)) {
        missed_.push_back(std::move(workload));
      }
    }
  }

  const BlockSearch& search_;
  std::size_t top_;
  std::optional<double> cap_;
  Depth depth_;
  std::vector<BlockCandidate> candidates_;
  std::vector<std::size_t> round_;  // of the candidates, that are asked about
  std::optional<PlanOption> leader_;
  bool said_first_ = false;  // before there was a leader
  std::vector<std::string> missed_;
  std::size_t configurations_ = 0;  // more than it was given
};

}  // namespace

void say_pools(const BlockSearch& search, std::string_view what, std::span<const PoolChoice> pools,
               Usd monthly) {
  constexpr std::size_t kMostNamed = 6;  // on a line of progress
  if (!search.so_far) return;
  std::vector<std::string> parts;
  int nodes = 0;
  for (const PoolChoice& pool : pools) {
    parts.push_back(describe(pool));
    nodes += pool.nodes;
  }
  const std::string fleet = parts.size() > kMostNamed
                                ? fmt::format("{} pools of {} nodes", parts.size(), nodes)
                                : fmt::format("{}", fmt::join(parts, " + "));
  search.so_far(fmt::format("{}: {}, {} a month", what, fleet, whole_dollars(to_dollars(monthly))));
}

BlockSearch search_within(const BlockSearch& search, const Scenario& base, const PlanSpace& space,
                          ProbeBatch* probes) {
  BlockSearch there{base,        search.catalogue,
                    space,       probes == nullptr ? search.probes : *probes,
                    search.goal, search.replications};
  there.so_far = search.so_far;
  there.input = search.input;
  there.factor = search.factor;
  there.split = search.split;
  there.pods = search.pods;
  there.refuted = search.refuted;
  return there;
}

namespace {

// Where the cheapest is sought, and nobody reads of others.
std::vector<BlockCandidate> candidates_of(const BlockSearch& search,
                                          const std::vector<std::string>& workloads,
                                          std::size_t top, Depth depth, BlockResult& result) {
  std::vector<BlockCandidate> candidates = block_candidates(search, workloads, result);
  const bool cheapest_alone = top == 1 && depth != Depth::Explained &&
                              search.goal == PlanGoal::MonthlyCost &&
                              search.space.purchases.size() == 1;
  if (cheapest_alone) leave_out_the_same_for_more(candidates);
  return candidates;
}

}  // namespace

BlockResult search_block(const BlockSearch& search, const std::vector<std::string>& workloads,
                         std::size_t top, std::optional<double> cap, Depth depth) {
  BlockResult result;
  BlockRun run(search, top, cap, depth, candidates_of(search, workloads, top, depth, result));
  run.run();
  run.go_on();
  run.collect(result);
  return result;
}

std::vector<BlockResult> search_blocks(std::span<const BlockQuestion> questions, Depth depth) {
  std::vector<BlockResult> results(questions.size());
  std::vector<BlockRun> runs;
  runs.reserve(questions.size());
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const auto& [search, workloads, cap] = questions[q];
    runs.emplace_back(search, 1, cap, depth,
                      candidates_of(search, workloads, 1, depth, results[q]));
  }
  if (questions.empty()) return results;
  ProbeBatch& probes = questions.front().search.probes;
  // Many blocks keep everybody busy with the likeliest of each.
  const std::size_t round_size = std::max<std::size_t>(1, kShortRound / questions.size());
  for (;;) {
    std::vector<PlanProbe> first;
    std::vector<PlanProbe> in_whole;
    std::vector<BlockRun*> open;
    for (BlockRun& run : runs) {
      if (!run.begin_round(round_size)) continue;
      open.push_back(&run);
      std::ranges::move(run.asked_first(), std::back_inserter(first));
    }
    if (open.empty()) break;
    probes.ask(first);  // which are known from then on
    for (BlockRun* run : open) {
      run->screen();
      std::ranges::move(run->asked_in_whole(), std::back_inserter(in_whole));
    }
    probes.ask(in_whole);
    for (BlockRun* run : open) run->end_round();
  }
  for (std::size_t q = 0; q < questions.size(); ++q) {
    runs[q].go_on();
    runs[q].collect(results[q]);
  }
  return results;
}

std::optional<double> least_monthly(const BlockSearch& search,
                                    const std::vector<std::string>& workloads) {
  BlockResult ignored;
  std::optional<double> least;
  for (const BlockCandidate& candidate : block_candidates(search, workloads, ignored)) {
    const auto nodes = candidate.nodes.next();
    if (!nodes) continue;
    // Nodes that are there for an hour cost as good as nothing.
    const double monthly = may_come_and_go(search, workloads) ? candidate.kept * candidate.monthly
                                                              : candidate.monthly_of(*nodes);
    least = std::min(least.value_or(monthly), monthly);
  }
  return least;
}

}  // namespace slicewise::sim
