#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/sim/bill_groups.hpp"

#include "sharing_scenarios.hpp"

// Who pays what: shares and dollars by hand, and sums whatever happens.
namespace slicewise::sim {
namespace {

using scenarios::CostSplit;
using scenarios::Provisioner;
using scenarios::Scenario;
using scenarios::Workload;
using Law = scenarios::ServiceTime::Law;

constexpr CostSplit kRules[] = {CostSplit::Dominant, CostSplit::GpuTime, CostSplit::Requests};

// Requests of 10 ms, `per_second` of them; ready at once.
Workload service(const std::string& name, double per_second) {
  Workload w = demo::service(1, per_second, milliseconds(10), Law::Deterministic);
  w.name.value = name;
  return w;
}

// Works on one GPU for half an hour.
Workload training(const std::string& name) {
  Workload w = demo::training(1);
  w.name.value = name;
  w.pod.cpu_request = {100};
  w.pod.memory_request = {};
  return w;
}

constexpr Duration kShort = minutes(20);
constexpr double kBill = 12.24 / 3;  // of one node for so long

// One p3.8xlarge, 4 GPUs at 12.24 USD/h, for `run`.
Scenario on_four_gpus(std::vector<Workload> workloads, Duration run, int replicas = 0) {
  Scenario s = demo::scenario(demo::pool(replicas), std::move(workloads));
  s.duration = run;
  return s;
}

void expect_sums(const VariantResult& r, const std::string& what) {
  Usd held = r.cost.split.idle + r.cost.split.switching;
  Usd paid;
  bool any = false;
  for (const WorkloadResult& w : r.workloads) {
    ASSERT_TRUE(w.bill.has_value()) << what;
    EXPECT_GE(w.bill->held, Usd{}) << what << ' ' << w.name;
    EXPECT_GE(w.bill->shared, Usd{}) << what << ' ' << w.name;
    EXPECT_EQ(w.bill->total, w.bill->held + w.bill->shared) << what;
    held += w.bill->held;
    paid += w.bill->total;
    any = any || w.bill->held.nano > 0;
  }
  EXPECT_EQ(held, r.cost.ledger.total) << what;
  EXPECT_GE(r.cost.split.idle, Usd{}) << what;
  EXPECT_LE(std::abs(r.cost.split.switching.nano - r.cost.ledger.switching.nano), 1) << what;
  // Kernels may take no time; what a pod holds always takes some.
  const bool by_use = r.cost.split.rule == "gpu-time";
  if (!by_use && r.pods.running_max > 0) {
    EXPECT_TRUE(any) << what;
  }
  if (any) {
    EXPECT_EQ(paid, r.cost.ledger.total) << what;
  }
}

// 50 requests/s for 12.24 USD/h, whenever counting begins.
TEST(BillByWorkload, UnitCostsTakeBillAndRequestsOfTheSameWindow) {
  const double expected = 12.24 / (50 * 3.6);
  for (const Duration warmup : {Duration{}, minutes(1), minutes(5), minutes(9)}) {
    Scenario s = on_four_gpus({service("api", 50)}, minutes(10));
    s.warmup = warmup;
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.cost.ledger.total, cost_of({from_dollars(12.24)}, minutes(10)));
    EXPECT_NEAR(to_dollars(r.cost.per_1k_requests_in_slo.value()), expected, 0.05 * expected)
        << to_seconds(warmup);
    EXPECT_EQ(r.workloads[0].bill->per_1k_requests_in_slo, r.cost.per_1k_requests_in_slo);
  }
}

// Far above what the GPUs do, answers after the warm-up are to requests that came before, too.
TEST(ThoroughBillByWorkload, AnswersOfAnOverloadAreCountedWhereTheyArePaid) {
  for (const Duration warmup : {Duration{}, minutes(5)}) {
    Scenario s = on_four_gpus({service("api", 5'000)}, minutes(10));
    s.warmup = warmup;
    const VariantResult r = demo::result(s);
    const WorkloadResult& api = r.workloads[0];
    EXPECT_LT(api.throughput_per_second, 2'500);
    EXPECT_DOUBLE_EQ(api.goodput_per_second, api.throughput_per_second) << "no objectives";
    EXPECT_NEAR(to_dollars(r.cost.per_1k_requests_in_slo.value()),
                12.24 / (api.throughput_per_second * 3.6), 1e-4);
  }
}

// Two of four GPUs are held, one by each: a quarter of the node each, the other half by halves.
TEST(BillByWorkload, EachPaysItsGpuAndHalfOfWhatIsIdle) {
  const VariantResult r =
      demo::result(on_four_gpus({service("api", 50), training("train")}, minutes(10)));
  const double bill = 2.04;
  EXPECT_NEAR(to_dollars(r.cost.ledger.total), bill, 1e-9);
  for (const WorkloadResult& w : r.workloads) {
    EXPECT_NEAR(to_dollars(w.bill->held), bill / 4, 1e-6) << w.name;
    EXPECT_NEAR(to_dollars(w.bill->total), bill / 2, 1e-6) << w.name;
  }
  EXPECT_NEAR(to_dollars(r.cost.split.idle), bill / 2, 1e-6);
  const double requests = r.workloads[0].requests->in_objectives;
  EXPECT_NEAR(to_dollars(*r.cost.per_1k_requests_in_slo), bill / 2 / requests * 1000, 1e-6);
  expect_sums(r, "");
}

// Two pods hold two of sixteen tickets, and the GPU spends more of its time on switches than that:
// they hold their part of the rest, and have a price.
TEST(BillByWorkload, SwitchesTakeNothingFromWhatIsHeld) {
  for (const CostSplit rule : {CostSplit::Dominant, CostSplit::Requests}) {
    Workload w = training("train");
    w.measured->gpu_busy = 1;
    w.work->units = 10;
    Workload more = w;
    more.name.value = "more";
    Scenario s = on_four_gpus({w, more}, hours(1), 16);
    s.node_pools[0].instance_type.value = "g4dn.xlarge";
    s.workloads[0].measured->device.value = s.workloads[1].measured->device.value = "T4";
    s.cost_split = rule;
    const VariantResult r = demo::result(s);
    EXPECT_GT(r.cost.ledger.switching, Usd{});
    for (const WorkloadResult& result : r.workloads) {
      EXPECT_GT(result.completed, 0);
      EXPECT_GT(result.bill->held, Usd{}) << split_name(rule);
      EXPECT_NEAR(to_dollars(result.bill->total), to_dollars(r.cost.ledger.total) / 2, 1e-6);
    }
    EXPECT_NEAR(to_dollars(r.cost.per_job.value()), to_dollars(r.cost.ledger.total) / 2, 1e-6);
    expect_sums(r, "");
  }
}

// Who has a node to itself pays for it, however idle other nodes are.
TEST(BillByWorkload, IdleTimeIsSharedByThoseOnTheNode) {
  Workload small = training("small");
  Workload whole = training("whole");
  whole.measured->device.value = "T4";
  small.pod.node_selector = {{"node.kubernetes.io/instance-type", "p3.8xlarge"}};
  whole.pod.node_selector = {{"node.kubernetes.io/instance-type", "g4dn.xlarge"}};
  Scenario s = on_four_gpus({small, whole}, minutes(10));
  s.node_pools.push_back(demo::pool(0));
  s.node_pools[1].name.value = "t4";
  s.node_pools[1].instance_type.value = "g4dn.xlarge";
  const VariantResult r = demo::result(s);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->total), 12.24 / 6, 1e-4);
  EXPECT_NEAR(to_dollars(r.workloads[1].bill->total), 0.526 / 6, 1e-4);
  expect_sums(r, "");
}

// The pod that leaves after 30 minutes of the hour pays for half of it.
TEST(BillByWorkload, IsForAsLongAsItIsHeld) {
  const VariantResult r =
      demo::result(on_four_gpus({training("train"), training("more")}, hours(1)));
  EXPECT_EQ(r.workloads[0].completed, 1);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), 12.24 / 8, 1e-6);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->per_job.value()), 12.24 / 2, 1e-6);
}

