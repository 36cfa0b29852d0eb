#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/sim/recording.hpp"

// What every picture of a recording says alike.
namespace slicewise::reports {

// "Pending", "image pull", "model load", "Running", "back-off".
std::string_view lane_phase_word(sim::LanePhase phase);
// "GPU out of memory", "GPU fault", ...
std::string_view lane_mark_word(sim::LaneMark::Kind kind);

// "GPU 0", of a MIG instance "GPU 0 1g.5gb #2".
std::string gpu_lane_name(const sim::RecordedGpu& gpu);

// "left out: 16 pods, 40 intervals"; "" when nothing was.
std::string left_out_sentence(const sim::LeftOut& left_out);

// Which turns a picture shows, or why it shows none.
std::string turns_sentence(const sim::RecordedTurns& turns);

// A container of a recorded pod on a GPU.
struct GpuGuest {
  std::uint32_t pod = 0;  // into Recording::pods
  TimePoint from;
  TimePoint until;
};
// By GPU: the containers that were there, loading or running.
std::vector<std::vector<GpuGuest>> gpu_guests(const sim::Recording& recording);

// From one change to the next of who is on a GPU.
struct GpuCompany {
  std::vector<std::uint32_t> pods;  // ascending
  TimePoint from;
  TimePoint until;
};
// In order of time; while nobody is there, there is none.
std::vector<GpuCompany> company_over_time(const std::vector<GpuGuest>& guests);

}  // namespace slicewise::reports
