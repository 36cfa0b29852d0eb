#include "result_bill.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "result_cost.hpp"
#include "result_figures.hpp"
#include "screen.hpp"

namespace slicewise::reports {
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
      "each pays by {}; what nobody held{} and switching{} are shared by what each holds (--split "
      "{})",
      rule_text(rule), idle, switching, rule);
}

// Empty where one workload pays all and nothing is grouped. Beyond so many of them those that pay
// least are one row.
std::vector<BillRow> bill_rows(const VariantResult& variant, bool every) {
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
  std::vector<BillRow> rows;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const double share =
        bill.nano > 0 ? static_cast<double>(all[p].bill.total.nano) / static_cast<double>(bill.nano)
                      : 0;
    // What rounding gave to one and not to the other.
    const std::int64_t own = std::min(held_steps[p], total_steps[p]);
    rows.push_back({all[p].name.empty() ? "(none)" : all[p].name, money.text(own),
                    money.text(total_steps[p] - own), money.text(total_steps[p]),
                    percent_text(share), all[p].bill});
  }
  return rows;
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

Rows bill_cells(const VariantResult& variant, const TextStyle&, bool every) {
  Rows cells;
  for (const BillRow& row : bill_rows(variant, every)) {
    cells.push_back({row.name, row.held, row.shared, row.total, row.of_bill,
                     money_or_nothing(row.prices.per_job),
                     money_or_nothing(row.prices.per_1k_requests_in_slo),
                     money_or_nothing(row.prices.per_gpu_hour)});
  }
  return cells;
}

std::string bill_sentence(const sim::BillSplit& split) {
  // Less than a millionth of a dollar is what rounding left.
  const auto amount = [](Usd part) { return " " + money_text(part.nano < 1'000 ? Usd{} : part); };
  return split_sentence(split.rule, amount(split.idle), amount(split.switching));
}

std::string bill_rule(const sim::BillSplit& split) { return split_sentence(split.rule, "", ""); }

}  // namespace slicewise::reports
