#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "slicewise/sim/judge.hpp"

#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

constexpr std::size_t kMostServices = 4;  // with a chart of their own
constexpr std::size_t kMostLines = 5;     // in a chart

std::string latency_tick(double value) { return duration_text(from_seconds(value)); }

const sim::WorkloadResult* service_of(const sim::VariantResult& variant, const std::string& name) {
  for (const sim::WorkloadResult& workload : variant.workloads) {
    if (workload.name == name && workload.latency && workload.latency->count > 0) return &workload;
  }
  return nullptr;
}

std::vector<std::string> service_names(const sim::Result& result) {
  std::vector<std::string> names;
  for (const sim::VariantResult& variant : result.variants) {
    for (const sim::WorkloadResult& workload : variant.workloads) {
      if (service_of(variant, workload.name) == nullptr) continue;
      if (std::ranges::find(names, workload.name) == names.end()) names.push_back(workload.name);
    }
  }
  return names;
}

charts::LineSeries quantile_line(const std::string& name, const sim::TimeSummary& latency) {
  charts::LineSeries series{name, {}, true};
  for (const sim::QuantilePoint& point : latency.curve) {
    series.points.push_back({charts::quantile_place(point.quantile), to_seconds(point.value),
                             point.ci95 ? std::optional(to_seconds(*point.ci95)) : std::nullopt,
                             false});
  }
  return series;
}

std::vector<charts::RuleLine> latency_limits(const sim::WorkloadResult& workload) {
  std::vector<charts::RuleLine> limits;
  for (const sim::ObjectiveResult& objective : workload.objectives) {
    const auto* limit = std::get_if<Duration>(&objective.limit);
    if (limit == nullptr || !objective.name.starts_with("latency")) continue;
    limits.push_back({to_seconds(*limit),
                      fmt::format("limit of {}: {}", objective.name, duration_text(*limit))});
  }
  return limits;
}

std::string latency_finding(const std::string& service, const sim::VariantResult& lead) {
  const sim::WorkloadResult* workload = service_of(lead, service);
  if (workload == nullptr) return fmt::format("{} has no answer in {}.", service, lead.name);
  const sim::TimeSummary& t = *workload->latency;
  std::string out =
      fmt::format("{} of {}: half of the requests take up to {}, 99 of 100 up to {}", service,
                  lead.name, duration_text(t.p50), interval_text(t.p99, t.p99_ci95, kPageStyle));
  for (const sim::ObjectiveResult& objective : workload->objectives) {
    const auto standing = sim::standing_of(objective);
    const bool holds = standing == sim::ObjectiveStanding::Holds;
    if (holds || !objective.name.starts_with("latency")) continue;
    const bool misses = standing == sim::ObjectiveStanding::Missed;
    return out + fmt::format(": {} {}.", objective.name, misses ? "is missed" : "may be missed");
  }
  return out + (latency_limits(*workload).empty() ? "." : ": within its limits.");
}

// `runs`: the summary is of all of them together; as many requests came in each.
std::vector<HtmlCell> latency_row(std::string name, const sim::TimeSummary& t, int runs) {
  const double requests = static_cast<double>(t.count) / std::max(1, runs);
  const auto timed = [](Duration value, const std::optional<Duration>& half) {
    return HtmlCell{interval_text(value, half, kPageStyle), to_seconds(value), ""};
  };
  return {std::move(name),
          {count_text(requests), requests, ""},
          timed(t.mean, t.ci95),
          timed(t.p50, t.p50_ci95),
          timed(t.p95, t.p95_ci95),
          timed(t.p99, t.p99_ci95),
          t.p999 ? timed(*t.p999, t.p999_ci95) : HtmlCell{}};
}

HtmlTable latency_heads(std::string caption, std::string_view rows) {
  HtmlTable table{std::move(caption),
                  {{std::string(rows)},
                   {"Requests", true},
                   {"Mean", true},
                   {"p50", true},
                   {"p95", true},
                   {"p99", true},
                   {"p99.9", true}}};
  return table;
}

HtmlTable latency_table(const sim::Result& result, const std::string& service) {
  HtmlTable table = latency_heads(service + ", latency", "Option");
  for (const sim::VariantResult& variant : result.variants) {
    const sim::WorkloadResult* workload = service_of(variant, service);
    if (workload == nullptr) continue;
    table.rows.push_back(latency_row(variant.name, *workload->latency, variant.replications));
  }
  return table;
}

