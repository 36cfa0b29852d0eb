#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sharing_scenarios.hpp"

// Whatever shares a GPU and however: no more whole-GPU work is done than the GPU has seconds. What
// runs at a moment was given figures of another state four times (one request, one GPU, one batch,
// one pair), and each time up to three GPUs' work was done on one.
namespace slicewise::sim::sharing {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  bool one_in(std::size_t n) { return bits_() % n == 0; }
  template <class T>
  T of(std::vector<T> values) {
    return values[bits_() % values.size()];
  }

  Workload batch_work() {
    Workload w = demo::training(1);
    w.kind = scenarios::WorkloadKind::Deployment;
    w.restart_policy = scenarios::RestartPolicy::Always;
    w.work->units = 1'000'000;
    w.work->steps_per_unit = of<std::int64_t>({5, 40});
    if (one_in(2)) w.work->host_phase = scenarios::Work::HostPhase::Serial;
    w.measured->unit_time = of<Duration>({milliseconds(300), seconds(1)});
    w.measured->gpu_busy = of<double>({0.2, 0.5, 0.9, 1});
    w.measured->capacity_share = *w.measured->gpu_busy * of<double>({0.3, 0.8, 1});
    w.measured->batch = 16;
    w.batch = of<int>({16, 16, 64});
    return w;
  }

  Workload requests() {
    Workload w = demo::service(1, 1, milliseconds(4), Law::Deterministic);
    w.traffic->shape = scenarios::ClosedLoop{of<int>({2, 8, 32}), {}};
    w.measured->capacity_share = of<double>({0.1, 0.25, 0.6, 1});
    w.serving.max_batch = of<int>({1, 4, 8});
    w.serving.queue_limit = 64;
    // A request more in a batch is no less than its work.
    const double work_s = 4e-3 * *w.measured->capacity_share;
    if (w.serving.max_batch > 1 && one_in(2))
      w.measured->extra_per_item = from_seconds(1.1 * work_s);
    return w;
  }

  Workload workload(int number) {
    Workload w = one_in(2) ? batch_work() : requests();
    w.name.value = "w" + std::to_string(number);
    w.count = of<int>({1, 2, 4});
    w.pod.cpu_request = {50};
    w.pod.memory_request = mebibytes(100);
    w.gpu_memory.resident = mebibytes(200);
    w.measured->sm_active.reset();
    w.measured->device.value = of<std::string>({"V100-SXM2-16GB", "T4", "A100-SXM4-80GB", "L4"});
    w.measured->bandwidth_share = of<double>({0, 0.5, 1});
    w.measured->norm_p = of<double>({1, 2, 3, 8});
    if (one_in(3)) {
      w.measured->sensitivity = of<double>({0.1, 0.5});
      w.measured->pressure = of<double>({0.1, 0.5});
    }
    return w;
  }

  Scenario scenario() {
    std::vector<Workload> workloads;
    const int count = of<int>({1, 2, 3});
    for (int number = 0; number < count; ++number) workloads.push_back(workload(number));
    Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
    scenarios::NodePool& pool = s.node_pools[0];
    pool.instance_type.value =
        of<std::string>({"g4dn.2xlarge", "g5.2xlarge", "g6.2xlarge", "p3.2xlarge"});
    auto& plugin = pool.device_plugin.emplace();
    if (one_in(2)) {
      plugin.time_slicing = replicas(16);
    } else {
      plugin.mps = replicas(of<int>({12, 16}));
      pool.mps.emplace().uncapped = one_in(2);
    }
    if (one_in(2)) s.fidelity = scenarios::Fidelity::Exact;
    s.duration = seconds(20);
    return s;
  }

 private:
  std::mt19937_64 bits_;
};

// Of the whole GPU, for a unit or a request there.
double work_s(const Workload& w, const PoolDemand& demand) {
  const Duration alone =
      w.measured->request_gpu_time ? w.measured->request_gpu_time->mean : *w.measured->unit_time;
  return to_seconds(alone) * *w.measured->capacity_share * demand.gpu_scale * demand.batch_scale;
}

TEST(ThoroughSharedGpu, DoesNoMoreWorkThanItHasSeconds) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Scenario s = Draw(seed).scenario();
    const World world = demo::world(s);
    const VariantResult result = demo::result(s);
    double done_s = 0;
    double under_way_s = 0;
    for (std::size_t w = 0; w < s.workloads.size(); ++w) {
      const double each_s = work_s(s.workloads[w], world.workloads[w].on_pool[0]);
      done_s += each_s * result.workloads[w].throughput_per_second * to_seconds(*s.duration);
      under_way_s += each_s * s.workloads[w].count;
    }
    EXPECT_LE(done_s, to_seconds(*s.duration) * (1 + 1e-6) + 1e-6 * under_way_s) << "seed " << seed;
  }
}

}  // namespace
}  // namespace slicewise::sim::sharing
