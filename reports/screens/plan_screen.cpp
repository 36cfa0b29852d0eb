#include "plan_screen.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/plan_record.hpp"

#include "../text/text_table.hpp"
#include "plan_words.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::Plan;
using sim::PlanOption;

// Reasons for rejections that a short report shows.
constexpr std::size_t kRejectedShown = 8;

std::string tightest_text(const sim::OptionFigures& figures, const TextStyle& style) {
  const sim::PlannedObjective* worst = figures.tightest();
  if (worst == nullptr) return std::string(signs(style).none);
  return fmt::format("{} {} {}", worst->workload, worst->result.name,
                     figure_text(worst->result.value, worst->result.ci95, style));
}

std::string limit_share(const sim::OptionFigures& figures, const TextStyle& style) {
  constexpr double kBeyondReading = 10;  // 1000 stands for what never finished
  if (figures.objectives.empty()) return std::string(signs(style).none);
  return figures.worst_ratio > kBeyondReading ? ">1000%" : percent_text(figures.worst_ratio);
}

std::string optional_money(const std::optional<Usd>& amount, const TextStyle& style) {
  return amount ? money_text(*amount) : std::string(signs(style).none);
}

std::string verdict_text(const sim::OptionFigures& figures, const TextStyle& style) {
  if (figures.stands()) return fmt::format("{} ok", signs(style).pass);
  return fmt::format("{} {}", signs(style).fail, figures.verdict.reasons.front().brief);
}

// Of the options, or the scenario's own pools.
template <class Found>
bool any_figures(const Plan& plan, Found found) {
  return (plan.today && found(plan.today->figures)) ||
         std::ranges::any_of(plan.options,
                             [&](const PlanOption& option) { return found(option.figures); });
}

// What an option was chosen by stays where others have no room.
int price_priority(const Plan& plan, scenarios::PlanGoal goal) {
  return plan.goal == goal ? kNeverDropped : 1;
}

// Which figures any option has.
struct PlanColumns {
  explicit PlanColumns(const Plan& plan)
      : requests(any_figures(plan, [](const auto& f) { return f.per_1k_in_slo.has_value(); })),
        jobs(any_figures(plan, [](const auto& f) { return f.per_job.has_value(); })),
        latency(any_figures(plan, [](const auto& f) { return f.latency_p99.has_value(); })),
        objectives(any_figures(plan, [](const auto& f) { return !f.objectives.empty(); })) {}

  bool requests, jobs, latency, objectives;
};

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
        {fmt::format("and {} more (-o wide)", counted(more, "configuration"))});
  }
  return part;
}

std::string plan_heading(const Plan& plan) {
  return studied(plan.stamp) + fmt::format(": {} configurations by {}", plan.counts.configurations,
                                           scenarios::goal_name(plan.goal));
}

// What an option leaves unfinished, where another gets more of it done: what all leave has one
// sentence.
std::string unfinished_beside(const Plan& plan, const sim::OptionFigures& figures) {
  const bool any_more = std::ranges::any_of(plan.options, [&](const PlanOption& other) {
    return sim::gets_more_jobs_done(other.figures.unfinished_jobs, figures.unfinished_jobs);
  });
  return any_more ? unfinished_text(figures.unfinished_jobs) : "";
}

// A long description in lines, broken before names and at commas, so that it hides no verdict.
std::vector<std::string> in_lines(const std::string& text, std::size_t widest) {
  std::vector<std::string> lines{text};
  while (lines.back().size() > widest) {
    const std::string& line = lines.back();
    const std::size_t names = line.find(" (", 2);
    const std::size_t comma = line.rfind(", ", widest - 1);
    if (names > widest && comma == std::string::npos) break;
    const std::size_t end = names <= widest ? names : comma + 1;
    std::string rest = "  " + line.substr(end + 1);
    lines.back().resize(end);
    lines.push_back(std::move(rest));
  }
  return lines;
}

