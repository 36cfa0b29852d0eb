#include "quota_book.hpp"

#include <algorithm>

namespace slicewise::sim {

QuotaBook::QuotaBook(const World& world)
    : world_(&world),
      cells_(world.quota_cells.size()),
      used_(world.queues.size() * world.quota_cells.size()) {}

void QuotaBook::change(std::size_t queue, const QuotaAmounts& amounts, std::int64_t sign) {
  for (const auto& [cell, count] : amounts) used_[queue * cells_ + cell] += sign * count;
}

std::int64_t QuotaBook::kept(std::size_t queue, std::size_t cell) const {
  const QuotaLimits& own = limits(queue, cell);
  return own.lending ? std::max<std::int64_t>(0, own.nominal - *own.lending) : 0;
}

std::int64_t QuotaBook::available(std::size_t queue, std::size_t cell) const {
  const QuotaLimits& own = limits(queue, cell);
  const std::int64_t has = used(queue, cell);
  if (!has_cohort(queue)) return std::max<std::int64_t>(0, own.nominal - has);
  std::int64_t in_cohort = 0;
  for (std::size_t other = 0; other < world_->queues.size(); ++other) {
    if (!is_same_cohort(queue, other)) continue;
    const std::int64_t its = kept(other, cell);
    in_cohort += limits(other, cell).nominal - its;
    in_cohort -= std::max<std::int64_t>(0, used(other, cell) - its);
  }
  const std::int64_t mine = kept(queue, cell);
  if (own.borrowing) {
    const std::int64_t lent = own.nominal - mine - std::max<std::int64_t>(0, has - mine);
    in_cohort = std::min(in_cohort, lent + *own.borrowing);
  }
  return std::max<std::int64_t>(0, std::max<std::int64_t>(0, mine - has) + in_cohort);
}

std::int64_t QuotaBook::potential(std::size_t queue, std::size_t cell) const {
  const QuotaLimits& own = limits(queue, cell);
  if (!has_cohort(queue)) return own.nominal;
  std::int64_t most = kept(queue, cell);
  for (std::size_t other = 0; other < world_->queues.size(); ++other) {
    if (is_same_cohort(queue, other)) most += limits(other, cell).nominal - kept(other, cell);
  }
  return own.borrowing ? std::min(most, own.nominal + *own.borrowing) : most;
}

}  // namespace slicewise::sim
