#include "simulations.hpp"

#include <cstddef>
#include <utility>

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"

namespace slicewise::sim {
namespace {

struct ReplicationOfWorld {
  std::size_t world = 0;
  std::size_t replication = 0;
};

std::vector<ReplicationOfWorld> replications_of(std::span<const World> worlds) {
  std::vector<ReplicationOfWorld> all;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    const auto count = static_cast<std::size_t>(worlds[w].replications);
    for (std::size_t r = 0; r < count; ++r) all.push_back({w, r});
  }
  return all;
}

Simulated merged_replications(const World& world, std::span<const Replication> records) {
  Simulated simulated;
  simulated.pooled = merge(world, records);
  for (std::size_t r = 0; r < records.size(); ++r) {
    simulated.singles.push_back(merge(world, records.subspan(r, 1)));
  }
  return simulated;
}

}  // namespace

std::vector<std::optional<Simulated>> Simulations::run(std::span<const World> worlds) {
  const std::vector<ReplicationOfWorld> all = replications_of(worlds);
  std::vector<std::optional<Replication>> records(all.size());
  RunOptions batch = options_;
  if (options_.progress) {
    batch.progress = [&](int done, int total) {
      options_.progress(replications_done_ + done, replications_done_ + total);
    };
  }
  run_in_parallel(all.size(), batch, [&](std::size_t n) {
    records[n] = whole_replication(worlds[all[n].world], all[n].replication, options_);
  });
  replications_done_ += static_cast<int>(all.size());

  std::vector<std::optional<Simulated>> results(worlds.size());
  std::size_t next = 0;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    std::vector<Replication> finished;
    for (; next < all.size() && all[next].world == w; ++next) {
      if (records[next]) finished.push_back(std::move(*records[next]));
    }
    if (finished.size() < static_cast<std::size_t>(worlds[w].replications)) continue;
    results[w] = merged_replications(worlds[w], finished);
    ++worlds_done_;
  }
  return results;
}

}  // namespace slicewise::sim
