#include "plan_screen.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/plan_record.hpp"

#include "../text/text_table.hpp"
#include "plan_chart.hpp"
#include "plan_path_part.hpp"
#include "rejected_groups.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"

namespace slicewise::reports {
namespace {

using sim::Plan;
using sim::PlannedObjective;
using sim::PlanOption;
using sim::PoolChoice;
using sim::RejectedChoice;

// Reasons for rejections that a short report shows.
constexpr std::size_t kRejectedShown = 8;

std::vector<std::string> pool_texts(const std::vector<PoolChoice>& pools) {
  std::vector<std::string> parts;
  parts.reserve(pools.size());
  for (const PoolChoice& choice : pools) {
    const std::size_t most = 8;  // a trace has dozens
    const std::string names = choice.workloads.size() > most
                                  ? fmt::format("{} workloads", choice.workloads.size())
                                  : fmt::format("{}", fmt::join(choice.workloads, ", "));
    parts.push_back(pools.size() > 1 ? fmt::format("{} ({})", sim::describe(choice), names)
                                     : sim::describe(choice));
  }
  return parts;
}

}  // namespace

std::string pools_text(const std::vector<PoolChoice>& pools) {
  return fmt::format("{}", fmt::join(pool_texts(pools), " + "));
}

namespace {

const PlannedObjective* worst_of(const sim::OptionFigures& figures) {
  const PlannedObjective* worst = nullptr;
  for (const PlannedObjective& objective : figures.objectives) {
    if (worst == nullptr || objective.ratio() > worst->ratio()) worst = &objective;
  }
  return worst;
}

std::string tightest_text(const sim::OptionFigures& figures, const TextStyle& style) {
  const PlannedObjective* worst = worst_of(figures);
  if (worst == nullptr) return std::string(signs(style).none);
  return fmt::format("{} {} {}", worst->workload, worst->name,
                     figure_text(worst->value, worst->ci95, style));
}

std::string limit_share(const sim::OptionFigures& figures, const TextStyle& style) {
  return figures.objectives.empty() ? std::string(signs(style).none)
                                    : percent_text(figures.worst_ratio);
}

std::string optional_money(const std::optional<Usd>& amount, const TextStyle& style) {
  return amount ? money_text(*amount) : std::string(signs(style).none);
}

std::string verdict_text(const sim::OptionFigures& figures, const TextStyle& style) {
  if (figures.stands()) return fmt::format("{} ok", signs(style).pass);
  return fmt::format("{} {}", signs(style).fail, figures.verdict.reasons.front().brief);
}

bool any_of(const Plan& plan, std::optional<Usd> sim::OptionFigures::*field) {
  return std::ranges::any_of(plan.options,
                             [&](const PlanOption& o) { return (o.figures.*field).has_value(); });
}

std::string factor_words(double factor) { return fmt::format("{:.3g}", factor); }

// Of several pools those that are others than the best option's.
std::string others_text(const PlanOption& then, const PlanOption& best) {
  std::vector<PoolChoice> others;
  for (const PoolChoice& pool : then.pools) {
    if (std::ranges::find(best.pools, pool) == best.pools.end()) others.push_back(pool);
  }
  const bool some_stay = !others.empty() && others.size() < then.pools.size();
  return some_stay ? fmt::format("{} in place of the pools of these", pools_text(others))
                   : pools_text(then.pools);
}

// What follows "Flips if INPUT".
std::string flip_words(const Plan& plan, const sim::Flip& flip) {
  const std::string then = flip.winner ? others_text(*flip.winner, plan.options.front())
                                       : std::string("none of these options");
  if (flip.factor < 1) {
    return fmt::format("falls to {} of it: then {} will do, {} a month.", factor_words(flip.factor),
                       then, money_text(flip.winner->figures.monthly));
  }
  if (!flip.misses) {
    return fmt::format("grows {} times: then {} is as cheap.", factor_words(flip.factor), then);
  }
  return fmt::format("grows {} times (holds at {}): then {}.", factor_words(flip.factor),
                     factor_words(flip.holds_at),
                     flip.winner ? then + " is best" : then + " stands");
}

// One for all inputs with which the same happens.
std::vector<std::string> flip_sentences(const Plan& plan) {
  std::vector<std::pair<std::string, std::vector<std::string>>> flips;
  for (const sim::Flip& flip : plan.flips) {
    const std::string words = flip_words(plan, flip);
    auto known = std::ranges::find(flips, words, [](const auto& f) { return f.first; });
    if (known == flips.end()) known = flips.insert(known, {words, {}});
    const bool is_price = !flip.misses && flip.factor > 1;
    known->second.push_back(is_price ? "the " + flip.input : flip.input);
  }
  std::vector<std::string> lines;
  for (const auto& [words, inputs] : flips) {
    const bool one = inputs.size() == 1;
    lines.push_back(
        fmt::format("Flips if {}{} {}", one ? "" : "one of ", fmt::join(inputs, ", "), words));
  }
  return lines;
}

// What another number of pods would do.
std::vector<std::string> other_pods_sentences(const Plan& plan) {
  std::vector<std::string> lines;
  for (const PlanOption& option : plan.other_pods) {
    lines.push_back(
        fmt::format("With another number of pods: {}, {} a month: --vary-pods plans so.",
                    pools_text(option.pools), money_text(option.figures.monthly)));
  }
  return lines;
}

std::string survives_sentence(const Plan& plan) {
  if (plan.survives.empty()) return "";
  return fmt::format(
      "Every objective holds after the loss of {} of any pool, too; its pods start anew on the "
      "nodes that are left.",
      plan.survives == "zone" ? "one of three zones" : "a node");
}

std::string kept_apart_sentence(const Plan& plan) {
  if (!plan.kept_apart) return "";
  const Usd saved = plan.options.front().figures.monthly - plan.kept_apart->figures.monthly;
  return fmt::format(
      "Would save {} a month: {}. It stood in every run, but pods that do not fit one GPU together "
      "may meet there and run out of memory: nothing keeps them apart.",
      money_text(saved), pools_text(plan.kept_apart->pools));
}

std::string saving_sentence(const Plan& plan) {
  if (!plan.today || plan.options.empty()) return "";
  const Usd now = plan.today->figures.monthly;
  const Usd then = plan.options.front().figures.monthly;
  if (now.nano <= 0) return "";
  const double share = static_cast<double>((now - then).nano) / static_cast<double>(now.nano);
  const sim::OptionFigures& today = plan.today->figures;
  const std::string fails = today.stands()                      ? ""
                            : today.verdict.loses_pods()        ? ", which lose pods"
                            : !today.verdict.meets_objectives() ? ", which miss an objective"
                                                                : ", which a policy denies";
  if (then < now) {
    return fmt::format("Saves {} a month ({}) against the scenario's own pools{}.",
                       money_text(now - then), percent_text(share), fails);
  }
  if (then > now) {
    return fmt::format("Costs {} a month more than the scenario's own pools{}.",
                       money_text(then - now), fails);
  }
  return fmt::format("Costs as much as the scenario's own pools{}.", fails);
}

// Of a trace: what it cost as it was run, and what it costs now.
std::string as_run_sentence(const Plan& plan) {
  if (!plan.as_run || plan.options.empty()) return "";
  const sim::RecordedBill& bill = *plan.as_run;
  return fmt::format(
      "As they were run, each alone on GPUs of {}{} paid for only while it held them ({:.4g} "
      "GPU-hours), the jobs cost {}; here they cost {}, idle GPUs included.",
      fmt::join(bill.instance_types, ", "), bill.assumed ? " (assumed)" : "", bill.gpu_hours,
      money_text(bill.total), money_text(plan.options.front().figures.total));
}

std::string headroom_sentence(const Plan& plan) {
  if (!plan.headroom) return "";
  if (!plan.headroom_fails) {
    return fmt::format("Headroom: every objective is met up to {} times the load.",
                       factor_words(*plan.headroom));
  }
  return fmt::format("Headroom: {} times the load; at {} times {} breaks.",
                     factor_words(*plan.headroom), factor_words(*plan.headroom_fails),
                     plan.headroom_binding.empty() ? "an objective" : plan.headroom_binding);
}

std::string types_text(const std::vector<PoolChoice>& pools) {
  std::vector<std::string> types;
  for (const PoolChoice& pool : pools) {
    if (std::ranges::find(types, pool.instance_type) == types.end()) {
      types.push_back(pool.instance_type);
    }
  }
  return fmt::format("{}", fmt::join(types, " + "));
}

std::string few_names(const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 3;
  if (names.size() <= kFew) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} workloads", names.size());
}

// "g5.xlarge if it is 62% or more, g6.xlarge (...) at 60%".
std::string sm_active_sentence(const Plan& plan) {
  if (!plan.sm_active || !plan.sm_active->turns_at) return "";
  const sim::SmActiveRange& range = *plan.sm_active;
  const std::string best = types_text(plan.options.front().pools);
  const std::string then = range.then ? types_text(range.then->pools) : "nothing that was tried";
  return fmt::format(
      "It hangs on smActive of {}, which is not given: {} if it is {} or more, {}{} at {}. "
      "Measure it (DCGM_FI_PROF_SM_ACTIVE), or measure on the target GPU.",
      few_names(range.workloads), best, percent_text(range.holds_from), then,
      range.then ? fmt::format(" ({})", pools_text(range.then->pools)) : "",
      percent_text(*range.turns_at));
}

std::string warning_sentence(const PlanOption& option) {
  const std::vector<std::string>& warned = option.figures.warned_by;
  if (warned.empty()) return "";
  return fmt::format("Warned by {}: `slicewise explain spec.policies`.", fmt::join(warned, ", "));
}

std::string isolation_sentence(const PlanOption& option) {
  const std::string risk = isolation_risk(option);
  return risk.empty() ? risk : fmt::format("Risk: {}: `slicewise explain sharing`.", risk);
}

// Of what was simulated and ran, what lost no pod and was nearest to its limits; nullptr: nothing.
const RejectedChoice* nearest_miss(const Plan& plan) {
  const auto key = [](const RejectedChoice& choice) {
    return std::tuple(choice.figures->verdict.loses_pods(), choice.figures->worst_ratio,
                      choice.figures->monthly);
  };
  const RejectedChoice* nearest = nullptr;
  for (const RejectedChoice& rejected : plan.rejected) {
    if (!rejected.figures || rejected.figures->running_max == 0) continue;
    if (nearest == nullptr || key(rejected) < key(*nearest)) nearest = &rejected;
  }
  return nearest;
}

std::string miss_sentence(const RejectedChoice& nearest, const TextStyle& style) {
  const sim::OptionFigures& figures = *nearest.figures;
  const PlannedObjective* worst = worst_of(figures);
  std::string out = fmt::format("Nearest: {} at {} a month: {}", sim::describe(nearest.choice),
                                money_text(figures.monthly), nearest.reason.text());
  if (figures.verdict.loses_pods() || worst == nullptr || worst->pass) return out + ".";
  if (worst->lost && worst->lost->share > worst->lost->most) {
    return out + fmt::format(": {} of its requests are lost, it leaves out {}.",
                             percent_text(worst->lost->share), percent_text(worst->lost->most));
  }
  return out + fmt::format(" with {}, the limit is {} ({} of it).", found_text(*worst, style),
                           figure_text(worst->limit, std::nullopt, style),
                           percent_text(worst->ratio()));
}

std::vector<std::string> nothing_stands(const Plan& plan, const TextStyle& style) {
  std::vector<std::string> lines{"Nothing that was tried runs all pods within their objectives."};
  if (const RejectedChoice* nearest = nearest_miss(plan)) {
    lines.push_back(miss_sentence(*nearest, style));
  }
  for (std::string sentence : plan.nearest) {
    if (sentence.empty()) continue;
    sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    lines.push_back(sentence + ".");
  }
  for (std::string& line : other_pods_sentences(plan)) lines.push_back(std::move(line));
  if (plan.today && plan.today->figures.stands()) {
    lines.push_back(
        fmt::format("The scenario's own pools do, for {} a month, outside of these limits.",
                    money_text(plan.today->figures.monthly)));
  }
  if (lines.size() == 1) {
    lines.emplace_back(
        "More pods, other --instances, a higher --max-nodes or looser objectives help.");
  }
  return lines;
}

// Why configurations were rejected: those that came nearest, or all.
ScreenPart rejected_part(const Plan& plan, Detail detail) {
  std::vector<RejectedGroup> groups = rejected_groups(plan, detail != Detail::Brief);
  ScreenPart part{.heading = "REJECTED", .folded = "Rejected"};
  if (detail == Detail::Comment) {
    part.table.columns = {{"REJECTED"}, {"BECAUSE"}};
    for (RejectedGroup& group : groups) part.table.rows.push_back({group.what, group.reason});
    return part;
  }
  std::size_t more = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (detail == Detail::Brief && g >= kRejectedShown) {
      more += groups[g].count;
    } else {
      part.sentences.push_back({groups[g].what + ": " + groups[g].reason});
    }
  }
  if (more > 0) {
    part.sentences.push_back(
        {fmt::format("and {} configuration{} more (-o wide)", more, more == 1 ? "" : "s")});
  }
  return part;
}

