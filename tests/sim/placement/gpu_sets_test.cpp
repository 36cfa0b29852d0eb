#include "slicewise/sim/placement/gpu_sets.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/maximum_weighted_matching.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

// The GPUs that a pod gets, against the definition of go-gpuallocator's best-effort policy, and
// what an all-reduce over them takes, against the ring law.
namespace slicewise::sim {
namespace {

constexpr GpuMask kAllGpus = 0xFF;

GpuSets gpu_sets_of(const char* instance) {
  const models::Catalogue& catalogue = demo::catalogue();
  const models::InstanceType& type = *catalogue.find_instance(instance);
  return {*catalogue.find_interconnect(type.interconnect), *catalogue.find_gpu(type.gpu_model),
          type.gpu_count};
}

GpuMask gpu_mask(std::initializer_list<int> gpus) {
  GpuMask set = 0;
  for (const int gpu : gpus) set |= GpuMask{1} << gpu;
  return set;
}

// The best total over all ways to take disjoint sets of `count` GPUs, and what remains as one set.
int best_total_score(const GpuSets& sets, GpuMask free, int count) {
  if (std::popcount(free) < count) return sets.score(free);
  int best = -1;
  for (GpuMask set = free; set != 0; set = (set - 1) & free) {
    if (std::popcount(set) != count) continue;
    best = std::max(best, sets.score(set) + best_total_score(sets, free & ~set, count));
  }
  return best;
}

TEST(GpuSets, TheCatalogueKnowsTheLinksOfEveryInstanceType) {
  for (const models::InstanceType& type : demo::catalogue().instances) {
    EXPECT_LE(type.gpu_count, GpuSets::kMostGpus) << type.name;
    const GpuSets sets = gpu_sets_of(type.name.c_str());
    const GpuMask all = (GpuMask{1} << type.gpu_count) - 1;
    EXPECT_EQ(sets.all_reduce_bytes_per_second(all) > 0, type.gpu_count > 1) << type.name;
  }
  // 12 of the 28 pairs of the hybrid cube mesh have no NVLink.
  const GpuSets mesh = gpu_sets_of("p3.16xlarge");
  int unlinked = 0;
  for (GpuMask pair = 1; pair <= kAllGpus; ++pair) {
    if (std::popcount(pair) == 2 && !mesh.all_linked(pair)) ++unlinked;
  }
  EXPECT_EQ(unlinked, 12);
  EXPECT_EQ(mesh.score(kAllGpus), 2400);
}

// Whatever is free: the set is part of a partition with the best total, and no full set of any best
// partition scores higher than the best of the one chosen.
TEST(GpuSets, ChoosesAsTheDefinitionSaysForAllFreeSetsOfTheCubeMesh) {
  const GpuSets sets = gpu_sets_of("p3.16xlarge");
  for (GpuMask free = 1; free <= kAllGpus; ++free) {
    for (int count = 2; count <= std::popcount(free); ++count) {
      const GpuMask chosen = sets.choose(free, count);
      ASSERT_EQ(std::popcount(chosen), count);
      ASSERT_EQ(chosen & ~free, 0U);
      ASSERT_EQ(sets.score(chosen) + best_total_score(sets, free & ~chosen, count),
                best_total_score(sets, free, count))
          << free << " " << count;
    }
  }
}

// Partitions into pairs are matchings: another algorithm finds the same total.
TEST(ThoroughGpuSets, PairsAreAMatchingOfMaximumWeight) {
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                            boost::property<boost::edge_weight_t, int>>;
  const GpuSets sets = gpu_sets_of("p3.16xlarge");
  for (const GpuMask free :
       {kAllGpus, gpu_mask({0, 1, 2, 5, 6, 7}), gpu_mask({1, 2, 3, 4, 6, 7})}) {
    Graph graph(8);
    for (unsigned a = 0; a < 8; ++a) {
      for (unsigned b = 0; b < a; ++b) {
        const GpuMask pair = (GpuMask{1} << a) | (GpuMask{1} << b);
        if ((pair & ~free) == 0 && sets.score(pair) > 0) {
          boost::add_edge(a, b, sets.score(pair), graph);
        }
      }
    }
    std::vector<boost::graph_traits<Graph>::vertex_descriptor> mate(8);
    boost::maximum_weighted_matching(graph, mate.data());
    int total = 0;
    GpuMask left = free;
    while (left != 0) {
      const GpuMask pair = sets.choose(left, 2);
      total += sets.score(pair);
      left &= ~pair;
    }
    EXPECT_EQ(total, boost::matching_weight_sum(graph, mate.data())) << free;
  }
}

// By hand, on the matrix of p3.16xlarge.
TEST(GpuSets, QuadsStayWhole) {
  const GpuSets sets = gpu_sets_of("p3.16xlarge");
  EXPECT_EQ(sets.choose(kAllGpus, 4), gpu_mask({0, 1, 2, 3}));
  EXPECT_EQ(sets.choose(kAllGpus & ~gpu_mask({0, 1, 2, 3}), 4), gpu_mask({4, 5, 6, 7}));
  EXPECT_TRUE(sets.all_linked(gpu_mask({0, 1, 2, 3})));
  EXPECT_TRUE(sets.all_linked(gpu_mask({4, 5, 6, 7})));
  // One GPU of each quad is taken: four of the six that remain never have all six links.
  const GpuMask torn = kAllGpus & ~gpu_mask({0, 5});
  EXPECT_FALSE(sets.all_linked(sets.choose(torn, 4)));
  // The pair with two links goes first, and its partner pairs have two as well.
  EXPECT_EQ(sets.choose(kAllGpus, 2), gpu_mask({0, 3}));
  EXPECT_EQ(sets.score(gpu_mask({0, 3})), 200);
  // NVSwitch: any set is as good as any other, so the lowest indexes.
  EXPECT_EQ(gpu_sets_of("p4d.24xlarge").choose(gpu_mask({1, 3, 4, 6}), 2), gpu_mask({1, 3}));
}

// Two links between each two of n GPUs: the ring law over all 2(n-1) links of a GPU.
TEST(GpuSets, SymmetricMeshesFollowTheRingLaw) {
  models::Interconnect link;
  link.nvlinks = {{0, 2, 2, 2}, {2, 0, 2, 2}, {2, 2, 0, 2}, {2, 2, 2, 0}};
  const models::GpuModel& v100 = *demo::catalogue().find_gpu("V100-SXM2-16GB");
  const GpuSets sets(link, v100, 4);
  for (const GpuMask set : {gpu_mask({0, 1}), gpu_mask({0, 1, 2}), gpu_mask({0, 1, 2, 3})}) {
    const double n = std::popcount(set);
    const double links_of_gpu = 2 * (n - 1);
    EXPECT_NEAR(sets.all_reduce_bytes_per_second(set),
                0.8 * 25e9 * links_of_gpu * n / (2 * (n - 1)), 1);
  }
}

// NCCL's start, and 2(n-1) hops of a ring.
TEST(GpuSets, LatenciesByHand) {
  EXPECT_DOUBLE_EQ(gpu_sets_of("p5.48xlarge").all_reduce_latency_s(kAllGpus), 6.6e-6 + 14 * 0.6e-6);
  EXPECT_DOUBLE_EQ(gpu_sets_of("g5.12xlarge").all_reduce_latency_s(0b1111), 6.6e-6 + 6 * 1e-6);
  // Two of the cube mesh without a link go over PCIe.
  EXPECT_DOUBLE_EQ(gpu_sets_of("p3.16xlarge").all_reduce_latency_s(gpu_mask({0, 5})), 8.6e-6);
  EXPECT_DOUBLE_EQ(gpu_sets_of("p3.16xlarge").all_reduce_latency_s(gpu_mask({0, 1})), 7.8e-6);
}

TEST(GpuSets, AllReduceRatesByHand) {
  const GpuSets mesh = gpu_sets_of("p3.16xlarge");
  const auto gb = [&](std::initializer_list<int> set) {
    return mesh.all_reduce_bytes_per_second(gpu_mask(set)) / 1e9;
  };
  EXPECT_NEAR(gb({0, 3}), 0.8 * 50, 1e-6);            // two links
  EXPECT_NEAR(gb({0, 1}), 0.8 * 25, 1e-6);            // one
  EXPECT_NEAR(gb({0, 5}), 10, 1e-6);                  // none: PCIe
  EXPECT_NEAR(gb({0, 1, 2, 3}), 0.8 * 75, 1e-6);      // 9 links / 3 branches of a tree
  EXPECT_NEAR(gb({0, 1, 4, 5}), 0.8 * 50, 1e-6);      // a ring: 6 links, 2 across its middle
  EXPECT_NEAR(gb({0, 1, 6, 7}), 10 * 4 / 6.0, 1e-6);  // two pairs apart: PCIe
  EXPECT_NEAR(gb({0, 1, 2, 3, 4, 5, 6, 7}), 0.8 * 25 * 24 / 7, 1e-6);
  // p4d: 231 GB/s of bus bandwidth were measured with 1 GiB (NVIDIA/nccl issue 527); the law is not
  // fitted on it.
  const double algbw = gpu_sets_of("p4d.24xlarge").all_reduce_bytes_per_second(kAllGpus);
  EXPECT_NEAR(algbw * 2 * 7 / 8 / 1e9, 231, 0.05 * 231);
}

}  // namespace
}  // namespace slicewise::sim
