#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "embedded/time_zone_files.hpp"

// How far zones are from UTC while a scenario runs. No file of the machine is asked: the same input
// has the same bytes everywhere.
namespace slicewise::scenarios {
namespace {

// Each line: the offset, whether it changes, names.
template <class Take>
void each_zone(const Take& take) {
  std::string_view rest = time_zone_files::time_zones_txt();
  const auto next = [](std::string_view& text, char end) {
    const std::string_view word = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  while (!rest.empty()) {
    std::string_view line = next(rest, '\n');
    if (line.starts_with('#')) continue;
    const Parsed<Duration> offset = parse_utc_offset(next(line, ' '));
    const bool changes = next(line, ' ') == "changes";
    while (offset && !line.empty()) take(next(line, ' '), TimeZone{*offset, changes});
  }
}

}  // namespace

std::optional<TimeZone> time_zone(std::string_view name) {
  if (name.empty()) return TimeZone{};
  std::optional<TimeZone> found;
  each_zone([&](std::string_view known, const TimeZone& zone) {
    if (known == name) found = zone;
  });
  return found;
}

std::string unknown_zone_help(std::string_view name) {
  std::vector<std::string_view> names;
  each_zone([&](std::string_view known, const TimeZone&) { names.push_back(known); });
  const auto near = nearest_name(name, names);
  return near ? fmt::format("did you mean {}?", *near) : "a name of IANA, as America/New_York";
}

std::optional<std::string> zone_of_offset(Duration offset) {
  if (offset.ns == 0) return "Etc/UTC";
  const std::int64_t ahead = offset.ns / hours(1).ns;
  if (offset.ns % hours(1).ns != 0) return std::nullopt;
  return fmt::format("Etc/GMT{:+}", -ahead);
}

}  // namespace slicewise::scenarios
