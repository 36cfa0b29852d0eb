#include "lane_words.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace slicewise::reports {

std::string_view lane_phase_word(sim::LanePhase phase) {
  switch (phase) {
    case sim::LanePhase::Pending:
      return "Pending";
    case sim::LanePhase::Pulling:
      return "image pull";
    case sim::LanePhase::Loading:
      return "model load";
    case sim::LanePhase::Running:
      return "Running";
    case sim::LanePhase::BackOff:
      return "back-off";
  }
  return "";
}

std::string_view lane_mark_word(sim::LaneMark::Kind kind) {
  using Kind = sim::LaneMark::Kind;
  switch (kind) {
    case Kind::OutOfMemory:
      return "CUDA out of memory";
    case Kind::GpuFault:
      return "GPU fault";
    case Kind::FaultOfNeighbour:
      return "died of a neighbour's GPU fault";
    case Kind::Evicted:
      return "evicted";
    case Kind::Done:
      return "done";
    case Kind::Failed:
      return "failed";
  }
  return "";
}

std::string gpu_lane_name(const sim::RecordedGpu& gpu) {
  if (gpu.partition.empty()) return fmt::format("GPU {}", gpu.index);
  return fmt::format("GPU {} {} #{}", gpu.index, gpu.partition, gpu.instance);
}

std::string left_out_sentence(const sim::LeftOut& left_out) {
  std::string text;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "left out: " : ", ", count, what);
  };
  add(left_out.nodes, "nodes");
  add(left_out.gpus, "GPUs");
  add(left_out.pods, "pods");
  add(left_out.intervals, "intervals of pods");
  add(left_out.requests, "requests");
  return text;
}

std::string turns_sentence(const sim::RecordedTurns& turns) {
  using Seen = sim::RecordedTurns::Seen;
  switch (turns.seen) {
    case Seen::NoEngine:
      return "not drawn: no GPU of this variant is simulated turn by turn";
    case Seen::NotAsked:
      return "not drawn: not asked for";
    case Seen::NoRivals:
      return "not drawn: no two pods wanted a GPU at once";
    case Seen::Some:
      return fmt::format("drawn from {:.3f} s to {:.3f} s", to_seconds(turns.from - TimePoint{}),
                         to_seconds(turns.until - TimePoint{}));
  }
  return "";
}

std::vector<std::vector<GpuGuest>> gpu_guests(const sim::Recording& recording) {
  std::vector<std::vector<GpuGuest>> guests(recording.gpus.size());
  for (std::uint32_t p = 0; p < recording.pods.size(); ++p) {
    for (const sim::LaneInterval& interval : recording.pods[p].intervals) {
      const bool container =
          interval.phase == sim::LanePhase::Loading || interval.phase == sim::LanePhase::Running;
      if (!container) continue;
      for (const std::uint32_t gpu : interval.gpus) {
        std::vector<GpuGuest>& there = guests[gpu];
        // Loading and running are one stay.
        if (!there.empty() && there.back().pod == p && there.back().until == interval.from) {
          there.back().until = interval.until;
        } else {
          there.push_back({p, interval.from, interval.until});
        }
      }
    }
  }
  return guests;
}

std::vector<GpuCompany> company_over_time(const std::vector<GpuGuest>& guests) {
  // Those that leave at an instant go before those that come at it.
  struct Change {
    TimePoint at;
    bool comes;
    std::uint32_t pod;
    auto operator<=>(const Change&) const = default;
  };
  std::vector<Change> changes;
  for (const GpuGuest& guest : guests) {
    changes.push_back({guest.from, true, guest.pod});
    changes.push_back({guest.until, false, guest.pod});
  }
  std::ranges::sort(changes);
  std::vector<GpuCompany> companies;
  std::set<std::uint32_t> present;
  TimePoint since;
  for (const Change& change : changes) {
    if (change.at > since && !present.empty()) {
      companies.push_back({{present.begin(), present.end()}, since, change.at});
    }
    since = change.at;
    change.comes ? (void)present.insert(change.pod) : (void)present.erase(change.pod);
  }
  return companies;
}

}  // namespace slicewise::reports