// The column beside it counts Jobs: a pass of work without end is none.
TEST(BillByWorkload, AJobCostsWhatJobsDo) {
  Workload endless = training("endless");
  endless.kind = scenarios::WorkloadKind::Deployment;
  const VariantResult r = demo::result(on_four_gpus({training("train"), endless}, hours(1)));
  EXPECT_EQ(r.workloads[0].completed, 1);
  EXPECT_EQ(r.cost.per_job, r.workloads[0].bill->per_job);
}

// A pod that asks for three quarters of the CPUs keeps others from three GPUs.
TEST(BillByWorkload, TheLargestShareOfGpusCpuAndMemoryCounts) {
  Scenario s = on_four_gpus({training("one"), training("greedy")}, kShort);
  const World world = demo::world(s);
  const PoolModel& pool = world.pools[0];
  s.workloads[1].pod.cpu_request = {pool.allocatable_cpu.count * 3 / 4};
  VariantResult r = demo::result(s);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), kBill / 4, 1e-6);
  EXPECT_NEAR(to_dollars(r.workloads[1].bill->held), kBill * 3 / 4, 1e-3);
  s.workloads[1].pod.cpu_request = {100};
  s.workloads[1].pod.memory_request = {pool.allocatable_memory.count / 2};
  r = demo::result(s);
  EXPECT_NEAR(to_dollars(r.workloads[1].bill->held), kBill / 2, 1e-3);
}

