#include "result_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "result_figures.hpp"
#include "screen.hpp"

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

namespace {

using sim::BillGroup;
using sim::VariantResult;

constexpr std::size_t kMostPayers = 12;

std::vector<BillGroup> payers(const VariantResult& variant) {
  if (!variant.cost.split.groups.empty()) return variant.cost.split.groups;
  std::vector<BillGroup> out;
  for (const sim::WorkloadResult& workload : variant.workloads) {
    if (!workload.bill || workload.kind == "Pipeline") continue;
    out.push_back({workload.name, 0, *workload.bill});
  }
  return out;
}

// The ones that pay least become one, at the end.
void fold_least(std::vector<BillGroup>& all) {
  if (all.size() <= kMostPayers) return;
  std::vector<std::int64_t> paid;
  paid.reserve(all.size());
  for (const BillGroup& payer : all) paid.push_back(payer.bill.total.nano);
  std::ranges::nth_element(paid, paid.begin() + (kMostPayers - 2), std::ranges::greater());
  const std::int64_t least = paid[kMostPayers - 2];
  std::vector<BillGroup> kept;
  BillGroup others{"", 0, {}};
  for (BillGroup& payer : all) {
    if (payer.bill.total.nano >= least && kept.size() < kMostPayers - 1) {
      kept.push_back(std::move(payer));
      continue;
    }
    others.bill.held += payer.bill.held;
    others.bill.shared += payer.bill.shared;
    others.bill.total += payer.bill.total;
  }
  others.name = fmt::format("{} others", all.size() - kept.size());
  kept.push_back(std::move(others));
  all = std::move(kept);
}

std::string_view rule_text(std::string_view rule) {
  if (rule == "gpu-time") return "the GPU time of its kernels";
  if (rule == "requests") return "what its pods request, as OpenCost weighs it";
  return "the largest part of a node that its pods hold: GPUs, GPU memory, CPU or memory";
}

std::string split_sentence(std::string_view rule, const std::string& idle,
                           const std::string& switching) {
  return fmt::format(
      "each pays by {}; what nobody held{} and switching{} of a node are shared by what each held "
      "of "
      "that node (--split {})",
      rule_text(rule), idle, switching, rule);
}

// "BILL BY WORKLOAD", "BILL BY TEAM": unlike the headings of other tables.
std::string bill_heading(const std::string& group_by) {
  return upper_case("bill by " +
                    (group_by.empty() ? "workload" : group_by.substr(group_by.find(':') + 1)));
}

}  // namespace

std::vector<Column> bill_columns(const std::string& group_by) {
  return {{bill_heading(group_by)},   {"HOLDS $", true, 2}, {"UNHELD + SWITCH $", true, 2},
          {"PAYS $", true},           {"OF BILL", true, 1}, price_column("perJobUsd"),
          request_price_column(true), {"$/GPU-H", true, 3}};
}

// Empty where one workload pays all and nothing is grouped. Beyond so many of them those that pay
// least are one row.
Rows bill_cells(const VariantResult& variant, const TextStyle&, bool every) {
  std::vector<BillGroup> all = payers(variant);
  if (all.size() < 2 && variant.cost.split.groups.empty()) return {};
  if (!every) fold_least(all);
  const Usd bill = variant.cost.ledger.nodes();
  BillGroup nobody{"(nobody)", 0, {}};
  nobody.bill.total = bill;
  for (const BillGroup& payer : all) nobody.bill.total = nobody.bill.total - payer.bill.total;
  nobody.bill.shared = nobody.bill.total;
  if (nobody.bill.total.nano > 0) all.push_back(std::move(nobody));

  constexpr int kCents = 2;
  const MoneySteps money(std::max(kCents, money_decimals(bill)));
  std::vector<Usd> totals;
  std::vector<Usd> held;
  for (const BillGroup& payer : all) {
    totals.push_back(payer.bill.total);
    held.push_back(payer.bill.held);
  }
  held.push_back(variant.cost.split.idle + variant.cost.split.switching);
  const std::vector<std::int64_t> total_steps = money.of_parts(totals, bill);
  const std::vector<std::int64_t> held_steps = money.of_parts(held, bill);
  Rows rows;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const double share =
        bill.nano > 0 ? static_cast<double>(all[p].bill.total.nano) / static_cast<double>(bill.nano)
                      : 0;
    // What rounding gave to one and not to the other.
    const std::int64_t own = std::min(held_steps[p], total_steps[p]);
    rows.push_back({all[p].name.empty() ? "(none)" : all[p].name, money.text(own),
                    money.text(total_steps[p] - own), money.text(total_steps[p]),
                    percent_text(share), money_or_nothing(all[p].bill.per_job),
                    money_or_nothing(all[p].bill.per_1k_requests_in_slo),
                    money_or_nothing(all[p].bill.per_gpu_hour)});
  }
  return rows;
}

std::string bill_sentence(const sim::BillSplit& split) {
  // Less than a millionth of a dollar is what rounding left.
  const auto amount = [](Usd part) { return " " + money_text(part.nano < 1'000 ? Usd{} : part); };
  return split_sentence(split.rule, amount(split.idle), amount(split.switching));
}

std::string bill_rule(const sim::BillSplit& split) { return split_sentence(split.rule, "", ""); }

}  // namespace slicewise::reports
