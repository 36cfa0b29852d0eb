#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "slicewise/sim/judge.hpp"

#include "../../result/merge.hpp"
#include "islands.hpp"

namespace slicewise::sim {

std::shared_ptr<const IslandRecord> IslandRecords::get(const std::string& key, const Make& make) {
  std::shared_ptr<Place> place;
  {
    const std::lock_guard guard(lock_);
    auto& there = places_[key];
    if (!there) {
      there = std::make_shared<Place>();
      in_order_.push_back(key);
    }
    place = there;
    if (in_order_.size() > kMost) {
      places_.erase(in_order_.front());
      in_order_.pop_front();
    }
  }
  const std::lock_guard guard(place->making);
  if (!place->record) {
    if (auto made = make()) place->record = std::make_shared<const IslandRecord>(std::move(*made));
  }
  return place->record;
}

std::shared_ptr<const IslandRecord> IslandRecords::find(const std::string& key) {
  std::shared_ptr<Place> place;
  {
    const std::lock_guard guard(lock_);
    const auto there = places_.find(key);
    if (there == places_.end()) return nullptr;
    place = there->second;
  }
  const std::unique_lock guard(place->making, std::try_to_lock);
  return guard ? place->record : nullptr;
}

std::size_t IslandRecords::size() {
  const std::lock_guard guard(lock_);
  return places_.size();
}

VariantResult result_of_workload(const World& world, std::size_t workload,
                                 std::span<const Replication> records) {
  VariantResult alone;
  alone.replications = static_cast<int>(records.size());
  alone.workloads.push_back(workload_result(world, workload, records));
  alone.is_cut_off = std::ranges::any_of(records, &Replication::cut_off);
  alone.verdict = judge(alone, world.allow_pending);
  return alone;
}

}  // namespace slicewise::sim
