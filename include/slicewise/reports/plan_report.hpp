#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/plan.hpp"

// A plan in each of the formats of `slicewise plan -o`. Pure functions: same plan, same bytes.
namespace slicewise::reports {

// The ranked options, the recommendation, what flips it and what was rejected; `wide` adds every
// rejected configuration and keeps the columns that do not fit.
std::string plan_table(const sim::Plan& plan, const TextStyle& style, bool wide);
// slicewise.dev/plan.v1alpha1, sorted keys, SI units in the keys, absent fields left out: the
// artefact that is reviewed, compared and exported.
std::string plan_json(const sim::Plan& plan);
std::string plan_yaml(const sim::Plan& plan);
// One row per objective of each option (RFC 4180, header first).
std::string plan_csv(const sim::Plan& plan);
// GitHub-flavoured.
std::string plan_markdown(const sim::Plan& plan);

// The JSON Schema (draft-07) that plan_json obeys.
std::string plan_schema_json();

// What an export needs of a stored plan.
struct StoredPlan {
  sim::Stamp stamp;
  std::vector<std::vector<sim::PoolChoice>> options;  // best first, each with at least one pool
};

// Whether the text is a JSON document of kind Plan, well-formed or not.
bool looks_like_plan(const SourceText& source);

// Everything that the schema does not allow, at its place: malformed JSON is a YAML_SYNTAX, another
// version an API_VERSION_UNKNOWN, then FIELD_MISSING, FIELD_UNKNOWN, FIELD_TYPE, VALUE_RANGE and
// ENUM_UNKNOWN, and pools that contradict themselves. Whether their names are those of the scenario
// is for check_plan_names.
Expected<StoredPlan> read_plan(const SourceText& source);

// The plan with its figures, for a page about it. Errors as read_plan() has them.
Expected<sim::Plan> read_whole_plan(const SourceText& source);

// Whether a simulation of an option found what the plan says of it, to the digits that a document
// has.
bool has_figures_of(const sim::VariantResult& simulated, const sim::OptionFigures& planned);

// Why an option of a stored plan (1: the best) is where it is; nullopt: the whole answer, and why
// the rest was rejected. Errors as read_plan(), and VALUE_RANGE for an option that it lacks.
Expected<std::string> explain_plan(const SourceText& source, std::optional<std::size_t> option,
                                   const TextStyle& style);

// What is wrong with options[option] for its scenario: instance types, price plans and workloads
// that are unknown, workloads without a pool. REQUIRES: plan was read from source.
Diagnostics check_plan_names(const SourceText& source, const StoredPlan& plan, std::size_t option,
                             const scenarios::Scenario& scenario,
                             const models::Catalogue& catalogue);

}  // namespace slicewise::reports
