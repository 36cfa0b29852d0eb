#include "slicewise/sim/placement/placement.hpp"

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "naive_placement.hpp"

namespace slicewise::sim {
namespace {

class EveryPolicy : public testing::TestWithParam<NodePolicy> {};

std::string name_of(const testing::TestParamInfo<NodePolicy>& instance) {
  std::string name(policy_name(instance.param));
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Placement, EveryPolicy,
                         testing::Values(NodePolicy::FirstFit, NodePolicy::LeastAllocated,
                                         NodePolicy::MostAllocated, NodePolicy::Random,
                                         NodePolicy::BestFit, NodePolicy::DotProduct,
                                         NodePolicy::Clustering, NodePolicy::Packing),
                         name_of);
// Its definition looks at every GPU for every typical job.
INSTANTIATE_TEST_SUITE_P(ThoroughPlacement, EveryPolicy, testing::Values(NodePolicy::Fgd), name_of);

std::vector<NodeShape> mixed_nodes(int count) {
  const std::array<NodeShape, 5> kinds = {{{"", {96'000}, gibibytes(384), 8, "G2"},
                                           {"", {64'000}, gibibytes(256), 2, "T4"},
                                           {"", {128'000}, gibibytes(768), 8, "A100"},
                                           {"", {16'000}, gibibytes(120), 1, ""},
                                           {"", {32'000}, gibibytes(64), 0, ""}}};
  std::vector<NodeShape> nodes;
  for (int n = 0; n < count; ++n) {
    nodes.push_back(kinds[static_cast<std::size_t>(n * 7 % 5)]);
    nodes.back().name = "node-" + std::to_string(n);
  }
  return nodes;
}

std::vector<JobShape> mixed_shapes() {
  std::vector<JobShape> shapes;
  for (const int milli : {50, 100, 320, 470, 500, 810, 999}) {
    shapes.push_back({{milli * 11}, mebibytes(milli * 20), 1, milli, {}});
    shapes.push_back({{milli * 3}, mebibytes(milli * 50), 1, milli, {"G2", "T4"}});
  }
  for (const int gpus : {1, 2, 4, 8}) {
    shapes.push_back({{gpus * 8'000}, gibibytes(gpus * 30), gpus, 1000, {}});
    shapes.push_back({{gpus * 3'000}, gibibytes(gpus), gpus, 1000, {"A100"}});
  }
  shapes.push_back({{4'000}, gibibytes(8), 0, 0, {}});
  shapes.push_back({{30'000}, gibibytes(60), 0, 0, {"T4"}});
  shapes.push_back({{0}, {0}, 1, 1000, {"H100"}});  // no such node
  return shapes;
}

std::vector<TypicalJob> typical_of(const std::vector<JobShape>& shapes) {
  std::vector<std::int64_t> counts;
  for (std::size_t n = 0; n < shapes.size(); ++n) {
    counts.push_back(static_cast<std::int64_t>(n * 37 % 100));
  }
  return typical_jobs(shapes, counts);
}

struct Placed {
  AllocationId id = 0;
  ShapeId shape = 0;
  AllocatedPart part;
};

// Thousands of jobs that come and go in random order: every decision is the one of the definition,
// and what is free and what is allocated add up to the cluster.
TEST_P(EveryPolicy, DecidesAsItsDefinition) {
  const std::vector<NodeShape> nodes = mixed_nodes(150);  // three blocks of scores
  const std::vector<JobShape> shapes = mixed_shapes();
  const std::vector<TypicalJob> typical = typical_of(shapes);
  Placement placement(nodes, shapes, GetParam(), 7, typical);
  NaivePlacement naive(nodes, shapes, GetParam(), 7, typical);
  RandomStream random(1, 0, 0, Purpose::Test);
  std::vector<Placed> placed;
  std::int64_t allocated_milli = 0;
  int failed = 0;
  for (int step = 0; step < 4'000; ++step) {
    const bool fills = step % 1'000 < 700;
    if (!placed.empty() && random.below(10) < (fills ? 2U : 8U)) {
      const auto victim = placed.begin() + random.below(static_cast<std::uint32_t>(placed.size()));
      placement.release(victim->id);
      naive.release(victim->shape, victim->part);
      allocated_milli -= std::int64_t{shapes[victim->shape].gpus} * shapes[victim->shape].gpu_milli;
      *victim = placed.back();
      placed.pop_back();
    } else {
      const auto shape = random.below(static_cast<std::uint32_t>(shapes.size()));
      const auto id = placement.place(shape);
      const auto expected = naive.place(shape);
      ASSERT_EQ(id.has_value(), expected.has_value()) << "step " << step;
      failed += id ? 0 : 1;
      if (!id) continue;
      ASSERT_EQ(placement.parts(*id).size(), 1U);
      const AllocatedPart part = placement.parts(*id).front();
      ASSERT_EQ(part.node, expected->node) << "step " << step;
      ASSERT_EQ(part.gpus, expected->gpus) << "step " << step;
      placed.push_back({*id, shape, part});
      allocated_milli += std::int64_t{shapes[shape].gpus} * shapes[shape].gpu_milli;
    }
    ASSERT_EQ(placement.free().gpu_milli + allocated_milli, placement.total_gpu_milli());
  }
  EXPECT_GT(failed, 100);  // it was full at times
  EXPECT_GT(placed.size(), 10U);
  std::int64_t cpu = 0;
  std::int64_t whole = 0;
  for (const auto& node : naive.nodes()) {
    cpu += node.cpu;
    whole += node.whole();
  }
  EXPECT_EQ(placement.free().cpu_milli, cpu);
  EXPECT_EQ(placement.free().whole_gpus, whole);
}

TEST_P(EveryPolicy, ReleasingAllRestoresTheCluster) {
  const std::vector<NodeShape> nodes = mixed_nodes(40);
  std::vector<JobShape> shapes = mixed_shapes();
  shapes.push_back({{50'000}, gibibytes(100), 20, 1000, {}});  // spread
  Placement placement(nodes, shapes, GetParam(), 7, typical_of(shapes));
  const FreeResources before = placement.free();
  for (int round = 0; round < 2; ++round) {
    std::vector<AllocationId> placed;
    for (ShapeId shape = 0; shape < shapes.size(); ++shape) {
      const auto alone = placement.place(shape);
      EXPECT_EQ(alone.has_value(), placement.fits_empty(shape)) << shape;
      if (alone) placement.release(*alone);
    }
    for (ShapeId shape = 0; shape < shapes.size(); ++shape) {
      if (const auto id = placement.place(shape)) placed.push_back(*id);
    }
    EXPECT_LT(placement.free().gpu_milli, before.gpu_milli);
    for (const AllocationId id : placed) placement.release(id);
    EXPECT_EQ(placement.free().gpu_milli, before.gpu_milli);
    EXPECT_EQ(placement.free().cpu_milli, before.cpu_milli);
    EXPECT_EQ(placement.free().whole_gpus, before.whole_gpus);
  }
}

// More shapes than there are score boards for: boards are rebuilt, decisions stay.
TEST(Placement, ManyShapesOnManyNodesDecideAsFew) {
  const std::vector<NodeShape> nodes = mixed_nodes(50'000);
  std::vector<JobShape> shapes;
  for (int n = 0; n < 700; ++n) shapes.push_back({{1'000 + n}, gibibytes(1), 1, 300 + n, {}});
  Placement many(nodes, shapes, NodePolicy::BestFit, 1);
  Placement few(nodes, std::span(shapes).first(5), NodePolicy::BestFit, 1);
  for (ShapeId shape = 0; shape < shapes.size(); ++shape) many.release(*many.place(shape));
  for (ShapeId step = 0; step < 20; ++step) {
    const ShapeId asked = step % 5;
    EXPECT_EQ(many.parts(*many.place(asked)).front().node,
              few.parts(*few.place(asked)).front().node);
    many.release(*many.place(690 + step % 10));
  }
}

TEST(Placement, AJobLargerThanANodeTakesWholeNodesAndOnePart) {
  std::vector<NodeShape> nodes;
  for (int n = 0; n < 4; ++n) nodes.push_back({"n", {80'000}, gibibytes(800), 8, ""});
  const std::vector<JobShape> shapes = {{{44'000}, gibibytes(220), 22, 1000, {}},
                                        {{1'000}, gibibytes(1), 2, 1000, {}},
                                        {{0}, {0}, 33, 1000, {}},
                                        {{0}, {0}, 4, 1000, {}}};
  Placement placement(nodes, shapes, NodePolicy::FirstFit, 1);
  EXPECT_TRUE(placement.fits_empty(0));
  EXPECT_FALSE(placement.fits_empty(2));
  EXPECT_FALSE(placement.place(2));
  EXPECT_EQ(placement.free().whole_gpus, 32);

  const auto small = placement.place(1);  // node 0 is no longer empty
  const auto large = placement.place(0);
  ASSERT_TRUE(small && large);
  const auto parts = placement.parts(*large);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].node, 1U);
  EXPECT_EQ(parts[0].gpus, 0xFFU);
  EXPECT_EQ(parts[1].node, 2U);
  EXPECT_EQ(parts[2].node, 0U);  // the rest goes where there is room
  EXPECT_EQ(parts[2].gpus, 0b1111'1100U);
  // CPU and memory go with the GPUs: 16 + 16 + 12 vCPU.
  EXPECT_EQ(placement.free().cpu_milli, 4 * 80'000 - 1'000 - 44'000);

  // All or nothing: with one node empty there is no place for 22 GPUs, and nothing is kept.
  const FreeResources before = placement.free();
  EXPECT_FALSE(placement.place(0));
  EXPECT_EQ(placement.free().whole_gpus, before.whole_gpus);
  EXPECT_EQ(placement.free().cpu_milli, before.cpu_milli);
  placement.release(*large);
  EXPECT_EQ(placement.free().whole_gpus, 30);
  EXPECT_TRUE(placement.place(0));
}

TEST(Placement, TheRestOfALargeJobPrefersOnePartToTwoSmallNodes) {
  const std::vector<NodeShape> nodes = {{"a", {1'000}, {0}, 8, ""},
                                        {"b", {1'000}, {0}, 4, ""},
                                        {"c", {1'000}, {0}, 4, ""},
                                        {"d", {1'000}, {0}, 8, ""}};
  const std::vector<JobShape> shapes = {{{0}, {0}, 14, 1000, {}}, {{0}, {0}, 2, 1000, {}}};
  Placement placement(nodes, shapes, NodePolicy::FirstFit, 1);
  ASSERT_TRUE(placement.place(1));  // a has 6 left
  const auto large = placement.place(0);
  ASSERT_TRUE(large);
  ASSERT_EQ(placement.parts(*large).size(), 2U);
  EXPECT_EQ(placement.parts(*large)[0].node, 3U);
  EXPECT_EQ(placement.parts(*large)[1].node, 0U);
}

TEST(Placement, LargeIsWhatTheAllowedNodesDoNotHave) {
  const std::vector<NodeShape> nodes = {
      {"a", {1'000}, {0}, 8, "A100"}, {"b", {1'000}, {0}, 2, "T4"}, {"c", {1'000}, {0}, 2, "T4"}};
  const std::vector<JobShape> shapes = {{{0}, {0}, 4, 1000, {"T4"}}, {{0}, {0}, 6, 1000, {"T4"}}};
  Placement placement(nodes, shapes, NodePolicy::BestFit, 1);
  EXPECT_FALSE(placement.fits_empty(1));
  EXPECT_FALSE(placement.place(1));
  const auto id = placement.place(0);
  ASSERT_TRUE(id);
  EXPECT_EQ(placement.parts(*id).size(), 2U);
  EXPECT_EQ(placement.free().whole_gpus, 8);
}

TEST(Placement, NodesWithoutCpuAreScoredByTheirGpus) {
  const std::vector<NodeShape> nodes = {{"a", {0}, {0}, 8, ""}, {"b", {0}, {0}, 8, ""}};
  const std::vector<JobShape> shapes = {{{0}, {0}, 1, 1000, {}}};
  Placement spread(nodes, shapes, NodePolicy::LeastAllocated, 1);
  Placement packed(nodes, shapes, NodePolicy::MostAllocated, 1);
  for (const std::uint32_t node : {0U, 1U, 0U, 1U}) {
    EXPECT_EQ(spread.parts(*spread.place(0)).front().node, node);
    EXPECT_EQ(packed.parts(*packed.place(0)).front().node, 0U);
  }
}

TEST(ShapeTable, NumbersAndCountsShapes) {
  ShapeTable table;
  const JobShape one{{1'000}, gibibytes(1), 1, 500, {}};
  JobShape two = one;
  two.gpu_models = {"T4"};
  EXPECT_EQ(table.add(one), 0U);
  EXPECT_EQ(table.add(two), 1U);
  EXPECT_EQ(table.add(one), 0U);
  ASSERT_EQ(table.shapes().size(), 2U);
  EXPECT_EQ(table.shapes()[1], two);
  EXPECT_EQ(table.counts()[0], 2);
}

TEST(TypicalJobs, CoverNinetyFivePercentAndForgetMemory) {
  const std::vector<JobShape> shapes = {{{1'000}, gibibytes(1), 1, 500, {}},
                                        {{1'000}, gibibytes(2), 1, 500, {}},
                                        {{2'000}, gibibytes(1), 1, 500, {}},
                                        {{4'000}, gibibytes(1), 2, 1000, {}}};
  const std::vector<std::int64_t> counts = {30, 31, 35, 4};
  const auto typical = typical_jobs(shapes, counts);
  ASSERT_EQ(typical.size(), 2U);
  EXPECT_EQ(shapes[typical[0].shape].cpu, Millicores{1'000});
  EXPECT_DOUBLE_EQ(typical[0].share, 61.0 / 96);
  EXPECT_DOUBLE_EQ(typical[1].share, 35.0 / 96);
}

}  // namespace
}  // namespace slicewise::sim
