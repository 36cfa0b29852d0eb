#include "turns.hpp"

#include <algorithm>
#include <limits>

namespace slicewise::gpu_probe {
namespace {

struct Turn {
  Interval time;
  std::size_t process = 0;
};

// From the last process that began to the first that ended.
Interval common_window(const std::vector<std::vector<Interval>>& processes) {
  Interval window{0, std::numeric_limits<std::uint64_t>::max()};
  for (const std::vector<Interval>& active : processes) {
    if (active.empty()) return {};
    window.from = std::max(window.from, active.front().from);
    window.to = std::min(window.to, active.back().to);
  }
  return window;
}

double microseconds(std::uint64_t from, std::uint64_t to) {
  constexpr double kPerNanosecond = 1e-3;
  return to > from ? static_cast<double>(to - from) * kPerNanosecond : 0;
}

}  // namespace

std::vector<Interval> active_times(const KernelReport& report) {
  std::vector<Interval> active;
  std::uint64_t from = report.begin;
  const std::size_t pauses = std::min<std::size_t>(report.pauses, kMostPauses);
  for (std::size_t i = 0; i < pauses; ++i) {
    active.push_back({from, report.pause[i].from});
    from = report.pause[i].to;
  }
  // Where pauses did not fit any more, what came after the last of them is not known.
  if (pauses < kMostPauses) active.push_back({from, report.end});
  return active;
}

Turns turns_of(const std::vector<std::vector<Interval>>& processes) {
  const Interval window = common_window(processes);
  std::vector<Turn> all;
  for (std::size_t process = 0; process < processes.size(); ++process) {
    for (const Interval& active : processes[process]) {
      if (active.from > window.from && active.to < window.to) all.push_back({active, process});
    }
  }
  std::ranges::sort(all, {}, [](const Turn& turn) { return turn.time.from; });
  Turns out;
  double together = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.turn_us.push_back(microseconds(all[i].time.from, all[i].time.to));
    if (i + 1 == all.size() || all[i].process == all[i + 1].process) continue;
    const Interval& next = all[i + 1].time;
    together += microseconds(next.from, std::min(all[i].time.to, next.to));
    if (next.from >= all[i].time.to) {
      out.switch_us.push_back(microseconds(all[i].time.to, next.from));
    }
  }
  // Processes that never pause have one active time each, which touches the window's ends.
  if (all.empty() && processes.size() > 1 && window.to > window.from) {
    out.together = 1;
  } else if (window.to > window.from) {
    out.together = std::min(1.0, together / microseconds(window.from, window.to));
  }
  return out;
}

}  // namespace slicewise::gpu_probe