// Two hold three quarters of CPUs and of GPUs each: more than there is, so that each pays half.
TEST(BillByWorkload, WhoHoldsMoreThanThereIsTogetherPaysInProportion) {
  Scenario s = on_four_gpus({training("cpu"), training("gpu")}, kShort);
  s.workloads[0].pod.cpu_request = {demo::world(s).pools[0].allocatable_cpu.count * 3 / 4};
  s.workloads[1].count = 3;
  const VariantResult r = demo::result(s);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), kBill / 2, 1e-3);
  EXPECT_NEAR(to_dollars(r.workloads[1].bill->held), kBill / 2, 1e-3);
  EXPECT_LT(r.cost.split.idle, from_dollars(1e-3));
}

// One of four tickets, but half of the memory of its GPU.
TEST(BillByWorkload, GpuMemoryIsHeldToo) {
  Scenario s = on_four_gpus({training("small"), training("large")}, kShort, 4);
  s.workloads[1].gpu_memory.resident = gibibytes(8);
  const VariantResult r = demo::result(s);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), kBill / 16, 0.01);
  EXPECT_NEAR(to_dollars(r.workloads[1].bill->held), kBill / 8, 0.04);
}

// 3g.40gb has three of seven compute slices and half of the memory; seven slices are one GPU.
TEST(BillByWorkload, AMigInstanceTakesSlicesOfComputeOrOfMemory) {
  Workload w = training("half");
  w.pod.extended = {{{"nvidia.com/gpu", {}}, 1, {}}};
  Scenario s = sharing::with_mig({w}, "all-3g.40gb");
  s.duration = kShort;
  const VariantResult r = demo::result(s);
  const double bill = to_dollars(r.cost.ledger.total);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), bill / 16, 0.001 * bill);
}

// By the time of kernels: the training's GPU is busy 38 % of the time, the service's as long as
// its requests take.
TEST(BillByWorkload, CanFollowTheTimeOfKernels) {
  Scenario s = on_four_gpus({service("api", 20), training("train")}, kShort);
  s.cost_split = CostSplit::GpuTime;
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.cost.split.rule, "gpu-time");
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), kBill / 4 * 0.2, 0.01);
  EXPECT_NEAR(to_dollars(r.workloads[1].bill->held), kBill * r.workloads[1].gpu_busy_share, 0.001);
}

// OpenCost: what a pod asks for of CPUs, memory and GPUs, each weighed by its price.
TEST(BillByWorkload, CanFollowRequests) {
  Scenario s = on_four_gpus({training("one")}, kShort);
  s.cost_split = CostSplit::Requests;
  s.workloads[0].pod.cpu_request = {4000};
  s.workloads[0].pod.memory_request = gibibytes(16);
  const VariantResult r = demo::result(s);
  const World world = demo::world(s);
  const PoolModel& pool = world.pools[0];
  const double cpus = static_cast<double>(pool.allocatable_cpu.count) / 1000;
  const double memory = static_cast<double>(pool.allocatable_memory.count) / (1LL << 30);
  const double share =
      (0.95 + 4 * 0.031611 + 16 * 0.004237) / (4 * 0.95 + cpus * 0.031611 + memory * 0.004237);
  EXPECT_NEAR(to_dollars(r.workloads[0].bill->held), kBill * share, 1e-3);
}

