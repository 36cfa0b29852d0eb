#include "replay_figures.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/units.hpp"

#include "result_figures.hpp"

namespace slicewise::reports::replayed {
namespace {

std::string per_dollar_words(double value) { return short_text(value); }

constexpr Figure kFigures[] = {
    {"/finished", "FINISHED", "Finished", count_text},
    {"/lost", "LOST", "Lost", count_text},
    {"/preemptions", "PREEMPTED", "Preempted", count_text},
    {"/mostWaiting", "LONGEST QUEUE", "Longest queue", count_text},
    {"/company/oomKilled", "OOM-KILLED", "Out of memory", count_text},
    {"/company/failed", "FAILED", "Failed", count_text},
    {"/waitSeconds/mean", "WAIT MEAN", "Wait", seconds_words},
    {"/waitSeconds/p50", "P50", "Wait p50", seconds_words},
    {"/waitSeconds/p90", "P90", "Wait p90", seconds_words},
    {"/waitSeconds/p99", "P99", "Wait p99", seconds_words},
    {"/waitMeanSeconds", "WAIT MEAN", "Wait", seconds_words},
    {"/completionSeconds/mean", "COMPLETION MEAN", "Completion", seconds_words},
    {"/completionP95Seconds", "P95", "Completion p95", seconds_words},
    {"/completionSeconds/p99", "P99", "Completion p99", seconds_words},
    {"/completionMeanSeconds", "COMPLETION MEAN", "Completion", seconds_words},
    {"/makespanSeconds", "MAKESPAN", "Time", seconds_words},
    {"/company/slowdown/mean", "SLOWDOWN MEAN", "Slowdown", ratio_words},
    {"/company/slowdown/p95", "P95", "Slowdown p95", ratio_words},
    {"/slowdown/mean", "SLOWDOWN MEAN", "Slowdown", ratio_words},
    {"/slowdown/p95", "P95", "Slowdown p95", ratio_words},
    {"/slowdownMean", "SLOWDOWN MEAN", "Slowdown", ratio_words},
    {"/company/boundedSlowdown/mean", "BOUNDED MEAN", "Bounded slowdown", ratio_words},
    {"/company/boundedSlowdown/p95", "P95", "Bounded slowdown p95", ratio_words},
    {"/company/gpuBusyRatio", "GPU BUSY", "GPU busy", percent_text},
    {"/company/smActiveRatio", "SM ACTIVE", "SM active", percent_text},
    {"/company/switchRatio", "SWITCH", "Switch", percent_text},
    {"/gpuUtilization", "GPU USE", "GPU used", percent_text},
    {"/peakGpus", "PEAK GPUS", "Peak GPUs", count_text},
    {"/costUsd", "COST", "Cost", dollars_words},
    {"/usdPerJob", "$/JOB", "$/job", dollars_words},
    {"/gpuHoursPerUsd", "GPU-H PER $", "GPU-h per $", per_dollar_words},
};

}  // namespace

const Figure& figure_of(std::string_view pointer) {
  const auto* const found = std::ranges::find(kFigures, pointer, &Figure::pointer);
  if (found == std::end(kFigures)) {
    throw std::logic_error(fmt::format("no figure of replays is {}", pointer));
  }
  return *found;
}

std::optional<double> value_at(const nlohmann::json& object, std::string_view pointer) {
  const nlohmann::json::json_pointer at{std::string(pointer)};
  return object.contains(at) ? std::optional(object[at].get<double>()) : std::nullopt;
}

std::string seconds_words(double value) { return duration_text(from_seconds(value)); }
std::string ratio_words(double value) { return fmt::format("{:.2f}", value); }
std::string dollars_words(double value) { return money_text(from_dollars(value)); }

}  // namespace slicewise::reports::replayed
