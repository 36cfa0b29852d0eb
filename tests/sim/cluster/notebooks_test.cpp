#include <cmath>

#include <gtest/gtest.h>

#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/serving/amounts.hpp"

#include "../demo.hpp"

// Notebooks from the scenario to the records: V100 16 GB, one GPU a node.
namespace slicewise::sim {
namespace {

using Law = scenarios::ServiceTime::Law;

constexpr Duration kOneDay = hours(24);

// People who run a cell of `cell` every `pause`, and need 1 GiB.
scenarios::Workload notebooks(int users, scenarios::ServiceTime pause,
                              scenarios::ServiceTime cell) {
  scenarios::Workload w;
  w.name.value = "lab";
  w.kind = scenarios::WorkloadKind::Notebook;
  w.restart_policy = scenarios::RestartPolicy::Always;
  w.pod.extended.push_back({{"nvidia.com/gpu", {}}, 1, {}});
  w.gpu_memory.resident = gibibytes(1);
  scenarios::Notebooks& n = w.notebooks.emplace();
  n.users = users;
  n.sessions_per_day = 1.5;
  n.length = {Law::LogNormal, hours(2), 0.5};
  n.interval = pause;
  n.gpu_time = cell;
  return w;
}

// They come on Monday and stay for good.
scenarios::Workload residents(int users, scenarios::ServiceTime pause,
                              scenarios::ServiceTime cell) {
  scenarios::Workload w = notebooks(users, pause, cell);
  w.notebooks->sessions_per_day = 1000;
  w.notebooks->length = {Law::Deterministic, kOneDay * 365, 0};
  return w;
}

scenarios::Scenario on_one_gpu(const scenarios::Workload& w, int replicas, Duration duration) {
  scenarios::NodePool pool = demo::pool(replicas);
  pool.instance_type.value = "p3.2xlarge";
  pool.gpu.switch_cost = Duration{};
  scenarios::Scenario s = demo::scenario(pool, {w});
  s.duration = duration;
  return s;
}

Replication run(const scenarios::Scenario& s) {
  return run_replication(demo::world(s), 0, nullptr);
}

const NotebookRecord& lab(const Replication& r) { return r.workloads[0].notebooks; }

// A page said "cannot run out" beside the kills: the mean of a session was taken for the most.
TEST(NotebookWorld, TheRoomOnAGpuIsThatOfTheLargestSessions) {
  scenarios::Workload w =
      notebooks(7, {Law::Exponential, minutes(5), 0}, {Law::LogNormal, seconds(8), 1});
  scenarios::RandomAmount& memory = w.notebooks->memory.emplace();
  memory = {
      scenarios::RandomAmount::Law::LogNormal, 2.0 * (1LL << 30), 0.5, {}, gibibytes(6).count};
  const World world = demo::world(on_one_gpu(w, 4, kOneDay));
  const std::vector<GpuRoom> rooms = gpu_rooms(world);
  ASSERT_EQ(rooms.size(), 1U);
  EXPECT_EQ(rooms[0].safe, 2);  // of 15.8 GiB
  EXPECT_TRUE(rooms[0].is_overcommitted());
  memory.most.reset();
  EXPECT_NEAR(static_cast<double>(largest_amount(memory)) / memory.mean,
              std::exp(0.5 * 3.0902 - 0.125), 1e-3);
}

TEST(NotebookWorld, HasAPodForEachUserAndAnExactPool) {
  const World world = demo::world(
      on_one_gpu(notebooks(7, {Law::Exponential, minutes(5), 0}, {Law::LogNormal, seconds(8), 1}),
                 4, kOneDay));
  EXPECT_EQ(world.workloads[0].spec.count, 7);
  EXPECT_TRUE(world.pools[0].exact);
  EXPECT_EQ(world.workloads[0].on_pool[0].in_kind[0].gpu, seconds(8));
  EXPECT_EQ(world.workloads[0].on_pool[0].in_kind[0].host, Duration{});
}

// A T4 does the V100's work slower, a cell's like a request's.
TEST(NotebookWorld, CarriesCellsOverToThePoolsGpu) {
  scenarios::Workload w =
      notebooks(1, {Law::Exponential, minutes(5), 0}, {Law::Deterministic, seconds(8), 0});
  w.measured.emplace().device.value = "V100-SXM2-16GB";
  scenarios::Scenario s = on_one_gpu(w, 0, kOneDay);
  s.node_pools[0].instance_type.value = "g4dn.xlarge";
  const World world = demo::world(s);
  EXPECT_GT(world.workloads[0].on_pool[0].gpu_scale, 1.5);
  EXPECT_NEAR(to_seconds(world.workloads[0].on_pool[0].in_kind[0].gpu),
              8 * world.workloads[0].on_pool[0].gpu_scale, 1e-6);
}

TEST(Notebooks, AUserAloneIsNeverSlowedAndWaitsForTheStartUpOnly) {
  scenarios::Workload w =
      notebooks(1, {Law::Exponential, minutes(5), 0}, {Law::LogNormal, seconds(8), 1});
  w.startup.model_load = seconds(20);
  const Replication r = run(on_one_gpu(w, 4, kOneDay * 70));
  const NotebookRecord& record = lab(r);
  ASSERT_GT(record.cells, 500);
  EXPECT_EQ(record.slowdown.mean(), kUnitSlowdown);
  EXPECT_EQ(record.slowdown.count(), record.cells);
  ASSERT_GT(record.sessions, 20);
  EXPECT_EQ(record.session_start.mean(), seconds(20));
  EXPECT_EQ(record.waiting, seconds(20) * record.session_start.count());
  EXPECT_EQ(record.active_users, 1);
  EXPECT_EQ(record.gave_up, 0);
  EXPECT_EQ(record.culled, 0);
  EXPECT_EQ(r.workloads[0].oom_kills, 0);
}

// Most second sessions of a day were to start within the first, which lasts for six hours.
TEST(Notebooks, AsManySessionsAreOpenedAsWereAskedFor) {
  constexpr int kUsers = 40;
  constexpr int kWeeks = 10;
  scenarios::Workload w =
      notebooks(kUsers, {Law::Exponential, hours(1), 0}, {Law::Deterministic, seconds(1), 0});
  w.notebooks->sessions_per_day = 1;
  w.notebooks->length = {Law::Deterministic, hours(6), 0};
  w.notebooks->peaks_at = {hours(9)};
  const Replication r = run(on_one_gpu(w, kUsers, kOneDay * 7 * kWeeks));
  const double of_user_and_day = static_cast<double>(lab(r).sessions) / (kUsers * 5.0 * kWeeks);
  EXPECT_NEAR(of_user_and_day, 1, 3 / std::sqrt(kUsers * 5.0 * kWeeks));
}

// N people who think for Z and need S of a processor that they share: with r = S/Z the chance of k
// cells at once is in proportion to N!/(N-k)! r^k, the GPU is idle with the chance p0, and a cell
// takes R = N S/(1 - p0) - Z, whatever the law of its work. Source: Baskett, Chandy, Muntz,
// Palacios, J. ACM 22 (1975), stations of type 2 and 3.
double response_s(int users, double think_s, double work_s) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k <= users; ++k) {
    term *= (users - k + 1) * work_s / think_s;
    sum += term;
  }
  return users * work_s / (1 - 1 / sum) - think_s;
}

