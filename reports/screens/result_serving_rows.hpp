#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "result_workload_rows.hpp"

// The blocks of a variant about what people wait for: a row for each workload that has such
// figures, of those that `shown` names.
namespace slicewise::reports {

// Services and pipelines. `every` adds the mean, p99.9 and the figures behind the others.
std::vector<Column> request_columns(bool every);
Rows request_rows(const sim::VariantResult& variant, const TextStyle& style, bool every,
                  std::int64_t seconds);

// Language models.
std::vector<Column> token_columns(bool every);
Rows token_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);

std::vector<Column> scaling_columns(bool every);
Rows scaling_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);

std::vector<Column> notebook_columns(bool every);
Rows notebook_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);

// Of the requests whose fate is known; "" when there is none of them or no objective.
std::string share_in_slo(const sim::WorkloadResult& workload);

}  // namespace slicewise::reports
