#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result_record.hpp"

#include "plan_words.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {

using sim::Plan;
using sim::PlanOption;
using sim::RejectedChoice;

std::vector<std::string> otherwise_sentences(const Plan& plan) {
  std::vector<std::string> lines;
  for (const PlanOption& option : plan.other_pods) {
    lines.push_back(
        fmt::format("With another number of pods: {}, {} a month: --vary-pods plans so.",
                    pools_text(option.pools), money_text(option.figures.monthly)));
  }
  if (plan.unselected) {
    const PlanOption& option = plan.unselected->option;
    lines.push_back(fmt::format("Without the nodeSelectors of {}: {}, {} a month.",
                                fmt::join(plan.unselected->workloads, ", "),
                                pools_text(option.pools), money_text(option.figures.monthly)));
  }
  return lines;
}

namespace {

std::ptrdiff_t objectives_missed(const sim::OptionFigures& figures) {
  return std::ranges::count_if(figures.objectives, [](const auto& objective) {
    return sim::standing_of(objective.result) != sim::ObjectiveStanding::Holds;
  });
}

// Of what was simulated and ran: what loses no pod, then what misses the fewest objectives, of that
// what exceeds none of them by as much, then what costs least; nullptr: nothing ran.
const RejectedChoice* nearest_miss(const Plan& plan) {
  const auto key = [](const RejectedChoice& choice) {
    const sim::OptionFigures& figures = *choice.figures;
    return std::tuple(figures.verdict.loses_pods(), objectives_missed(figures), figures.worst_ratio,
                      figures.monthly);
  };
  const RejectedChoice* nearest = nullptr;
  for (const RejectedChoice& rejected : plan.rejected) {
    if (!rejected.figures || rejected.figures->running_max == 0) continue;
    if (nearest == nullptr || key(rejected) < key(*nearest)) nearest = &rejected;
  }
  return nearest;
}

// What is dearer and misses as much is no step in the right direction.
bool is_today_as_near(const Plan& plan, const sim::OptionFigures& nearest) {
  if (!plan.today || plan.today->figures.stands()) return false;
  constexpr double kAsFar = 1.02;  // by chance
  const sim::OptionFigures& today = plan.today->figures;
  return today.running_max > 0 && today.monthly <= nearest.monthly &&
         today.verdict.loses_pods() <= nearest.verdict.loses_pods() &&
         objectives_missed(today) <= objectives_missed(nearest) &&
         today.worst_ratio <= kAsFar * nearest.worst_ratio;
}

// More nodes do not make a pod faster that has a GPU to itself.
std::string pods_sentence(const RejectedChoice& nearest) {
  const bool is_alone = nearest.choice.strategy == sim::Strategy::Exclusive;
  return is_alone && nearest.figures->verdict.has(sim::Verdict::Cause::Overloaded)
             ? " Each of its pods has a GPU to itself there: more nodes of the type help only with "
               "more pods (replicas, --vary-pods)."
             : "";
}

std::string miss_sentence(const Plan& plan, const RejectedChoice& near, const TextStyle& style) {
  const bool is_today = is_today_as_near(plan, *near.figures);
  const sim::OptionFigures& figures = is_today ? plan.today->figures : *near.figures;
  const sim::PlannedObjective* tightest = figures.tightest();
  if (figures.verdict.has(sim::Verdict::Cause::Overloaded)) {
    const auto reason = std::ranges::find(figures.verdict.reasons, sim::Verdict::Cause::Overloaded,
                                          &sim::Verdict::Reason::cause);
    return fmt::format("Nearest: {} at {} a month: {}.{}",
                       is_today ? "the scenario's own pools" : sim::describe(near.choice),
                       money_text(figures.monthly), reason->text, pods_sentence(near));
  }
  std::string out =
      fmt::format("Nearest: {} at {} a month: {}",
                  is_today ? "the scenario's own pools" : sim::describe(near.choice),
                  money_text(figures.monthly),
                  is_today ? figures.verdict.reasons.front().text : near.reason.text());
  if (is_today) {
    return out + fmt::format("; {} at {} is no better.", sim::describe(near.choice),
                             money_text(near.figures->monthly));
  }
  if (figures.verdict.loses_pods() || tightest == nullptr || tightest->result.pass) {
    return out + ".";
  }
  const sim::ObjectiveResult& worst = tightest->result;
  if (worst.lost && worst.lost->share > worst.lost->most) {
    return out + fmt::format(": {} of its requests are lost, it leaves out {}.",
                             percent_text(worst.lost->share), percent_text(worst.lost->most));
  }
  if (found_nothing(worst)) return out + ": nothing was finished.";
  return out + fmt::format(" with {}, the limit is {} ({} of it).", found_text(worst, style),
                           figure_text(worst.limit, std::nullopt, style),
                           percent_text(worst.ratio()));
}

}  // namespace

std::vector<std::string> nothing_stands(const Plan& plan, const TextStyle& style) {
  if (plan.interrupted) {
    return {
        "No option was confirmed when the search was interrupted: what progress named had not "
        "been simulated as a whole."};
  }
  std::vector<sim::Verdict> verdicts;
  for (const RejectedChoice& rejected : plan.rejected) {
    if (rejected.figures) verdicts.push_back(rejected.figures->verdict);
  }
  const std::string causes = sim::causes_text(verdicts);
  const bool today_stands = plan.today && plan.today->figures.stands();
  std::vector<std::string> lines{fmt::format(
      "{} stands{}.", today_stands ? "Nothing new that was tried" : "Nothing that was tried",
      causes.empty() ? "" : ": configurations " + causes)};
  if (const RejectedChoice* nearest = nearest_miss(plan)) {
    lines.push_back(miss_sentence(plan, *nearest, style));
  }
  for (std::string sentence : plan.nearest) {
    if (sentence.empty()) continue;
    sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    lines.push_back(sentence + ".");
  }
  for (std::string& line : otherwise_sentences(plan)) lines.push_back(std::move(line));
  if (today_stands) {
    lines.push_back(
        fmt::format("The scenario's own pools do, for {} a month, outside of these limits.",
                    money_text(plan.today->figures.monthly)));
  }
  if (plan.path && !plan.path->steps.empty() && plan.path->end &&
      plan.path->end->figures.stands()) {
    lines.push_back(fmt::format(
        "So does what {} of them lead{} to, at {} a month (FROM WHERE YOU ARE): `slicewise export "
        "-f plan.json#step{} --to bundle` writes the files of it.",
        counted(plan.path->steps.size(), "step"), plan.path->steps.size() == 1 ? "s" : "",
        money_text(plan.path->end->figures.monthly), plan.path->steps.size()));
  }
  if (lines.size() == 1) {
    lines.emplace_back(
        "More pods, other --instances, a higher --max-nodes or looser objectives help.");
  }
  return lines;
}

}  // namespace slicewise::reports
