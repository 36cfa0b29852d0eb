#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "csv_rows.hpp"

namespace slicewise::reports {
namespace {

// "1234.5": all digits that there are.
std::string seconds_text(std::int64_t ns) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const std::string sign = ns < 0 ? "-" : "";
  const auto magnitude = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
  std::string text =
      fmt::format("{}{}.{:09}", sign, magnitude / kNsPerSecond, magnitude % kNsPerSecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string time_text(TimePoint at) { return at == kNever ? "" : seconds_text(at.ns); }

}  // namespace

std::string job_times_csv(const scenarios::JobTrace& trace, const sim::ReplayStudy& study) {
  std::string out = "id,gpus,arrival_s,start_s,end_s\n";
  if (study.outcomes.empty()) return out;
  const std::vector<sim::JobTimes>& times = study.outcomes.front().result.job_times;
  for (std::size_t job = 0; job < times.size(); ++job) {
    const std::size_t row = job % trace.size();
    const auto repetition = static_cast<std::int64_t>(job / trace.size());
    const Duration arrival = trace.arrival[row] + study.shift * repetition;
    const std::string id =
        trace.id.empty() ? std::to_string(row + 1) : std::string(trace.name(trace.id, row));
    out += csv_text(id);
    out += fmt::format(",{},{},{},{}\n", trace.gpus[row], seconds_text(arrival.ns),
                       time_text(times[job].start), time_text(times[job].end));
  }
  return out;
}

}  // namespace slicewise::reports
