#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/plan_report.hpp"

#include "csv_rows.hpp"
#include "plan_document.hpp"

namespace slicewise::reports {
namespace {

// The objective stands where other reports have their workload.
constexpr std::array kPlanColumns = {
    CsvColumn{"scenario", CsvColumn::Level::Metadata, "/scenario"},
    CsvColumn{"variant", CsvColumn::Level::Metadata, "/variant"},
    CsvColumn{"seed", CsvColumn::Level::Metadata, "/seed"},
    CsvColumn{"rank", CsvColumn::Level::Item, "/rank"},
    CsvColumn{"configuration", CsvColumn::Level::Item, "/configuration"},
    CsvColumn{"monthlyUsd", CsvColumn::Level::Item, "/monthlyUsd"},
    CsvColumn{"per1kRequestsInSloUsd", CsvColumn::Level::Item, "/per1kRequestsInSloUsd"},
    CsvColumn{"perJobUsd", CsvColumn::Level::Item, "/perJobUsd"},
    CsvColumn{"worstRatio", CsvColumn::Level::Item, "/worstRatio"},
    CsvColumn{"gpuBusyRatio", CsvColumn::Level::Item, "/gpuBusyRatio"},
    CsvColumn{"pareto", CsvColumn::Level::Item, "/pareto"},
    CsvColumn{"workload", CsvColumn::Level::Workload, "/workload"},
    CsvColumn{"objective", CsvColumn::Level::Workload, "/name"},
    CsvColumn{"unit", CsvColumn::Level::Workload, "/unit"},
    CsvColumn{"limit", CsvColumn::Level::Workload, "/limit"},
    CsvColumn{"value", CsvColumn::Level::Workload, "/value"},
    CsvColumn{"ci95", CsvColumn::Level::Workload, "/ci95"},
    CsvColumn{"pass", CsvColumn::Level::Workload, "/pass"},
};

std::string names_of(const sim::PlanOption& option) {
  std::string names;
  for (const sim::PoolChoice& choice : option.pools) {
    names += (names.empty() ? "" : " + ") + sim::describe(choice);
  }
  return names;
}

}  // namespace

std::string plan_csv(const sim::Plan& plan) {
  const nlohmann::json document = plan_document(plan);
  std::string out = csv_header(kPlanColumns);
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    nlohmann::json option = document["options"][o];
    option["rank"] = o + 1;
    option["configuration"] = names_of(plan.options[o]);
    if (option["objectives"].empty()) {
      out += csv_row(kPlanColumns, document["metadata"], option, nlohmann::json::object());
    }
    for (const auto& objective : option["objectives"]) {
      out += csv_row(kPlanColumns, document["metadata"], option, objective);
    }
  }
  return out;
}

}  // namespace slicewise::reports
