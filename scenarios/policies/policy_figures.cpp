#include "slicewise/scenarios/policy_figures.hpp"

#include <array>
#include <optional>
#include <utility>

#include "slicewise/scenarios/policy.hpp"

namespace slicewise::scenarios {
namespace {

using NamedFigure = std::pair<std::string_view, PolicyFigure>;

constexpr std::string_view kWorkloadPrefix = "workloads.";

constexpr std::array kOfResults = {
    NamedFigure{"cost.monthly", PolicyFigure::Money},
    NamedFigure{"cost.total", PolicyFigure::Money},
    NamedFigure{"cost.perJob", PolicyFigure::Money},
    NamedFigure{"cost.per1kInSlo", PolicyFigure::Money},
    NamedFigure{"headroom", PolicyFigure::Number},
    NamedFigure{"nodes", PolicyFigure::Number},
    NamedFigure{"pods.pending", PolicyFigure::Number},
    NamedFigure{"pods.failed", PolicyFigure::Number},
    NamedFigure{"pods.oomKills", PolicyFigure::Number},
    NamedFigure{"pods.restarts", PolicyFigure::Number},
    NamedFigure{"gpu.busy", PolicyFigure::Share},
    NamedFigure{"slo.pass", PolicyFigure::Truth},
    NamedFigure{"strategy", PolicyFigure::Word},
    NamedFigure{"instanceType", PolicyFigure::Word},
    NamedFigure{"isolation.memory", PolicyFigure::Word},
    NamedFigure{"isolation.compute", PolicyFigure::Word},
    NamedFigure{"isolation.fault", PolicyFigure::Word},
    NamedFigure{"sharedGpu", PolicyFigure::Truth},
    NamedFigure{kNamespacesShareGpu, PolicyFigure::Truth},
};

constexpr std::array kOfWorkloads = {
    NamedFigure{"latencyP50", PolicyFigure::Time}, NamedFigure{"latencyP95", PolicyFigure::Time},
    NamedFigure{"latencyP99", PolicyFigure::Time}, NamedFigure{"completionP95", PolicyFigure::Time},
    NamedFigure{"waitP95", PolicyFigure::Time},    NamedFigure{"goodput", PolicyFigure::Rate},
    NamedFigure{"throughput", PolicyFigure::Rate}, NamedFigure{"availability", PolicyFigure::Share},
    NamedFigure{"slo.pass", PolicyFigure::Truth},
};

template <std::size_t N>
std::optional<PolicyFigure> kind_of_figure(const std::array<NamedFigure, N>& known,
                                           std::string_view name) {
  for (const auto& [figure, kind] : known) {
    if (figure == name) return kind;
  }
  return std::nullopt;
}

template <std::size_t N>
std::vector<std::string_view> names_of_figures(const std::array<NamedFigure, N>& known) {
  std::vector<std::string_view> names;
  names.reserve(N);
  for (const auto& [figure, kind] : known) names.push_back(figure);
  return names;
}

}  // namespace

std::optional<PolicyFigure> policy_figure(std::string_view figure) {
  const WorkloadFigure of = workload_figure(figure);
  return of.workload.empty() ? kind_of_figure(kOfResults, figure)
                             : kind_of_figure(kOfWorkloads, of.figure);
}

WorkloadFigure workload_figure(std::string_view figure) {
  if (!figure.starts_with(kWorkloadPrefix)) return {};
  figure.remove_prefix(kWorkloadPrefix.size());
  const std::size_t dot = figure.find('.');
  if (dot == std::string_view::npos) return {figure, ""};
  return {figure.substr(0, dot), figure.substr(dot + 1)};
}

std::vector<std::string_view> figures_of_results() { return names_of_figures(kOfResults); }

std::vector<std::string_view> figures_of_workloads() { return names_of_figures(kOfWorkloads); }

std::vector<std::string_view> words_of_figure(std::string_view figure) {
  if (figure == "strategy") {  // as results spell them
    return {"exclusive",       "timeSlicing", "mps",           "mig", "mig+mps",
            "mig+timeSlicing", "vgpu",        "awsVirtualGpu", "nos"};
  }
  if (figure == "isolation.memory") return {"none", "processLimit", "hardware"};
  if (figure == "isolation.compute") return {"none", "cap", "hardware"};
  if (figure == "isolation.fault") return {"shared", "process", "hardware"};
  return {};
}

}  // namespace slicewise::scenarios
