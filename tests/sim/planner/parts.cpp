#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

#include "../demo.hpp"
#include "five_services.hpp"
#include "result/merge.hpp"
#include "studies/plan/block_candidates.hpp"
#include "studies/plan/fleet_division.hpp"
#include "studies/plan/node_bounds.hpp"
#include "studies/plan/plan_sections.hpp"
#include "studies/probe/mig_layouts.hpp"
#include "studies/probe/probe.hpp"
#include "studies/probe/some_workloads.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;

TEST(NodeSearch, FindsTheSmallestThatPassesAndSaysWhenNoneDoes) {
  for (int least = 1; least <= 3; ++least) {
    for (int most = least; most <= 70; ++most) {
      for (int answer = least; answer <= most + 1; ++answer) {
        NodeSearch search(least, most);
        int probes = 0;
        while (const auto nodes = search.next()) {
          search.record(*nodes, *nodes >= answer);
          ASSERT_LE(++probes, 20);
        }
        EXPECT_EQ(search.found(), answer <= most ? std::optional(answer) : std::nullopt);
      }
    }
  }
}

// Two Services on one GPU, whose kernels take 50 ms each.
Scenario two_on_a_gpu(double rate, Duration length) {
  std::vector<scenarios::Workload> services;
  for (const char* name : {"a", "b"}) {
    services.push_back(
        demo::service(1, rate, milliseconds(50), scenarios::ServiceTime::Law::Deterministic));
    services.back().name.value = name;
    services.back().measured->device.value = "T4";
    scenarios::Objective limit;
    limit.figure = scenarios::Figure::LatencyP95;
    limit.limit = minutes(1);
    services.back().objectives.push_back(limit);
  }
  Scenario scenario = demo::scenario(demo::pool(2), services);
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.duration = length;
  return scenario;
}

// In the order of the scenario, with room for no more: of a fleet each pool's room for all of its
// workloads came to hundreds of megabytes.
TEST(SomeWorkloads, HaveNoRoomForTheOthers) {
  Scenario all = two_on_a_gpu(1, minutes(1));
  all.workloads.resize(100, all.workloads.front());
  all.workloads.back().name.value = "last";
  const Scenario some = SomeWorkloads(all).with(std::vector<std::string>{"last", "b"});
  ASSERT_EQ(some.workloads.size(), 2U);
  EXPECT_EQ(some.workloads[0].name.value, "b");
  EXPECT_EQ(some.workloads[1].name.value, "last");
  EXPECT_LT(some.workloads.capacity(), 10U);
  EXPECT_EQ(some.node_pools.size(), all.node_pools.size());
  EXPECT_EQ(some.duration, all.duration);
}

// Kernels alone leave 5 % of the GPU idle, and a short run meets any limit.
TEST(NodeBound, CountsWhatSwitchingTakes) {
  EXPECT_EQ(node_bound(demo::world(two_on_a_gpu(8, minutes(3)))).least, 1);
  const NodeBound bound = node_bound(demo::world(two_on_a_gpu(9.5, minutes(3))));
  EXPECT_EQ(bound.least, 2);
  EXPECT_NE(bound.why.text().find("0.95 GPUs of kernels"), std::string::npos) << bound.why.text();
  const auto mean = [](Duration length) {
    return to_seconds(demo::result(two_on_a_gpu(9.5, length)).workloads[0].latency->mean);
  };
  EXPECT_GT(mean(minutes(80)), 2 * mean(minutes(20)));  // it grows and grows
}

// Sizes of pods, ascending, that a node holds together.
// NOLINTNEXTLINE(misc-no-recursion): as deep as a node has GPUs
void each_full_node(int left, int least, std::vector<int>& sizes,
                    const std::function<void(const std::vector<int>&)>& look) {
  look(sizes);
  for (int size = least; size <= left; ++size) {
    sizes.push_back(size);
    each_full_node(left - size, size, sizes, look);
    sizes.pop_back();
  }
}