// Those without a chart of their own, in the option that leads.
HtmlTable other_services(const std::vector<std::string>& services, const sim::VariantResult& lead) {
  HtmlTable table = latency_heads("the other services in " + lead.name + ", latency", "Service");
  table.sortable = true;
  for (std::size_t s = kMostServices; s < services.size(); ++s) {
    const sim::WorkloadResult* workload = service_of(lead, services[s]);
    if (workload == nullptr) continue;
    table.rows.push_back(latency_row(services[s], *workload->latency, lead.replications));
  }
  return table;
}

// Share of its latency limits that a service uses up in the option; 0 without a limit.
double tightness(const sim::VariantResult& variant, const std::string& service) {
  const sim::WorkloadResult* workload = service_of(variant, service);
  double share = 0;
  if (workload == nullptr) return share;
  for (const sim::ObjectiveResult& objective : workload->objectives) {
    const auto* limit = std::get_if<Duration>(&objective.limit);
    const auto* value = std::get_if<Duration>(&objective.value);
    if (limit == nullptr || value == nullptr || limit->ns <= 0) continue;
    share = std::max(share, static_cast<double>(value->ns) / static_cast<double>(limit->ns));
  }
  return share;
}

// The option that leads, and the others in their order.
std::vector<const sim::VariantResult*> drawn_variants(const sim::Result& result,
                                                      const sim::VariantResult& lead,
                                                      const std::string& service) {
  std::vector<const sim::VariantResult*> drawn;
  const auto add = [&](const sim::VariantResult& variant) {
    const sim::WorkloadResult* workload = service_of(variant, service);
    if (workload != nullptr && !workload->latency->curve.empty()) drawn.push_back(&variant);
  };
  add(lead);
  for (const sim::VariantResult& variant : result.variants) {
    if (&variant != &lead) add(variant);
  }
  return drawn;
}

Markup service_figure(const sim::Result& result, const sim::VariantResult& lead,
                      const std::string& service, std::size_t index) {
  charts::LineChart chart;
  chart.text = {fmt::format("chart-latency-{}", index + 1), latency_finding(service, lead),
                "Latency over percentiles, one line for each option. Bands are 95 % intervals."};
  std::vector<const sim::VariantResult*> drawn = drawn_variants(result, lead, service);
  if (drawn.size() > kMostLines) {
    chart.text.title +=
        fmt::format(" Drawn: {} of {} options, this one first.", kMostLines, drawn.size());
    drawn.resize(kMostLines);
  }
  double last = 0.5;
  double least = 1e300;
  double most = 0;
  for (const sim::VariantResult* variant : drawn) {
    const sim::WorkloadResult* workload = service_of(*variant, service);
    if (chart.limits.empty()) chart.limits = latency_limits(*workload);
    chart.series.push_back(quantile_line(variant->name, *workload->latency));
    last = std::max(last, workload->latency->curve.back().quantile);
    for (const charts::LinePoint& point : chart.series.back().points) {
      least = std::min(least, point.y);
      most = std::max(most, point.y);
    }
  }
  const std::vector<HtmlTable> data{latency_table(result, service)};
  if (chart.series.empty()) {
    return paragraph(chart.text.title) + table_markup(data.front());
  }
  constexpr double kLongTail = 10;
  const bool logarithmic = most > kLongTail * least;
  chart.x = {"percentile (each nine as wide as the last)", tick_text, true, false};
  chart.x_ticks = charts::quantile_ticks(last);
  chart.y = {logarithmic ? "latency (log)" : "latency", latency_tick, logarithmic, true,
             charts::time_unit(most)};
  return figure(draw(chart), chart.text.title, data);
}

}  // namespace

Markup latency_section(const HtmlReport& report) {
  const sim::Result& result = report.result;
  std::vector<std::string> services = service_names(result);
  if (services.empty()) return "";
  const sim::VariantResult& lead = *leading_variant(report);
  if (services.size() > kMostServices) {  // the tightest ones are drawn
    std::ranges::stable_sort(services, std::ranges::greater{},
                             [&](const std::string& service) { return tightness(lead, service); });
  }
  Markup figures;
  for (std::size_t s = 0; s < std::min(kMostServices, services.size()); ++s) {
    figures += service_figure(result, lead, services[s], s);
  }
  Markup out = services.size() > 1 ? "<div class=\"pair\">\n" + figures + "</div>\n" : figures;
  if (services.size() > kMostServices) {
    out += folded(
        fmt::format("The {} other services, the tightest first", services.size() - kMostServices),
        table_markup(other_services(services, lead)));
  }
  const bool intervals = lead.replications > 1;
  out += paragraph(intervals ? fmt::format("Bands and ± are 95 % intervals over {} replications.",
                                           lead.replications)
                             : "One replication: there are no intervals. Ask for more with "
                               "--replications.");
  return section("latency", "Is the tail all right?", out);
}

}  // namespace slicewise::reports::html
