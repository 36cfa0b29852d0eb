#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/world.hpp"

#include "../cluster/cluster_run.hpp"
#include "../cluster/record/recorder.hpp"
#include "../result/merge.hpp"

namespace slicewise::sim {

std::size_t Recording::buckets() const {
  if (bucket.ns <= 0) return 1;
  return static_cast<std::size_t>(std::max<std::int64_t>(1, (length.ns - 1) / bucket.ns + 1));
}

TimePoint Recording::bucket_end(std::size_t n) const {
  return TimePoint{} + std::min(length, bucket * static_cast<std::int64_t>(n + 1));
}

std::optional<Recording> record(const World& world, const RecordingLimits& limits,
                                const std::atomic<bool>* interrupted) {
  Duration length;
  if (world.duration) {
    length = *world.duration;
  } else {
    length = ClusterRun(world, 0).run(interrupted, {}, {}).length;
  }
  Recorder recorder(world, length, limits);
  const Replication replication = ClusterRun(world, 0, &recorder).run(interrupted, {}, {});
  if (interrupted != nullptr && interrupted->load()) return std::nullopt;
  Recording recording = recorder.take(TimePoint{} + replication.length);
  recording.result = merge(world, {&replication, 1});
  recording.strategy = recording.result.strategy;
  return recording;
}

}  // namespace slicewise::sim
