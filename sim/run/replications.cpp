#include "replications.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "slicewise/sim/cluster/cluster.hpp"

namespace slicewise::sim {

bool is_interrupted(const RunOptions& options) {
  return options.interrupted != nullptr && options.interrupted->load();
}

void run_in_parallel(std::size_t count, const RunOptions& options,
                     const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex progress_lock;
  int done = 0;
  const auto take_work = [&] {
    for (std::size_t n = next++; n < count && !is_interrupted(options); n = next++) {
      work(n);
      if (is_interrupted(options)) return;
      if (!options.progress) continue;
      const std::lock_guard guard(progress_lock);
      options.progress(++done, static_cast<int>(count));
    }
  };
  std::vector<std::jthread> threads;
  for (int n = 1; n < options.threads; ++n) threads.emplace_back(take_work);
  take_work();
}

std::optional<Replication> whole_replication(const World& world, std::size_t replication,
                                             const RunOptions& options) {
  Replication record =
      run_replication(world, static_cast<std::uint32_t>(replication), options.interrupted);
  if (is_interrupted(options)) return std::nullopt;
  return record;
}

}  // namespace slicewise::sim
