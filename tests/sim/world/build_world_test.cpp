#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "../demo.hpp"

// Where a scenario meets the catalogue: what is refused, what is carried over, what is counted.
namespace slicewise::sim {
namespace {

using ::testing::HasSubstr;

Diagnostics refused(const scenarios::Scenario& s) {
  const auto world = build_world(s, demo::catalogue());
  return world ? Diagnostics{} : world.error();
}

const Diagnostic* find(const Diagnostics& diagnostics, Code code) {
  const auto found = std::ranges::find(diagnostics, code, &Diagnostic::code);
  return found == diagnostics.end() ? nullptr : &*found;
}

scenarios::Scenario plain() { return demo::scenario(demo::pool(10), {demo::training(1)}); }

TEST(BuildWorld, NamesThatTheCatalogueDoesNotKnowGetTheNearestOne) {
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "p3.8xlage";
  s.region = "us-est-1";
  s.workloads[0].measured->device.value = "V100-SXM2-61GB";
  s.workloads[0].pod.extended[0].name.value = "nvidia.com/gpus";
  const Diagnostics found = refused(s);
  ASSERT_NE(find(found, Code::InstanceUnknown), nullptr);
  EXPECT_THAT(find(found, Code::InstanceUnknown)->help, HasSubstr("p3.8xlarge"));
  ASSERT_NE(find(found, Code::RegionUnknown), nullptr);
  EXPECT_THAT(find(found, Code::RegionUnknown)->help, HasSubstr("us-east-1"));
  ASSERT_NE(find(found, Code::GpuUnknown), nullptr);
  EXPECT_THAT(find(found, Code::GpuUnknown)->help, HasSubstr("V100-SXM2-16GB"));
  ASSERT_NE(find(found, Code::ResourceNameMismatch), nullptr);
  EXPECT_THAT(find(found, Code::ResourceNameMismatch)->help, HasSubstr("nvidia.com/gpu"));
}

TEST(BuildWorld, AGpuByTheBeginningOfItsNameIsNoGpuWithNearbyLetters) {
  scenarios::Scenario s = plain();
  s.workloads[0].measured->device.value = "A100";
  EXPECT_THAT(find(refused(s), Code::GpuUnknown)->help,
              HasSubstr("did you mean A100-SXM4-40GB or A100-SXM4-80GB?"));
}

TEST(BuildWorld, TrafficIsCountedWhereItSaysWhereItComesFrom) {
  scenarios::Workload w =
      demo::service(1, 10, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  scenarios::Scenario s = demo::scenario(demo::pool(1), {w});
  s.duration = hours(1);
  const auto assumed = [&] { return demo::world(s).provenance.assumed_inputs; };
  const std::size_t before = assumed().size();
  s.workloads[0].traffic->provenance = scenarios::Provenance::Assumed;
  EXPECT_EQ(assumed().size(), before + 1);
  EXPECT_THAT(assumed(), ::testing::Contains(AssumedInput(w.name.value, "traffic")));
}

TEST(BuildWorld, AnUnknownPriceIsAnErrorThatNamesWhatIsMissing) {
  scenarios::Scenario s = plain();
  s.region = "ap-south-1";  // AWS never sold p3 there
  const Diagnostics found = refused(s);
  ASSERT_NE(find(found, Code::PriceUnknown), nullptr);
  EXPECT_THAT(find(found, Code::PriceUnknown)->message, HasSubstr("p3.8xlarge"));
  EXPECT_THAT(find(found, Code::PriceUnknown)->message, HasSubstr("ap-south-1"));
}

TEST(BuildWorld, PodsWithSeveralGpusWorkOnThemAll) {
  scenarios::Scenario two_gpus = demo::scenario(demo::pool(0), {demo::training(1)});
  two_gpus.workloads[0].pod.extended[0].count = 2;
  EXPECT_EQ(demo::world(two_gpus).workloads[0].on_pool[0].gpus, 2);
  EXPECT_FALSE(demo::world(two_gpus).pools[0].exact);
  two_gpus.node_pools[0] = demo::pool(4);  // replicas of shared GPUs
  const World shared = demo::world(two_gpus);
  EXPECT_EQ(shared.workloads[0].on_pool[0].gpus, 2);
  EXPECT_TRUE(shared.pools[0].exact);
  two_gpus.workloads[0].pod.extended[0].count = 6;
  EXPECT_EQ(demo::world(two_gpus).workloads[0].on_pool[0].gpus, 4);
}

// People use one GPU, and so says the warning.
TEST(BuildWorld, NotebooksWithReplicasOfSeveralGpusAreOnOne) {
  scenarios::Scenario s = demo::scenario(demo::pool(4), {demo::training(1)});
  scenarios::Workload& w = s.workloads[0];
  w.kind = scenarios::WorkloadKind::Notebook;
  w.notebooks.emplace().gpu_time.mean = seconds(5);
  w.pod.extended[0].count = 2;
  s.duration = hours(1);
  const World world = demo::world(s);
  EXPECT_EQ(world.workloads[0].on_pool[0].gpus, 1);
  EXPECT_TRUE(demo::has(world.findings, Code::StrategyNotModelled));
}

TEST(BuildWorld, ARunWithoutAnEndIsRefused) {
  scenarios::Scenario s = plain();
  s.workloads[0].kind = scenarios::WorkloadKind::Deployment;
  EXPECT_NE(find(refused(s), Code::RunNeverEnds), nullptr);
  s.duration = hours(1);
  EXPECT_TRUE(refused(s).empty());
}

// The roofline rule scales the GPU work only, (1 - beta) F/F' + beta B/B', and says so: of 18 s,
// u = 21 % (the SMs' activity) are work, || T0, W ||_3 = T, and so they are of the 6.84 s of
// kernels.
TEST(BuildWorld, CarriesGpuTimeOverToAnotherModelAndMarksItAssumed) {
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "g5.12xlarge";
  const World world = demo::world(s);
  const PoolDemand& on_a10g = world.workloads[0].on_pool[0];
  const Demand& demand = on_a10g.in_kind[0];
  const double expected = models::roofline_scale(*demo::catalogue().find_gpu("V100"),
                                                 *demo::catalogue().find_gpu("A10G"), 0.5);
  EXPECT_DOUBLE_EQ(on_a10g.gpu_scale, expected);
  const auto carried = [&](double seconds, double share) {
    const double work = share * expected;
    return seconds * std::cbrt(1 - share * share * share + work * work * work);
  };
  EXPECT_NEAR(to_seconds(demand.gpu), carried(6.84, 0.21 / 0.38), 1e-8);
  EXPECT_NEAR(to_seconds(demand.gpu + demand.host), carried(18, 0.21), 1e-8);
  EXPECT_NE(find(world.findings, Code::ProfileScaled), nullptr);
  EXPECT_THAT(world.provenance.assumed_inputs,
              ::testing::Contains(AssumedInput("cifar10", "GPU time on A10G")));
}

// The note has the factor that was applied to the GPU time, not that of the work alone.
TEST(BuildWorld, SaysTheFactorAppliedAndWhatItHangsOn) {
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "g5.12xlarge";
  const auto gpu_time_s = [](const World& world) {
    return to_seconds(world.workloads[0].on_pool[0].in_kind[0].gpu);
  };
  const auto note_of = [](const World& world) {
    const Diagnostic* note = find(world.findings, Code::ProfileScaled);
    return note == nullptr ? "" : note->message;
  };
  const World measured = demo::world(s);
  EXPECT_THAT(note_of(measured),
              HasSubstr(fmt::format("x {:.3g} (", gpu_time_s(measured) / (0.38 * 18))));
  EXPECT_THAT(note_of(measured), HasSubstr("kernels fill 21 % of the GPU, by smActive"));
  s.workloads[0].measured->sm_active.reset();
  const World unknown = demo::world(s);
  EXPECT_THAT(note_of(unknown),
              HasSubstr(fmt::format("x {:.3g} if kernels fill 38 % of the GPU, up to x 1",
                                    gpu_time_s(unknown) / (0.38 * 18))));
  EXPECT_THAT(note_of(unknown), HasSubstr("hangs on smActive, which is not given"));
  const auto& assumed = unknown.provenance.assumed_inputs;
  const AssumedInput share("cifar10", "capacityShare (taken as gpuBusy, its upper bound)");
  EXPECT_EQ(std::ranges::count(assumed, share), 1);
}

TEST(BuildWorld, BatchesOfAProfileThatIsABatchMultiplyAndThatIsTold) {
  models::Catalogue catalogue = demo::catalogue();
  models::WorkloadProfile& profile = catalogue.profiles.emplace_back();
  profile.name = "made/b8";
  profile.gpu_model = "V100-SXM2-16GB";
  profile.solo_step = milliseconds(14);
  profile.batch = 8;
  profile.extra_per_item = milliseconds(9);
  profile.memory = gibibytes(2);
  scenarios::Workload w =
      demo::service(1, 10, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  w.measured.reset();
  w.profile.value = profile.name;
  const auto told = [&](int max_batch) {
    w.serving.max_batch = max_batch;
    scenarios::Scenario s = demo::scenario(demo::pool(1), {w});
    s.duration = hours(1);
    const auto world = build_world(s, catalogue);
    std::string all;
    for (const Diagnostic& found : world ? world->findings : world.error()) {
      if (found.severity != Severity::Note) all += found.message;
    }
    return all;
  };
  EXPECT_THAT(told(8), HasSubstr("up to 64 items go into one step"));
  EXPECT_EQ(told(1), "");
}

// A request of such a profile is all of it: who means its items waits for 8 of each.
TEST(BuildWorld, RequestsThatAreBatchesAreTold) {
  models::Catalogue catalogue = demo::catalogue();
  models::WorkloadProfile& profile = catalogue.profiles.emplace_back();
  profile.name = "made/b8";
  profile.gpu_model = "V100-SXM2-16GB";
  profile.solo_step = milliseconds(14);
  profile.batch = 8;
  profile.memory = gibibytes(2);
  scenarios::Workload w =
      demo::service(1, 10, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  w.measured.reset();
  w.profile.value = profile.name;
  const auto is_told = [&] {
    scenarios::Scenario s = demo::scenario(demo::pool(1), {w});
    s.duration = hours(1);
    return std::ranges::any_of(build_world(s, catalogue)->findings, [](const Diagnostic& d) {
      return d.message.find("is a step of its profile, a batch of 8") != std::string::npos;
    });
  };
  EXPECT_TRUE(is_told());
  w.batch = 8;
  EXPECT_FALSE(is_told());
}

// Of 4 and 8 requests the profile has measurements, of what they fill, too. Between them and beyond
// the last, batches are as far off the line of extraPerItem.
TEST(BuildWorld, BatchesOfTheProfileThatWereMeasuredAreTaken) {
  models::Catalogue catalogue = demo::catalogue();
  const auto add = [&](int batch, int solo_ms, double share) {
    models::WorkloadProfile& profile = catalogue.profiles.emplace_back();
    profile.name = fmt::format("made/v100/b{}/fp16", batch);
    profile.gpu_model = "V100-SXM2-16GB";
    profile.solo_step = milliseconds(solo_ms);
    profile.batch = batch;
    profile.capacity_share = share;
    profile.extra_per_item = milliseconds(3);
    profile.memory = gibibytes(2);
  };
  add(8, 40, 0.9);
  add(1, 10, 0.3);
  add(4, 16, 0.6);
  scenarios::Workload w =
      demo::service(1, 10, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  w.measured.reset();
  w.profile.value = "made/v100/b1/fp16";
  w.serving.max_batch = 9;
  const auto batches = [&] {
    scenarios::Scenario s = demo::scenario(demo::pool(1), {w});
    s.duration = hours(1);
    return build_world(s, catalogue)->workloads[0].on_pool[0].in_kind[0].batches;
  };
  const std::vector<BatchDemand> known = batches();
  ASSERT_EQ(known.size(), 9U);
  EXPECT_NEAR(to_seconds(known[1].gpu), 0.013 * (2 + 16.0 / 19) / 3, 1e-8);
  EXPECT_NEAR(to_seconds(known[3].gpu), 0.016, 1e-8);
  EXPECT_NEAR(to_seconds(known[7].gpu), 0.040, 1e-8);
  EXPECT_NEAR(to_seconds(known[8].gpu), 0.034 * 40 / 31, 1e-8);
  w.profile.value = "made/v100/b8/fp16";
  w.serving.max_batch = 1;
  EXPECT_NEAR(known[7].client.gpu_part, batches().front().client.gpu_part, 1e-6);
  w.profile.value = "made/v100/b1/fp16";
  w.serving.max_batch = 9;
  // Who says how long one more takes is heard.
  w.measured.emplace().extra_per_item = milliseconds(1);
  EXPECT_NEAR(to_seconds(batches()[7].gpu), 0.017, 1e-8);
}

// Kernels that take no time are not carried over: the note had "x -inf".
TEST(BuildWorld, SaysAFiniteFactorForAGpuThatIsNeverBusy) {
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "g5.12xlarge";
  s.workloads[0].measured->gpu_busy = 0.0;
  s.workloads[0].measured->sm_active.reset();
  const World world = demo::world(s);
  const Diagnostic* note = find(world.findings, Code::ProfileScaled);
  ASSERT_NE(note, nullptr);
  EXPECT_THAT(note->message, HasSubstr("x 1 if kernels fill"));
}

TEST(BuildWorld, DoesNotCarryFiguresOverToAGpuWithoutAPublishedRate) {
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "p6-b300.48xlarge";
  EXPECT_NE(find(refused(s), Code::InputMissing), nullptr);
  s.workloads[0].measured->device.value = "";
  EXPECT_EQ(find(refused(s), Code::InputMissing), nullptr);
}

// T(b) = || T0, b w ||_p: of 18 s at batch 8, u = 50 % are work, so batch 16 takes || T0, 2 W ||.
TEST(BuildWorld, AnotherBatchScalesTheWorkAndNotTheFixedPart) {
  scenarios::Scenario s = plain();
  s.workloads[0].measured->gpu_busy = 1.0;
  s.workloads[0].measured->capacity_share = 0.5;
  s.workloads[0].measured->norm_p = 2;
  s.workloads[0].measured->batch = 8;
  s.workloads[0].batch = 16;
  const World world = demo::world(s);
  const Demand& demand = world.workloads[0].on_pool[0].in_kind[0];
  EXPECT_NEAR(to_seconds(demand.gpu), 18 * std::sqrt(0.75 + 1.0), 1e-8);
  EXPECT_THAT(world.provenance.assumed_inputs, ::testing::Contains(HasSubstr("batch 16")));
}

// Of a unit of 18 s that an overlapped host phase fills, 20 % are work: four times the batch is
// four times that, which is 80 % of the time, though the unit takes 15 % longer. It took 30 %.
TEST(BuildWorld, KernelsTakeAsLongAsTheirWorkWhateverTheUnitTakes) {
  for (const bool serial : {false, true}) {
    scenarios::Scenario s = plain();
    scenarios::Workload& w = s.workloads[0];
    w.measured->gpu_busy = 0.2;
    w.measured->capacity_share = 0.2;
    w.measured->batch = 16;
    w.batch = 64;
    if (serial) w.work->host_phase = scenarios::Work::HostPhase::Serial;
    const Demand demand = demo::world(s).workloads[0].on_pool[0].in_kind[0];
    EXPECT_NEAR(to_seconds(demand.gpu), 4 * 3.6, 1e-8);
    const double unit = serial ? 14.4 + 4 * 3.6 : 18 * std::cbrt(1 - 0.008 + 0.512);
    EXPECT_NEAR(to_seconds(demand.gpu + demand.host), unit, 1e-8);
  }
}

// A batch fills more of the GPU than one request: on another GPU it gains as that says. Measured
// times of batches that are those of the law give the times of the law there.
TEST(BuildWorld, MeasuredBatchesAreCarriedOverByWhatTheyFill) {
  const auto two = [](std::optional<Duration> extra, const char* type) {
    scenarios::Workload w =
        demo::service(1, 10, milliseconds(10), scenarios::ServiceTime::Law::Deterministic);
    w.measured->capacity_share = 0.5;
    w.measured->bandwidth_share = 0;
    w.measured->extra_per_item = extra;
    w.serving.max_batch = 2;
    scenarios::Scenario s = demo::scenario(demo::pool(1), {w});
    s.duration = hours(1);
    s.node_pools[0].instance_type.value = type;
    return demo::world(s).workloads[0].on_pool[0].in_kind[0].batches.back().gpu;
  };
  const Duration by_law = two({}, "p3.8xlarge");
  EXPECT_NEAR(to_seconds(by_law), 1e-2 * std::cbrt(1 + 0.875), 1e-8);
  for (const char* type : {"p3.8xlarge", "g4dn.12xlarge", "p4d.24xlarge", "g6.12xlarge"}) {
    EXPECT_NEAR(to_seconds(two(by_law - milliseconds(10), type)), to_seconds(two({}, type)), 2e-9)
        << type;
  }
}

// What a hint names can be done: the profile exists for the GPU, or its figures can be carried
// over.
TEST(BuildWorld, HintsNameProfilesThatThePoolsCanRun) {
  scenarios::Scenario s = plain();
  s.workloads[0].measured.reset();
  s.workloads[0].profile.value = "resnet-50-inference";
  for (const char* type : {"p4d.24xlarge", "p4de.24xlarge", "g5.12xlarge"}) {
    s.node_pools[0].instance_type.value = type;
    const Diagnostics found = refused(s);
    const Diagnostic* unknown = find(found, Code::ProfileUnknown);
    ASSERT_NE(unknown, nullptr);
    const std::string& help = unknown->help;
    ASSERT_THAT(help, HasSubstr("did you mean ")) << type;
    const std::string name = help.substr(13, help.find('?') - 13);
    scenarios::Scenario fixed = s;
    fixed.workloads[0].profile.value = name;
    EXPECT_TRUE(refused(fixed).empty()) << type << ": " << name;
    if (std::string(type) == "p4de.24xlarge") {
      EXPECT_THAT(name, HasSubstr("a100-80gb"));
    }
  }
}

// It had "no profile of that name", and then that the profile lacked a figure.
TEST(BuildWorld, AnUnknownProfileIsOneMistake) {
  scenarios::Scenario s = plain();
  s.workloads[0].measured.reset();
  s.workloads[0].profile.value = "bge";
  const Diagnostics found = refused(s);
  EXPECT_EQ(std::ranges::count(found, Severity::Error, &Diagnostic::severity), 1);
}

// Four of them fit whatever they take, and nothing warned.
TEST(BuildWorld, MemoryThatNobodySaysIsWarnedOfWhereGpusAreShared) {
  scenarios::Workload w =
      demo::service(2, 10, milliseconds(20), scenarios::ServiceTime::Law::Deterministic);
  w.gpu_memory = {};
  const auto told = [&](int replicas) {
    scenarios::Scenario s = demo::scenario(demo::pool(replicas), {w});
    s.duration = hours(1);
    const World world = demo::world(s);
    const Diagnostic* found = find(world.findings, Code::GpuMemUnlimited);
    return found != nullptr && found->severity == Severity::Warning;
  };
  EXPECT_TRUE(told(4));
  EXPECT_FALSE(told(1));
  w.gpu_memory.resident = gibibytes(2);
  EXPECT_FALSE(told(4));
}

TEST(BuildWorld, FillsInACatalogueProfile) {
  const auto profile = std::ranges::find_if(demo::catalogue().profiles, [](const auto& p) {
    return p.kind == "train" && p.gpu_model == "A100-SXM4-40GB" && p.memory && p.solo_step;
  });
  ASSERT_NE(profile, demo::catalogue().profiles.end());
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "p4d.24xlarge";
  s.workloads[0].measured.reset();
  s.workloads[0].gpu_memory = {};
  s.workloads[0].profile.value = profile->name;
  const World world = demo::world(s);
  EXPECT_EQ(world.workloads[0].gpu_memory, *profile->memory);
  EXPECT_EQ(
      world.workloads[0].on_pool[0].in_kind[0].gpu + world.workloads[0].on_pool[0].in_kind[0].host,
      *models::on_whole_gpu(*profile, demo::catalogue()).solo_step);
  EXPECT_GT(world.provenance.catalog, 3);
  s.workloads[0].profile.value = "no-such-profile";
  EXPECT_NE(find(refused(s), Code::ProfileUnknown), nullptr);
}

// What a profile says of neighbours under MPS holds unless the scenario says otherwise.
TEST(BuildWorld, TakesACalibratedPairFromTheProfile) {
  models::Catalogue calibrated = demo::catalogue();
  const auto profile = std::ranges::find_if(calibrated.profiles, [](const auto& p) {
    return p.kind == "train" && p.gpu_model == "A100-SXM4-40GB" && p.memory && p.solo_step;
  });
  profile->sensitivity = 0.6;
  profile->pressure = 0.5;
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "p4d.24xlarge";
  s.workloads[0].measured.reset();
  s.workloads[0].profile.value = profile->name;
  const auto law_in = [&] {
    return build_world(s, calibrated)->workloads[0].on_pool[0].in_kind[0].client;
  };
  EXPECT_EQ(law_in().sensitivity, 0.6);
  EXPECT_EQ(law_in().pressure, 0.5);
  s.workloads[0].measured.emplace().sensitivity = 0.1;
  EXPECT_EQ(law_in().sensitivity, 0.1);
}

TEST(BuildWorld, SpotCostsLessThanOnDemand) {
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "g4dn.xlarge";
  const UsdPerHour on_demand = demo::world(s).pools[0].price.usd;
  s.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
  EXPECT_LT(demo::world(s).pools[0].price.usd, on_demand);
  s.node_pools[0].capacity_type = scenarios::CapacityType::Reserved;
  EXPECT_NE(find(refused(s), Code::PriceUnknown), nullptr);
}

// p5e.48xlarge is sold nowhere by the hour; of us-east-2 there is a price of 2024 as well.
TEST(BuildWorld, CapacityBlocksCostTheNewestPriceOfTheirRegion) {
  scenarios::Scenario s = plain();
  s.node_pools[0].capacity_type = scenarios::CapacityType::CapacityBlock;
  s.node_pools[0].instance_type.value = "p5e.48xlarge";
  s.duration = hours(1);
  for (const char* region : {"us-east-1", "us-east-2"}) {
    s.region = region;
    const World world = demo::world(s);
    EXPECT_EQ(world.pools[0].price.usd.per_hour, from_dollars(39.8));
    ASSERT_NE(find(world.findings, Code::PriceDerived), nullptr);
    EXPECT_THAT(find(world.findings, Code::PriceDerived)->message,
                HasSubstr("in most regions, from January 2026"));
  }
  s.region = "us-gov-west-1";
  EXPECT_NE(find(refused(s), Code::PriceUnknown), nullptr);
  s.region = "us-east-1";
  s.node_pools[0].capacity_type = scenarios::CapacityType::Reserved;
  EXPECT_THAT(find(refused(s), Code::PriceUnknown)->help, HasSubstr("capacity-block"));
}

// In days up to 14, then in weeks up to 26.
TEST(BuildWorld, CapacityBlocksArePaidForWhole) {
  scenarios::Scenario s = plain();
  s.node_pools[0].capacity_type = scenarios::CapacityType::CapacityBlock;
  s.node_pools[0].instance_type.value = "p5e.48xlarge";
  s.node_pools[0].nodes = 2;
  const auto bill = [&](std::optional<Duration> run) {
    s.duration = run;
    std::string text;
    for (const Diagnostic& each : demo::world(s).findings) text += each.message;
    return text;
  };
  EXPECT_THAT(bill(hours(1)), HasSubstr("a Capacity Block of 1 day, the shortest"));
  EXPECT_THAT(bill(hours(1)), HasSubstr("$1910.40, paid at once"));  // 2 x 24 x 39.8
  EXPECT_THAT(bill(hours(1)), HasSubstr("costs are those of the time of the run"));
  EXPECT_THAT(bill({}), HasSubstr("1 day, the shortest: at least $1910.40, paid at once"))
      << "until jobs are done, which is then in the bill";
  EXPECT_THAT(bill(hours(25)), HasSubstr("of 2 days"));
  EXPECT_THAT(bill(hours(24 * 14)), HasSubstr("of 14 days"));
  EXPECT_THAT(bill(hours(24 * 14 + 1)), HasSubstr("of 21 days"));
  EXPECT_THAT(bill(hours(24 * 182)), HasSubstr("of 182 days"));
  s.duration = hours(24 * 182 + 1);
  EXPECT_THAT(find(refused(s), Code::ValueRange)->message, HasSubstr("182 days at most"));
  s.duration = hours(1);
  s.node_pools[0].most_nodes = 3;
  EXPECT_NE(find(refused(s), Code::SettingConflict), nullptr);
}

TEST(BuildWorld, SaysWhichProcessCanNeverStart) {
  scenarios::Scenario s = plain();
  s.workloads[0].gpu_memory.resident = gibibytes(60);
  const World world = demo::world(s);
  ASSERT_NE(find(world.findings, Code::GpuOom), nullptr);
  EXPECT_THAT(find(world.findings, Code::GpuOom)->help, HasSubstr("--fits"));
}

// Pods that selected Karpenter's labels ran on node groups that the Cluster Autoscaler grows.
TEST(BuildWorld, NodesThatComeAndGoCarryTheLabelsOfWhoMakesThem) {
  using Kind = scenarios::Provisioner::Kind;
  scenarios::Scenario s = plain();
  const auto has = [&](const std::string& label) {
    return demo::world(s).pools[0].labels.contains(label);
  };
  const std::string family = "karpenter.k8s.aws/instance-family";
  const std::string group = "eks.amazonaws.com/nodegroup";
  EXPECT_TRUE(has(family) && has(group));  // nobody says who made them
  s.node_pools[0].most_nodes = s.node_pools[0].nodes + 1;
  s.provisioner.kind = Kind::ClusterAutoscaler;
  EXPECT_TRUE(has(group) && !has(family) && !has("karpenter.sh/nodepool"));
  s.provisioner.kind = Kind::Karpenter;
  EXPECT_TRUE(!has(group) && has(family) && has("karpenter.sh/nodepool"));
}

TEST(BuildWorld, NodesCarryTheLabelsOfEksAndOfGpuFeatureDiscovery) {
  const World world = demo::world(plain());
  const auto& labels = world.pools[0].labels;
  EXPECT_EQ(labels.at("kubernetes.io/arch"), "amd64");
  EXPECT_EQ(labels.at("topology.kubernetes.io/region"), "us-east-1");
  EXPECT_EQ(labels.at("karpenter.k8s.aws/instance-family"), "p3");
  EXPECT_EQ(labels.at("karpenter.k8s.aws/instance-gpu-memory"), "16384");
  EXPECT_FALSE(labels.contains("karpenter.k8s.aws/instance-local-nvme"));  // p3.8xlarge has none
  EXPECT_EQ(labels.at("nvidia.com/gpu.count"), "4");
  EXPECT_EQ(labels.at("nvidia.com/gpu.product"), "Tesla-V100-SXM2-16GB-SHARED");
  scenarios::Scenario renamed = plain();
  renamed.node_pools[0].device_plugin->time_slicing->rename_by_default = true;
  renamed.node_pools[0].labels["kubernetes.io/arch"] = "mine";
  renamed.workloads[0].pod.extended[0].name.value = "nvidia.com/gpu.shared";
  const World other = demo::world(renamed);
  EXPECT_EQ(other.pools[0].labels.at("nvidia.com/gpu.product"), "Tesla-V100-SXM2-16GB");
  EXPECT_EQ(other.pools[0].labels.at("kubernetes.io/arch"), "mine");
}

// They were cut to what the profile says of a request, without a word.
TEST(BuildWorld, KernelsAreNoLongerThanTheRequestOfTheProfile) {
  scenarios::Scenario s = demo::scenario(
      demo::pool(0),
      {demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Deterministic)});
  s.duration = hours(1);
  s.workloads[0].profile.value = "resnet-50-inference/a100-80gb/b8";
  s.workloads[0].measured.emplace().kernel_time = seconds(1);
  const auto told = [&] {
    const World world = demo::world(s);
    const Diagnostic* one = find(world.findings, Code::SettingConflict);
    return one == nullptr ? std::string() : one->message;
  };
  EXPECT_THAT(told(), HasSubstr("kernelTime of \"api\" is above the "));
  s.workloads[0].measured->kernel_time = microseconds(50);
  EXPECT_EQ(told(), "");
}

// Only requests were told so: a light Job came out 1.3 times as long as alone, without a word.
TEST(BuildWorld, BatchWorkUnderMpsAsksHowLongKernelsLast) {
  scenarios::NodePool pool = demo::pool(2);
  pool.device_plugin->mps = std::exchange(pool.device_plugin->time_slicing, {});
  pool.mps.emplace().uncapped = true;
  scenarios::Workload other = demo::training(1);
  other.name.value = "other";
  scenarios::Scenario s = demo::scenario(pool, {demo::training(1), other});
  const auto asked = [&] {
    const World world = demo::world(s);
    return std::ranges::count(world.findings, Code::KernelTimeUnknown, &Diagnostic::code);
  };
  EXPECT_EQ(asked(), 2);
  s.workloads[0].measured->kernel_time = s.workloads[1].measured->kernel_time = microseconds(50);
  EXPECT_EQ(asked(), 0);
  s.workloads.pop_back();  // kernels of copies are alike
  s.workloads[0].measured->kernel_time.reset();
  s.workloads[0].count = 2;
  EXPECT_EQ(asked(), 0);
}

// Nothing in Kubernetes compares images with CPUs: such pods were simulated, and run nowhere.
TEST(BuildWorld, ImagesRunOnTheCpusThatTheyAreBuiltFor) {
  using scenarios::Architecture;
  scenarios::Scenario s = plain();
  s.node_pools[0].instance_type.value = "g5g.xlarge";
  auto& pod = s.workloads[0].pod;
  const auto told = [&] {
    const Diagnostics found = refused(s);
    const Diagnostic* one = find(found, Code::ImageArchitecture);
    return one == nullptr ? std::string() : one->message + "; " + one->help;
  };
  EXPECT_THAT(told(), HasSubstr("taken to be built for amd64 (podTemplate.imageArchitectures"));
  EXPECT_THAT(told(), HasSubstr("nodeSelector kubernetes.io/arch: amd64"));
  pod.image_architectures = {Architecture::Amd64};
  EXPECT_THAT(told(), HasSubstr("\"cifar10\" is built for amd64, and the CPUs of g5g.xlarge are "
                                "arm64: exec format error"));
  pod.image_architectures = {Architecture::Amd64, Architecture::Arm64};
  EXPECT_EQ(told(), "");
  pod.image_architectures.clear();
  pod.node_selector["kubernetes.io/arch"] = "arm64";  // whoever selects them has images for them
  EXPECT_EQ(told(), "");
  EXPECT_EQ(demo::world(s).pools[0].labels.at("kubernetes.io/arch"), "arm64");
  s.node_pools[0].instance_type.value = "p3.8xlarge";
  pod.node_selector.clear();
  pod.image_architectures = {Architecture::Arm64};
  EXPECT_THAT(told(), HasSubstr("is built for arm64, and the CPUs of p3.8xlarge are amd64"));
  pod.extended[0].name.value = "nvidia.com/gpu";
  s.node_pools[0].taints.push_back({"team", "a", "NoSchedule"});  // no pod gets there
  EXPECT_EQ(told(), "");
}

// One pass: what the loader found and what the catalogue knows better, in file order, and nothing
// about a place that is already known to be wrong.
TEST(CheckNames, JoinsTheLoaderAndTheCatalogue) {
  const SourceText text{"s.yaml", R"(apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  region: us-east-9
  nodePools:
  - {name: gpu, instanceType: g5.12xlage}
  planning: {instanceTypes: [g5, g7x, g4dn.xlarg], strategies: [mps]}
  pricing: {plans: {p4d.24xlarg: {type: edp, discount: 43%}}}
  workloads:
  - name: w
    podTemplate: {resources: {limits: {nvidia.com/gpu.shared: 1}}}
    work: {units: 1}
    measured: {unitTime: 18}
)"};
  const Diagnostics found = check_names(scenarios::read_scenario_file(text), demo::catalogue());
  std::vector<std::pair<int, Code>> places;
  for (const Diagnostic& d : found) places.emplace_back(d.where.line, d.code);
  EXPECT_THAT(places,
              ::testing::ElementsAre(
                  std::pair(5, Code::RegionUnknown), std::pair(7, Code::InstanceUnknown),
                  std::pair(8, Code::InstanceUnknown), std::pair(8, Code::InstanceUnknown),
                  std::pair(9, Code::InstanceUnknown), std::pair(12, Code::ResourceNameMismatch),
                  std::pair(14, Code::UnitMissing)));
}

// A stage that nobody has was taken for one when keys and values were timed, and the program
// crashed.
TEST(CheckNames, StagesMayNameEachOtherWrongly) {
  const SourceText text{"s.yaml", R"(apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  region: us-east-1
  duration: 20m
  nodePools:
  - {name: gpu, instanceType: g6e.8xlage, nodes: 2}
  workloads:
  - name: prefill
    kind: Service
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    llm: {role: Prefill, model: llama-3-8b-fp16/a100-80gb, tokens: {input: {mean: 500}, output: {mean: 100}}}
  - name: decode
    kind: Service
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    llm: {role: Decode, model: llama-3-8b-fp16/a100-80gb}
  pipelines:
  - name: chat
    traffic: {shape: Poisson, mean: 2/s}
    stages:
    - {workload: prefill}
    - {workload: decode, after: [prefil], network: 1ms}
)"};
  const Diagnostics found = check_names(scenarios::read_scenario_file(text), demo::catalogue());
  std::vector<std::pair<int, Code>> places;
  for (const Diagnostic& d : found) places.emplace_back(d.where.line, d.code);
  EXPECT_THAT(places, ::testing::ElementsAre(std::pair(8, Code::InstanceUnknown),
                                             std::pair(23, Code::SettingConflict),
                                             std::pair(23, Code::FieldUnknown)));
}

// One job for nodes labelled size: large, a pool of them, and `other`, which is not.
scenarios::Scenario job_for_large(scenarios::NodePool other, std::string_view large_type) {
  scenarios::Workload job = demo::training(1);
  job.pod.node_selector["size"] = "large";
  scenarios::Scenario s = demo::scenario(std::move(other), {std::move(job)});
  s.node_pools.push_back(demo::pool(0));
  s.node_pools[1].name.value = "large";
  s.node_pools[1].instance_type.value = large_type;
  s.node_pools[1].labels["size"] = "large";
  return s;
}

// A pool that the pod may not go to says nothing of it, whatever its GPUs hold.
TEST(BuildWorld, MemoryIsJudgedWhereThePodMayRun) {
  scenarios::Scenario s = job_for_large(demo::pool(0), "g6e.xlarge");
  s.workloads[0].gpu_memory.resident = gibibytes(20);
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::GpuOom));
  std::swap(s.node_pools[0].labels, s.node_pools[1].labels);
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::GpuOom));
}

// A time-sliced pool with the same resource name says nothing of pods that a selector keeps off it.
TEST(BuildWorld, WhatAPoolMakesOfARequestIsJudgedWhereThePodMayRun) {
  scenarios::Scenario s = job_for_large(demo::pool(10), "g6e.12xlarge");
  s.workloads[0].pod.extended[0].count = 2;
  const World world = demo::world(s);
  EXPECT_FALSE(demo::has(world.findings, Code::RequestNoEffect));
  EXPECT_FALSE(world.workloads[0].on_pool[0].schedulable);
  EXPECT_TRUE(world.workloads[0].on_pool[1].schedulable);
  s.workloads[0].pod.node_selector.clear();
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::RequestNoEffect));
}

}  // namespace
}  // namespace slicewise::sim
