#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Pipeline;
using StageGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

std::size_t place_of(const Pipeline& pipeline, const std::string& workload) {
  const auto stage = std::ranges::find_if(pipeline.stages, [&](const Pipeline::Stage& candidate) {
    return candidate.workload.value == workload;
  });
  return static_cast<std::size_t>(stage - pipeline.stages.begin());
}

StageGraph graph_of(const Pipeline& pipeline) {
  StageGraph graph(pipeline.stages.size());
  for (std::size_t stage = 0; stage < pipeline.stages.size(); ++stage) {
    for (const auto& before : pipeline.stages[stage].after) {
      boost::add_edge(place_of(pipeline, before.value), stage, graph);
    }
  }
  return graph;
}

WorkloadId workload_called(const World& world, const std::string& name) {
  const auto found = std::ranges::find(world.workloads, name, &WorkloadModel::name);
  return make_id<WorkloadId>(static_cast<std::size_t>(found - world.workloads.begin()));
}

}  // namespace

// The loader has checked that stages name Services of the scenario and follow each other.
void model_pipelines(const scenarios::Scenario& scenario, World& world) {
  for (const Pipeline& pipeline : scenario.pipelines) {
    PipelineModel model;
    model.name = pipeline.name.value;
    model.spec = pipeline;
    model.limits = request_limits(pipeline.objectives);
    const StageGraph graph = graph_of(pipeline);
    std::vector<std::size_t> order;
    boost::topological_sort(graph, std::back_inserter(order));
    std::ranges::reverse(order);
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t n = 0; n < order.size(); ++n) place[order[n]] = n;
    for (const std::size_t stage : order) {
      PipelineModel::Stage resolved;
      resolved.workload = workload_called(world, pipeline.stages[stage].workload.value);
      resolved.inputs = static_cast<int>(pipeline.stages[stage].after.size());
      const auto [first, last] = boost::out_edges(stage, graph);
      for (auto edge = first; edge != last; ++edge) {
        resolved.next.push_back(place[boost::target(*edge, graph)]);
      }
      model.stages.push_back(std::move(resolved));
    }
    world.pipelines.push_back(std::move(model));
  }
}

}  // namespace slicewise::sim
