#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../charts/choice_chart.hpp"
#include "../screens/plan_screen.hpp"
#include "../screens/plan_words.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_verdict.hpp"
#include "../screens/screen.hpp"
#include "html_text.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

// Which figures the options have.
struct OptionColumns {
  bool ranks = false;
  bool requests = false;
  bool jobs = false;
  bool objectives = false;
  bool tightest = false;  // named, with its figure
  bool latency = false;
};

OptionColumns columns_for(const std::vector<ShownOption>& options) {
  OptionColumns columns;
  for (const ShownOption& option : options) {
    columns.ranks |= !option.rank.empty();
    if (!option.figures) continue;
    columns.requests |= option.figures->per_1k_in_slo.has_value();
    columns.jobs |= option.figures->per_job.has_value();
    columns.objectives |= !option.figures->objectives.empty();
    columns.latency |= option.figures->latency_p99.has_value();
  }
  return columns;
}

HtmlCell dollars_cell(const std::optional<Usd>& amount) {
  if (!amount) return {};
  return {money_text(*amount), to_dollars(*amount), ""};
}

HtmlCell tightest_cell(const ShownOption& option) {
  const sim::PlannedObjective* worst = option.tightest();
  if (worst == nullptr) return {};
  if (found_nothing(worst->result)) {
    return fmt::format("{} {}: none answered", worst->workload, worst->result.name);
  }
  return fmt::format("{} {} {}", worst->workload, worst->result.name,
                     figure_text(worst->result.value, worst->result.ci95, kPageStyle));
}

HtmlCell share_cell(const ShownOption& option) {
  const charts::UpwardsFigure share = limit_share_of(option);
  if (!share.value) return {};
  if (*share.value > charts::kNothingDone) {
    return {found_nothing(option.tightest()->result) ? "never met" : ">999×", share.value, "bad"};
  }
  return {charts::limit_share_text(*share.value), share.value, *share.value > 1 ? "bad" : ""};
}

HtmlCell verdict_cell(const ShownOption& option, bool short_reasons) {
  constexpr std::size_t kLongestReason = 38;
  const std::string reason =
      short_reasons ? charts::shortened(option.reason, kLongestReason) : option.reason;
  if (option.ruled_out) return {"✗ ruled out: " + reason, 3.0, "bad"};
  if (!option.figures) return {"✗ cannot: " + reason, 3.0, "bad"};
  // Which one it is stands beside it.
  if (short_reasons && option.misses) return {"✗ missed", 2.0, "bad"};
  if (!option.stands) return {"✗ " + reason, 2.0, "bad"};
  const std::string left = unfinished_text(option.figures->unfinished_jobs);
  return {(option.best ? "✓ ok, best" : "✓ ok") + (left.empty() ? "" : ", " + left),
          option.best ? 0.0 : 1.0, "good"};
}

std::vector<HtmlCell> option_row(const ShownOption& option, const OptionColumns& columns,
                                 bool short_reasons) {
  std::vector<HtmlCell> row{option.name};
  const auto add = [&row](HtmlCell cell) { row.push_back(std::move(cell)); };
  if (columns.ranks) add(option.rank.empty() ? HtmlCell{} : HtmlCell{option.rank});
  // Where a table is too wide for a phone, what it ends with is out of sight.
  add(verdict_cell(option, short_reasons));
  add({option.nodes > 0 ? std::to_string(option.nodes) : "–", double(option.nodes), ""});
  const bool runs = option.figures.has_value();
  const sim::OptionFigures none;
  const sim::OptionFigures& figures = runs ? *option.figures : none;
  add(runs ? dollars_cell(figures.monthly) : dollars_cell(std::nullopt));
  if (columns.requests) add(dollars_cell(figures.per_1k_in_slo));
  if (columns.jobs) add(dollars_cell(figures.per_job));
  if (columns.tightest) add(tightest_cell(option));
  if (columns.objectives) add(share_cell(option));
  if (columns.latency) {
    const auto& p99 = figures.latency_p99;
    add(p99 ? HtmlCell{duration_text(*p99), to_seconds(*p99), ""} : HtmlCell{});
  }
  return row;
}

std::string class_of(const ShownOption& option) {
  if (option.best) return "best";
  if (option.today) return "today";
  return option.stands ? "" : "refused";
}

}  // namespace

std::string variant_descriptions(const sim::Result& result) {
  std::string out;
  for (const sim::VariantResult& variant : result.variants) {
    if (variant.description.empty()) continue;
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(variant.name),
                       escaped(variant.description));
  }
  return out.empty() ? "" : "<dl>\n" + out + "</dl>\n";
}

Markup options_section(const HtmlReport& report, const std::vector<ShownOption>& options) {
  std::string out;
  if (report.plan) {
    out += list_of_lines(plan_answer(*report.plan, kPageStyle));
    if (report.plan->path) out += part_markup(plan_path_part(*report.plan->path, kPageStyle));
    if (report.plan->over_time) {
      out += part_markup(plan_over_time_part(*report.plan->over_time, Detail::Comment));
    }
    std::size_t refused = 0;
    for (const ShownOption& option : options) refused += option.stands || option.today ? 0 : 1;
    HtmlTable all = options_table(report, options, kAllRefused);
    const sim::PlanCounts& counts = report.plan->counts;
    all.caption = fmt::format(
        "Of {} configurations that were looked at {} cannot run, and {} are ruled out by closed "
        "forms: they miss an objective, or cost more than what stands",
        counts.configurations, counts.refused, counts.bounded);
    out +=
        folded(fmt::format("All options, and why {} others are none", refused), table_markup(all));
    return section("options", "Which one?", out);
  }
  // A few have theirs on the first screen.
  if (report.result.variants.size() <= kDescribedVariants) return "";
  out = variant_descriptions(report.result);
  return out.empty() ? "" : section("options", "Which one?", out);
}

