#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/formats.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/neighbours.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/validation.hpp"

// The answers of the verbs that study a scenario, each in the formats of Report.
//
// compare: the options side by side, what isolates neighbours, and what was refused and why; `wide`
// adds the warnings of each option. CSV: a row per option and workload, then one per refused
// option.
//
// max-load: the loads that pass and fail, the objectives at both, and what the answer rests on;
// `wide` adds every probe. CSV: a row per load that was scaled.
//
// neighbours: rows suffer, columns cause. CSV: a row per figure and neighbour, the last of each
// figure beside all others.
//
// sensitivity: a tornado for each figure, what flips an objective, the break-evens and what the
// answer rests on; `wide` shows every input of every figure. CSV: a row per input, end and figure.
//
// replay: a row per scheduler, then waits by size of job; `wide` adds the sizes of every scheduler.
// CSV: a row per scheduler and size of job, "all" first.
//
// replay --inflate: a row per placement; documents hold the curve as well and obey the schema of
// replay. CSV: a row per placement, seed and percent that arrived.
//
// validate: one line per study, then what was fitted on what and where the models are worst, by
// name. JSON has percentages in percent, without the points; CSV a row per point.
//
// plan: the ranked options, the recommendation, what flips it and what was rejected; `wide` adds
// every rejected configuration. The JSON is the artefact that is reviewed, compared and exported.
// CSV: a row per objective of each option.
namespace slicewise::reports {

// Of inflations, too.
template <>
std::string Report<sim::ReplayStudy>::schema();

// Start and end of each job of the first scheduler, in the order of the trace: id, arrival, start,
// end in exact seconds. REQUIRES: ReplaySettings::keep_jobs.
std::string job_times_csv(const scenarios::JobTrace& trace, const sim::ReplayStudy& study);

// Predicted against measured as SVG: log-log, with the line on which both are equal and a band of
// +-10 % around it. All studies on a page, or one study.
std::string validation_chart(const sim::ValidationResult& result);
std::string study_chart(const sim::StudyResult& study);

// SetUpRoute::by.
inline constexpr std::string_view kByPlugin = "devicePlugin";
inline constexpr std::string_view kByDra = "dra";
inline constexpr std::string_view kByAutoMode = "autoMode";

// Says of each ranked option whether the device plugin and NVIDIA's DRA driver set it up, as the
// exports helm-values or gpu-operator, and dra, write or refuse it, and whether nodes of EKS Auto
// Mode are what it asks for. `base`: what was planned.
void add_routes(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                sim::Plan& plan);

// Whether the text is a JSON document of kind Plan, well-formed or not.
bool looks_like_plan(const SourceText& source);

// Everything that the schema does not allow, at its place: malformed JSON is a YAML_SYNTAX, another
// version an API_VERSION_UNKNOWN, then FIELD_MISSING, FIELD_UNKNOWN, FIELD_TYPE, VALUE_RANGE and
// ENUM_UNKNOWN, and pools that contradict themselves. Every option has at least one pool. Whether
// their names are those of the scenario is for check_plan_names.
Expected<sim::Plan> read_plan(const SourceText& source);

// Whether a simulation of an option found what the plan says of it, to the digits that a document
// has.
bool has_figures_of(const sim::VariantResult& simulated, const sim::OptionFigures& planned);

// Why an option of a stored plan (1: the best) is where it is; nullopt: the whole answer, and why
// the rest was rejected. Errors as read_plan(), and VALUE_RANGE for an option that it lacks.
Expected<std::string> explain_plan(const SourceText& source, std::optional<std::size_t> option,
                                   const TextStyle& style);

// What a step of a stored plan's path (1: the first) changes, saves and costs. Errors likewise.
Expected<std::string> explain_step(const SourceText& source, std::size_t step,
                                   const TextStyle& style);

// What is wrong with pools of a plan for its scenario: instance types, price plans and workloads
// that are unknown, workloads without a pool. `at`: where the source has them, "/options/0".
Diagnostics check_plan_names(const SourceText& source, std::span<const sim::PoolChoice> pools,
                             std::string_view at, const scenarios::Scenario& scenario,
                             const models::Catalogue& catalogue);

}  // namespace slicewise::reports
