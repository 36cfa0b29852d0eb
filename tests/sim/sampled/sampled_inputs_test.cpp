// Inputs that are known within an interval: how they are drawn, and what it does to the answer.
#include "slicewise/sim/sampled_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "slicewise/models/uncertain_figures.hpp"

#include "../cluster/llm_scenarios.hpp"
#include "../demo.hpp"

namespace slicewise::sim {
namespace {

models::WorkloadProfile uncertain(double solo_width, double share_width) {
  models::WorkloadProfile profile;
  profile.name = "made/v100";
  profile.title = "made";
  profile.kind = "inference";
  profile.gpu_model = "V100-SXM2-16GB";
  profile.solo_step = milliseconds(20);
  profile.capacity_share = 0.5;
  profile.norm_p = 3;
  profile.uncertainty = {{"soloMs", solo_width, {}},
                         {"capacityShare", share_width, {{"soloMs", -0.8}}}};
  return profile;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments m;
  for (const double value : values) m.mean += value / static_cast<double>(values.size());
  for (const double value : values) m.deviation += (value - m.mean) * (value - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

// Half of the draws are below, none beyond the bounds, which the outer 2.5 % on each side reach.
TEST(DrawnProfile, WhatLiesBetweenBoundsIsDrawnBetweenThem) {
  models::WorkloadProfile profile = uncertain(1.96, 0.4);
  profile.uncertainty.back().between = models::Between{0.45, 0.9};
  constexpr int kDraws = 4'000;
  int below = 0;
  int at_least = 0;
  int at_most = 0;
  for (std::uint32_t r = 0; r < kDraws; ++r) {
    const double share = *drawn_profile(profile, 7, r).capacity_share;
    ASSERT_GE(share, 0.45);
    ASSERT_LE(share, 0.9);
    below += share < 0.5 ? 1 : 0;
    at_least += share == 0.45 ? 1 : 0;
    at_most += share == 0.9 ? 1 : 0;
  }
  EXPECT_NEAR(below, kDraws / 2, 0.03 * kDraws);
  EXPECT_NEAR(at_least, 0.025 * kDraws, 0.01 * kDraws);
  EXPECT_NEAR(at_most, 0.025 * kDraws, 0.01 * kDraws);
}

TEST(DrawnProfile, DrawsEveryFigureThatIsUncertain) {
  models::WorkloadProfile profile = uncertain(1, 0.1);
  profile.extra_per_item = milliseconds(5);
  profile.bandwidth_share = 0.5;
  profile.sensitivity = 0.5;
  profile.pressure = 0.5;
  profile.duty = 0.5;
  profile.request_duty = 0.5;
  profile.kernel_time = milliseconds(1);
  profile.host_time = milliseconds(2);
  profile.time_sigma = 0.3;
  profile.turn_use = 0.5;
  const auto values = [](const models::WorkloadProfile& p) {
    return std::tie(p.solo_step, p.extra_per_item, p.capacity_share, p.norm_p, p.bandwidth_share,
                    p.sensitivity, p.pressure, p.duty, p.request_duty, p.kernel_time, p.host_time,
                    p.time_sigma, p.turn_use);
  };
  for (const std::string_view figure : models::kUncertainFigures) {
    profile.uncertainty = {{std::string(figure), 0.1, {}}};
    const models::WorkloadProfile drawn = drawn_profile(profile, 7, 1);
    EXPECT_NE(values(drawn), values(profile)) << figure;
  }
}

// Far below what is left of it: it stays a part of a turn, 0 would be "not known".
TEST(DrawnProfile, WhatIsUsedOfATurnIsNeverNothing) {
  models::WorkloadProfile profile = uncertain(1, 0.1);
  profile.turn_use = 0.05;
  profile.uncertainty = {{"turnUse", 0.2, {}}};
  for (std::uint32_t r = 0; r < 500; ++r) EXPECT_GT(*drawn_profile(profile, 7, r).turn_use, 0);
}

// 4,000 draws: deviations are a half width / 1.96 within 4 %, correlations come back within 0.03.
TEST(DrawnProfile, HasTheDeviationsAndCorrelationsThatItIsGiven) {
  const models::WorkloadProfile profile = uncertain(1.96, 0.098);
  std::vector<double> solo;
  std::vector<double> share;
  for (std::uint32_t r = 0; r < 4'000; ++r) {
    const models::WorkloadProfile drawn = drawn_profile(profile, 7, r);
    solo.push_back(std::log(to_seconds(*drawn.solo_step) / 0.02));
    share.push_back(*drawn.capacity_share);
  }
  const Moments of_solo = moments_of(solo);
  const Moments of_share = moments_of(share);
  EXPECT_NEAR(of_solo.mean, 0, 0.003);
  EXPECT_NEAR(of_solo.deviation, 0.05, 0.002);
  EXPECT_NEAR(of_share.mean, 0.5, 0.003);
  EXPECT_NEAR(of_share.deviation, 0.05, 0.002);
  double together = 0;
  for (std::size_t i = 0; i < solo.size(); ++i) {
    together += (solo[i] - of_solo.mean) * (share[i] - of_share.mean);
  }
  together /= static_cast<double>(solo.size()) * of_solo.deviation * of_share.deviation;
  EXPECT_NEAR(together, -0.8, 0.03);
}

TEST(DrawnProfile, IsTheSameForTheSameSeedAndNeverBeyondWhatItCanBe) {
  const models::WorkloadProfile profile = uncertain(40, 3);
  EXPECT_EQ(drawn_profile(profile, 7, 3).solo_step, drawn_profile(profile, 7, 3).solo_step);
  EXPECT_NE(drawn_profile(profile, 7, 3).solo_step, drawn_profile(profile, 7, 4).solo_step);
  EXPECT_NE(drawn_profile(profile, 7, 3).solo_step, drawn_profile(profile, 8, 3).solo_step);
  for (std::uint32_t r = 0; r < 200; ++r) {
    const models::WorkloadProfile drawn = drawn_profile(profile, 7, r);
    EXPECT_GT(drawn.solo_step->ns, 0);
    EXPECT_GE(*drawn.capacity_share, 0);
    EXPECT_LE(*drawn.capacity_share, 1);
    EXPECT_EQ(drawn.norm_p, profile.norm_p);
  }
}

TEST(DrawnProfile, HasAnotherTimePerItem) {
  models::WorkloadProfile profile = uncertain(8, 0);
  profile.extra_per_item = milliseconds(2);
  profile.uncertainty.push_back({"extraPerItemMs", 0.5, {}});
  EXPECT_NE(drawn_profile(profile, 7, 1).extra_per_item, milliseconds(2));
}

// Days, known within years: a draw is far from both ends of the clock.
TEST(DrawnProfile, IsATimeWhateverTheInterval) {
  models::WorkloadProfile profile = uncertain(1e12, 0.05);
  profile.solo_step = seconds(1'000'000);
  Duration least = hours(24 * 36'500);
  Duration most;
  for (std::uint32_t r = 0; r < 50; ++r) {
    const Duration drawn = *drawn_profile(profile, 7, r).solo_step;
    least = std::min(least, drawn);
    most = std::max(most, drawn);
  }
  EXPECT_GT(least, Duration{});
  EXPECT_LT(least, seconds(1));
  EXPECT_GT(most, hours(24 * 36'499));
}

// Two V100 replicas of a service that takes turns; its time alone comes from the profile.
scenarios::ScenarioSet service_of(const std::string& profile, int replications) {
  scenarios::Workload api =
      demo::service(2, 10, milliseconds(20), scenarios::ServiceTime::Law::Exponential);
  api.measured.reset();
  api.profile.value = profile;
  scenarios::Scenario scenario = demo::scenario(demo::pool(2), {api});
  scenario.where = {"test.yaml", 3, 1};
  scenario.duration = seconds(120);
  scenario.replications = replications;
  scenarios::ScenarioSet set;
  set.name = "test";
  set.variants = {scenario};
  return set;
}

models::Catalogue catalogue_with(const models::WorkloadProfile& profile) {
  models::Catalogue catalogue = demo::catalogue();
  catalogue.profiles.push_back(profile);
  return catalogue;
}

double p99_width(double solo_width, int replications) {
  const auto result = run_sampled(service_of("made/v100", replications),
                                  catalogue_with(uncertain(solo_width, 0.05)));
  EXPECT_TRUE(result.has_value());
  EXPECT_TRUE(result->sampled_inputs);
  for (const FigureRange& range : result->variants.front().ranges) {
    if (range.name != "latencyP99") continue;
    EXPECT_GT(range.least, 0);
    return (range.most - range.least) / 2;
  }
  ADD_FAILURE() << "no range of latencyP99";
  return 0;
}

TEST(SampledInputs, RangesWidenWithWhatIsNotKnown) {
  const double known = p99_width(0.01, 12);
  const double roughly = p99_width(4, 12);
  const double hardly = p99_width(12, 12);
  EXPECT_GT(roughly, 2 * known);
  EXPECT_GT(hardly, 2 * roughly);
}

// Chance shrinks with the root of the replications, ignorance does not: 8 against 72 would be a
// third.
TEST(SampledInputs, MoreReplicationsDoNotMakeInputsBetterKnown) {
  EXPECT_GT(p99_width(8, 72), 0.5 * p99_width(8, 8));
}

TEST(SampledInputs, IntervalsOfTheMeanAreWiderThanOfInputsThatAreGiven) {
  const scenarios::ScenarioSet set = service_of("made/v100", 12);
  const models::Catalogue catalogue = catalogue_with(uncertain(8, 0.05));
  const auto given = run_scenario(set, catalogue);
  const auto sampled = run_sampled(set, catalogue);
  ASSERT_TRUE(given && sampled);
  EXPECT_TRUE(given->variants[0].ranges.empty());
  EXPECT_GT(sampled->variants[0].workloads[0].latency->p99_ci95->ns,
            2 * given->variants[0].workloads[0].latency->p99_ci95->ns);
}

TEST(SampledInputs, ThreadsChangeNothing) {
  const scenarios::ScenarioSet set = service_of("made/v100", 6);
  const models::Catalogue catalogue = catalogue_with(uncertain(4, 0.05));
  RunOptions four;
  four.threads = 4;
  const auto alone = run_sampled(set, catalogue);
  const auto together = run_sampled(set, catalogue, four);
  ASSERT_TRUE(alone && together);
  ASSERT_EQ(alone->variants[0].ranges.size(), together->variants[0].ranges.size());
  for (std::size_t i = 0; i < alone->variants[0].ranges.size(); ++i) {
    EXPECT_EQ(alone->variants[0].ranges[i].value, together->variants[0].ranges[i].value);
    EXPECT_EQ(alone->variants[0].ranges[i].least, together->variants[0].ranges[i].least);
    EXPECT_EQ(alone->variants[0].ranges[i].most, together->variants[0].ranges[i].most);
  }
}

// Four jobs on each of four GPUs, known to keep SMs busy for 21 % of their time and no more than
// that.
scenarios::ScenarioSet jobs_in_turns(std::optional<double> gpu_busy, int replications = 8) {
  scenarios::Workload job = demo::training(16);
  job.work->units = 20;
  job.measured->gpu_busy = gpu_busy;
  scenarios::Scenario scenario = demo::scenario(demo::pool(4), {job});
  scenario.where = {"test.yaml", 3, 1};
  scenario.replications = replications;
  scenarios::ScenarioSet set;
  set.name = "test";
  set.variants = {scenario};
  return set;
}

TEST(SampledInputs, TheTimeInWhichKernelsRunGoesFromItsLeastToItsMost) {
  const auto slowest = [](double gpu_busy) {
    const auto result = run_scenario(jobs_in_turns(gpu_busy, 1), demo::catalogue());
    EXPECT_TRUE(result.has_value());
    return to_seconds(result->variants[0].workloads[0].job_completion->p95);
  };
  const auto drawn = run_sampled(jobs_in_turns({}), demo::catalogue());
  ASSERT_TRUE(drawn.has_value());
  const auto& ranges = drawn->variants[0].ranges;
  const auto range = std::ranges::find(ranges, "jobCompletionP95", &FigureRange::name);
  ASSERT_NE(range, ranges.end());
  const double idle = slowest(0.21);
  const double busy = slowest(1);
  EXPECT_NEAR(range->least, idle, 0.01 * idle);
  EXPECT_NEAR(range->most, busy, 0.01 * busy);
  EXPECT_GT(busy, 2 * idle);
  const Diagnostics& findings = drawn->variants[0].findings;
  const auto note = std::ranges::find(findings, Code::GpuBusyUnknown, &Diagnostic::code);
  ASSERT_NE(note, findings.end());
  EXPECT_NE(note->message.find("each replication takes another share"), std::string::npos);
  EXPECT_EQ(note->message.find("100 % is taken"), std::string::npos);
  EXPECT_EQ(note->help.find("--inputs sampled"), std::string::npos);
}

// SM_ACTIVE stands in for the capacity of what shares a GPU under MPS: it may be 1.4 times that.
TEST(SampledInputs, CapacityGoesFromSmActiveToWhatWasSeenAtMost) {
  const auto under_mps = [](std::optional<double> capacity, int replications,
                            std::optional<double> norm = models::kDefaultNorm) {
    scenarios::ScenarioSet set = jobs_in_turns(1.0, replications);
    scenarios::Scenario& scenario = set.variants[0];
    scenarios::DevicePlugin& plugin = *scenario.node_pools[0].device_plugin;
    plugin.mps = std::exchange(plugin.time_slicing, {});
    scenario.node_pools[0].mps.emplace().uncapped = true;
    scenario.workloads[0].measured->sm_active = 0.5;
    scenario.workloads[0].measured->capacity_share = capacity;
    scenario.workloads[0].measured->norm_p = norm;
    return set;
  };
  const auto slowest = [&](double capacity) {
    const auto result = run_scenario(under_mps(capacity, 1), demo::catalogue());
    EXPECT_TRUE(result.has_value());
    return to_seconds(result->variants[0].workloads[0].job_completion->p95);
  };
  const auto drawn = run_sampled(under_mps({}, 8), demo::catalogue());
  ASSERT_TRUE(drawn.has_value());
  const auto& ranges = drawn->variants[0].ranges;
  const auto range = std::ranges::find(ranges, "jobCompletionP95", &FigureRange::name);
  ASSERT_NE(range, ranges.end());
  EXPECT_NEAR(range->least, slowest(0.5), 0.01 * slowest(0.5));
  EXPECT_NEAR(range->most, slowest(0.7), 0.01 * slowest(0.7));
  EXPECT_GT(slowest(0.7), 1.2 * slowest(0.5));
  EXPECT_FALSE(run_sampled(under_mps(0.5, 2), demo::catalogue()).has_value());
  // Nor is p known where nobody gives it.
  const auto by_norm = run_sampled(under_mps(0.5, 8, {}), demo::catalogue());
  ASSERT_TRUE(by_norm.has_value());
  const auto& of_norm = by_norm->variants[0].ranges;
  const auto wide = std::ranges::find(of_norm, "jobCompletionP95", &FigureRange::name);
  ASSERT_NE(wide, of_norm.end());
  EXPECT_GT(wide->most, 1.1 * wide->least);
}

// Of kernels that nobody measured those of the trainer may be as short as the Service's, or 500
// times as long: then a request waits for each of them.
TEST(ThoroughSampledInputs, LengthsOfKernelsAreDrawnByClass) {
  const auto under_mps = [](std::optional<Duration> kernels) {
    scenarios::Workload api =
        demo::service(1, 5, milliseconds(10), scenarios::ServiceTime::Law::Deterministic);
    api.measured->capacity_share = 0.1;
    api.measured->norm_p = 1;
    api.measured->kernel_time = kernels;
    scenarios::Workload trainer = demo::training(7);  // beside whom no place is left
    trainer.work->units *= 100;
    trainer.measured->gpu_busy = trainer.measured->capacity_share = 1;
    trainer.measured->kernel_time = kernels;
    trainer.measured->norm_p = models::kDefaultNorm;
    scenarios::NodePool pool = demo::pool(2);
    pool.device_plugin->mps = std::exchange(pool.device_plugin->time_slicing, {});
    pool.mps.emplace().uncapped = true;
    scenarios::Scenario scenario = demo::scenario(pool, {api, trainer});
    scenario.where = {"test.yaml", 3, 1};
    scenario.duration = seconds(200);
    scenario.replications = 20;
    scenarios::ScenarioSet set;
    set.name = "test";
    set.variants = {scenario};
    return set;
  };
  const auto given = run_scenario(under_mps({}), demo::catalogue());
  ASSERT_TRUE(given.has_value());
  const double in_proportion = to_seconds(given->variants[0].workloads[0].latency->p99);
  const auto drawn = run_sampled(under_mps({}), demo::catalogue());
  ASSERT_TRUE(drawn.has_value());
  const auto& ranges = drawn->variants[0].ranges;
  const auto range = std::ranges::find(ranges, "latencyP99", &FigureRange::name);
  ASSERT_NE(range, ranges.end());
  EXPECT_GT(range->most, 3 * in_proportion);
  EXPECT_LT(range->least, in_proportion);
  EXPECT_GT(range->least, 0.01);  // what a request takes alone
  EXPECT_TRUE(demo::has(drawn->variants[0].findings, Code::KernelTimeUnknown));
  const Diagnostics& findings = drawn->variants[0].findings;
  const auto note = std::ranges::find(findings, Code::KernelTimeUnknown, &Diagnostic::code);
  EXPECT_NE(note->message.find("each replication draws it"), std::string::npos);
  EXPECT_EQ(note->help.find("--inputs sampled"), std::string::npos);
  EXPECT_FALSE(run_sampled(under_mps(microseconds(50)), demo::catalogue()).has_value());
}

TEST(SampledInputs, WhereKernelsAreKnownToRunThereIsNothingToDraw) {
  const auto known = run_sampled(jobs_in_turns(0.38), demo::catalogue());
  ASSERT_FALSE(known.has_value());
  EXPECT_EQ(known.error().front().code, Code::InputMissing);
  // Alone on a GPU it makes no difference.
  scenarios::ScenarioSet exclusive = jobs_in_turns({});
  exclusive.variants[0].node_pools[0].device_plugin.reset();
  EXPECT_FALSE(run_sampled(exclusive, demo::catalogue()).has_value());
}

TEST(SampledInputs, WhatTheScenarioGivesIsNotDrawn) {
  scenarios::ScenarioSet set = service_of("made/v100", 4);
  scenarios::Measured& m = set.variants[0].workloads[0].measured.emplace();
  m.request_gpu_time =
      scenarios::ServiceTime{scenarios::ServiceTime::Law::Exponential, milliseconds(20), 0};
  const models::Catalogue catalogue = catalogue_with(uncertain(8, 0));
  const auto given = run_scenario(set, catalogue);
  const auto sampled = run_sampled(set, catalogue);
  ASSERT_TRUE(given && sampled);
  EXPECT_EQ(given->variants[0].workloads[0].latency->p99,
            sampled->variants[0].workloads[0].latency->p99);
}

TEST(SampledInputs, NothingToDrawIsRefused) {
  models::WorkloadProfile known = uncertain(1, 1);
  known.uncertainty.clear();
  const auto refused = run_sampled(service_of("made/v100", 2), catalogue_with(known));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().code, Code::InputMissing);
  EXPECT_EQ(refused.error().front().where.line, 3);
}

models::Catalogue catalogue_of_llama(double weights_width) {
  models::Catalogue catalogue = demo::catalogue();
  const auto model =
      std::ranges::find(catalogue.llm_models, "llama-3-8b-fp16/a10g", &models::LlmModel::name);
  model->uncertainty = {{"weightsMs", weights_width, {}}, {"tokenMs", 0.001, {{"weightsMs", 0.5}}}};
  return catalogue;
}

TEST(DrawnModel, HasTheTimesOfItsStepDrawn) {
  const models::Catalogue catalogue = catalogue_of_llama(3);
  const models::LlmModel& model = *catalogue.find_llm_model("llama-3-8b-fp16/a10g");
  const models::LlmModel drawn = drawn_model(model, 7, 3);
  EXPECT_NE(drawn.step.weights_s, model.step.weights_s);
  EXPECT_NE(drawn.step.token_s, model.step.token_s);
  EXPECT_GT(drawn.step.weights_s, 0);
  EXPECT_EQ(drawn.step.overhead_s, model.step.overhead_s);
  EXPECT_EQ(drawn.step.weights_s, drawn_model(model, 7, 3).step.weights_s);
  EXPECT_NE(drawn.step.weights_s, drawn_model(model, 7, 4).step.weights_s);
}

double latency_width(double weights_width) {
  scenarios::Scenario scenario = on_g5({chat(1)}, 120);
  scenario.replications = 8;
  scenarios::ScenarioSet set;
  set.name = "test";
  set.variants = {scenario};
  const auto result = run_sampled(set, catalogue_of_llama(weights_width));
  EXPECT_TRUE(result.has_value());
  for (const FigureRange& range : result->variants.front().ranges) {
    if (range.name == "latencyP99") return (range.most - range.least) / range.value;
  }
  ADD_FAILURE() << "no range of latencyP99";
  return 0;
}

// Decoding reads the weights: what is not known of that is not known of every token.
TEST(SampledInputs, RangesOfALanguageModelWidenWithWhatIsNotKnownOfItsStep) {
  EXPECT_GT(latency_width(20), 2 * latency_width(0.1));
}

}  // namespace
}  // namespace slicewise::sim
