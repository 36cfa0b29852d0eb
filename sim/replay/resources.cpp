#include "resources.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace slicewise::sim {

std::optional<Holding> NodeResources::take(JobNumber job) {
  const std::span<const std::uint32_t> rows = jobs_.rows_of(job);
  const auto held =
      take_rows(rows, [this](std::uint32_t row) { return placement_.place(shapes_.of_row[row]); });
  if (held || rows.size() == 1) return held;
  const auto room = room_of_gang_.find(rows.back());
  if (room == room_of_gang_.end()) return held;
  std::size_t at = 0;
  return take_rows(rows, [&](std::uint32_t row) {
    return placement_.place_again(shapes_.of_row[row], room->second[at++], false);
  });
}

std::size_t NodeResources::set_aside(JobNumber job, Holding held) {
  std::vector<std::vector<AllocatedPart>>& parts = aside_.emplace_back();
  const auto remember = [&](AllocationId allocation) {
    const auto held_parts = placement_.parts(allocation);
    parts.emplace_back(held_parts.begin(), held_parts.end());
  };
  if (held < kFirstGang) {
    remember(held);
  } else {
    for (const AllocationId member : gangs_[held - kFirstGang]) remember(member);
  }
  give_back(job, held);
  return aside_.size() - 1;
}

std::optional<Holding> NodeResources::take_again(JobNumber job, std::size_t aside) {
  std::size_t at = 0;
  const auto rows = jobs_.rows_of(job);
  const bool by_rule = rows.size() == 1 || !room_of_gang_.contains(rows.back());
  return take_rows(rows, [&](std::uint32_t row) {
    return placement_.place_again(shapes_.of_row[row], aside_[aside][at++], by_rule);
  });
}

void NodeResources::give_back(JobNumber /*job*/, Holding held) {
  if (held < kFirstGang) {
    placement_.release(held);
    return;
  }
  for (const AllocationId part : gangs_[held - kFirstGang]) placement_.release(part);
  free_gangs_.push_back(held - kFirstGang);
}

bool NodeResources::fits_empty(JobNumber job) const {
  const std::span<const std::uint32_t> rows = jobs_.rows_of(job);
  const bool each_fits = std::ranges::all_of(rows, [this](std::uint32_t row) {
    const ShapeId shape = shapes_.of_row[row];
    if (fits_[shape] == Fits::NotAsked) {
      fits_[shape] = placement_.fits_empty(shape) ? Fits::Yes : Fits::No;
    }
    return fits_[shape] == Fits::Yes;
  });
  if (!each_fits || rows.size() == 1) return each_fits;
  Fits& fits = gang_fits_[rows.back()];
  if (fits == Fits::NotAsked) {
    fits = gang_fits_empty(rows) || gang_has_room(rows) ? Fits::Yes : Fits::No;
  }
  return fits == Fits::Yes;
}

// All rows together, as the rule places them one after the other.
bool NodeResources::gang_fits_empty(std::span<const std::uint32_t> rows) const {
  std::vector<AllocationId> placed;
  for (const std::uint32_t row : rows) {
    const std::optional<AllocationId> member = empty_->place(shapes_.of_row[row]);
    if (!member) break;
    placed.push_back(*member);
  }
  for (const AllocationId member : placed) empty_->release(member);
  return placed.size() == rows.size();
}

// The largest first, each where it fits best.
bool NodeResources::gang_has_room(std::span<const std::uint32_t> rows) const {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t at) {
    const JobShape& shape = shapes_.shapes[shapes_.of_row[rows[at]]];
    return std::tuple(shape.gpus, shape.gpu_milli, shape.cpu, shape.memory);
  });
  std::vector<std::vector<AllocatedPart>> room(rows.size());
  std::vector<AllocationId> placed;
  for (const std::size_t at : order) {
    const std::optional<AllocationId> member = roomy_->place(shapes_.of_row[rows[at]]);
    if (!member) break;
    placed.push_back(*member);
    const auto parts = roomy_->parts(*member);
    room[at].assign(parts.begin(), parts.end());
  }
  for (const AllocationId member : placed) roomy_->release(member);
  if (placed.size() < rows.size()) return false;
  room_of_gang_.emplace(rows.back(), std::move(room));
  return true;
}

}  // namespace slicewise::sim
