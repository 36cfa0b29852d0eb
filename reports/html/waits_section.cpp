#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "page_parts.hpp"

// What Jobs in queues of Kueue wait for: for quota there is no pod, Pending ones want a node.
namespace slicewise::reports::html {
namespace {

struct Waits {
  const sim::WorkloadResult* workload = nullptr;
  Duration for_quota;
  Duration then;  // until the container starts
};

std::string wait_tick(double value) { return duration_text(from_seconds(value)); }

// Whoever was stopped waits for quota after its first start, too.
std::vector<Waits> waits_of(const sim::VariantResult& variant) {
  std::vector<Waits> all;
  for (const sim::WorkloadResult& workload : variant.workloads) {
    if (!workload.quota) continue;
    Waits& waits = all.emplace_back(Waits{&workload, {}, {}});
    if (workload.quota->wait) waits.for_quota = workload.quota->wait->mean;
    if (workload.wait) waits.then = std::max(Duration{}, workload.wait->mean - waits.for_quota);
  }
  return all;
}

Markup waits_figure(const sim::VariantResult& variant, std::size_t nth) {
  const std::vector<Waits> all = waits_of(variant);
  if (all.empty()) return "";
  const Waits& longest = *std::ranges::max_element(all, {}, &Waits::for_quota);
  charts::WaterfallChart chart;
  chart.text = {fmt::format("chart-waits-{}", nth + 1),
                fmt::format("{}: Jobs of {} wait {} for quota and {} for a node and their start.",
                            variant.name, longest.workload->name, duration_text(longest.for_quota),
                            duration_text(longest.then)),
                "Of the workload that waits longest for quota, means over its Jobs."};
  chart.x = {"time since the Job was submitted", wait_tick, false, true};
  for (const auto& [name, time] : {std::pair("for quota", longest.for_quota),
                                   std::pair("Pending, image, start", longest.then)}) {
    if (time.ns > 0) chart.stages.push_back({name, to_seconds(time), duration_text(time)});
  }
  chart.total = duration_text(longest.for_quota + longest.then);
  HtmlTable table{variant.name + ": waits of Jobs in queues, means",
                  {{"Workload"},
                   {"For quota", true},
                   {"Pending, image, start", true},
                   {"Stopped", true},
                   {"Without quota at the end", true}}};
  for (const Waits& waits : all) {
    const sim::QuotaFigures& quota = *waits.workload->quota;
    table.rows.push_back({waits.workload->name,
                          {duration_text(waits.for_quota), to_seconds(waits.for_quota), ""},
                          {duration_text(waits.then), to_seconds(waits.then), ""},
                          {short_text(quota.stopped), quota.stopped, ""},
                          {short_text(quota.waiting), quota.waiting, ""}});
  }
  if (chart.stages.empty()) return table_markup(table);  // nobody was admitted, or waited
  return figure(draw(chart), chart.text.title, {table});
}

}  // namespace

Markup waits_section(const HtmlReport& report) {
  constexpr std::size_t kMostFigures = 4;
  Markup figures;
  std::size_t drawn = 0;
  for (const sim::VariantResult& variant : report.result.variants) {
    const Markup one = drawn < kMostFigures ? waits_figure(variant, drawn) : "";
    if (one.empty()) continue;
    figures += one;
    ++drawn;
  }
  if (drawn == 0) return "";
  return section("waits", "What do Jobs wait for?",
                 drawn > 1 ? "<div class=\"pair\">\n" + figures + "</div>\n" : figures);
}

}  // namespace slicewise::reports::html