TEST(PackedParts, NoNodeHoldsMoreOfThemThanItHas) {
  for (const int gpus : {1, 2, 3, 4, 7, 8, 16}) {
    for (const std::int64_t k : kPackings) {
      std::vector<int> sizes;
      each_full_node(gpus, 1, sizes, [&](const std::vector<int>& pods) {
        std::int64_t sum = 0;
        for (const int size : pods) sum += packed_parts(k, size, gpus);
        EXPECT_LE(sum, k * gpus) << gpus << " GPUs, " << ::testing::PrintToString(pods);
      });
    }
  }
  EXPECT_EQ(packed_parts(1, 3, 4), 4);      // no two pods with three of four GPUs
  EXPECT_EQ(packed_parts(2, 3, 8), 2 * 4);  // no three with three of eight
}

// Fifteen GPUs would fit four nodes of four.
TEST(NodeBound, SplitsNoPodWithSeveralGpus) {
  Scenario scenario = two_on_a_gpu(1, minutes(3));
  scenario.node_pools.front().instance_type.value = "g4dn.12xlarge";
  scenario.node_pools.front().device_plugin.reset();
  scenario.workloads.pop_back();
  scenario.workloads.front().count = 5;
  scenario.workloads.front().pod.extended.front().count = 3;
  EXPECT_EQ(node_bound(demo::world(scenario)).least, 5);
  scenario.workloads.front().pod.extended.front().count = 2;
  EXPECT_EQ(node_bound(demo::world(scenario)).least, 3);
}

// Two pods of 30 GiB and four of 8 on 40 GiB: two large ones do not fit, one and one small do. Of
// 20 and 8 GiB two fit whichever meet, three where one of them is large.
TEST(GpuMemoryNeeds, OneLargePodMeetsSmallOnesOnly) {
  const auto needs = [](std::int64_t gib, int pods) {
    GpuMemoryNeeds of;
    of.pods.assign(static_cast<std::size_t>(pods), gibibytes(gib));
    return of;
  };
  const Bytes memory = gibibytes(40);
  EXPECT_EQ(needs(30, 2).pods_in(memory), 1);
  EXPECT_EQ(needs(8, 4).pods_in_beside({gibibytes(30)}, memory), 2);
  EXPECT_EQ(needs(20, 2).pods_in(memory), 2);
  EXPECT_EQ(needs(8, 4).pods_in_beside({gibibytes(20)}, memory), 3);
  EXPECT_EQ(needs(15, 4).pods_in_beside({gibibytes(20)}, memory), 2);
  EXPECT_EQ(needs(8, 4).pods_in_beside({gibibytes(41)}, memory), 0);
  // Of two classes one pod each.
  EXPECT_EQ(needs(4, 4).pods_in_beside({gibibytes(12), gibibytes(20)}, memory), 4);
  EXPECT_EQ(needs(4, 0).pods_in_beside({gibibytes(12), gibibytes(20)}, memory), 2);
}

// Pods that refuse each other need a node each, those of jobs one after the other.
TEST(NodeBound, CountsPodsThatRefuseEachOther) {
  Scenario scenario = two_on_a_gpu(1, minutes(3));
  scenarios::PodAffinityTerm term;
  term.topology_key = scenarios::kHostname;
  term.match_labels["size"] = "large";
  for (scenarios::Workload& service : scenario.workloads) {
    service.pod.labels["size"] = "large";
    service.pod.anti_affinity = {term};
  }
  EXPECT_EQ(node_bound(demo::world(scenario)).least, 2);
  EXPECT_EQ(smallest_node_count(demo::world(scenario), 8), 2);
  scenario.workloads[0].pod.labels.clear();
  EXPECT_EQ(node_bound(demo::world(scenario)).least, 1);
  EXPECT_EQ(smallest_node_count(demo::world(scenario), 8), 2);  // it refuses the other all the same
  scenario.workloads[0].pod.anti_affinity.clear();
  EXPECT_EQ(smallest_node_count(demo::world(scenario), 8), 1);
}

