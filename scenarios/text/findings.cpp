#include "findings.hpp"

#include <algorithm>

namespace slicewise::scenarios {

Diagnostics Findings::take_sorted(const std::string& file) {
  const auto order = [&file](const Diagnostic& d) {
    return std::tuple(d.where.file != file, d.where.line, d.where.column);
  };
  std::stable_sort(
      found_.begin(), found_.end(),
      [&order](const Diagnostic& a, const Diagnostic& b) { return order(a) < order(b); });
  seen_.clear();
  return std::exchange(found_, {});
}

}  // namespace slicewise::scenarios
