#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/describe.hpp"

namespace slicewise::reports::replayed {

// A figure of one scheduler of a replay, or of jobs that have something in common, as its record
// declares it for screens and the page. Both take the value from the document.
struct Figure {
  std::string pointer;  // "/waitSeconds/mean"
  const sim::Field* field = nullptr;
  const sim::Field::ColumnName* column = nullptr;

  // "3h16m".
  std::string text(double value) const;
};

// In the order declared.
std::vector<Figure> figures_of(const sim::Record& record);
// std::logic_error where none is declared.
Figure figure_of(const sim::Record& record, std::string_view pointer);

// nullopt where there is none.
std::optional<double> value_at(const nlohmann::json& object, std::string_view pointer);

std::string seconds_words(double value);  // "3h16m"
std::string ratio_words(double value);    // "1.02"
std::string dollars_words(double value);  // "$20,010"

}  // namespace slicewise::reports::replayed