std::string plan_heading(const Plan& plan) {
  std::string out = plan.stamp.scenario;
  if (plan.stamp.variants > 1) {
    out +=
        fmt::format(", variant {} (of {}, see --variant)", plan.stamp.variant, plan.stamp.variants);
  }
  return out + fmt::format(": {} configurations by {}", plan.counts.configurations,
                           scenarios::goal_name(plan.goal));
}

// Pools of an option stand below each other, so that a long list of them hides no price.
Cells plan_cells(const Plan& plan, const TextStyle& style, Detail detail) {
  const bool requests = any_of(plan, &sim::OptionFigures::per_1k_in_slo);
  const bool jobs = any_of(plan, &sim::OptionFigures::per_job);
  const sim::Record& of_figures = sim::record_of<sim::OptionFigures>();
  Cells table{
      {{"CONFIGURATION", false, kNeverDropped}, {"#", true}, column_of(of_figures, "monthlyUsd")},
      {}};
  if (requests) table.columns.push_back(column_of(of_figures, "per1kRequestsInSloUsd"));
  if (jobs) table.columns.push_back(column_of(of_figures, "perJobUsd"));
  table.columns.push_back({"TIGHTEST OBJECTIVE", false, 3});
  table.columns.push_back(column_of(of_figures, "worstRatio"));
  table.columns.push_back(column_of(of_figures, "gpuBusyRatio"));
  table.columns.push_back({"VERDICT"});
  const auto add = [&](const std::string& rank, const std::string& name, const PlanOption& option) {
    const sim::OptionFigures& figures = option.figures;
    std::vector<Cell> row{name, rank, money_text(figures.monthly)};
    if (requests) row.push_back(optional_money(figures.per_1k_in_slo, style));
    if (jobs) row.push_back(optional_money(figures.per_job, style));
    row.push_back(tightest_text(figures, style));
    row.push_back(limit_share(figures, style));
    row.push_back(percent_text(figures.gpu_busy));
    constexpr double kTight = 0.95;
    const bool tight = figures.stands() && figures.worst_ratio > kTight;
    row.push_back(verdict_text(figures, style) + (tight ? ", tight" : "") +
                  (option.pareto ? ", Pareto" : ""));
    table.rows.push_back(std::move(row));
  };
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    const std::vector<PoolChoice>& pools = plan.options[o].pools;
    if (detail == Detail::Comment) {
      add(std::to_string(o + 1), pools_text(pools), plan.options[o]);
      continue;
    }
    const std::vector<std::string> lines = pool_texts(pools);
    add(std::to_string(o + 1), lines.front(), plan.options[o]);
    for (std::size_t line = 1; line < lines.size(); ++line) {
      std::vector<Cell> row(table.columns.size());
      row.front() = "+ " + lines[line];
      table.rows.push_back(std::move(row));
    }
  }
  if (plan.today) add(std::string(signs(style).none), "the scenario's own pools", *plan.today);
  return table;
}

