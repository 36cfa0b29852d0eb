#include "job_trace_order.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "job_trace_columns.hpp"

namespace slicewise::scenarios {

std::size_t put_in_order(JobTrace& trace) {
  const std::vector<Duration>& arrival = trace.arrival.owned;
  std::size_t late = 0;
  for (std::size_t i = 1; i < arrival.size(); ++i) late += arrival[i] < arrival[i - 1] ? 1 : 0;
  if (late == 0) return 0;
  std::vector<std::size_t> order(arrival.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return arrival[row]; });
  visit_columns(trace, [&](const ColumnRules& /*rules*/, auto& column) {
    if (column.empty()) return;
    auto sorted = column.owned;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column.owned[order[i]];
    column.owned = std::move(sorted);
  });
  return late;
}

}  // namespace slicewise::scenarios
