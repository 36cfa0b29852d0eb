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

int run_worlds(
    std::span<const World* const> worlds, const RunOptions& options,
    const std::function<void(std::size_t world, std::span<std::optional<Replication>>)>& take) {
  struct OneWorld {
    std::vector<std::optional<Replication>> records;
    std::atomic<std::size_t> left{0};
  };
  std::vector<OneWorld> each(worlds.size());
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    each[w].left = static_cast<std::size_t>(worlds[w]->replications);
    each[w].records.resize(each[w].left);
    for (std::size_t r = 0; r < each[w].left; ++r) tasks.emplace_back(w, r);
  }
  run_in_parallel(tasks.size(), options, [&](std::size_t t) {
    const auto [w, r] = tasks[t];
    each[w].records[r] = whole_replication(*worlds[w], r, options);
    if (--each[w].left > 0) return;
    take(w, each[w].records);
    each[w].records.clear();
  });
  // What was interrupted never saw its last one.
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    if (each[w].left > 0) take(w, each[w].records);
  }
  return static_cast<int>(tasks.size());
}

}  // namespace slicewise::sim