// The first pair that fits saves a node as any does, and from there every way to two nodes goes by
// as many as there are. Prices that are known count more.
TEST(FleetDivision, GoesByWhatCostsTheSame) {
  const FiveServices fleet;
  const FleetModel& model = fleet.model;
  const auto price = [&](const std::vector<Members>& division) {
    double sum = 0;
    for (const Members& members : division) sum += *model.price(model.room(members));
    return sum;
  };
  ASSERT_TRUE(model.price(model.room({0})));
  const double node = *model.price(model.room({0}));
  const std::vector<Members> first = best_division(model);
  EXPECT_DOUBLE_EQ(price(first), 3 * node);
  const std::vector<Members> better = better_division(model, first, {}, 0);
  EXPECT_EQ(better, (std::vector<Members>{{0, 2, 4}, {1, 3}}));
  EXPECT_DOUBLE_EQ(price(better), 2 * node);
  const auto dearer = [&](const Members& members, double thought) {
    return members == Members{0, 2, 4} ? 2 * thought : thought;
  };
  EXPECT_DOUBLE_EQ(price(better_division(model, first, dearer, 0)), 3 * node);
}

// All layouts that use each profile at least once, by counting.
int fewest_nodes(const models::MigGeometry& geometry, const std::vector<ProfileNeed>& needs,
                 std::vector<models::MigCount> counts, int gpus) {
  if (counts.size() == needs.size()) {
    return models::place_instances(geometry, counts) ? nodes_for(counts, needs, gpus)
                                                     : std::numeric_limits<int>::max();
  }
  int fewest = std::numeric_limits<int>::max();
  const ProfileNeed& need = needs[counts.size()];
  for (int count = 1; count <= 7; ++count) {
    std::vector<models::MigCount> more = counts;
    more.push_back({need.profile->name, count});
    fewest = std::min(fewest, fewest_nodes(geometry, needs, more, gpus));
  }
  return fewest;
}

TEST(MigLayouts, HoldThePodsOnAsFewNodesAsAnyLayoutCan) {
  RandomStream random(5, 0, 0, Purpose::Test);
  const models::MigGeometry& geometry = *demo::catalogue().find_mig("A100-SXM4-40GB");
  int placed = 0;
  for (int n = 0; n < 100; ++n) {
    std::vector<ProfileNeed> needs;
    for (const models::MigProfile& profile : geometry.profiles) {
      if (profile.media_extensions || random.below(3) > 0 || needs.size() == 3) continue;
      needs.push_back({&profile, 1 + static_cast<int>(random.below(40))});
    }
    if (needs.empty()) continue;
    const int gpus = random.below(2) == 0 ? 8 : 1;
    const auto layout = best_layout(geometry, needs, gpus);
    const int fewest = fewest_nodes(geometry, needs, {}, gpus);
    ASSERT_EQ(layout.empty(), fewest == std::numeric_limits<int>::max());
    if (layout.empty()) continue;
    ++placed;
    EXPECT_TRUE(models::place_instances(geometry, layout).has_value());
    EXPECT_EQ(nodes_for(layout, needs, gpus), fewest);
  }
  EXPECT_GT(placed, 20);
}

// All ways to cut the GPUs of a node, one after the other.
bool holds_on(const models::MigGeometry& geometry, const std::vector<ProfileNeed>& needs,
              std::vector<int> wanted, int gpus) {
  if (std::ranges::all_of(wanted, [](int count) { return count <= 0; })) return true;
  if (gpus == 0) return false;
  std::vector<models::MigCount> counts;
  for (const ProfileNeed& need : needs) counts.push_back({need.profile->name, 0});
  const std::function<bool(std::size_t)> any_from = [&](std::size_t at) {
    if (at < counts.size()) {
      for (counts[at].count = 0; counts[at].count <= 7; ++counts[at].count) {
        if (any_from(at + 1)) return true;
      }
      counts[at].count = 0;
      return false;
    }
    if (!models::place_instances(geometry, counts)) return false;
    std::vector<int> left = wanted;
    for (std::size_t n = 0; n < left.size(); ++n) left[n] -= counts[n].count;
    return left != wanted && holds_on(geometry, needs, left, gpus - 1);
  };
  return any_from(0);
}

