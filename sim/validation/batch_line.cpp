#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/least_squares.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "profile_parts.hpp"

namespace slicewise::sim::profile_fit {
std::optional<BatchLine> batch_line(const Company& company) {
  models::Design design{2, {}};
  std::set<int> batches;
  for (const Measurement& m : company.law) {
    if (!is_time_alone(m)) continue;
    batches.insert(m.batch);
    const double weight = 1 / in_ms(m.time);
    design.values.insert(design.values.end(), {weight, m.batch * weight});
  }
  if (batches.size() < 2) return std::nullopt;
  const std::vector<double> ones(design.rows(), 1.0);
  const std::vector<double> line = models::non_negative_least_squares(design, ones);
  if (line[1] <= 0) return std::nullopt;
  double squares = 0;
  for (std::size_t r = 0; r < design.rows(); ++r) {
    const double off = design.row(r)[0] * line[0] + design.row(r)[1] * line[1] - 1;
    squares += off * off;
  }
  const double spare = static_cast<double>(design.rows()) - 2;
  const double noise = spare > 0 ? std::sqrt(squares / spare) : 0;
  const double quantile = noise > kLeastNoise ? student_t_975(spare) : kNormal95;
  const double per_item[] = {0, 1};
  const double variance = models::Determination(design).variance(per_item);
  return BatchLine{line[0], line[1], quantile * std::max(noise, kLeastNoise) * std::sqrt(variance),
                   fmt::format("{}", fmt::join(batches, ", "))};
}

}  // namespace slicewise::sim::profile_fit
