#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/sensitivity.hpp"

namespace slicewise::reports {

// "412 ms", "$0.01511", "20.0/s", "38%", "4.2Gi", "1.5 vCPUs", "60".
std::string amount_text(const sim::Amount& amount);

// "412 ±9 ms": with a half width in the unit of the amount.
std::string amount_text(const sim::Amount& amount, const std::optional<double>& half_width,
                        const TextStyle& style);

// Of an objective in a document.
sim::AmountUnit unit_of_word(std::string_view word);

// How well an input is known, as documents and screens spell it: "measured"; "scenario" where the
// scenario decides it.
std::string_view basis_word(const std::optional<scenarios::Provenance>& basis);

// "+25%", "-9.5%", "0%", "+3.1x" from 300 % on: a change as a share of what it was.
std::string change_text(double ratio);

// "+25% ±2": the half width in percentage points where it shows.
std::string change_text(double ratio, const std::optional<double>& half_width,
                        const TextStyle& style);

}  // namespace slicewise::reports