TEST(ThoroughMigLayouts, GpusThatAreNotAllCutAlikeAreFoundWhereTheyNeedFewerNodes) {
  RandomStream random(6, 0, 0, Purpose::Test);
  const models::MigGeometry& geometry = *demo::catalogue().find_mig("A100-SXM4-40GB");
  const auto profile = [&](const std::string& name) {
    return &*std::ranges::find(geometry.profiles, name, &models::MigProfile::name);
  };
  int mixed = 0;
  for (int n = 0; n < 60; ++n) {
    std::vector<ProfileNeed> needs;
    for (const char* name : {"1g.5gb", "3g.20gb", "7g.40gb"}) {
      if (random.below(3) > 0)
        needs.push_back({profile(name), 1 + static_cast<int>(random.below(9))});
    }
    if (needs.empty()) continue;
    const int gpus = 2 + static_cast<int>(random.below(2));
    const auto alike = best_layout(geometry, needs, gpus);
    const int nodes = alike.empty() ? 20 : nodes_for(alike, needs, gpus);
    const MixedLayout found = mixed_layout(geometry, needs, gpus, nodes);
    int fewest = 1;
    for (; fewest < nodes; ++fewest) {
      std::vector<int> wanted;
      for (const ProfileNeed& need : needs) wanted.push_back((need.pods + fewest - 1) / fewest);
      if (holds_on(geometry, needs, wanted, gpus)) break;
    }
    ASSERT_EQ(found.cuts.empty(), fewest == nodes) << n;
    if (found.cuts.empty()) continue;
    ++mixed;
    EXPECT_EQ(found.nodes, fewest);
    int all = 0;
    std::map<std::string, int> instances;
    for (const MigCut& cut : found.cuts) {
      EXPECT_TRUE(models::place_instances(geometry, cut.mig).has_value());
      for (const models::MigCount& count : cut.mig)
        instances[count.profile] += cut.gpus * count.count;
      all += cut.gpus;
    }
    EXPECT_EQ(all, gpus);
    for (const ProfileNeed& need : needs) {
      EXPECT_GE(instances[need.profile->name] * found.nodes, need.pods);
    }
  }
  EXPECT_GT(mixed, 10);
}

// Of layouts for the fewest nodes most have more parts than a name takes; one of those that have a
// name is found.
TEST(MigLayouts, OfThoseThatHaveANameTheFewestNodes) {
  const models::MigGeometry& geometry = *demo::catalogue().find_mig("H100-SXM5-80GB");
  std::vector<ProfileNeed> needs;
  for (const auto& [name, pods] : std::map<std::string, int>{
           {"1g.10gb", 46}, {"1g.20gb", 42}, {"3g.40gb", 21}, {"7g.80gb", 28}}) {
    needs.push_back(
        {&*std::ranges::find(geometry.profiles, name, &models::MigProfile::name), pods});
  }
  ASSERT_TRUE(best_layout(geometry, needs, 8).empty());
  const MixedLayout found = mixed_layout(geometry, needs, 8, 100);
  EXPECT_EQ(found.nodes, 7);
  EXPECT_LE(found.cuts.size(), 3U);
}

// The scenario that runs it, its text, and a step of a path from it.
TEST(MigLayouts, GpusThatAreNotAllCutAlikeAreAPoolOfAScenario) {
  scenarios::Scenario base = demo::scenario(demo::pool(0), {demo::training(3), demo::training(20)});
  base.workloads[0].name.value = "big";
  base.workloads[1].name.value = "small";
  PoolChoice choice;
  choice.instance_type = "p4d.24xlarge";
  choice.strategy = Strategy::Mig;
  choice.mig = {{"1g.5gb", 7}};
  choice.other_cuts = {{3, {{"7g.40gb", 1}}}};
  choice.workloads = {"big", "small"};
  choice.mig_profiles = {"7g.40gb", "1g.5gb"};
  EXPECT_EQ(describe(choice),
            "1 x p4d.24xlarge, MIG 7x1g.5gb but 1x7g.40gb on 3 GPUs of each node");
  const scenarios::Scenario planned =
      planned_scenario(base, std::span(&choice, 1), demo::catalogue());
  const scenarios::MigLayout& layout = *planned.node_pools.front().mig;
  EXPECT_EQ(layout.config.value, "7x-1g.5gb-3of1x-7g.40gb");
  const auto& entries = layout.configs.at(layout.config.value);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].devices, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(entries[1].devices, (std::vector<int>{5, 6, 7}));
  EXPECT_EQ(planned.workloads[0].pod.extended.front().name.value, "nvidia.com/mig-7g.40gb");
  EXPECT_EQ(planned.workloads[1].pod.extended.front().name.value, "nvidia.com/mig-1g.5gb");
  const World world = demo::world(planned);
  const auto& domains = world.pools.front().layouts.front().domains;
  EXPECT_EQ(domains.size(), 5U * 7 + 3);
  const auto again = pools_as_they_stand(planned, demo::catalogue());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->front().mig, choice.mig);
  EXPECT_EQ(again->front().other_cuts, choice.other_cuts);
  PoolChoice alike = choice;
  alike.other_cuts.clear();
  EXPECT_EQ(step_between(base, {choice}, {alike}).nodes_cut_anew, 1);
  EXPECT_EQ(step_between(base, {choice}, {choice}).nodes_cut_anew, 0);
}

