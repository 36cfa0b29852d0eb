#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

// One Result in each of the formats of `slicewise run -o`. Pure functions: same result, same bytes.
namespace slicewise::reports {

// The table a person reads; `wide` keeps the columns that do not fit and adds the per-GPU rows.
std::string result_table(const sim::Result& result, const TextStyle& style, bool wide);
// slicewise.dev/result.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string result_json(const sim::Result& result);
std::string result_yaml(const sim::Result& result);
// One row per variant and workload (RFC 4180, header first).
std::string result_csv(const sim::Result& result);
// GitHub-flavoured, at most 60,000 characters.
std::string result_markdown(const sim::Result& result);

// The JSON Schema (draft-07) that result_json obeys.
std::string result_schema_json();

// How a stored result was made: what it takes to make it again.
struct StoredResult {
  sim::Stamp stamp;
  std::string fidelity;  // "exact", "auto"; "" = the scenario's
  bool interrupted = false;
  std::vector<std::string> variants;
};

// Whether the text is a JSON document of kind Result, well-formed or not.
bool looks_like_result(const SourceText& source);
// Errors as read_plan has them.
Expected<StoredResult> read_result(const SourceText& source);
// Whether the document has the figures of `result`. REQUIRES: read_result takes the document.
bool has_figures_of(const SourceText& document, const sim::Result& result);

// What a stored result says of a variant, or of a workload in each of its variants: what it got of
// the GPUs and beside whom, why pods were Pending or killed, what it waited for. "": of all
// variants, in short. Errors as read_result(), and PATH_UNKNOWN with the names that it has.
Expected<std::string> explain_result(const SourceText& source, const std::string& name,
                                     const TextStyle& style);

}  // namespace slicewise::reports
