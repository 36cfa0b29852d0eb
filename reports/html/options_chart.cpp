#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../charts/choice_chart.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
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
