#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/scenario.hpp"

#include "../text/document.hpp"
#include "../text/findings.hpp"

// Reading of values that vary at random. nullopt when absent or reported as wrong.
namespace slicewise::scenarios {

// Reports a mapping that is neither a mean nor a median with one of the upper percentiles. `path`
// and `where` as in check_field().
void check_random_form(const Node& node, const std::string& path, const SourceLocation& where,
                       Findings& findings);

// A duration, {mean, distribution}, {p50, p95} or {p50, p99}.
std::optional<ServiceTime> random_time_at(const Node* parent, std::string_view key,
                                          Findings& findings);

// The same of tokens, or of bytes, with least and most.
std::optional<RandomAmount> random_tokens_at(const Node* parent, std::string_view key,
                                             Findings& findings);
std::optional<RandomAmount> random_bytes_at(const Node* parent, std::string_view key,
                                            Findings& findings);

}  // namespace slicewise::scenarios
