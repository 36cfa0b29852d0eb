#include "plan_routes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/studies.hpp"

namespace slicewise::reports {
namespace {

// What sets an option up: "the device plugin, or NVIDIA's DRA driver (export --to dra)".
std::string routes_text(const sim::PlanOption& option) {
  const sim::SetUpRoute* plugin = nullptr;
  const sim::SetUpRoute* dra = nullptr;
  for (const sim::SetUpRoute& route : option.routes) {
    if (route.by == kByPlugin) plugin = &route;
    if (route.by == kByDra) dra = &route;
  }
  if (plugin == nullptr || dra == nullptr) return "";
  const auto why = [](const sim::SetUpRoute& route) {
    return fmt::format("{}", fmt::join(route.refused, "; "));
  };
  if (plugin->refused.empty()) {
    return dra->refused.empty()
               ? "the device plugin, or NVIDIA's DRA driver (export --to dra)"
               : fmt::format("the device plugin; not NVIDIA's DRA driver: {}", why(*dra));
  }
  if (dra->refused.empty()) {
    return fmt::format("NVIDIA's DRA driver alone (export --to dra): {}", why(*plugin));
  }
  return fmt::format("neither the device plugin ({}) nor NVIDIA's DRA driver ({})", why(*plugin),
                     why(*dra));
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
