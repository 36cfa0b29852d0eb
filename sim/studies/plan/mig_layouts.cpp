#include "mig_layouts.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace slicewise::sim {
namespace {

// Every count of the profiles from `at` on that the placement rules allow beside those before.
class LayoutSearch {
 public:
  LayoutSearch(const models::MigGeometry& geometry, const std::vector<ProfileNeed>& needs,
               int gpus_per_node)
      : geometry_(geometry), needs_(needs), gpus_(gpus_per_node), counts_(needs.size()) {
    for (std::size_t n = 0; n < needs.size(); ++n) counts_[n].profile = needs[n].profile->name;
  }

  std::vector<models::MigCount> run() {
    extend(0);
    return best_;
  }

 private:
  void extend(std::size_t at) {
    if (at == needs_.size()) {
      consider();
      return;
    }
    for (int count = 1; count <= needs_[at].profile->max_count; ++count) {
      counts_[at].count = count;
      // What does not fit now does not fit with more beside it.
      if (!fits(at)) break;
      extend(at + 1);
    }
    counts_[at].count = 0;
  }

  bool fits(std::size_t last) const {
    const std::vector<models::MigCount> so_far(
        counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    return models::place_instances(geometry_, so_far).has_value();
  }

  void consider() {
    int idle = geometry_.memory_slices;
    for (std::size_t n = 0; n < needs_.size(); ++n) {
      idle -= counts_[n].count * needs_[n].profile->memory_slices;
    }
    const auto cost = std::tuple(nodes_for(counts_, needs_, gpus_), idle);
    if (!best_.empty() && cost >= cost_) return;
    best_ = counts_;
    cost_ = cost;
  }

  const models::MigGeometry& geometry_;
  const std::vector<ProfileNeed>& needs_;
  int gpus_;
  std::vector<models::MigCount> counts_;
  std::vector<models::MigCount> best_;
  std::tuple<int, int> cost_;
};

}  // namespace

std::vector<models::MigCount> best_layout(const models::MigGeometry& geometry,
                                          const std::vector<ProfileNeed>& needs,
                                          int gpus_per_node) {
  return LayoutSearch(geometry, needs, gpus_per_node).run();
}

int nodes_for(const std::vector<models::MigCount>& layout, const std::vector<ProfileNeed>& needs,
              int gpus_per_node) {
  int nodes = 1;
  for (const ProfileNeed& need : needs) {
    const auto found = std::ranges::find(layout, need.profile->name, &models::MigCount::profile);
    if (found == layout.end() || found->count == 0) return std::numeric_limits<int>::max();
    const int on_node = found->count * gpus_per_node;
    nodes = std::max(nodes, (need.pods + on_node - 1) / on_node);
  }
  return nodes;
}

}  // namespace slicewise::sim
