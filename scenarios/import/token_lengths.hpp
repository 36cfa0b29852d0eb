#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Since the start of the recording: 31 years.
inline constexpr std::int64_t kMostSeconds = 1'000'000'000;

// Weight by number of tokens.
using TokenWeights = std::map<std::int64_t, double>;

// Adds the probabilities of "{50: 0.04, 51: 0.08}" (a Python dict literal: whole numbers to
// numbers), times `weight`. False when it is none; what was read until then has been added.
bool add_token_weights(std::string_view literal, double weight, TokenWeights& weights);

// nullopt when nothing weighs anything.
std::optional<TokenLengths> lengths_of(const TokenWeights& weights);

// ServeGen's lengths of one client: JSON of {"window start in s": {"field": "dict literal"}}.
struct LengthWindow {
  Duration at;
  std::string input;  // the literals; "" where the window has none
  std::string output;
};

// In order of time; nullopt when the text is no such JSON.
std::optional<std::vector<LengthWindow>> read_length_windows(std::string_view json);

}  // namespace slicewise::scenarios
