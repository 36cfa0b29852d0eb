#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/plan_record.hpp"

#include "../screens/plan_screen.hpp"
#include "../screens/plan_words.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {
namespace {

// Reasons of one kind that are named before the rest is only counted.
constexpr std::size_t kReasonsShown = 5;

// What a plan says of its options, in sentences.
class PlanExplainer {
 public:
  PlanExplainer(const sim::Plan& plan, const TextStyle& style) : plan_(plan), style_(style) {}

  std::string option(std::size_t index) const {
    std::string out = fmt::format("#{} of {}: {}\n", index + 1, plan_.options.size(), name(index));
    out += said(cost_sentence(index)) + objectives(index) + said(use_sentence(index)) +
           said(rank_sentence(index));
    for (const std::string& sentence : flip_sentences(index)) out += said(sentence);
    return out;
  }

  std::string whole() const {
    std::string out;
    if (plan_.options.empty()) {
      out += "No configuration that was tried stands.\n";
    } else {
      if (!plan_.placeholders.empty()) out += said(placeholder_sentence(plan_));
      out += said(keep_sentence(plan_)) +
             fmt::format("{} of {}: {}\n",
                         merit_words(plan_, plan_.keep_as_is ? "Best" : "Recommended"),
                         plan_.options.size(), name(0)) +
             said(cost_sentence(0)) + objectives(0);
      for (const std::string& sentence : flip_sentences(0)) out += said(sentence);
    }
    return out + rejections() +
           said(fmt::format(
               "slicewise explain PLAN#{0} says why an option is where it is, slicewise "
               "export -f PLAN --candidate {0} writes its files",
               plan_.options.size() > 1 ? 2 : 1));
  }

 private:
  std::string said(const std::string& sentence) const {
    return sentence.empty() ? "" : wrapped_text(sentence, style_.width, "  ", 4);
  }

  const sim::OptionFigures& figures(std::size_t index) const {
    return plan_.options[index].figures;
  }

  std::string name(std::size_t index) const {
    std::vector<std::string> pools;
    for (const sim::PoolChoice& pool : plan_.options[index].pools) pools.push_back(describe(pool));
    return fmt::format("{}", fmt::join(pools, " + "));
  }

  std::string cost_sentence(std::size_t index) const {
    const Usd monthly = figures(index).monthly;
    std::string out = fmt::format("{} a month", money_text(monthly));
    if (index == 0) return out;
    const Usd best = figures(0).monthly;
    if (best.nano <= 0 || monthly == best) return out + ", as much as #1";
    return out + fmt::format(", {} {} than #1 ({})",
                             money_text(monthly > best ? monthly - best : best - monthly),
                             monthly > best ? "more" : "less",
                             change_text(to_dollars(monthly) / to_dollars(best) - 1));
  }

  std::string objectives(std::size_t index) const {
    std::string out;
    for (const sim::PlannedObjective& planned : figures(index).objectives) {
      const sim::ObjectiveResult& o = planned.result;
      const sim::AmountUnit unit = unit_of_word(sim::unit_word(o.limit));
      const auto ci95 = o.ci95 ? std::optional(sim::in_its_unit(*o.ci95)) : std::nullopt;
      out += said(fmt::format(
          "{} {} {}: {} of {} {}, {} of the limit", standing_sign(sim::standing_of(o), style_),
          planned.workload, o.name, amount_text({sim::in_its_unit(o.value), unit}, ci95, style_),
          o.at_least ? "at least" : "at most", amount_text({sim::in_its_unit(o.limit), unit}),
          percent_text(o.ratio())));
    }
    return out;
  }

  std::string use_sentence(std::size_t index) const {
    return fmt::format("the GPUs are busy {} of the time; up to {} pods run at once",
                       percent_text(figures(index).gpu_busy),
                       count_text(static_cast<double>(figures(index).running_max)));
  }