std::string spot_sentence(const sim::PlannedSpot& spot) {
  return fmt::format(
      "RISK {}: EC2 takes a node back {:.3g} times in 1,000 hours ({}): {:.3g} a month of all its "
      "nodes, at most {} in 95 of 100 months{}",
      spot.pool, spot.risk.per_1000_hours, spot.risk.source, spot.a_month, spot.most,
      spot.risk.falls_back
          ? "; the ones in their place are bought as on-demand"
          : ". --purchase spot-fallback and on-demand show what avoiding it costs");
}

std::vector<std::string> plan_notes(const Plan& plan) {
  std::vector<std::string> lines;
  for (const sim::PlannedSpot& spot : plan.spot) lines.push_back(spot_sentence(spot));
  const sim::PlanCounts& counts = plan.counts;
  // Searches for headroom and replicas may need more than the ranking saves.
  const std::string saved =
      counts.simulations < counts.exhaustive
          ? fmt::format(
                "; simulating every configuration with every number of nodes would have "
                "taken {}",
                counts.exhaustive)
          : "";
  lines.push_back(fmt::format(
      "{} simulations found the ranking{}. {} cannot run, {} are ruled out by closed forms. All "
      "with one seed.",
      counts.simulations, saved, counts.refused, counts.bounded));
  if (plan.least_monthly && !plan.options.empty() &&
      plan.goal == scenarios::PlanGoal::MonthlyCost) {
    const double best = to_dollars(plan.options.front().figures.monthly);
    lines.push_back(fmt::format(
        "of what was tried no fleet costs less than {} a month, by closed forms: the answer is "
        "{:.0f}% above that",
        money_text(from_dollars(*plan.least_monthly)),
        100 * std::max(0.0, best / *plan.least_monthly - 1)));
  }
  if (!plan.options.empty()) {
    lines.push_back(fmt::format("{} inputs measured, {} from the catalogue, {} assumed",
                                plan.provenance.measured, plan.provenance.catalog,
                                plan.provenance.assumed));
  }
  if (plan.sm_active && !plan.sm_active->turns_at) {
    lines.push_back(fmt::format(
        "smActive of {} is not given; the answer is the same for any from {} up",
        few_names(plan.sm_active->workloads), percent_text(plan.sm_active->holds_from)));
  }
  lines.emplace_back(plan.goal == scenarios::PlanGoal::MonthlyCost
                         ? "workloads keep their number of pods but where an option says another; "
                           "--vary-pods N lets Services have N more or fewer"
                         : "workloads keep their number of pods");
  for (const Diagnostic& d : plan.notes) {
    lines.push_back(fmt::format("{}: {}", info(d.code).name, d.message));
  }
  return lines;
}

