#include "plan_words.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "result_figures.hpp"
#include "result_notes.hpp"

namespace slicewise::reports {

using sim::Plan;
using sim::PlanOption;
using sim::PoolChoice;

std::vector<std::string> pool_texts(const std::vector<PoolChoice>& pools) {
  constexpr std::size_t kMostNames = 5;  // a trace has dozens
  std::vector<std::string> parts;
  parts.reserve(pools.size());
  for (const PoolChoice& choice : pools) {
    parts.push_back(pools.size() > 1 ? fmt::format("{} ({})", sim::describe(choice),
                                                   sim::few_names(choice.workloads, kMostNames))
                                     : sim::describe(choice));
  }
  return parts;
}

std::string pools_text(const std::vector<PoolChoice>& pools) {
  return fmt::format("{}", fmt::join(pool_texts(pools), " + "));
}

std::string factor_words(double factor) { return fmt::format("{:.3g}", factor); }

namespace {

std::string survives_sentence(const Plan& plan) {
  if (plan.survives.empty()) return "";
  return fmt::format(
      "Every objective holds after the loss of {} of any pool, too; its pods start anew on the "
      "nodes that are left. What flips the answer was not looked for.",
      plan.survives == "zone" ? "one of three zones" : "a node");
}

// Of the first option, and what the first without costs more.
std::string kept_apart_sentence(const Plan& plan) {
  if (plan.options.empty()) return "";
  const auto kept_apart = [](const PlanOption& option) {
    std::vector<std::string> classes;
    for (const PoolChoice& pool : option.pools) {
      for (const sim::ApartClass& apart : pool.apart) {
        classes.push_back(fmt::format("{}", fmt::join(apart, " or ")));
      }
    }
    return classes;
  };
  const std::vector<std::string> apart = kept_apart(plan.options.front());
  if (apart.empty()) return "";
  std::string text = fmt::format(
      "#1 has one pod of {} a node, by a required podAntiAffinity that exports write: with it no "
      "pods meet on a GPU that do not fit it together.",
      fmt::join(apart, " and one of "));
  const auto without = std::ranges::find_if(
      plan.options, [&](const PlanOption& option) { return kept_apart(option).empty(); });
  if (without == plan.options.end()) return text;
  return text +
         fmt::format(" Without, the cheapest is #{}: {} a month more.",
                     without - plan.options.begin() + 1,
                     money_text(without->figures.monthly - plan.options.front().figures.monthly));
}

// Of a trace: what it cost as it was run, and what it costs now.
std::string as_run_sentence(const Plan& plan) {
  if (!plan.as_run || plan.options.empty()) return "";
  const sim::RecordedBill& bill = *plan.as_run;
  return fmt::format(
      "As they were run, each alone on GPUs of {}{} paid for only while it held them ({} "
      "GPU-hours), the jobs cost {}; here they cost {}, idle GPUs{} included.",
      fmt::join(bill.instance_types, ", "), bill.assumed ? " (assumed)" : "",
      count_text(bill.gpu_hours), money_text(bill.total),
      money_text(plan.options.front().figures.total),
      plan.control_plane_monthly.nano > 0 ? " and EKS's control plane" : "");
}

std::string node_limit_sentence(const Plan& plan) {
  const std::int64_t pending = plan.options.front().figures.pending_at_limit;
  if (pending == 0) return "";
  return fmt::format(
      "At the peak an autoscaler wants {} more than these nodes hold: Pending, the "
      "objectives "
      "hold without {}. With more nodes (nodes.max, exported as the pool's limit) they would run, "
      "and be paid for.",
      counted(pending, "pod"), pending == 1 ? "it" : "them");
}

std::string headroom_sentence(const Plan& plan) {
  if (!plan.headroom) return "";
  if (!plan.headroom_fails) {
    return fmt::format("Headroom: every objective is met up to at least {} times the load.",
                       factor_words(*plan.headroom));
  }
  return fmt::format("Headroom: {} times the load; at {} times {} breaks.",
                     factor_words(*plan.headroom), factor_words(*plan.headroom_fails),
                     plan.headroom_binding.empty() ? "an objective" : plan.headroom_binding);
}

// Whether the first option is first for more than its luck among many.
std::string confirmed_sentence(const Plan& plan) {
  if (!plan.confirmed) return "";
  const sim::PlanConfirmation& look = *plan.confirmed;
  return fmt::format(
      "{}: in {} with other random numbers #1 {}, at 95 % for the {} of all that "
      "stood together.",
      look.holds ? "Confirmed" : "Not confirmed", counted(look.runs, "run"),
      look.holds ? "keeps every objective" : "may miss an objective",
      counted(look.intervals, "interval"));
}

// What chance does to the first option: its tightest objective in 95 of 100 runs, and its bill.
std::vector<std::string> risk_sentences(const Plan& plan, const TextStyle& style) {
  if (!plan.risk) return {};
  const sim::PlanRisk& risk = *plan.risk;
  std::string first = fmt::format("Risk: of {} runs with other random numbers{}{} #1 ", risk.runs,
                                  risk.sampled_inputs ? " and inputs drawn anew" : "",
                                  plan.survives.empty() ? "" : " after such a loss of every pool");
  first += risk.missed == 0 ? std::string("misses nothing in any")
                            : fmt::format("misses something in {}", risk.missed);
  for (const sim::ObjectiveRisk& objective : risk.objectives) {
    if (objective.missed == 0) continue;
    first += fmt::format("; {} of {} in {}, at the median {}, in 95 of 100 {} or better (limit {})",
                         objective.name, objective.workload, objective.missed,
                         figure_text(objective.median, std::nullopt, style),
                         figure_text(objective.p95, std::nullopt, style),
                         figure_text(objective.limit, std::nullopt, style));
  }
  const std::string least = money_text(risk.monthly_p5);
  const std::string most = money_text(risk.monthly_p95);
  if (least != most) {
    first += fmt::format("; it costs {} a month at the median, {} to {} in 90 of 100 runs",
                         money_text(risk.monthly_median), least, most);
  }
  std::vector<std::string> lines{first + "."};
  if (!risk.second_cheaper || !risk.second_instead) return lines;
  if (*risk.second_cheaper == 0 && risk.missed == 0) return lines;
  lines.push_back(
      fmt::format("With the same numbers #2 is cheaper and misses nothing in {} of {}, and misses "
                  "nothing in {} "
                  "of the {} in which #1 does.",
                  *risk.second_cheaper, risk.runs, *risk.second_instead, risk.missed));
  return lines;
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

// "g5.xlarge if it is 62% or more, g6.xlarge (...) at 60%".
std::string sm_active_sentence(const Plan& plan) {
  if (!plan.sm_active || !plan.sm_active->turns_at) return "";
  const sim::SmActiveRange& range = *plan.sm_active;
  const std::string best = types_text(plan.options.front().pools);
  const std::string then = range.then ? types_text(range.then->pools) : "nothing that was tried";
  return fmt::format(
      "It hangs on smActive of {}, which is not given: {} if it is {} or more, {}{} at {}. "
      "Measure it (DCGM_FI_PROF_SM_ACTIVE), or measure on the target GPU.",
      sim::few_names(range.workloads), best, percent_text(range.holds_from), then,
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

// Every region that was asked for.
std::vector<std::string> region_sentences(const Plan& plan) {
  std::vector<std::string> lines;
  const double here = to_dollars(plan.options.front().figures.monthly);
  for (const sim::PlannedRegion& there : plan.regions) {
    if (!there.rank || !there.monthly) {
      lines.push_back(
          fmt::format("In {} none of the options can be priced: {}.", there.region, there.missing));
      continue;
    }
    const double more = here > 0 ? to_dollars(*there.monthly) / here - 1 : 0;
    constexpr double kSame = 0.0005;
    const std::string difference =
        std::abs(more) < kSame ? "as much" : fmt::format("{:+.1f}%", 100 * more);
    lines.push_back(fmt::format("In {} {} {} a month ({}).", there.region,
                                *there.rank == 1 ? std::string("the same nodes cost")
                                                 : fmt::format("#{} is the cheapest,", *there.rank),
                                money_text(*there.monthly), difference));
  }
  return lines;
}

// What the answer holds for, and what it does not.
bool is_of_answer(const Diagnostic& d) {
  return d.severity == Severity::Warning || d.code == Code::StartsAtPeak;
}

void add_warnings(const Plan& plan, std::vector<std::string>& lines) {
  for (const Diagnostic& d : plan.notes) {
    if (is_of_answer(d)) lines.push_back(finding_text(d) + ".");
  }
}

std::string pods_note(const Plan& plan) {
  if (plan.vary_pods) {
    const std::string more = plan.options.empty() ? "; none of that is enough" : "";
    return fmt::format("Services might have up to {} pods more or fewer (--vary-pods){}",
                       *plan.vary_pods, more);
  }
  return plan.goal == scenarios::PlanGoal::MonthlyCost
             ? "workloads keep their number of pods but where an option says another; "
               "--vary-pods N lets Services have N more or fewer"
             : "workloads keep their number of pods";
}

std::string spot_sentence(const sim::PlannedSpot& spot) {
  const std::string costs = spot.lost && spot.late
                                ? fmt::format(", which cost {} requests lost and {} late",
                                              short_text(*spot.lost), short_text(*spot.late))
                                : "";
  return fmt::format(
      "RISK {}: EC2 takes a node back {} times in 1,000 hours ({}): {} a month of all its nodes, "
      "at most {} in 95 of 100 months{}{}",
      spot.pool, short_text(spot.risk.per_1000_hours), spot.risk.source, short_text(spot.a_month),
      count_text(static_cast<double>(spot.most)), costs,
      spot.risk.falls_back
          ? "; the ones in their place are bought as on-demand"
          : ". --purchase spot-fallback and on-demand show what avoiding it costs");
}

}  // namespace

std::vector<std::string> plan_notes(const Plan& plan) {
  std::vector<std::string> lines;
  for (const sim::PlannedSpot& spot : plan.spot) lines.push_back(spot_sentence(spot));
  if (plan.control_plane_monthly.nano > 0 && !plan.options.empty()) {
    lines.push_back(fmt::format(
        "EKS's control plane is {} a month beside the nodes, whichever they are (controlPlane)",
        money_text(plan.control_plane_monthly)));
  }
  const auto shows = [&](std::optional<Usd> sim::OptionFigures::*price) {
    return std::ranges::any_of(plan.options,
                               [&](const auto& o) { return (o.figures.*price).has_value(); });
  };
  std::string prices =
      price_note(shows(&sim::OptionFigures::per_job), shows(&sim::OptionFigures::per_1k_in_slo));
  if (!prices.empty()) lines.push_back(std::move(prices));
  const sim::PlanCounts& counts = plan.counts;
  // Searches for headroom and replicas may need more than the ranking saves.
  const std::string saved =
      counts.simulations < counts.exhaustive
          ? fmt::format(
                "; simulating every configuration with every number of nodes would have "
                "taken {}",
                counts.exhaustive)
          : "";
  const std::string ranking =
      counts.simulations == 0
          ? "nothing was simulated: rules and closed forms leave no configuration"
          : fmt::format("{} found {}{}", counted(counts.simulations, "simulation"),
                        plan.options.empty() ? "nothing within the limits" : "the ranking", saved);
  lines.push_back(fmt::format("{}. {} cannot run, {} are ruled out by closed forms.{}", ranking,
                              counts.refused, counts.bounded,
                              counts.simulations > 0 ? " All with one seed." : ""));
  if (plan.least_monthly && !plan.options.empty() &&
      plan.goal == scenarios::PlanGoal::MonthlyCost) {
    const double best = to_dollars(plan.options.front().figures.monthly);
    lines.push_back(fmt::format(
        "of what was tried no fleet costs less than {} a month, if memory is to fit however pods "
        "meet and nobody is better off with more neighbours: the answer is {:.0f}% above that",
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
        sim::few_names(plan.sm_active->workloads), percent_text(plan.sm_active->holds_from)));
  }
  if (!plan.options.empty()) {
    for (const sim::UnsureGain& gain : plan.options.front().figures.unsure_gains) {
      lines.push_back("#1, " + gain_text(gain));
    }
  }
  lines.push_back(pods_note(plan));
  for (const Diagnostic& d : plan.notes) {
    if (!is_of_answer(d)) lines.push_back(finding_text(d));
  }
  return lines;
}

std::string merit_words(const Plan& plan, std::string_view otherwise) {
  return std::string(plan.placeholders.empty() ? otherwise : "The best, were these figures right");
}

std::string placeholder_sentence(const Plan& plan) {
  const bool is_one = plan.placeholders.size() == 1;
  return fmt::format(
      "No recommendation: nobody says what load {} {}, nor what GPU time it takes. The figures in "
      "{} place are placeholders.",
      sim::few_names(plan.placeholders), is_one ? "has" : "have", is_one ? "its" : "their");
}

std::vector<std::string> plan_answer(const Plan& plan, const TextStyle& style) {
  if (plan.options.empty()) {
    std::vector<std::string> lines = nothing_stands(plan, style);
    add_warnings(plan, lines);
    return lines;
  }
  std::vector<std::string> lines;
  if (!plan.placeholders.empty()) lines.push_back(placeholder_sentence(plan));
  if (plan.keep_as_is) lines.push_back(keep_sentence(plan));
  lines.push_back(fmt::format(
      "{}: #1, {}.",
      merit_words(plan, plan.keep_as_is ? "The best of what was planned" : "Recommended"),
      pools_text(plan.options.front().pools)));
  add_warnings(plan, lines);
  const std::string& bounds = plan.options.front().figures.bound_by;
  for (std::string line :
       {bounds.empty() ? "" : fmt::format("Bound by: {}.", bounds), sm_active_sentence(plan),
        for_more_work_sentence(plan), unfinished_sentence(plan), saving_sentence(plan),
        survives_sentence(plan), node_limit_sentence(plan), kept_apart_sentence(plan),
        as_run_sentence(plan), replicas_sentence(plan), confirmed_sentence(plan),
        headroom_sentence(plan), isolation_sentence(plan.options.front()),
        route_sentence(plan.options.front()), warning_sentence(plan.options.front())}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  for (std::string& line : risk_sentences(plan, style)) lines.push_back(std::move(line));
  for (std::string& line : region_sentences(plan)) lines.push_back(std::move(line));
  for (std::string& line : otherwise_sentences(plan)) lines.push_back(std::move(line));
  for (std::string& line : what_it_hangs_on(plan)) lines.push_back(std::move(line));
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
  const bool by_cost = plan.goal == scenarios::PlanGoal::MonthlyCost;
  if (at.monthly > least.monthly) {
    return fmt::format(
        "Pods per GPU: {} {}; {} would cost less, {} a month.", chosen,
        by_cost ? "of those that were tried" : "by " + std::string(scenarios::goal_name(plan.goal)),
        knee.replicas, money_text(least.monthly));
  }
  if (at.monthly < least.monthly) {
    return fmt::format("Pods per GPU: {}, which costs less than a hundredth less than {}.", chosen,
                       knee.replicas);
  }
  if (!by_cost) {
    return fmt::format("Pods per GPU: {} by {}; {} costs as much a month.", chosen,
                       scenarios::goal_name(plan.goal), knee.replicas);
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

namespace {

const sim::SetUpRoute* route_by(const sim::PlanOption& option, std::string_view by) {
  const auto route = std::ranges::find(option.routes, by, &sim::SetUpRoute::by);
  return route == option.routes.end() ? nullptr : &*route;
}

std::string why(const sim::SetUpRoute& route) {
  return fmt::format("{}", fmt::join(route.refused, "; "));
}

// What sets an option up: "the device plugin, or NVIDIA's DRA driver (export --to dra)".
std::string installer_text(const sim::SetUpRoute& plugin, const sim::SetUpRoute& dra) {
  if (plugin.refused.empty()) {
    return dra.refused.empty()
               ? "the device plugin, or NVIDIA's DRA driver (export --to dra)"
               : fmt::format("the device plugin; not NVIDIA's DRA driver: {}", why(dra));
  }
  if (dra.refused.empty()) {
    return fmt::format("NVIDIA's DRA driver alone (export --to dra): {}", why(plugin));
  }
  return fmt::format("neither the device plugin ({}) nor NVIDIA's DRA driver ({})", why(plugin),
                     why(dra));
}

std::string routes_text(const sim::PlanOption& option) {
  const sim::SetUpRoute* const plugin = route_by(option, kByPlugin);
  const sim::SetUpRoute* const dra = route_by(option, kByDra);
  const bool only_auto_mode = plugin == nullptr && option.routes.size() == 1;
  if (only_auto_mode && option.routes.front().refused.empty()) {
    return "EKS Auto Mode, whose own device plugin offers whole GPUs";
  }
  if (plugin == nullptr || dra == nullptr) return "";
  std::string text = installer_text(*plugin, *dra);
  if (const sim::SetUpRoute* const auto_mode = route_by(option, kByAutoMode)) {
    text += auto_mode->refused.empty() ? "; EKS Auto Mode has such nodes, too"
                                       : fmt::format("; not on EKS Auto Mode: {}", why(*auto_mode));
  }
  return text;
}

}  // namespace

std::string route_sentence(const sim::PlanOption& option) {
  const std::string by = routes_text(option);
  return by.empty() ? by : fmt::format("Set up by: {}.", by);
}

std::vector<std::string> route_lines(const sim::Plan& plan) {
  std::vector<std::string> lines;
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    const std::string by = routes_text(plan.options[o]);
    if (!by.empty()) lines.push_back(fmt::format("#{}: {}", o + 1, by));
  }
  return lines;
}

}  // namespace slicewise::reports
