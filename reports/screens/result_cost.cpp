#include "result_cost.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

struct NamedAmount {
  std::string_view name;
  std::int64_t nano;
};

std::vector<NamedAmount> nonzero_parts(const sim::CostLedger& ledger) {
  std::vector<NamedAmount> parts;
  for (const sim::LedgerPart& part : sim::kLedgerParts) {
    const std::int64_t nano = (ledger.*part.usd).nano;
    if (nano != 0) parts.push_back({part.name, nano});
  }
  return parts;
}

std::string share_text(std::int64_t part, std::int64_t total) {
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(total);
  return percent < 0.5 ? "<1%" : fmt::format("{:.0f}%", percent);
}

}  // namespace

MoneySteps::MoneySteps(int of_decimals) : decimals(of_decimals), step(1'000'000'000) {
  for (int i = 0; i < decimals; ++i) step /= 10;
}

std::string MoneySteps::text(std::int64_t steps) const {
  const double dollars = static_cast<double>(steps * step) / 1e9;
  return with_thousands(fmt::format("{:.{}f}", dollars, decimals));
}

// Each is rounded down; the steps that are missing go to the largest remainders, of equals to the
// first.
std::vector<std::int64_t> MoneySteps::of_parts(const std::vector<Usd>& parts, Usd total) const {
  std::vector<std::int64_t> steps;
  steps.reserve(parts.size());
  for (const Usd part : parts) steps.push_back(part.nano / step);
  std::vector<std::size_t> by_remainder(parts.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::ranges::stable_sort(by_remainder, [&](std::size_t a, std::size_t b) {
    return parts[a].nano % step > parts[b].nano % step;
  });
  std::int64_t missing =
      nearest(total) - std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
  for (const std::size_t i : by_remainder) {
    if (missing <= 0) break;
    ++steps[i];
    --missing;
  }
  return steps;
}

CostSplit cost_split(const sim::CostLedger& ledger) {
  // All amounts have the decimals of the total.
  const MoneySteps money(money_decimals(ledger.total));
  const std::vector<NamedAmount> parts = nonzero_parts(ledger);
  std::vector<Usd> amounts;
  amounts.reserve(parts.size());
  for (const NamedAmount& part : parts) amounts.push_back({part.nano});
  const std::vector<std::int64_t> steps = money.of_parts(amounts, ledger.total);

  CostSplit split{money.text(money.nearest(ledger.total)), {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    split.parts.push_back({std::string(parts[i].name), money.text(steps[i]),
                           share_text(parts[i].nano, ledger.total.nano)});
  }
  return split;
}

std::string cost_equation(const sim::CostLedger& ledger) {
  const CostSplit split = cost_split(ledger);
  std::string out = "$" + split.total;
  std::string_view sign = " = ";
  for (const CostPart& part : split.parts) {
    out += fmt::format("{}{} {} ({})", sign, part.name, part.amount, part.share);
    sign = " + ";
  }
  return out;
}

}  // namespace slicewise::reports
