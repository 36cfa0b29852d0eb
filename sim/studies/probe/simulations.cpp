#include "simulations.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"

namespace slicewise::sim {
namespace {

Simulated merged_replications(const World& world, std::span<const Replication> records) {
  Simulated simulated;
  simulated.pooled = merge(world, records);
  for (std::size_t r = 0; r < records.size(); ++r) {
    simulated.singles.push_back(merge(world, records.subspan(r, 1)));
  }
  return simulated;
}

}  // namespace

// Reports what was done over all calls; of how much nobody knows.
RunOptions Simulations::counted() const {
  RunOptions batch = options_;
  if (options_.progress) {
    batch.progress = [&](int done, int total) {
      options_.progress(replications_done_ + done, replications_done_ + total);
    };
  }
  return batch;
}

std::vector<std::optional<Simulated>> Simulations::run(std::span<const World> worlds) {
  std::vector<std::optional<Simulated>> results(worlds.size());
  std::vector<const World*> all;
  for (const World& world : worlds) all.push_back(&world);
  replications_done_ += run_worlds(all, counted(), [&](std::size_t w, auto records) {
    std::vector<Replication> whole;
    for (std::optional<Replication>& record : records) {
      if (record) whole.push_back(std::move(*record));
    }
    if (whole.size() == records.size()) results[w] = merged_replications(worlds[w], whole);
  });
  worlds_done_ += static_cast<int>(
      std::ranges::count_if(results, [](const auto& result) { return result.has_value(); }));
  return results;
}

std::optional<Simulated> Simulations::until(const World& world, int first, int most,
                                            const std::function<bool(const Simulated&)>& enough) {
  std::vector<Replication> records;
  Simulated simulated;
  for (int wanted = first;; wanted = std::min(wanted * 2, most)) {
    const std::size_t before = records.size();
    std::vector<std::optional<Replication>> more(static_cast<std::size_t>(wanted) - before);
    run_in_parallel(more.size(), counted(), [&](std::size_t n) {
      more[n] = whole_replication(world, before + n, options_);
    });
    replications_done_ += static_cast<int>(more.size());
    for (std::optional<Replication>& record : more) {
      if (!record) return std::nullopt;
      simulated.singles.push_back(merge(world, {&*record, 1}));
      records.push_back(std::move(*record));
    }
    simulated.pooled = merge(world, records);
    if (enough(simulated) || wanted >= most) return simulated;
  }
}

}  // namespace slicewise::sim
