#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/replay/replay.hpp"

#include "../demo.hpp"

namespace slicewise::sim {

struct SampleJob {
  std::int64_t arrival = 0;  // seconds
  std::int64_t run = 0;
  std::int32_t gpus = 1;
  std::int32_t priority = 0;
  std::int64_t limit = -1;
};

inline scenarios::JobTrace trace_of(std::initializer_list<SampleJob> jobs) {
  scenarios::JobTrace trace;
  bool any_limit = false;
  for (const SampleJob& job : jobs) {
    trace.arrival.owned.push_back(seconds(job.arrival));
    trace.run.owned.push_back(seconds(job.run));
    trace.gpus.owned.push_back(job.gpus);
    trace.priority.owned.push_back(job.priority);
    trace.time_limit.owned.push_back(job.limit < 0 ? scenarios::kUnknownDuration
                                                   : seconds(job.limit));
    any_limit = any_limit || job.limit >= 0;
  }
  if (!any_limit) trace.time_limit.owned.clear();
  return trace;
}

inline ReplaySettings on_pool(std::int64_t gpus, QueuePolicy queue) {
  ReplaySettings settings;
  settings.cluster.pool_gpus = gpus;
  settings.cluster.only_gpus = true;
  settings.queue = queue;
  settings.keep_jobs = true;
  return settings;
}

inline ReplaySettings on_nodes(std::size_t nodes, int gpus, QueuePolicy queue) {
  ReplaySettings settings = on_pool(0, queue);
  settings.cluster.nodes.assign(nodes, {"", {}, {}, gpus, ""});
  return settings;
}

inline std::shared_ptr<const GpuSharing> shared(const std::string& way,
                                                const std::vector<std::string>& types) {
  const auto read = scenarios::read_sharing_way(way);
  EXPECT_TRUE(read.has_value()) << way;
  auto sharing = share_gpus(*read, types, "us-east-1", demo::catalogue());
  EXPECT_TRUE(sharing.has_value()) << sharing.error().front().message;
  return std::make_shared<const GpuSharing>(std::move(*sharing));
}

inline ReplaySettings on_instances(const std::string& instance, std::size_t nodes,
                                   const std::string& way, QueuePolicy queue = QueuePolicy::Fifo) {
  const models::InstanceType& type = *demo::catalogue().find_instance(instance);
  ReplaySettings settings;
  settings.cluster.nodes.assign(nodes, {type.name, type.allocatable_cpu, type.allocatable_memory,
                                        type.gpu_count, type.gpu_model});
  settings.queue = queue;
  settings.keep_jobs = true;
  if (!way.empty()) settings.sharing = shared(way, {instance});
  return settings;
}

inline ReplayResult replayed_shared(const scenarios::JobTrace& trace,
                                    const ReplaySettings& settings) {
  auto result = replay(trace, settings);
  EXPECT_TRUE(result.has_value()) << result.error().front().message;
  return result ? *result : ReplayResult{};
}

inline double end_s(const ReplayResult& result, std::size_t job) {
  const TimePoint end = result.job_times[job].end;
  return end == kNever ? -1 : static_cast<double>((end - TimePoint{}).ns) / 1e9;
}

}  // namespace slicewise::sim