TEST(BillByWorkload, AddsUpByNamespaceLabelAndUser) {
  Scenario s = on_four_gpus({service("api", 50), training("a"), training("b")}, minutes(10));
  s.workloads[0].namespace_name = "online";
  s.workloads[1].pod.labels = {{"team", "vision"}, {"user", "ana"}};
  s.workloads[2].pod.labels = {{"team", "vision"}};
  Result result;
  result.variants.push_back(demo::result(s));
  const auto groups = [&](const std::string& by) {
    group_bills(by, result);
    std::map<std::string, Usd> paid;
    Usd sum;
    for (const BillGroup& group : result.variants[0].cost.split.groups) {
      paid[group.name] = group.bill.total;
      sum += group.bill.total;
    }
    EXPECT_EQ(sum, result.variants[0].cost.ledger.total) << by;
    return paid;
  };
  const auto& w = result.variants[0].workloads;
  EXPECT_EQ(groups("namespace").at("online"), w[0].bill->total);
  EXPECT_EQ(groups("namespace").at("default"), w[1].bill->total + w[2].bill->total);
  EXPECT_EQ(groups("label:team").at("vision"), w[1].bill->total + w[2].bill->total);
  EXPECT_EQ(groups("label:team").at(""), w[0].bill->total);
  EXPECT_EQ(groups("user").at("ana"), w[1].bill->total);
  EXPECT_EQ(groups("workload").size(), 3U);
  group_bills("", result);
  EXPECT_TRUE(result.variants[0].cost.split.groups.empty());
  EXPECT_TRUE(is_grouping("label:team"));
  for (const char* odd : {"", "label:", "pod", "team"}) EXPECT_FALSE(is_grouping(odd)) << odd;
}

// A team's jobs cost what it pays, though one of them finished none.
TEST(BillByWorkload, AGroupPaysForWhatFinishedNothing) {
  Scenario s = on_four_gpus({training("done"), training("never")}, minutes(40));
  s.workloads[1].work->units = 1'000;
  Result result;
  result.variants.push_back(demo::result(s));
  group_bills("namespace", result);
  const VariantResult& r = result.variants[0];
  ASSERT_EQ(r.cost.split.groups.size(), 1U);
  EXPECT_EQ(r.workloads[1].completed, 0);
  const BillPart& group = r.cost.split.groups[0].bill;
  EXPECT_NEAR(to_dollars(group.per_job.value()), to_dollars(r.cost.ledger.total), 1e-6);
  EXPECT_NEAR(to_dollars(group.per_job.value()), to_dollars(r.cost.per_job.value()), 1e-6);
}

// Nodes that come and go, by every provisioner and on spot; crashes, queues, sharing; any window.
Scenario random_scenario(std::uint64_t seed) {
  Workload jobs = demo::training(static_cast<int>(2 + seed % 5));
  jobs.work->steps_per_unit = 20;
  jobs.work->units = static_cast<std::int64_t>(1 + seed % 7);
  jobs.pod.cpu_request = {static_cast<std::int64_t>(100 * (1 + seed % 11))};
  jobs.measured->device.value = "T4";
  jobs.submit_interval = seconds(static_cast<std::int64_t>(seed * 13 % 60));
  jobs.startup = {seconds(10), seconds(5)};
  if (seed % 4 == 0) jobs.faults = Rate{0.002};
  Workload api = service("api", 5);
  api.measured->device.value = "T4";
  api.count = static_cast<int>(1 + seed % 3);
  scenarios::NodePool pool = demo::pool(static_cast<int>(seed % 5));
  pool.instance_type.value = "g4dn.xlarge";
  pool.nodes = static_cast<int>(seed % 3);
  pool.most_nodes = 4;
  if (seed % 2 == 0) {
    pool.capacity_type = scenarios::CapacityType::Spot;
    pool.spot.emplace().interruptions = Rate{0.002};
    pool.spot->falls_back_to_on_demand = seed % 3 == 0;
  }
  Scenario s = demo::scenario(pool, {jobs, api});
  s.provisioner.kind =
      seed % 3 == 0 ? Provisioner::Kind::ClusterAutoscaler : Provisioner::Kind::Karpenter;
  s.provisioner.node_overlay = true;
  s.seed = seed;
  s.replications = 2;
  s.duration = seconds(900);
  s.warmup = seconds(static_cast<std::int64_t>(seed * 97 % 800));
  return s;
}