// Pools of an option stand below each other, so that a long list of them hides no price.
std::vector<std::string> configuration_lines(const PlanOption& option, Detail detail) {
  constexpr std::size_t kWidest = 50;
  const std::vector<std::string> pools = pool_texts(option.pools);
  std::vector<std::string> all;
  for (const std::string& pool : pools) {
    const std::string text = (all.empty() ? "" : "+ ") + pool;
    if (detail != Detail::Brief) {
      all.push_back(text);
      continue;
    }
    std::ranges::move(in_lines(text, kWidest), std::back_inserter(all));
  }
  return all;
}

Cells plan_cells(const Plan& plan, const TextStyle& style, Detail detail) {
  const PlanColumns has(plan);
  const sim::Record& of_figures = sim::record_of<sim::OptionFigures>();
  Cells table{{{"CONFIGURATION", false, kNeverDropped},
               {"#", true, kNeverDropped},
               price_column("monthlyUsd", kNeverDropped)},
              {}};
  if (has.requests) {
    table.columns.push_back(
        request_price_column(true, price_priority(plan, scenarios::PlanGoal::CostPer1kInSlo)));
  }
  if (has.jobs) {
    table.columns.push_back(
        price_column("perJobUsd", price_priority(plan, scenarios::PlanGoal::CostPerJob)));
  }
  if (has.latency) table.columns.push_back(column_of(of_figures, "latencyP99Seconds"));
  if (has.objectives) {
    table.columns.push_back({"TIGHTEST OBJECTIVE", false, 3});
    table.columns.push_back(column_of(of_figures, "worstRatio"));
  }
  table.columns.push_back(column_of(of_figures, "gpuBusyRatio"));
  table.columns.push_back({"VERDICT", false, kNeverDropped});
  const auto add = [&](const std::string& rank, const std::string& name, const PlanOption& option) {
    const sim::OptionFigures& figures = option.figures;
    std::vector<Cell> row{name, rank, money_text(figures.monthly)};
    if (has.requests) row.push_back(optional_money(figures.per_1k_in_slo, style));
    if (has.jobs) row.push_back(optional_money(figures.per_job, style));
    if (has.latency) {
      const std::optional<Duration>& p99 = figures.latency_p99;
      row.push_back(or_none(p99 ? duration_text(*p99) : "", style));
    }
    if (has.objectives) {
      row.push_back(tightest_text(figures, style));
      row.push_back(limit_share(figures, style));
    }
    row.push_back(percent_text(figures.gpu_busy));
    const bool tight = figures.stands() && figures.is_tight();
    const bool is_risky = rank == "1" && plan.risk && plan.risk->missed > 1;
    const std::string misses =
        is_risky ? fmt::format(", misses in {} of {} runs", plan.risk->missed, plan.risk->runs)
                 : "";
    const std::string left = unfinished_beside(plan, figures);
    const std::string pending = figures.stands() && figures.pending_at_limit > 0
                                    ? fmt::format(", up to {} Pending", figures.pending_at_limit)
                                    : "";
    row.push_back(verdict_text(figures, style) + (tight ? ", tight" : "") + misses + pending +
                  (left.empty() ? "" : ", " + left) + (option.pareto ? ", Pareto" : ""));
    table.rows.push_back(std::move(row));
  };
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    const std::vector<sim::PoolChoice>& pools = plan.options[o].pools;
    if (detail == Detail::Comment) {
      add(std::to_string(o + 1), pools_text(pools), plan.options[o]);
      continue;
    }
    const std::vector<std::string> lines = configuration_lines(plan.options[o], detail);
    add(std::to_string(o + 1), lines.front(), plan.options[o]);
    for (std::size_t line = 1; line < lines.size(); ++line) {
      std::vector<Cell> row(table.columns.size());
      row.front() = lines[line];
      table.rows.push_back(std::move(row));
    }
  }
  if (plan.today) add(std::string(signs(style).none), "the scenario's own pools", *plan.today);
  return table;
}

