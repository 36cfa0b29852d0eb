#include <algorithm>

#include <fmt/format.h>

#include "../screens/plan_words.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_nodes.hpp"
#include "../screens/result_notes.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/text_table.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

const ShownOption* leading_option(const std::vector<ShownOption>& options) {
  const auto best = std::ranges::find_if(options, &ShownOption::best);
  if (best != options.end()) return &*best;
  return options.empty() || !options.front().figures ? nullptr : &options.front();
}

// Against what there is today: the scenario's own pools, or its first variant.
std::string against_today(const ShownOption& lead, const std::vector<ShownOption>& options) {
  const auto today = std::ranges::find_if(options, &ShownOption::today);
  const ShownOption& reference = today != options.end() ? *today : options.front();
  if (&reference == &lead || !reference.figures || reference.figures->monthly.nano <= 0) return "";
  const double ratio = static_cast<double>(lead.figures->monthly.nano) /
                           static_cast<double>(reference.figures->monthly.nano) -
                       1;
  const std::string name = reference.today ? "the scenario's own pools" : reference.name;
  if (std::abs(ratio) < 0.0005) return "as much as " + name;
  return fmt::format("{} {} than {}", percent_text(std::abs(ratio)), ratio < 0 ? "less" : "more",
                     name);
}

Tile price_tile(const ShownOption& lead) {
  const sim::OptionFigures& figures = *lead.figures;
  if (figures.per_1k_in_slo) {
    return {
        money_text(*figures.per_1k_in_slo) + " / 1k requests",
        figures.objectives.empty() ? "of the requests that were answered" : "counted only in SLO"};
  }
  if (figures.per_job)
    return {money_text(*figures.per_job) + " / job", "of the jobs that finished"};
  return {money_text(figures.total), "the whole run"};
}

Tile objective_tile(const ShownOption& lead, const sim::VariantResult* variant) {
  if (const sim::PlannedObjective* worst = lead.tightest()) {
    return {found_text(worst->result, kPageStyle),
            fmt::format("{} {}, limit {} · {}", worst->workload, worst->result.name,
                        figure_text(worst->result.limit, std::nullopt, kPageStyle),
                        sim::standing_of(worst->result) == sim::ObjectiveStanding::Holds ? "✓ ok"
                        : worst->result.pass ? "? undecided"
                                             : "✗ missed")};
  }
  if (variant != nullptr && variant->makespan.count > 0) {
    return {interval_text(variant->makespan.mean, variant->makespan.ci95, kPageStyle),
            "length of the run; no objective is set"};
  }
  return {"no objective", "nothing to hold the figures against"};
}

std::string factor_text(double factor) { return fmt::format("{:.2f}×", factor); }

Tile reserve_tile(const HtmlReport& report, const sim::VariantResult* variant) {
  if (report.plan && report.plan->headroom) {
    const sim::Plan& plan = *report.plan;
    return {
        "Headroom " + factor_text(*plan.headroom),
        plan.headroom_fails
            ? fmt::format("at {} the load {} breaks", factor_text(*plan.headroom_fails),
                          plan.headroom_binding.empty() ? "an objective" : plan.headroom_binding)
            : "every objective is met up to this load; nothing above was tried"};
  }
  if (variant == nullptr || variant->gpus.empty()) return {"no GPU", "no GPU was used"};
  double fullest = 0;
  for (const sim::GpuResult& gpu : variant->gpus) {
    if (gpu.memory_total.count > 0) {
      fullest = std::max(fullest, static_cast<double>(gpu.memory_peak.count) /
                                      static_cast<double>(gpu.memory_total.count));
    }
  }
  const double busy = sim::mean_over_gpus(*variant, &sim::GpuResult::time_busy_ratio);
  return {percent_text(busy) + " busy",
          fmt::format("of all GPU time; memory peak {} of a GPU", percent_text(fullest))};
}

std::string verdict_words(const HtmlReport& report, const ShownOption* lead,
                          const std::vector<ShownOption>& options) {
  if (!report.plan) return verdict(report.result);
  const bool is_advised = lead != nullptr && lead->best && !report.plan->keep_as_is &&
                          report.plan->placeholders.empty();
  if (!is_advised) return plan_answer(*report.plan, kPageStyle).front();
  const std::string today = against_today(*lead, options);
  return fmt::format(
      "Use {}. {} at {} a month{}.", lead->name,
      lead->figures->objectives.empty() ? "It runs every pod" : "It meets every objective",
      money_text(lead->figures->monthly), today.empty() ? "" : ", " + today);
}

