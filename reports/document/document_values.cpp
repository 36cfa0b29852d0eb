#include "document_values.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/models/sharing.hpp"

#include "../text/severity_name.hpp"

namespace slicewise::reports::document {

using nlohmann::json;

namespace {

// 3600 rather than 3600.0, in every format.
json whole_or_double(double value) {
  constexpr double kExactBelow = 9007199254740992.0;  // 2^53
  const bool whole = std::abs(value) < kExactBelow && value == std::trunc(value);
  return whole ? json(static_cast<std::int64_t>(value)) : json(value);
}

// Seconds, a ratio, per second, or a plain number.
json figure_value(const scenarios::FigureValue& value) {
  return std::visit(models::Overloaded{
                        [](Duration d) { return in_seconds(d); },
                        [](scenarios::Share s) { return number(s.of_one); },
                        [](Rate r) { return number(r.per_second); },
                        [](double x) { return number(x); },
                    },
                    value);
}

std::string_view unit_of_value(const scenarios::FigureValue& value) {
  return std::visit(models::Overloaded{
                        [](Duration) { return "seconds"; },
                        [](scenarios::Share) { return "ratio"; },
                        [](Rate) { return "perSecond"; },
                        [](double) { return "number"; },
                    },
                    value);
}

}  // namespace

json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const double rounded = std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr);
  return whole_or_double(rounded);
}

json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

json in_seconds(Duration d) { return number(to_seconds(d)); }

json in_seconds(const std::optional<Duration>& d) { return d ? in_seconds(*d) : json(nullptr); }

// A division, not to_dollars(): it rounds correctly, so that the decimal comes out as it went in.
json in_dollars(Usd u) { return whole_or_double(static_cast<double>(u.nano) / 1e9); }

json in_dollars(const std::optional<Usd>& u) { return u ? in_dollars(*u) : json(nullptr); }

json text(const std::string& value) { return value.empty() ? json(nullptr) : json(value); }

json finding(const Diagnostic& d) {
  return {
      {"code", info(d.code).name}, {"severity", severity_name(d.severity)}, {"message", d.message}};
}

json present(json object) {
  for (auto it = object.begin(); it != object.end();) {
    it = it->is_null() ? object.erase(it) : std::next(it);
  }
  return object;
}

json metadata_of(const sim::Stamp& stamp, bool interrupted, json more) {
  const bool priced = !stamp.price_date.empty();
  json members = {{"scenario", stamp.scenario},
                  {"scenarioSha256", stamp.scenario_sha256},
                  {"variant", text(stamp.variant)},
                  {"seed", stamp.seed},
                  {"replications", stamp.replications},
                  {"version", stamp.version},
                  {"priceDate", text(stamp.price_date)},
                  {"priceFile", priced ? text(stamp.price_file) : json()},
                  {"priceFileSha256", priced ? text(stamp.price_file_sha256) : json()},
                  {"interrupted", interrupted ? json(true) : json()}};
  if (more.is_object()) members.update(more);
  return present(std::move(members));
}

json time_summary(const sim::TimeSummary& t) {
  return present({{"count", t.count},
                  {"mean", in_seconds(t.mean)},
                  {"p50", in_seconds(t.p50)},
                  {"p95", in_seconds(t.p95)},
                  {"p99", in_seconds(t.p99)},
                  {"p999", in_seconds(t.p999)},
                  {"ci95", in_seconds(t.ci95)},
                  {"p50Ci95", in_seconds(t.p50_ci95)},
                  {"p95Ci95", in_seconds(t.p95_ci95)},
                  {"p99Ci95", in_seconds(t.p99_ci95)},
                  {"p999Ci95", in_seconds(t.p999_ci95)},
                  {"p999IsRough", t.p999_is_rough ? json(true) : json(nullptr)}});
}

// Nothing was observed: there is no mean to report.
json time_summary(const std::optional<sim::TimeSummary>& t) {
  return t && t->count > 0 ? time_summary(*t) : json(nullptr);
}

json objective(const sim::ObjectiveResult& o) {
  return present({{"name", o.name},
                  {"unit", unit_of_value(o.limit)},
                  {"atLeast", o.at_least ? json(true) : json(nullptr)},
                  {"limit", figure_value(o.limit)},
                  {"value", figure_value(o.value)},
                  {"ci95", o.ci95 ? figure_value(*o.ci95) : json(nullptr)},
                  {"pass", o.pass}});
}

}  // namespace slicewise::reports::document
