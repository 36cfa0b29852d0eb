#include "document_values.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"

namespace slicewise::reports::document {

using nlohmann::json;

namespace {

// 3600 rather than 3600.0, in every format.
json whole_or_double(double value) {
  constexpr double kExactBelow = 9007199254740992.0;  // 2^53
  const bool whole = std::abs(value) < kExactBelow && value == std::trunc(value);
  return whole ? json(static_cast<std::int64_t>(value)) : json(value);
}

}  // namespace

json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const double rounded = std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr);
  return whole_or_double(rounded);
}

json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

json in_seconds(Duration d) { return number(to_seconds(d)); }

// A division, not to_dollars(): it rounds correctly, so that the decimal comes out as it went in.
json in_dollars(Usd u) { return whole_or_double(static_cast<double>(u.nano) / 1e9); }

json text(const std::string& value) { return value.empty() ? json(nullptr) : json(value); }

json present(json object) {
  for (auto it = object.begin(); it != object.end();) {
    it = it->is_null() ? object.erase(it) : std::next(it);
  }
  return object;
}

json figure_value(const scenarios::FigureValue& value) {
  return std::visit(models::Overloaded{
                        [](Duration d) { return in_seconds(d); },
                        [](scenarios::Share s) { return number(s.of_one); },
                        [](Rate r) { return number(r.per_second); },
                        [](double x) { return number(x); },
                    },
                    value);
}

}  // namespace slicewise::reports::document
