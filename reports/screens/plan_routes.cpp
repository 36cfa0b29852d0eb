#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/studies.hpp"

#include "plan_words.hpp"

namespace slicewise::reports {
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
