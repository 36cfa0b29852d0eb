#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/units.hpp"

// Single values of logs, in the notations that logs have.
namespace slicewise::scenarios {

// What a number of a column of times counts; Auto: seconds, or a date where it looks like one.
enum class TimeUnit : std::uint8_t { Auto, Iso, Seconds, Millis, Micros, Minutes, Hours };

// "ms", "iso"; "" is Auto. nullopt for another word.
std::optional<TimeUnit> time_unit(std::string_view word);

// "", "-", "None", "Unknown", "NaN" and their like.
bool is_missing(std::string_view text);

// A point in time in nanoseconds; for dates since 1970, less `utc_offset` where they name no zone.
std::optional<std::int64_t> instant_of(std::string_view text, TimeUnit unit, Duration utc_offset);

// A length of time from 0 to 126 years: a number of the unit or Slurm's
// [days-]hours:minutes:seconds.
std::optional<Duration> span_of(std::string_view text, TimeUnit unit);

// Whether the text is a date and time rather than a number.
bool is_date(std::string_view text);

// The words of Slurm, Kubernetes, Philly, PAI and others; Unknown for any other.
JobState job_state_of(std::string_view word);

// "65536M", "64G", "1.5T", plain bytes; units are powers of 1024, as Slurm's.
std::optional<Bytes> memory_of(std::string_view text);

}  // namespace slicewise::scenarios