// How much of what went in was measured, and how far off the models were where as much was known.
std::string confidence_words(const HtmlReport& report, const sim::VariantResult* variant) {
  const sim::ProvenanceCounts none;
  const sim::ProvenanceCounts& inputs = report.plan          ? report.plan->provenance
                                        : variant != nullptr ? variant->provenance
                                                             : none;
  if (inputs.measured + inputs.catalog + inputs.assumed == 0) return "";
  std::string out = fmt::format("{} inputs measured, {} from the catalogue, {} assumed.",
                                inputs.measured, inputs.catalog, inputs.assumed);
  if (report.plan || variant == nullptr) return out;
  for (const models::ExpectedError& error : variant->expected_errors) {
    out += " Error to expect of " + expectation_text(error) + ".";
  }
  return out;
}

std::string copy_buttons(const HtmlReport& report) {
  if (!report.apply) return "";
  std::string out;
  for (std::size_t f = 0; f < report.apply->files.size(); ++f) {
    const std::string& path = report.apply->files[f].path;
    if (!path.ends_with(".yaml") || path.find('/') != std::string::npos) continue;
    out += fmt::format(
        "<button type=\"button\" class=\"js copy\" data-copy=\"apply-{}\">Copy "
        "{}</button>\n",
        f, escaped(path));
  }
  return out.empty() ? "" : "<p class=\"buttons\">" + out + "</p>\n";
}

// What a reader must not overlook, from the warnings of the run.
std::string risks_markup(const HtmlReport& report, const sim::VariantResult* variant) {
  std::vector<std::string> risks;
  if (variant != nullptr) {
    for (const Diagnostic& d : variant->findings) {
      if (d.severity == Severity::Note) continue;
      const std::string name(info(d.code).name);
      if (std::ranges::find(risks, name) == risks.end()) risks.push_back(name);
    }
  }
  std::string out;
  for (const std::string& risk : risks) add_name(out, escaped(risk));
  out = out.empty() ? "no warning" : "warnings " + out + " (<a href=\"#evidence\">explained</a>)";
  if (report.plan && !report.plan->options.empty()) {
    const std::string risk = isolation_risk(report.plan->options.front());
    if (!risk.empty()) out += " · " + escaped(risk);
  }
  return fmt::format(
      "<p class=\"risks\"><strong>Risks:</strong> {} · <a href=\"#evidence\">what is "
      "not modelled</a></p>\n",
      out);
}

}  // namespace

std::string page_header(const HtmlReport& report) {
  return header_markup(report.result.stamp.scenario, origin_line(report.result, kPageStyle));
}

std::string first_screen(const HtmlReport& report, const std::vector<ShownOption>& options) {
  const sim::VariantResult* variant = leading_variant(report);
  const ShownOption* lead = leading_option(options);
  const bool is_guess = report.plan && !report.plan->placeholders.empty();
  const bool good = lead != nullptr && lead->best && !is_guess;
  std::string out = "<section id=\"verdict\" aria-labelledby=\"verdict-h\">\n";
  if (const std::string cut = interrupted_line(report.result); !cut.empty()) {
    out += paragraph(cut, "bad");
  }
  out += fmt::format(
      "<h2 id=\"verdict-h\" class=\"{}\"><span aria-hidden=\"true\">{}</span> {}</h2>\n",
      good ? "good" : "bad", good ? "✓" : "✗", escaped(verdict_words(report, lead, options)));
  out += "<div class=\"under\">" + paragraph(confidence_words(report, variant), "confidence") +
         copy_buttons(report) + "</div>\n";
  if (lead != nullptr) {
    const std::string today = against_today(*lead, options);
    out += tiles_markup({{money_text(lead->figures->monthly) + " / month",
                          !today.empty()       ? today
                          : variant == nullptr ? "if the nodes keep running"
                                               : std::string(month_words(*variant))},
                         price_tile(*lead),
                         objective_tile(*lead, variant),
                         reserve_tile(report, variant)});
  }
  constexpr std::size_t kRefusedOnFirstScreen = 3;
  const charts::ScatterChart chart = options_chart(report, options);
  out += "<div class=\"choice\">\n";
  if (!chart.points.empty()) {
    out += figure(draw(chart), chart.text.title, {}).text;
  }
  HtmlTable table = options_table(report, options, kRefusedOnFirstScreen);
  if (table.rows.size() < options.size()) {
    table.caption = fmt::format("{} of {} that are listed, best first (all are below)",
                                table.rows.size(), options.size());
  }
  const bool described = !report.plan && report.result.variants.size() <= kDescribedVariants;
  out += "<div>\n" + table_markup(table) +
         (described ? variant_descriptions(report.result) : std::string()) + "</div>\n</div>\n";
  return out + risks_markup(report, variant) + "</section>\n";
}

}  // namespace slicewise::reports::html
