#pragma once

#include <initializer_list>

#include "slicewise/sim/replay/replay.hpp"

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

}  // namespace slicewise::sim