HtmlTable options_table(const HtmlReport& report, const std::vector<ShownOption>& options,
                        std::size_t most_refused) {
  OptionColumns columns = columns_for(options);
  // On the first screen there is no room for both names of options and of objectives.
  const bool brief = most_refused != kAllRefused;
  columns.tightest = columns.objectives && !(brief && report.plan);
  HtmlTable table;
  table.caption = report.plan ? "Options, best first, and what was refused" : "Variants";
  table.sortable = true;
  table.columns = {{report.plan ? "Configuration" : "Variant"}};
  if (columns.ranks) table.columns.push_back({"#", true});
  table.columns.push_back({"Verdict"});
  table.columns.push_back({"Nodes", true});
  table.columns.push_back(price_on_page("monthlyUsd"));
  if (columns.requests) table.columns.push_back(price_on_page("per1kRequestsInSloUsd"));
  if (columns.jobs) table.columns.push_back(price_on_page("perJobUsd"));
  if (columns.tightest) table.columns.push_back({"Tightest objective"});
  if (columns.objectives) table.columns.push_back({"Of limit", true});
  if (columns.latency) table.columns.push_back({"Slowest p99", true});
  std::size_t refused = 0;
  for (std::size_t o = 0; o < options.size(); ++o) {
    const ShownOption& option = options[o];
    if (report.plan && !option.stands && !option.today && ++refused > most_refused) continue;
    table.rows.push_back(option_row(option, columns, brief));
    table.row_classes.push_back(class_of(option));
    if (brief) table.row_ids.push_back(option_id(o));
  }
  return table;
}

namespace {

// Of the slowest workload: until 95 % of its jobs are done.
charts::UpwardsFigure job_time(const HtmlReport& report, const ShownOption& option) {
  charts::UpwardsFigure time;
  for (const sim::VariantResult& variant : report.result.variants) {
    if (variant.name != option.name) continue;
    for (const sim::WorkloadResult& workload : variant.workloads) {
      if (!workload.job_completion || workload.job_completion->count == 0) continue;
      const double p95 = to_seconds(workload.job_completion->p95);
      if (time.value && *time.value >= p95) continue;
      time.value = p95;
      const auto& half = workload.job_completion->p95_ci95;
      time.half_width = half ? std::optional(to_seconds(*half)) : std::nullopt;
    }
  }
  return time;
}

charts::Choice choice_of(const HtmlReport& report, const ShownOption& option) {
  charts::Choice choice;
  choice.name = option.name;
  if (!option.stands) choice.reason = option.reason;
  choice.point.label = option.label;
  choice.point.shape = option.shape;
  choice.point.series = option.series;
  choice.point.hollow = !option.stands;
  choice.point.emphasised = option.best;
  if (!option.figures) return choice;
  choice.month = option.figures->monthly;
  choice.per_job = option.figures->per_job;
  choice.per_1k_requests = option.figures->per_1k_in_slo;
  choice.is_judged = !option.figures->objectives.empty();
  choice.limit_share = limit_share_of(option);
  if (option.figures->latency_p99) choice.latency = {to_seconds(*option.figures->latency_p99), {}};
  choice.job_time = job_time(report, option);
  return choice;
}

// Of a plan most were only reckoned with.
std::string finding_of(const std::vector<ShownOption>& options, bool planned) {
  std::size_t stand = 0;
  std::size_t simulated = 0;
  const ShownOption* best = nullptr;
  for (const ShownOption& option : options) {
    if (!option.figures) continue;
    ++simulated;
    if (option.stands) ++stand;
    if (option.best) best = &option;
  }
  const std::string_view which = planned ? "were simulated" : "can run";
  if (best == nullptr && stand > 0) {
    return "What there is does what it should; nothing new that was tried does.";
  }
  if (best == nullptr && simulated == 1) return "The one option does not do what it should.";
  if (best == nullptr) {
    return fmt::format("None of the {} options that {} does what it should.", simulated, which);
  }
  return fmt::format("{} of {} options that {} do what they should; {} does it best.", stand,
                     simulated, which, best->name);
}

}  // namespace

charts::ScatterChart options_chart(const HtmlReport& report,
                                   const std::vector<ShownOption>& options) {
  std::vector<charts::Choice> choices;
  for (std::size_t o = 0; o < options.size(); ++o) {
    choices.push_back(choice_of(report, options[o]));
    // Those that the table of the first screen leaves out are in the one below.
    const bool shown = !report.plan || options[o].stands || options[o].today;
    choices.back().point.link = "#" + (shown ? option_id(o) : "options");
  }
  return charts::choice_chart(
      {"chart-options", finding_of(options, report.plan.has_value()),
       "One point for each option. Right: dearer. Up: slower or closer to a limit. Hollow points "
       "do not do what they should. Shape: circle whole GPUs, triangle time-slicing, square MPS, "
       "diamond MIG, plus vGPU."},
      choices, !report.plan);
}

}  // namespace slicewise::reports::html