Screen plan_screen(const Plan& plan, const TextStyle& style, Detail detail) {
  Screen screen{plan.stamp.scenario,
                plan.interrupted ? "INTERRUPTED: the search was not finished" : "",
                plan_heading(plan)};
  const sim::VariantRooms rooms{"", plan.rooms, ""};
  std::vector<std::string> lines = sim::room_lines({&rooms, 1});
  for (std::string& line : lines) line = fmt::format("#1, {}", line);
  screen.parts.push_back({.sentences = sentences_of(lines)});
  screen.parts.push_back({.table = plan_cells(plan, style, detail)});
  if (plan.path) screen.parts.push_back(plan_path_part(*plan.path, style));
  if (detail != Detail::Comment) screen.parts.push_back({.drawing = plan_chart(plan, style)});
  screen.parts.push_back({.sentences = sentences_of(plan_answer(plan, style)), .is_answer = true});
  if (detail != Detail::Brief) {
    screen.parts.push_back({.table = replicas_cells(plan, style), .folded = "Pods per GPU"});
  }
  screen.parts.push_back(rejected_part(plan, detail));
  screen.parts.push_back(notes_part(plan_notes(plan)));
  std::vector<int> runs;
  for (const PlanOption& option : plan.options) runs.push_back(option.figures.replications);
  screen.origin = origin_line(plan.stamp, runs, false, style);
  return screen;
}

}  // namespace

