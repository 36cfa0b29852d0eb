#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"

// The blocks of a variant with a row for each objective, for each workload that ends (Jobs and
// Deployments), and for each that people wait for (result_serving_rows.cpp).
namespace slicewise::reports {

std::vector<Column> objective_columns();
std::vector<Column> batch_columns();
// Of the jobs of traces: of each that is judged by itself; `every`: of each class as well.
std::vector<Column> job_group_columns();
Rows job_group_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);

// A variant of many workloads shows a dozen of them unless `every`: those that miss an objective
// or did nothing first, then the first ones, in the order of the scenario.
std::vector<const sim::WorkloadResult*> shown(const sim::VariantResult& variant, bool every);
Rows objective_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);
// Rates are told by so many seconds: see rate_seconds().
Rows batch_rows(const sim::VariantResult& variant, const TextStyle& style, bool every,
                std::int64_t seconds);

// "the worst first; and 48 more (-o wide)", of job_group_rows; "" when none is left out.
std::string job_groups_left_out(const sim::VariantResult& variant, bool every);
// "and 42 more workloads, without a missed objective (-o wide)"; "" when none is left out.
std::string workloads_left_out(const sim::VariantResult& variant, bool every);

// "412 ±9 ms", "412 ms"; "" when nothing was observed.
std::string mean_cell(const std::optional<sim::TimeSummary>& times, const TextStyle& style);
std::string quantile_cell(const std::optional<sim::TimeSummary>& times,
                          Duration sim::TimeSummary::*quantile);
// "3m, up to 2 never": of the pods that started, and how many never did in any one run.
std::string wait_text(const std::string& mean, std::int64_t never);

// What people wait for: Services and pipelines, language models, what is autoscaled, Notebooks. A
// row for each workload that has such figures, of those that `shown` names. `every` adds columns:
// the mean, p99.9 and the figures behind the others.
enum class ServingBlock : std::uint8_t { Requests, Tokens, Scaling, Notebooks };
std::vector<Column> serving_columns(ServingBlock block, bool every);
Rows serving_rows(ServingBlock block, const sim::VariantResult& variant, const TextStyle& style,
                  bool every, std::int64_t seconds);

// Of the requests whose fate is known; "" when there is none of them or no objective.
std::string share_in_slo(const sim::WorkloadResult& workload);

}  // namespace slicewise::reports
