#include "recorded_time.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../screens/result_figures.hpp"

namespace slicewise::reports::html {

std::vector<TimeColumn> time_columns(const sim::Recording& recording, std::size_t most) {
  const std::size_t buckets = recording.buckets();
  const std::size_t together = std::max<std::size_t>(1, (buckets + most - 1) / most);
  std::vector<TimeColumn> columns;
  TimePoint from;
  for (std::size_t first = 0; first < buckets; first += together) {
    const std::size_t last = std::min(buckets, first + together);
    const TimePoint end = recording.bucket_end(last - 1);
    columns.push_back({first, last, to_seconds(end - TimePoint{}), end - from});
    from = end;
  }
  return columns;
}

std::string gpu_label(const sim::RecordedGpu& gpu) {
  std::string label = fmt::format("{} #{}", gpu.node, gpu.index);
  if (!gpu.partition.empty()) label += fmt::format(" {}.{}", gpu.partition, gpu.instance);
  return label;
}

std::string recording_note(const sim::Recording& recording) {
  std::string note = fmt::format(
      "One replication of {}, the first one of seed {}: {} in buckets of {}.", recording.variant,
      recording.seed, duration_text(recording.length), duration_text(recording.bucket));
  const sim::LeftOut& out = recording.left_out;
  std::string counts;
  const auto add = [&counts](auto count, std::string_view what) {
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, what);
  };
  add(out.nodes, "nodes");
  add(out.gpus, "GPUs");
  add(out.pods, "pods");
  add(out.intervals, "intervals");
  if (!counts.empty()) note += fmt::format(" Too much to draw; left out: {}.", counts);
  return note;
}

}  // namespace slicewise::reports::html
