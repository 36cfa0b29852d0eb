#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/units.hpp"

// How every document writes its values. What is absent is null, and `present` leaves it out.
namespace slicewise::reports::document {

// Nine significant digits: far more than the model is worth, and the same text everywhere even
// where two compilers differ in the last bit of a sum; 3600 rather than 3600.0. Not finite: absent.
nlohmann::json number(double value);
nlohmann::json number(const std::optional<double>& value);
nlohmann::json in_seconds(Duration d);
nlohmann::json in_dollars(Usd u);               // every nano-dollar
nlohmann::json text(const std::string& value);  // "": absent
// Seconds, a ratio, per second, or a plain number.
nlohmann::json figure_value(const scenarios::FigureValue& value);

// The object without its null members.
nlohmann::json present(nlohmann::json object);

template <class Items, class ToJson>
nlohmann::json list(const Items& items, ToJson to_json) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& item : items) out.push_back(to_json(item));
  return out;
}

}  // namespace slicewise::reports::document
