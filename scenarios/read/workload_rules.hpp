#pragma once

#include "slicewise/scenarios/scenario.hpp"

#include "../text/document.hpp"
#include "../text/findings.hpp"

namespace slicewise::scenarios {

// Settings of a workload that contradict its kind or each other, and figures that its kind needs.
void check_workload(const Node& node, const Workload& workload, Findings& findings);

// The same for a Service.
void check_service(const Node& node, const Workload& workload, Findings& findings);

// Whether requests come with numbers of tokens, as those of a trace may.
bool brings_tokens(const Traffic& traffic);

// Reports that nothing says how many tokens the requests of a Service with llm have.
void report_missing_tokens(const Workload& workload, Findings& findings);

}  // namespace slicewise::scenarios