TEST(Notebooks, CellsShareTheGpuAsProcessorSharingHasIt) {
  for (const int users : {2, 4}) {
    for (const Law law : {Law::Exponential, Law::Deterministic}) {
      const scenarios::Workload w =
          residents(users, {Law::Exponential, seconds(30), 0}, {law, seconds(10), 0});
      const NotebookRecord record = lab(run(on_one_gpu(w, users, kOneDay * 60)));
      ASSERT_GT(record.cells, 100'000);
      const double extra = to_seconds(record.waiting) / static_cast<double>(record.cells);
      const double expected = response_s(users, 30, 10) - 10;
      EXPECT_NEAR(extra, expected, 0.03 * expected) << users;
      EXPECT_GT(to_seconds(record.slowdown.mean()), to_seconds(kUnitSlowdown));
    }
  }
}

// Nothing of a cell's work is lost or done twice.
TEST(Notebooks, GpuTimeIsThatOfTheCells) {
  const scenarios::Workload w =
      notebooks(12, {Law::Exponential, minutes(1), 0}, {Law::Deterministic, seconds(10), 0});
  const Replication r = run(on_one_gpu(w, 4, kOneDay * 28));
  const Duration cells = seconds(10) * lab(r).cells;
  EXPECT_GE(r.domains[0].time.useful, cells);
  EXPECT_LE(r.domains[0].time.useful, cells + seconds(10) * 4);
  EXPECT_EQ(r.workloads[0].units_done, lab(r).cells);
  EXPECT_EQ(r.domains[0].time.failed, Duration{});
}

TEST(Notebooks, TheSecondGreedyProcessOnAGpuIsKilled) {
  scenarios::Workload w =
      residents(2, {Law::Deterministic, minutes(1), 0}, {Law::Deterministic, seconds(10), 0});
  w.gpu_memory.allocator = scenarios::Allocator::Greedy;
  const Replication greedy = run(on_one_gpu(w, 2, kOneDay));
  EXPECT_GT(greedy.workloads[0].oom_kills, 500);
  EXPECT_EQ(greedy.oom_kills, greedy.workloads[0].oom_kills);
  EXPECT_EQ(lab(greedy).slowdown.mean(), kUnitSlowdown);  // the other has the GPU for itself
  EXPECT_EQ(lab(greedy).active_users, 2);
  EXPECT_EQ(greedy.restarts, 0);  // the kernel dies, not the container

  w.pod.env["TF_FORCE_GPU_ALLOW_GROWTH"] = "true";
  const Replication growing = run(on_one_gpu(w, 2, kOneDay));
  EXPECT_EQ(growing.workloads[0].oom_kills, 0);
  EXPECT_GT(lab(growing).cells, lab(greedy).cells * 3 / 2);
}

TEST(Notebooks, SessionsThatDoNotFitTogetherRunOutOfMemory) {
  scenarios::Workload w =
      residents(2, {Law::Deterministic, minutes(1), 0}, {Law::Deterministic, seconds(10), 0});
  const auto holding = [&](double gib) {
    scenarios::RandomAmount amount;
    amount.mean = gib * 1073741824.0;
    w.notebooks->memory = amount;
    return run(on_one_gpu(w, 2, kOneDay));
  };
  EXPECT_EQ(holding(6).workloads[0].oom_kills, 0);
  const Replication r = holding(10);
  EXPECT_GT(r.workloads[0].oom_kills, 500);
  EXPECT_GT(r.domains[0].memory_peak, gibibytes(10));
  EXPECT_LT(r.domains[0].memory_peak, gibibytes(11));
}

// Memory is held between cells, to the end of the session: then the other one's cells fit.
TEST(Notebooks, MemoryIsFreeAgainWhenTheSessionEnds) {
  scenarios::Workload w =
      notebooks(6, {Law::Deterministic, minutes(5), 0}, {Law::Deterministic, seconds(10), 0});
  scenarios::RandomAmount amount;
  amount.mean = 10e9;
  w.notebooks->memory = amount;
  const Replication r = run(on_one_gpu(w, 6, kOneDay * 28));
  EXPECT_GT(r.workloads[0].oom_kills, 0);
  EXPECT_EQ(lab(r).active_users, 6);
  // On its own a session of 10 GB would run 2 h / 310 s = 23 cells; three at once get a third.
  EXPECT_GT(lab(r).cells, lab(r).sessions * 5);
}

// One GPU, not shared, and people who stay all day but run a single cell.
TEST(Notebooks, CullingFreesTheGpuForOthers) {
  scenarios::Workload w =
      notebooks(8, {Law::Deterministic, minutes(50), 0}, {Law::Deterministic, seconds(10), 0});
  w.notebooks->length = {Law::Deterministic, hours(10), 0};
  w.notebooks->sessions_per_day = 1;
  w.notebooks->peaks_at = {hours(9)};
  w.notebooks->spread = minutes(10);
  const Replication held = run(on_one_gpu(w, 0, kOneDay * 28));
  w.notebooks->idle_cull = minutes(30);
  const Replication culled = run(on_one_gpu(w, 0, kOneDay * 28));
  EXPECT_EQ(lab(held).culled, 0);
  EXPECT_GT(lab(held).session_start.quantile(0.5), hours(8));  // the first to leave lets them in
  EXPECT_EQ(lab(culled).gave_up, 0);
  EXPECT_GT(lab(culled).culled, 80);
  EXPECT_EQ(lab(culled).culled, lab(culled).sessions);
  EXPECT_EQ(lab(culled).cells, 0);  // they would have come after 50 minutes
  EXPECT_LT(lab(culled).session_start.mean(), hours(3));
}

// Whoever waits as long as the session was to last goes, and counts with that wait.
TEST(Notebooks, PatienceEndsWithTheSession) {
  scenarios::Workload w =
      notebooks(8, {Law::Exponential, minutes(5), 0}, {Law::Deterministic, seconds(10), 0});
  w.notebooks->length = {Law::Exponential, hours(4), 0};
  const Replication r = run(on_one_gpu(w, 0, kOneDay * 35));  // over the last weekend
  const NotebookRecord& record = lab(r);
  EXPECT_GT(record.gave_up, record.sessions / 4);
  EXPECT_LT(record.gave_up, record.sessions);
  EXPECT_EQ(record.session_start.count(), record.sessions);
  EXPECT_GE(to_seconds(record.waiting),
            to_seconds(record.session_start.mean()) * 0.999 * static_cast<double>(record.sessions));
  EXPECT_EQ(r.pods_submitted, record.sessions);
  EXPECT_EQ(r.pending_at_end, 0);
}

// 5,000 short sessions of eight people for four tickets: a ticket, context or byte that leaked
// with each hundredth would stop them all.
TEST(Notebooks, MoreUsersThanTicketsWaitAndNothingLeaks) {
  scenarios::Workload w =
      notebooks(8, {Law::Exponential, minutes(1), 0}, {Law::Exponential, seconds(5), 0});
  w.notebooks->length = {Law::Deterministic, minutes(10), 0};
  w.notebooks->sessions_per_day = 20;
  w.startup.image_pull = seconds(60);
  w.faults = Rate{1.0 / 3600};
  const Replication r = run(on_one_gpu(w, 4, kOneDay * 84));  // over the last weekend
  const NotebookRecord& record = lab(r);
  EXPECT_GT(record.sessions, 5'000);
  EXPECT_EQ(record.session_start.count(), record.sessions);
  EXPECT_GT(record.session_start.quantile(0.99), Duration{});
  EXPECT_LT(record.session_start.mean(), minutes(2));
  EXPECT_LT(record.gave_up, record.sessions / 100);
  EXPECT_EQ(record.active_users, 8);
  EXPECT_EQ(r.running_max, 4);
  EXPECT_EQ(r.pending_at_end, 0);
  EXPECT_GT(r.faults, 100);
  EXPECT_EQ(r.pods_submitted, record.sessions);
}

TEST(ThoroughNotebooks, BatchJobsBesideThemShareTheGpu) {
  scenarios::Workload w =
      residents(1, {Law::Exponential, seconds(60), 0}, {Law::Deterministic, seconds(10), 0});
  scenarios::Workload job = demo::training(1);
  job.work->units = 1'000'000;
  job.measured->gpu_busy = 1.0;
  job.pod.cpu_request = {100};
  scenarios::Scenario s = on_one_gpu(w, 2, hours(18));
  s.workloads.push_back(job);
  // The job always wants the GPU: a cell gets every other turn.
  EXPECT_NEAR(
      static_cast<double>(lab(run(s)).slowdown.mean().ns) / static_cast<double>(kUnitSlowdown.ns),
      2, 0.02);
}

}  // namespace
}  // namespace slicewise::sim
