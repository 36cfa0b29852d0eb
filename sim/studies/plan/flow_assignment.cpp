#include "flow_assignment.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/successive_shortest_path_nonnegative_weights.hpp>

namespace slicewise::sim {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor,
                                        boost::property<boost::edge_weight_t, std::int64_t>>>>>;

Traits::edge_descriptor connect(Graph& graph, std::size_t from, std::size_t to,
                                std::int64_t capacity, std::int64_t cost) {
  const auto edge = boost::add_edge(from, to, graph).first;
  const auto back = boost::add_edge(to, from, graph).first;
  boost::put(boost::edge_capacity, graph, edge, capacity);
  boost::put(boost::edge_capacity, graph, back, 0);
  boost::put(boost::edge_weight, graph, edge, cost);
  boost::put(boost::edge_weight, graph, back, -cost);
  boost::put(boost::edge_reverse, graph, edge, back);
  boost::put(boost::edge_reverse, graph, back, edge);
  return edge;
}

}  // namespace

std::vector<std::size_t> assign_by_flow(const FlowProblem& problem) {
  const std::size_t groups = problem.pods.size();
  const std::size_t places = problem.capacity.size();
  const std::size_t source = groups + places;
  const std::size_t sink = source + 1;
  Graph graph(sink + 1);
  std::vector<std::vector<std::pair<std::size_t, Traits::edge_descriptor>>> ways(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    connect(graph, source, g, problem.pods[g], 0);
    for (std::size_t p = 0; p < places; ++p) {
      if (problem.cost[g][p] < 0) continue;
      ways[g].emplace_back(p, connect(graph, g, groups + p, problem.pods[g], problem.cost[g][p]));
    }
  }
  for (std::size_t p = 0; p < places; ++p) {
    connect(graph, groups + p, sink, problem.capacity[p], 0);
  }
  boost::successive_shortest_path_nonnegative_weights(graph, source, sink);
  std::vector<std::size_t> chosen(groups, places);
  for (std::size_t g = 0; g < groups; ++g) {
    std::int64_t most = 0;
    for (const auto& [p, edge] : ways[g]) {
      const std::int64_t flow = boost::get(boost::edge_capacity, graph, edge) -
                                boost::get(boost::edge_residual_capacity, graph, edge);
      if (flow <= most) continue;
      most = flow;
      chosen[g] = p;
    }
  }
  return chosen;
}

}  // namespace slicewise::sim
