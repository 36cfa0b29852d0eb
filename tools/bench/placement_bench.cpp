#include <array>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/placement/placement.hpp"
#include "slicewise/sim/replay/replay.hpp"

namespace slicewise::sim {
namespace {

// Nodes in the proportions of Alibaba's 2023 GPU cluster (the node list that comes with Weng et
// al., USENIX ATC'23), of which it has 1,213.
std::vector<NodeShape> nodes_like_openb(std::size_t count) {
  struct Kind {
    int nodes;
    NodeShape shape;
  };
  const std::array<Kind, 7> kinds = {{{549, {"", {96'000}, gibibytes(384), 8, "G2"}},
                                      {387, {"", {104'000}, gibibytes(512), 2, "T4"}},
                                      {134, {"", {16'000}, gibibytes(120), 2, "P100"}},
                                      {60, {"", {128'000}, gibibytes(768), 8, "G3"}},
                                      {36, {"", {32'000}, gibibytes(128), 4, "V100M16"}},
                                      {28, {"", {96'000}, gibibytes(768), 8, "V100M32"}},
                                      {19, {"", {8'000}, gibibytes(32), 1, "V100M16"}}}};
  RandomStream random(1, 0, 0, Purpose::Test);
  std::vector<NodeShape> nodes;
  while (nodes.size() < count) {
    auto skip = static_cast<int>(random.below(1'213));
    const Kind* kind = kinds.data();
    for (; skip >= kind->nodes; ++kind) skip -= kind->nodes;
    nodes.push_back(kind->shape);
    nodes.back().name = "node-" + std::to_string(100'000 + nodes.size());
  }
  return nodes;
}

// Rows with as many shapes, and as many shares of a GPU among them, as the pods of that cluster:
// 13 % without a GPU, 38 % a share, 48 % one GPU, 1 % several.
InflationInput input_like_openb(std::size_t nodes) {
  constexpr std::array kShares = {810, 470, 320, 650, 230, 460, 590, 160, 550, 220};
  InflationInput input;
  input.nodes = nodes_like_openb(nodes);
  ShapeTable table;
  RandomStream random(2, 0, 0, Purpose::Test);
  for (int row = 0; row < 8'152; ++row) {
    const std::uint32_t kind = random.below(100);
    // The smaller of two: some sizes are much more frequent than others.
    const std::int64_t cpu = 1 + std::min(random.below(16), random.below(16));
    JobShape shape{{cpu * 1'000}, gibibytes(cpu * (2 + 2 * random.below(2))), 1, 1000, {}};
    if (kind < 13) {
      shape.gpus = 0;
      shape.gpu_milli = 0;
    } else if (kind < 51) {
      shape.gpu_milli = kShares[std::min(random.below(10), random.below(10))];
    } else if (kind == 99) {
      shape.gpus = 1 << (1 + random.below(3));
    }
    input.jobs.push_back({"job-" + std::to_string(10'000 + row), table.add(shape)});
  }
  input.shapes.assign(table.shapes().begin(), table.shapes().end());
  return input;
}

std::vector<TypicalJob> typical_of(const InflationInput& input) {
  std::vector<std::int64_t> counts(input.shapes.size());
  for (const InflationJob& job : input.jobs) ++counts[job.shape];
  return typical_jobs(input.shapes, counts);
}

// One job ends, the next starts, on a cluster that is nearly full; one or the other may not fit.
void turn_over(benchmark::State& state, NodePolicy policy) {
  const InflationInput input = input_like_openb(static_cast<std::size_t>(state.range(0)));
  Placement placement(input.nodes, input.shapes, policy, 1, typical_of(input));
  RandomStream random(3, 0, 0, Purpose::Test);
  const auto any_shape = [&] {
    return input.jobs[random.below(static_cast<std::uint32_t>(input.jobs.size()))].shape;
  };
  std::vector<AllocationId> running;
  while (placement.free().gpu_milli * 10 > placement.total_gpu_milli()) {
    if (const auto id = placement.place(any_shape())) running.push_back(*id);
  }
  for (auto _ : state) {
    AllocationId& leaving = running[random.below(static_cast<std::uint32_t>(running.size()))];
    placement.release(leaving);
    auto id = placement.place(any_shape());
    while (!id) id = placement.place(any_shape());
    leaving = *id;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["shapes"] = static_cast<double>(input.shapes.size());
}

void inflation(benchmark::State& state, NodePolicy policy) {
  const InflationInput input = input_like_openb(1'213);
  for (auto _ : state) benchmark::DoNotOptimize(inflate(input, policy, 1, 130));
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
const bool kRegistered = [] {
  for (const NodePolicy policy :
       {NodePolicy::FirstFit, NodePolicy::LeastAllocated, NodePolicy::MostAllocated,
        NodePolicy::Random, NodePolicy::BestFit, NodePolicy::DotProduct, NodePolicy::Fgd,
        NodePolicy::Clustering, NodePolicy::Packing}) {
    const std::string name(policy_name(policy));
    benchmark::RegisterBenchmark(("Placement/" + name + "/nodes").c_str(), turn_over, policy)
        ->Arg(1'000)
        ->Arg(10'000);
    benchmark::RegisterBenchmark(("Inflation/" + name).c_str(), inflation, policy)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace slicewise::sim