Cells replicas_cells(const Plan& plan, const TextStyle& style) {
  const sim::Record& of_point = sim::record_of<sim::ReplicasPoint>();
  const sim::Record& of_figures = sim::record_of<sim::OptionFigures>();
  Cells table{{column_of(of_point, "replicas"),
               column_of(of_point, "nodes"),
               column_of(of_figures, "monthlyUsd"),
               column_of(of_figures, "worstRatio"),
               {"VERDICT"}},
              {}};
  for (std::size_t p = 0; p < plan.replicas.size(); ++p) {
    const sim::ReplicasPoint& point = plan.replicas[p];
    const std::string none(signs(style).none);
    const bool knee = plan.knee && *plan.knee == p;
    if (!point.figures) {
      table.rows.push_back({std::to_string(point.replicas), none, none, none, point.refused});
      continue;
    }
    table.rows.push_back({std::to_string(point.replicas), std::to_string(point.nodes),
                          money_text(point.figures->monthly), limit_share(*point.figures, style),
                          verdict_text(*point.figures, style) + (knee ? ", knee" : "")});
  }
  return table;
}

std::vector<std::string> plan_answer(const Plan& plan, const TextStyle& style) {
  if (plan.options.empty()) return nothing_stands(plan, style);
  std::vector<std::string> lines{
      fmt::format("Recommended: #1, {}.", pools_text(plan.options.front().pools))};
  const std::string& bounds = plan.options.front().figures.bound_by;
  for (std::string line :
       {bounds.empty() ? "" : fmt::format("Bound by: {}.", bounds), sm_active_sentence(plan),
        saving_sentence(plan), survives_sentence(plan), kept_apart_sentence(plan),
        as_run_sentence(plan), replicas_sentence(plan), headroom_sentence(plan),
        isolation_sentence(plan.options.front()), warning_sentence(plan.options.front())}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  for (std::string& line : other_pods_sentences(plan)) lines.push_back(std::move(line));
  for (std::string& line : flip_sentences(plan)) lines.push_back(std::move(line));
  return lines;
}

std::string replicas_sentence(const Plan& plan) {
  if (!plan.knee || plan.options.empty()) return "";
  const sim::ReplicasPoint& knee = plan.replicas[*plan.knee];
  const int chosen = plan.options.front().pools.front().replicas;
  const auto own = std::ranges::find(plan.replicas, chosen, &sim::ReplicasPoint::replicas);
  if (chosen == knee.replicas || own == plan.replicas.end() || !own->figures || !knee.figures) {
    return fmt::format("Pods per GPU: {} is where the cost stops falling; beyond it: {}.",
                       knee.replicas, plan.binding);
  }
  const sim::OptionFigures& at = *own->figures;
  const sim::OptionFigures& least = *knee.figures;
  if (at.monthly > least.monthly) {
    const bool by_cost = plan.goal == scenarios::PlanGoal::MonthlyCost;
    return fmt::format(
        "Pods per GPU: {} {}; {} would cost less, {} a month.", chosen,
        by_cost ? "of those that were tried" : "by " + std::string(scenarios::goal_name(plan.goal)),
        knee.replicas, money_text(least.monthly));
  }
  return fmt::format("Pods per GPU: {} costs what {} does{}.", chosen, knee.replicas,
                     at.worst_ratio < least.worst_ratio ? " and is further from its limits" : "");
}

std::string isolation_risk(const PlanOption& option) {
  const sim::Isolation isolation = sim::isolation_of(option.pools.front().strategy);
  std::vector<std::string_view> open;
  if (isolation.memory == sim::Isolation::Memory::None) open.emplace_back("GPU memory");
  if (isolation.fault == sim::Isolation::Fault::Shared) open.emplace_back("fatal faults");
  if (isolation.compute == sim::Isolation::Compute::None) open.emplace_back("GPU time");
  return open.empty() ? "" : fmt::format("pods on one GPU share {}", fmt::join(open, ", "));
}

std::string plan_table(const Plan& plan, const TextStyle& style, bool wide) {
  return screen_text(plan_screen(plan, style, wide ? Detail::Wide : Detail::Brief), style, wide);
}

std::string plan_markdown(const Plan& plan) {
  return screen_markdown(plan_screen(plan, kPlain, Detail::Comment));
}

}  // namespace slicewise::reports
