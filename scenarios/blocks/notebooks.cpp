#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

void finish_notebooks(Notebooks& notebooks, const Node& map, Reading& reading) {
  if (notebooks.sessions_per_day > 0) return;
  reading.findings.add(Code::ValueRange, value_place(map, "sessionsPerDay"),
                       "sessionsPerDay must be more than zero");
}

constexpr Field kNotebooksFields[] = {
    field<&Notebooks::users>("users", "60", "People with a notebook of their own.")
        .needed()
        .between(1, 1'000'000),
    field<&Notebooks::sessions_per_day>(
        "sessionsPerDay", "1.5", "Sessions of a user on a working day, on average; more than 0.")
        .up_to(1'000),
    field<&Notebooks::length>("length", "{p50: 2h, p95: 7h}",
                              "Length of a session, unless it is culled before.")
        .needed()
        .of(kRandomTime),
    field<&Notebooks::peaks_at>("peaksAt", "[\"09:30\", \"14:00\"]",
                                "Local times of day around which people start.")
        .as(T::ClockTimes)
        .needed(),
    field<&Notebooks::spread>("spread", "45m",
                              "Standard deviation of the start around its peak; at most 24h.")
        .within(hours(24)),
    field<&Notebooks::utc_offset>("utcOffset", "\"+01:00\"", "Local time minus UTC.")
        .as(T::UtcOffset),
    field<&Notebooks::idle_cull>("idleCull", "1h",
                                 "A session is ended after this long without a cell.")
        .positive()
        .otherwise("never"),
    field<&Notebooks::interval>("interval", "{p50: 45s, p95: 12m}",
                                "Time from the end of a cell to the start of the next.")
        .needed()
        .of(kRandomTime),
    field<&Notebooks::gpu_time>("gpuTime", "{p50: 2s, p95: 40s}",
                                "GPU time of a cell, alone on the GPU.")
        .needed()
        .of(kRandomTime),
    field<&Notebooks::memory>("memory", "{p50: 2Gi, p95: 10Gi}",
                              "GPU memory that a session comes to hold.")
        .of(kMemoryAmount)
        .otherwise("gpuMemory"),
};

}  // namespace

constinit const FieldList kNotebooks = block<Notebooks, &finish_notebooks>(kNotebooksFields);

}  // namespace slicewise::scenarios