// Pods that nobody scales, beside a schedule and autoscalers, over whole days.
ScreenPart scaled_down_part(const Plan& plan, const TextStyle& style) {
  ScreenPart part{.heading = "SCALED DOWN AT NIGHT"};
  part.table.columns = {{"PODS SCALED BY"},
                        price_column("monthlyUsd"),
                        {"SAVES", true},
                        {"TIGHTEST OBJECTIVE", false, 3},
                        column_of(sim::record_of<sim::OptionFigures>(), "worstRatio"),
                        {"VERDICT", false, kNeverDropped}};
  const Usd fixed = plan.over_days->figures.monthly;
  const auto add = [&](const char* by, const std::optional<PlanOption>& option) {
    if (!option) return;
    const sim::OptionFigures& figures = option->figures;
    const Usd less = fixed - figures.monthly;
    part.table.rows.push_back({by, money_text(figures.monthly),
                               less.nano == 0  ? std::string(signs(style).none)
                               : less.nano < 0 ? fmt::format("-{}", money_text(Usd{-less.nano}))
                                               : money_text(less),
                               tightest_text(figures, style), limit_share(figures, style),
                               verdict_text(figures, style)});
  };
  add("#1, as it is", plan.over_days);
  add("the clock", plan.scheduled);
  add("the load", plan.by_load);
  std::vector<std::string> lines{
      "No schedule (KEDA's cron scaler) that was tried stands and saves."};
  if (plan.scheduled) {
    lines = {
        fmt::format("The clock (KEDA's cron scaler): {}. plan.json#schedule names it for "
                    "export.",
                    pools_text(plan.scheduled->pools))};
  }
  if (plan.by_load) {
    lines.push_back(
        fmt::format("The load (an HPA, by KEDA): {}. plan.json#load names it for export.",
                    pools_text(plan.by_load->pools)));
  }
  part.sentences = sentences_of(lines);
  return part;
}

}  // namespace

Screen screen_of(const Plan& plan, const TextStyle& style, Detail detail) {
  Screen screen{plan.stamp.scenario,
                plan.interrupted ? "INTERRUPTED: the search was not finished" : "",
                plan_heading(plan)};
  const sim::VariantRooms rooms{"", plan.rooms, ""};
  std::vector<std::string> lines = sim::room_lines({&rooms, 1});
  for (std::string& line : lines) line = fmt::format("#1, {}", line);
  screen.parts.push_back({.sentences = sentences_of(lines)});
  screen.parts.push_back({.table = plan_cells(plan, style, detail)});
  if (plan.path) screen.parts.push_back(plan_path_part(*plan.path, style));
  if (plan.over_days && (plan.scheduled || plan.by_load)) {
    screen.parts.push_back(scaled_down_part(plan, style));
  }
  if (plan.over_time) screen.parts.push_back(plan_over_time_part(*plan.over_time, detail));
  if (detail != Detail::Comment) screen.parts.push_back({.drawing = plan_chart(plan, style)});
  screen.parts.push_back({.sentences = sentences_of(plan_answer(plan, style)), .is_answer = true});
  if (detail != Detail::Brief) {
    screen.parts.push_back({.table = replicas_cells(plan, style), .folded = "Pods per GPU"});
  }
  if (detail != Detail::Brief) {
    screen.parts.push_back({.heading = "SET UP BY",
                            .sentences = sentences_of(route_lines(plan)),
                            .folded = "Set up by"});
  }
  screen.parts.push_back(rejected_part(plan, detail));
  screen.parts.push_back(notes_part(plan_notes(plan)));
  std::vector<int> runs;
  for (const PlanOption& option : plan.options) runs.push_back(option.figures.replications);
  const bool intervals = std::ranges::any_of(plan.options, [](const PlanOption& option) {
    return std::ranges::any_of(option.figures.objectives, [](const auto& objective) {
      return objective.result.ci95.has_value();
    });
  });
  screen.origin = origin_line(plan.stamp, runs, intervals, style);
  return screen;
}

Cells replicas_cells(const Plan& plan, const TextStyle& style) {
  const sim::Record& of_point = sim::record_of<sim::ReplicasPoint>();
  const sim::Record& of_figures = sim::record_of<sim::OptionFigures>();
  Cells table{{column_of(of_point, "replicas"),
               column_of(of_point, "nodes"),
               price_column("monthlyUsd"),
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

}  // namespace slicewise::reports
