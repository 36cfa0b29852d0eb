#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

// Language models among the workload profiles: their figures are a step law, not a step time.
namespace slicewise::reports {

inline constexpr const char* kLlmKind = "llm";

// As the listing of profiles shows it.
nlohmann::json llm_item(const models::LlmModel& model);
models::WorkloadProfile llm_as_profile(const models::LlmModel& model);

// `slicewise explain profile NAME`: figures with provenance, steps of several sizes, and what
// carries over to other GPUs.
std::string explain_llm(const models::LlmModel& model, const models::Catalogue& catalogue,
                        const TextStyle& style);

}  // namespace slicewise::reports
