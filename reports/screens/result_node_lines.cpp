#include "result_node_lines.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

std::string nodes_sentence(const sim::NodePoolResult& pool) {
  const sim::NodeDynamics& nodes = *pool.dynamics;
  std::string out =
      fmt::format("NODES {}: {:.3g} on average, {} at most, by {}; {:.3g} started", pool.name,
                  nodes.mean_nodes, nodes.max_nodes, nodes.provisioner, nodes.launches);
  const auto add = [&out](double count, std::string_view what) {
    if (count > 0) out += fmt::format(", {:.3g} {}", count, what);
  };
  add(nodes.surplus, "of them without need");
  add(nodes.removed, "taken away");
  add(nodes.interruptions, "taken back by EC2");
  add(nodes.on_demand_nodes, "bought as on-demand instead");
  out += fmt::format("; {:.4g} node-hours", nodes.node_hours);
  add(nodes.thrash_node_hours * 60, "node-minutes of thrash");
  return out;
}

std::string start_up_sentence(const sim::NodeStartUpFigures& figures) {
  std::string out =
      fmt::format("START-UP {:.3g} {} waited {} for a node, from Pending to work", figures.pods,
                  figures.pods == 1 ? "pod" : "pods", duration_text(figures.total.mean));
  std::string_view separator = ": ";
  const auto add = [&](Duration stage, std::string_view name) {
    if (stage.ns <= 0) return;
    out += fmt::format("{}{} {}", separator, name, duration_text(stage));
    separator = " + ";
  };
  add(figures.decision, "decision");
  add(figures.launch, "launch");
  add(figures.ready, "node Ready");
  add(figures.gpu_allocatable, "GPU allocatable");
  add(figures.scheduling, "scheduling");
  add(figures.image_pull, "image pull");
  add(figures.model_load, "model load");
  return out;
}

}  // namespace

bool has_node_dynamics(const sim::VariantResult& variant) {
  return std::any_of(variant.node_pools.begin(), variant.node_pools.end(),
                     [](const sim::NodePoolResult& pool) { return pool.dynamics.has_value(); });
}

std::vector<std::string> node_sentences(const sim::VariantResult& variant) {
  std::vector<std::string> out;
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    if (pool.dynamics) out.push_back(nodes_sentence(pool));
  }
  if (variant.node_start_up) out.push_back(start_up_sentence(*variant.node_start_up));
  return out;
}

}  // namespace slicewise::reports
