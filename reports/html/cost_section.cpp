#include <algorithm>

#include <fmt/format.h>

#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "../charts/charts.hpp"
#include "../screens/result_cost.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/screen.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

std::vector<sim::LedgerPart> parts_in_use(const sim::Result& result) {
  std::vector<sim::LedgerPart> parts;
  for (const sim::LedgerPart& part : sim::kLedgerParts) {
    const bool used = std::ranges::any_of(result.variants, [&](const sim::VariantResult& v) {
      return (v.cost.ledger.*part.usd).nano != 0;
    });
    if (used) parts.push_back(part);
  }
  return parts;
}

charts::StackedBars cost_chart(const sim::Result& result, const std::vector<sim::LedgerPart>& parts,
                               const std::string& finding) {
  charts::StackedBars chart;
  chart.text = {"chart-cost", finding,
                "One bar for each option: the bill of the run, divided into what it bought."};
  chart.x = {"dollars of one run", dollars_tick, false, true};
  for (const sim::LedgerPart& part : parts) chart.parts.emplace_back(part.name);
  for (const sim::VariantResult& variant : result.variants) {
    const CostSplit split = cost_split(variant.cost.ledger);
    charts::StackedBar bar{variant.name, {}, std::nullopt, "$" + split.total};
    for (const sim::LedgerPart& part : parts) {
      charts::BarPart drawn{to_dollars(variant.cost.ledger.*part.usd), ""};
      for (const CostPart& named : split.parts) {
        if (named.name != part.name) continue;
        drawn.text = fmt::format("{}: ${} ({})", named.name, named.amount, named.share);
      }
      bar.parts.push_back(std::move(drawn));
    }
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

HtmlTable cost_table(const sim::Result& result, const std::vector<sim::LedgerPart>& parts) {
  HtmlTable table{"where the money goes, in dollars of one run", {{"Option"}}};
  for (const sim::LedgerPart& part : parts) table.columns.push_back({std::string(part.name), true});
  table.columns.push_back({"total", true});
  table.columns.push_back(price_on_page("monthlyUsd"));
  for (const sim::VariantResult& variant : result.variants) {
    const CostSplit split = cost_split(variant.cost.ledger);
    std::vector<HtmlCell> row{variant.name};
    for (const sim::LedgerPart& part : parts) {
      std::string cell = "–";
      for (const CostPart& named : split.parts) {
        if (named.name == part.name) cell = fmt::format("{} ({})", named.amount, named.share);
      }
      row.push_back(std::move(cell));
    }
    row.push_back(split.total);
    row.push_back(money_text(variant.cost.monthly));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Who pays what in each option; no rows where one workload pays all.
HtmlTable bill_table(const sim::Result& result) {
  Cells cells{bill_columns(result.group_by), {}};
  cells.columns.insert(cells.columns.begin(), {"Option"});
  for (const sim::VariantResult& variant : result.variants) {
    for (std::vector<Cell>& row : bill_cells(variant, kPageStyle, true)) {
      row.insert(row.begin(), {variant.name});
      cells.rows.push_back(std::move(row));
    }
  }
  for (std::size_t c = cells.columns.size(); c-- > 0;) {
    if (!std::ranges::all_of(cells.rows, [c](const auto& row) { return row[c].text.empty(); })) {
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(c);
    cells.columns.erase(cells.columns.begin() + at);
    for (std::vector<Cell>& row : cells.rows) row.erase(row.begin() + at);
  }
  return table_of("who pays what, in dollars of one run", cells);
}

Markup bill_markup(const sim::Result& result) {
  const HtmlTable table = bill_table(result);
  if (table.rows.empty()) return "";
  return paragraph("Who pays it: " + bill_rule(result.variants.front().cost.split) + ".") +
         table_markup(table);
}

std::string cost_finding(const sim::VariantResult& lead) {
  const CostSplit split = cost_split(lead.cost.ledger);
  if (split.parts.empty()) return "Nothing was billed.";
  // After the useful part the largest one is what to work on.
  const sim::CostLedger& ledger = lead.cost.ledger;
  const sim::LedgerPart* largest = nullptr;
  for (const sim::LedgerPart& part : sim::kLedgerParts) {
    if (part.usd == &sim::CostLedger::useful || (ledger.*part.usd).nano <= 0) continue;
    if (largest == nullptr || (ledger.*part.usd) > (ledger.*largest->usd)) largest = &part;
  }
  const auto share = [&](Usd amount) {
    return percent_text(ledger.total.nano > 0 ? static_cast<double>(amount.nano) /
                                                    static_cast<double>(ledger.total.nano)
                                              : 0);
  };
  if (largest == nullptr) {
    return fmt::format("All of the {} of {} buy useful work.", money_text(ledger.total), lead.name);
  }
  return fmt::format("{} of the {} of {} buy useful work; {} are {}.", share(ledger.useful),
                     money_text(ledger.total), lead.name, share(ledger.*largest->usd),
                     largest->name);
}

}  // namespace

Markup cost_section(const HtmlReport& report) {
  const sim::Result& result = report.result;
  const std::vector<sim::LedgerPart> parts = parts_in_use(result);
  if (parts.empty()) return "";
  const std::string finding = cost_finding(*leading_variant(report));
  return section(
      "cost", "Where does the money go?",
      figure(draw(cost_chart(result, parts, finding)), finding, {cost_table(result, parts)}) +
          paragraph("The parts add up to the bill: nodes x price x time. Mean over the "
                    "replications.") +
          bill_markup(result));
}

}  // namespace slicewise::reports::html
