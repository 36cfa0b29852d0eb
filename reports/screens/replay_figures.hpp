#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace slicewise::reports::replayed {

// A figure of one scheduler of a replay, or of one of its groups of jobs, as its screens and its
// page show it. Both take the value from the document.
struct Figure {
  std::string_view pointer;  // "/waitSeconds/mean"
  std::string_view column;   // of a screen; a quantile stands right of the mean that it belongs to
  std::string_view heading;  // of the page
  std::string (*text)(double value);
};

// std::logic_error where none is declared.
const Figure& figure_of(std::string_view pointer);

// nullopt where there is none.
std::optional<double> value_at(const nlohmann::json& object, std::string_view pointer);

std::string seconds_words(double value);  // "3h16m"
std::string ratio_words(double value);    // "1.02"
std::string dollars_words(double value);  // "$20,010"

}  // namespace slicewise::reports::replayed