  std::string rank_sentence(std::size_t index) const {
    const std::string_view goal = scenarios::goal_name(plan_.goal);
    if (index == 0) return fmt::format("it has the least {} of all that stand", goal);
    const bool is_free_work = !figures(index).work.empty();
    std::string out = fmt::format("it ranks behind #{} by {}", index, goal);
    if (plan_.options[index].goal == plan_.options[index - 1].goal) {
      out += fmt::format(
          ", of which both have as much, and then by {}{}the share of its limits that it uses",
          figures(index).unfinished_jobs.empty() ? "" : "the Jobs that it leaves unfinished, ",
          is_free_work ? "what gets done of work without an objective and " : "");
    }
    if (plan_.options[index].pareto) {
      return out + fmt::format("; no ranked option{} is both cheaper and further from its limits",
                               is_free_work ? " that gets as much done" : "");
    }
    for (std::size_t other = 0; other < plan_.options.size(); ++other) {
      if (other != index && figures(other).monthly <= figures(index).monthly &&
          figures(other).worst_ratio <= figures(index).worst_ratio) {
        return out + fmt::format("; #{} costs no more and is no nearer to its limits", other + 1);
      }
    }
    return out;
  }

  // Of the best option: all; of another: those that make it the best.
  std::vector<std::string> flip_sentences(std::size_t index) const {
    std::vector<std::string> sentences;
    for (const sim::Flip& flip : plan_.flips) {
      const bool mine = flip.winner && flip.winner->pools == plan_.options[index].pools;
      if (index > 0 && !mine) continue;
      sentences.push_back(fmt::format("{} {} is {} times what it is",
                                      index > 0 ? "it would be best if" : "another is best if",
                                      flip.input, decimal_text(flip.factor)));
    }
    const auto& range = plan_.sm_active;
    const bool mine = range && range->then && range->then->pools == plan_.options[index].pools;
    if (range && range->turns_at && (index == 0 || mine)) {
      sentences.push_back(fmt::format(
          "{} smActive of {} is {}", index > 0 ? "it would be best if" : "another is best if",
          fmt::join(range->workloads, ", "), percent_text(*range->turns_at)));
    }
    return sentences;
  }

  std::string rejections() const {
    std::map<std::string, std::size_t> reasons;
    if (plan_.rejected.empty()) return "";
    for (const sim::RejectedChoice& rejected : plan_.rejected) {
      ++reasons[rejected.code ? std::string(info(*rejected.code).name) : rejected.reason.text()];
    }
    std::vector<std::pair<std::size_t, std::string>> ordered;
    ordered.reserve(reasons.size());
    for (const auto& [reason, count] : reasons) ordered.emplace_back(count, reason);
    std::ranges::stable_sort(ordered,
                             [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string out = fmt::format("{} configurations were rejected:\n", plan_.rejected.size());
    for (std::size_t r = 0; r < std::min(ordered.size(), kReasonsShown); ++r) {
      out += said(fmt::format("{} x {}", ordered[r].first, ordered[r].second));
    }
    if (ordered.size() > kReasonsShown) {
      out += said(fmt::format("and {} reasons more", ordered.size() - kReasonsShown));
    }
    return out;
  }

  const sim::Plan& plan_;
  TextStyle style_;
};

}  // namespace

Expected<std::string> explain_step(const SourceText& source, std::size_t step,
                                   const TextStyle& style) {
  const Expected<sim::Plan> plan = read_plan(source);
  if (!plan) return tl::unexpected(plan.error());
  const std::size_t count = plan->path ? plan->path->steps.size() : 0;
  if (step == 0 || step > count) {
    return failure(Code::ValueRange, {source.name, 1, 1, 1},
                   fmt::format("the plan's path has {}, no step {}", counted(count, "step"), step),
                   "1 is the first; slicewise plan --from and --max-changes ask for a path");
  }
  std::string out = fmt::format("Step {} of {}\n", step, count);
  for (const std::string& sentence : step_sentences(*plan->path, step)) {
    out += wrapped_text(sentence, style.width, "  ", 4);
  }
  return printable(out, "\n");
}

Expected<std::string> explain_plan(const SourceText& source, std::optional<std::size_t> option,
                                   const TextStyle& style) {
  const Expected<sim::Plan> plan = read_plan(source);
  if (!plan) return tl::unexpected(plan.error());
  const std::size_t count = plan->options.size();
  if (option && (*option == 0 || *option > count)) {
    return failure(Code::ValueRange, {source.name, 1, 1, 1},
                   fmt::format("the plan has {} options, no option {}", count, *option),
                   "1 is the best");
  }
  const PlanExplainer explainer(*plan, style);
  return printable(option ? explainer.option(*option - 1) : explainer.whole(), "\n");
}

}  // namespace slicewise::reports