TEST(ThoroughBillByWorkload, PartsAddUpWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    for (const CostSplit rule : kRules) {
      Scenario s = random_scenario(seed);
      s.cost_split = rule;
      expect_sums(demo::result(s), std::string(split_name(rule)) + " " + std::to_string(seed));
    }
  }
}

// The bill does not hang on how it is split.
TEST(BillByWorkload, TheRuleChangesNothingElse) {
  Scenario s = random_scenario(6);
  const VariantResult first = demo::result(s);
  s.cost_split = CostSplit::GpuTime;
  const VariantResult second = demo::result(s);
  EXPECT_EQ(first.cost.ledger.total, second.cost.ledger.total);
  EXPECT_EQ(first.cost.ledger.idle, second.cost.ledger.idle);
  EXPECT_EQ(first.workloads[1].requests->answered, second.workloads[1].requests->answered);
}

// Nodes bought as spot are taken back as often as the Spot Advisor says, unless the scenario does.
TEST(Spot, WithoutARateIsAsRiskyAsTheSpotAdvisorSays) {
  Scenario s = on_four_gpus({training("train")}, hours(1));
  s.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
  const World world = demo::world(s);
  ASSERT_TRUE(world.pools[0].spot.has_value());
  EXPECT_TRUE(world.pools[0].spot->advised);
  EXPECT_GT(world.pools[0].spot->interruptions.per_second, 0);
  const VariantResult r = demo::result(s);
  const SpotRisk& risk = r.node_pools[0].spot.value();
  EXPECT_NEAR(risk.per_1000_hours, world.pools[0].spot->interruptions.per_second * 3.6e6, 1e-9);
  EXPECT_NE(risk.source.find("Spot Advisor"), std::string::npos) << risk.source;
  s.node_pools[0].spot.emplace().interruptions = Rate{};
  EXPECT_EQ(demo::world(s).pools[0].spot->interruptions.per_second, 0);
  s.node_pools[0].capacity_type = scenarios::CapacityType::OnDemand;
  s.node_pools[0].spot.reset();
  EXPECT_FALSE(demo::result(s).node_pools[0].spot.has_value());
}

// An hour of one p3.8xlarge, $12.24, and of EKS's control plane, $0.10, which no workload pays.
TEST(ControlPlane, IsInTheBillAndInNoUnitCost) {
  Scenario s = on_four_gpus({training("train")}, hours(1));
  const VariantResult bare = demo::result(s);
  EXPECT_EQ(bare.cost.ledger.control_plane, Usd{});
  for (const auto& [plane, dollars] : {std::pair(scenarios::ControlPlane::Standard, 0.10),
                                       std::pair(scenarios::ControlPlane::Extended, 0.60)}) {
    s.control_plane = plane;
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.cost.ledger.control_plane, from_dollars(dollars));
    EXPECT_EQ(r.cost.ledger.total, bare.cost.ledger.total + from_dollars(dollars));
    EXPECT_EQ(r.cost.ledger.nodes(), bare.cost.ledger.total);
    EXPECT_EQ(r.cost.ledger.idle, bare.cost.ledger.idle);
    EXPECT_EQ(r.cost.per_job, bare.cost.per_job);
    EXPECT_EQ(r.workloads[0].bill->total, bare.workloads[0].bill->total);
    EXPECT_EQ(r.cost.monthly, bare.cost.monthly);
    EXPECT_EQ(r.cost.control_plane_monthly, from_dollars(730 * dollars));
  }
}

}  // namespace
}  // namespace slicewise::sim
