#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/sim/figure_text.hpp"

#include "../text/text_table.hpp"
#include "plan_words.hpp"
#include "result_figures.hpp"
#include "result_verdict.hpp"

namespace slicewise::reports {
namespace {

using sim::Plan;

// A month's price says nothing of how many jobs it pays.
std::string job_price_sentence(const Plan& plan) {
  const std::optional<Usd>& now = plan.today->figures.per_job;
  const std::optional<Usd>& then = plan.options.front().figures.per_job;
  if (!now || !then || *now == *then) return "";
  return fmt::format(" A job costs {} instead of {}.", money_text(*then), money_text(*now));
}

// Jobs that run once leave their nodes when they are done: nobody saves a month of these.
std::string work_price_sentence(const Plan& plan, std::string_view fails) {
  const std::optional<Usd>& now = plan.today->figures.per_job;
  const std::optional<Usd>& then = plan.options.front().figures.per_job;
  if (!now || !then || now->nano <= 0) return "";
  if (*now == *then) {
    return fmt::format("A job costs {}, as much as on the scenario's own pools{}.",
                       money_text(*then), fails);
  }
  const Usd less = *then < *now ? *now - *then : *then - *now;
  return fmt::format(
      "A job costs {} instead of {} on the scenario's own pools{} ({} {}); {} a month instead of "
      "{} "
      "only if the nodes are kept busy.",
      money_text(*then), money_text(*now), fails,
      percent_text(static_cast<double>(less.nano) / static_cast<double>(now->nano)),
      *then < *now ? "less" : "more", money_text(plan.options.front().figures.monthly),
      money_text(plan.today->figures.monthly));
}

// Work that gets less done than somewhere else, or is done later.
struct SlowerWork {
  std::string then;  // "trainer gets 36 epoch/h done"
  std::string was;
  bool is_rate = true;
};

std::vector<SlowerWork> slower_works(const sim::OptionFigures& then, const sim::OptionFigures& was,
                                     double share) {
  std::vector<SlowerWork> slower;
  for (const sim::WorkRate& is : then.work) {
    const auto before = std::ranges::find(was.work, is.workload, &sim::WorkRate::workload);
    if (before == was.work.end()) continue;
    if (is.per_hour <= share * before->per_hour) {
      slower.push_back(
          {fmt::format("{} gets {} {}/h done", is.workload, sim::short_text(is.per_hour),
                       is.unit.empty() ? "unit" : is.unit),
           sim::short_text(before->per_hour)});
    } else if (is.completion && before->completion &&
               to_seconds(*before->completion) <= share * to_seconds(*is.completion)) {
      slower.push_back({fmt::format("{} takes {}", is.workload, duration_text(*is.completion)),
                        duration_text(*before->completion), false});
    }
  }
  return slower;
}

}  // namespace

std::string slower_answers_sentence(const sim::OptionFigures& then, const sim::OptionFigures& was) {
  constexpr double kWorthNaming = 1.2;  // tails of requests differ by chance
  constexpr std::size_t kNamed = 3;
  struct Slower {
    double times = 0;
    std::string text;
  };
  std::vector<Slower> slower;
  for (const sim::AnswerTime& is : then.answers) {
    const auto before = std::ranges::find(was.answers, is.workload, &sim::AnswerTime::workload);
    if (before == was.answers.end() || before->p99.ns <= 0) continue;
    const double times = to_seconds(is.p99) / to_seconds(before->p99);
    if (times < kWorthNaming) continue;
    slower.push_back({times, fmt::format("{} in {} instead of {}", is.workload,
                                         duration_text(is.p99), duration_text(before->p99))});
  }
  if (slower.empty()) return "";
  std::ranges::stable_sort(slower, std::greater(), &Slower::times);
  std::string out;
  for (std::size_t i = 0; i < std::min(slower.size(), kNamed); ++i) add_name(out, slower[i].text);
  const std::string others =
      slower.size() > kNamed ? fmt::format(" and {} more", slower.size() - kNamed) : "";
  return fmt::format(
      " 99% of requests are answered later, {}{}: no objective says how soon they must.", out,
      others);
}

namespace {

// Work without an objective is in nobody's way, however slow it gets.
std::string slower_work_sentence(const Plan& plan) {
  constexpr double kWorthNaming = 0.95;
  std::string out = slower_answers_sentence(plan.options.front().figures, plan.today->figures);
  for (const SlowerWork& slower :
       slower_works(plan.options.front().figures, plan.today->figures, kWorthNaming)) {
    out += fmt::format(" {} instead of {}: no objective says how {} it must.", slower.then,
                       slower.was, slower.is_rate ? "many" : "soon");
  }
  return out;
}

}  // namespace

std::string for_more_work_sentence(const Plan& plan) {
  constexpr double kWorthNaming = 0.9;
  const sim::PlanOption& best = plan.options.front();
  for (std::size_t o = 1; o < plan.options.size(); ++o) {
    const sim::PlanOption& other = plan.options[o];
    if (other.figures.monthly != best.figures.monthly || other.goal != best.goal) break;
    if (other.figures.worst_ratio >= best.figures.worst_ratio) continue;
    const auto slower = slower_works(other.figures, best.figures, kWorthNaming);
    if (slower.empty()) continue;
    return fmt::format(
        "First of what costs the same as it gets more done: with #{} {} instead of {}, though that "
        "uses {} of its limits instead of {}.",
        o + 1, slower.front().then, slower.front().was, percent_text(other.figures.worst_ratio),
        percent_text(best.figures.worst_ratio));
  }
  return "";
}

std::string unfinished_sentence(const Plan& plan) {
  const std::vector<sim::UnfinishedJobs>& left = plan.options.front().figures.unfinished_jobs;
  if (left.empty()) return "";
  const std::string jobs = unfinished_by_workload(left) + " unfinished when the run was over";
  const auto done = std::ranges::find_if(plan.options, [&](const sim::PlanOption& option) {
    return sim::gets_more_jobs_done(option.figures.unfinished_jobs, left);
  });
  if (done == plan.options.end()) {
    return fmt::format(
        "#1 leaves {}, and no option that is shown gets more of them done: a longer duration "
        "shows when they are, an objective (slo: completionP95) asks for nodes that do it.",
        jobs);
  }
  const Usd more = done->figures.monthly - plan.options.front().figures.monthly;
  return fmt::format(
      "#1 leaves {}; #{} gets {} done, for {} a month more: an objective (slo: completionP95) asks "
      "for it, a longer duration shows when #1 has them done.",
      jobs, done - plan.options.begin() + 1,
      done->figures.unfinished_jobs.empty() ? "them" : "more of them", money_text(more));
}

std::string keep_sentence(const Plan& plan) {
  if (!plan.keep_as_is || !plan.today || plan.options.empty()) return "";
  const Usd now = plan.today->figures.monthly;
  const Usd then = plan.options.front().figures.monthly;
  const std::string beside =
      then > now
          ? fmt::format("#1 costs {} more", money_text(then - now))
          : std::string("#1 costs ") + (then < now ? "less" : "as much") + " and is no better";
  return fmt::format("Keep what you have: the scenario's own pools stand at {} a month, {}.",
                     money_text(now), beside);
}

std::string saving_sentence(const Plan& plan) {
  if (!plan.today || plan.options.empty() || plan.keep_as_is) return "";
  const Usd now = plan.today->figures.monthly;
  const Usd then = plan.options.front().figures.monthly;
  if (now.nano <= 0) return "";
  const sim::OptionFigures& today = plan.today->figures;
  const std::string causes = sim::causes_text({&today.verdict, 1});
  const std::string fails = causes.empty() ? "" : ", which " + causes;
  if (plan.goal == scenarios::PlanGoal::CostPerJob) return work_price_sentence(plan, fails);
  const double share = static_cast<double>((now - then).nano) / static_cast<double>(now.nano);
  if (then < now) {
    return fmt::format("Saves {} a month ({}) against the scenario's own pools{}.{}",
                       money_text(now - then), percent_text(share), fails,
                       job_price_sentence(plan) + slower_work_sentence(plan));
  }
  if (then > now) {
    return fmt::format("Costs {} a month more than the scenario's own pools{}.{}",
                       money_text(then - now), fails, job_price_sentence(plan));
  }
  return fmt::format("Costs as much as the scenario's own pools{}.{}", fails,
                     job_price_sentence(plan) + slower_work_sentence(plan));
}

}  // namespace slicewise::reports