// Every combination for 54 workloads would be 4^54 worlds.
TEST(MigLayouts, OfManyWorkloadsOfAFewSizesAreFew) {
  std::vector<scenarios::Workload> workloads;
  for (int n = 0; n < 40; ++n) {
    workloads.push_back(demo::training(1));
    workloads.back().name.value = "w" + std::to_string(n);
    workloads.back().gpu_memory.resident = gibibytes(n % 2 == 0 ? 2 : 8);
  }
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "p4d.24xlarge";
  const World world = demo::world(demo::scenario(pool, workloads));
  const models::MigGeometry* geometry = demo::catalogue().find_mig(world.pools.front().gpu->name);
  ASSERT_NE(geometry, nullptr);
  const FittedLayouts fitted = fitted_layouts(*geometry, world, 8);
  EXPECT_EQ(fitted.too_large, nullptr);
  EXPECT_GT(fitted.layouts.size(), 1U);
  EXPECT_LE(fitted.layouts.size(), 256U);
  for (const FittedLayout& layout : fitted.layouts) {
    ASSERT_EQ(layout.profiles.size(), workloads.size());
    EXPECT_EQ(layout.profiles[0], layout.profiles[2]);
  }
}

// A GPU for each of two Services, or one that they share.
std::vector<PlanOption> alone_and_together() {
  PoolChoice alone;
  alone.instance_type = "g4dn.xlarge";
  alone.workloads = {"a", "b"};
  alone.nodes = 2;
  PoolChoice together = alone;
  together.strategy = Strategy::TimeSlicing;
  together.replicas = 2;
  together.nodes = 1;
  return {{{alone}, {}, {}, false}, {{together}, {}, {}, false}};
}

Plan plan_with_risk(const Scenario& scenario, std::vector<PlanOption> options) {
  Plan plan;
  plan.options = std::move(options);
  add_risk(scenario, demo::catalogue(), {}, plan);
  return plan;
}

Scenario with_limit(double rate, Duration limit) {
  Scenario scenario = two_on_a_gpu(rate, minutes(3));
  for (scenarios::Workload& service : scenario.workloads) {
    service.objectives.front().limit = limit;
  }
  return scenario;
}

PlanRisk risk_with(double rate, Duration limit, const std::vector<PlanOption>& options) {
  return plan_with_risk(with_limit(rate, limit), options).risk.value();
}

TEST(ThoroughPlanRisk, CountsTheRunsInWhichSomethingIsMissed) {
  std::vector<PlanOption> options = alone_and_together();
  // Any of them holds a minute, and nodes that stay cost the same in every run.
  const PlanRisk calm = risk_with(1, minutes(1), options);
  EXPECT_EQ(calm.runs, 20);
  EXPECT_EQ(calm.missed, 0);
  EXPECT_EQ(calm.monthly_p5, calm.monthly_p95);
  EXPECT_NEAR(to_dollars(calm.monthly_median), 2 * 0.526 * 730, 1e-6);
  EXPECT_EQ(calm.second_cheaper, 20);
  EXPECT_EQ(calm.second_instead, 0);
  // No request is answered before its kernel of 50 ms ends; histograms tell 0.2 % apart.
  const PlanRisk hopeless = risk_with(1, milliseconds(49), options);
  EXPECT_EQ(hopeless.missed, 20);
  EXPECT_EQ(hopeless.second_cheaper, 0);
  ASSERT_EQ(hopeless.objectives.size(), 2U);
  for (const ObjectiveRisk& objective : hopeless.objectives) {
    EXPECT_EQ(objective.missed, 20);
    EXPECT_GE(std::get<Duration>(objective.median), microseconds(49'900));
    EXPECT_GE(std::get<Duration>(objective.p95), std::get<Duration>(objective.median));
  }
  // At 80 % load in turns it is late; each on its own GPU is not.
  std::ranges::reverse(options);
  const PlanRisk late = risk_with(8, milliseconds(250), options);
  EXPECT_EQ(late.missed, 20);
  EXPECT_EQ(late.second_instead, 20);
  EXPECT_EQ(late.second_cheaper, 0);
  // The least that 19 of 20 runs keep is missed in one of them.
  options.pop_back();
  const PlanRisk now = risk_with(5, minutes(1), options);
  EXPECT_FALSE(now.second_cheaper);
  const auto of_a = std::get<Duration>(now.objectives.front().p95);
  const auto of_b = std::get<Duration>(now.objectives.back().p95);
  const PlanRisk tight = risk_with(5, std::max(of_a, of_b), options);
  EXPECT_GE(tight.missed, 1);
  EXPECT_LE(tight.missed, 2);
}

// Neither those of the search nor those of its second look.
TEST(PlanRisk, DrawsNumbersOfItsOwn) {
  const std::vector<PlanOption> options = alone_and_together();
  const Scenario scenario = with_limit(5, minutes(1));
  const PlanRisk risk = plan_with_risk(scenario, options).risk.value();
  for (const int draw : {0, 1, 2}) {
    const World world =
        probe_world(scenario, {.pools = options.front().pools, .draw = draw}, demo::catalogue())
            .value();
    std::vector<scenarios::FigureValue> latencies;
    for (std::uint32_t r = 0; r < 20; ++r) {
      const Replication run = run_replication(world, r);
      const VariantResult result = merge(world, std::span(&run, 1));
      latencies.push_back(result.workloads.front().objectives.front().value);
    }
    std::ranges::sort(latencies);
    const ObjectiveRisk& found = risk.objectives.front();
    EXPECT_FALSE(found.p95 == latencies[18] && found.median == latencies[9]) << draw;
  }
}

// What must survive the loss of a node is judged by the nodes that are left, and paid for whole.
TEST(PlanRisk, IsOfWhatAnOutageLeaves) {
  Plan plan;
  plan.options = alone_and_together();
  plan.options.pop_back();
  plan.options.front().figures.monthly = from_dollars(768);
  PlanOptions options;
  options.survive = Outage::Node;
  add_risk(with_limit(1, minutes(1)), demo::catalogue(), options, plan);
  ASSERT_TRUE(plan.risk);
  EXPECT_EQ(plan.risk->missed, 20);
  EXPECT_EQ(plan.risk->monthly_p95, from_dollars(768));
}

// The judge's word counts, not the objectives alone.
TEST(PlanRisk, CountsRunsThatAPolicyDenies) {
  Scenario scenario = with_limit(1, minutes(1));
  scenarios::Policy policy;
  policy.name = "one-node";
  policy.assertion = "nodes <= 1";
  using Op = scenarios::PolicyNode::Op;
  policy.nodes = {
      {Op::Figure, 0, 0, 0, "nodes"}, {Op::Number, 0, 0, 1, ""}, {Op::LessEqual, 0, 1, 0, ""}};
  scenario.policies = {policy};
  const PlanRisk denied = plan_with_risk(scenario, alone_and_together()).risk.value();
  EXPECT_EQ(denied.missed, 20);
  EXPECT_EQ(denied.second_instead, 20);
  for (const ObjectiveRisk& objective : denied.objectives) EXPECT_EQ(objective.missed, 0);
}

// What is known within 70 % scatters by more than chance alone does. Where nothing has an interval
// nothing is drawn, and that is said.
TEST(ThoroughPlanRisk, DrawsInputsThatAreKnownWithinAnInterval) {
  models::WorkloadProfile profile;
  profile.name = "made/t4";
  profile.title = "made";
  profile.kind = "inference";
  profile.gpu_model = "T4";
  profile.solo_step = milliseconds(50);
  profile.capacity_share = 0.5;
  profile.norm_p = 3;
  profile.uncertainty = {{"soloMs", 35, {}}};
  models::Catalogue catalogue = demo::catalogue();
  catalogue.profiles.push_back(profile);
  Scenario scenario = with_limit(1, minutes(1));
  scenario.duration = minutes(30);
  for (scenarios::Workload& service : scenario.workloads) {
    service.measured.reset();
    service.profile.value = profile.name;
  }
  PlanOptions options;
  const auto spread = [&](bool is_sampled) {
    Plan plan;
    plan.options = alone_and_together();
    options.sampled_inputs = is_sampled;
    add_risk(scenario, catalogue, options, plan);
    EXPECT_EQ(plan.risk->sampled_inputs, is_sampled);
    EXPECT_EQ(plan.risk->runs, 20);
    const ObjectiveRisk& objective = plan.risk->objectives.front();
    return to_seconds(std::get<Duration>(objective.p95)) /
           to_seconds(std::get<Duration>(objective.median));
  };
  EXPECT_GT(spread(true), 1.4);
  EXPECT_LT(spread(false), 1.25);

  options.sampled_inputs = true;
  Plan known;
  known.options = alone_and_together();
  add_risk(with_limit(1, minutes(1)), demo::catalogue(), options, known);
  EXPECT_FALSE(known.risk->sampled_inputs);
  ASSERT_EQ(known.notes.size(), 1U);
  EXPECT_EQ(known.notes.front().code, Code::InputMissing);
  EXPECT_EQ(known.notes.front().message, kNothingToDraw);
}

// Each on its own GPU takes what it takes; only under MPS the bounds of smActive count.
TEST(PlanRisk, DrawsInputsThatOnlyTheSecondOptionHangsOn) {
  Scenario scenario = with_limit(1, minutes(1));
  for (scenarios::Workload& service : scenario.workloads) {
    service.measured->sm_active = 0.3;
    service.measured->capacity_share.reset();
  }
  Plan plan;
  plan.options = alone_and_together();
  plan.options.back().pools.front().strategy = Strategy::Mps;
  PlanOptions options;
  options.sampled_inputs = true;
  add_risk(scenario, demo::catalogue(), options, plan);
  ASSERT_TRUE(plan.risk.has_value());
  EXPECT_TRUE(plan.risk->sampled_inputs);
  EXPECT_TRUE(plan.notes.empty());
}

TEST(PlanRisk, SaysThatItTakesTooManyRequests) {
  Scenario scenario = with_limit(5, minutes(1));
  scenario.duration = hours(24);
  const Plan plan = plan_with_risk(scenario, alone_and_together());
  EXPECT_FALSE(plan.risk);
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_EQ(plan.notes.front().severity, Severity::Note);
  // 2 Services x 5/s x 86,400 s x 20 runs x 2 options.
  EXPECT_NE(plan.notes.front().message.find("34.6 million"), std::string::npos);
}

TEST(Knee, IsWhereTheLeastPriceUndercutsByNoMoreThanAHundredth) {
  const auto knee = [](std::vector<double> dollars) {
    std::vector<std::optional<Usd>> prices;
    for (const double price : dollars) {
      prices.push_back(price > 0 ? std::optional(from_dollars(price)) : std::nullopt);
    }
    return knee_of(prices);
  };
  EXPECT_EQ(knee({4, 2, 1.005, 1, 3}), 2U);
  EXPECT_EQ(knee({0, 2, 1.02, 1}), 3U) << "a point without a price counts, as nothing";
  EXPECT_EQ(knee({0, 0}), std::nullopt);
  EXPECT_EQ(knee({}), std::nullopt);
}

}  // namespace
}  // namespace slicewise::sim
