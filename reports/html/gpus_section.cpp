#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "slicewise/counted.hpp"

#include "../charts/chart_axis.hpp"
#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../text/text_table.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

constexpr std::size_t kMostLanes = 8;
constexpr std::size_t kMostSpans = 480;
constexpr int kMostRowsOfLane = 12;
constexpr std::size_t kMostHeatColumns = 16;

// The lowest row of a lane that is free from `from` on.
int free_row(std::vector<TimePoint>& ends, TimePoint from, TimePoint until) {
  for (std::size_t row = 0; row < ends.size(); ++row) {
    if (ends[row] > from) continue;
    ends[row] = until;
    return static_cast<int>(row);
  }
  ends.push_back(until);
  return static_cast<int>(ends.size()) - 1;
}

std::string_view phase_word(sim::LanePhase phase) {
  switch (phase) {
    case sim::LanePhase::Pending:
      return "Pending";
    case sim::LanePhase::Pulling:
      return "pulls its image";
    case sim::LanePhase::Loading:
      return "loads its model";
    case sim::LanePhase::Running:
      return "runs";
    case sim::LanePhase::BackOff:
      return "waits to be restarted";
  }
  return "";
}

struct DrawnTimeline {
  charts::GanttChart chart;
  std::size_t intervals = 0;
  std::size_t left_out = 0;  // of them
  std::size_t most_at_once = 0;
};

// Bars of one state that lie beside each other within a pixel or two are one bar.
void merge_narrow(charts::GanttLane& lane, double pixel_seconds) {
  std::ranges::stable_sort(
      lane.spans, {}, [](const charts::GanttSpan& span) { return std::pair(span.row, span.from); });
  std::vector<charts::GanttSpan> merged;
  const auto narrow = [&](const charts::GanttSpan& span) {
    return span.to - span.from < 2 * pixel_seconds;
  };
  for (charts::GanttSpan& span : lane.spans) {
    if (!merged.empty()) {
      charts::GanttSpan& last = merged.back();
      const bool same =
          last.row == span.row && last.series == span.series && last.waits == span.waits;
      if (same && span.from - last.to < pixel_seconds && (narrow(last) || narrow(span))) {
        last.to = span.to;
        last.label = "several intervals";
        continue;
      }
    }
    merged.push_back(std::move(span));
  }
  lane.spans = std::move(merged);
}

// Workloads in the order in which they are drawn: those that are not have no colour.
int series_named(charts::GanttChart& chart, const std::string& workload) {
  const auto known = std::ranges::find(chart.series, workload);
  const auto at = known - chart.series.begin();
  if (known == chart.series.end()) chart.series.push_back(workload);
  return static_cast<int>(at);
}

struct HeldInterval {
  const sim::RecordedPod* pod;
  const sim::LaneInterval* interval;
};

// Who held the GPU, in the order of time.
std::vector<HeldInterval> held_intervals(const sim::Recording& recording, std::size_t gpu) {
  std::vector<HeldInterval> held;
  for (const sim::RecordedPod& pod : recording.pods) {
    for (const sim::LaneInterval& interval : pod.intervals) {
      if (std::ranges::find(interval.gpus, gpu) != interval.gpus.end()) {
        held.push_back({&pod, &interval});
      }
    }
  }
  std::ranges::stable_sort(held, {}, [](const HeldInterval& h) { return h.interval->from; });
  return held;
}

// What a finding is true of, where not all are drawn.
std::string drawn_words(const sim::Recording& recording, std::string_view before,
                        std::string_view after) {
  if (recording.gpus.size() <= kMostLanes) return "";
  return fmt::format("{}the first {} of {} GPUs{}", before, kMostLanes, recording.gpus.size(),
                     after);
}

DrawnTimeline timeline_of(const sim::Recording& recording) {
  DrawnTimeline drawn;
  charts::GanttChart& chart = drawn.chart;
  chart.to = to_seconds(recording.length);
  chart.x_label = "time since the start of the run";
  chart.x_ticks = charts::time_ticks(recording.length);
  const std::size_t lanes = std::min(kMostLanes, recording.gpus.size());
  for (std::size_t g = 0; g < lanes; ++g) {
    chart.lanes.push_back({gpu_label(recording.gpus[g]), 1, {}});
    std::vector<TimePoint> ends;
    for (const HeldInterval& held : held_intervals(recording, g)) {
      const sim::LaneInterval& interval = *held.interval;
      ++drawn.intervals;
      const int row = free_row(ends, interval.from, interval.until);
      drawn.most_at_once = std::max(drawn.most_at_once, ends.size());
      if (row >= kMostRowsOfLane) {
        ++drawn.left_out;
        continue;
      }
      charts::GanttLane& lane = chart.lanes.back();
      lane.rows = std::max(lane.rows, row + 1);
      const bool waits = interval.phase != sim::LanePhase::Running;
      if (waits) chart.waits_name = "paler: pulls, loads, waits to be restarted";
      lane.spans.push_back(
          {to_seconds(interval.from - TimePoint{}), to_seconds(interval.until - TimePoint{}),
           series_named(chart, recording.workloads[held.pod->workload].name),
           fmt::format("{} {}, {} to {}", held.pod->name, phase_word(interval.phase),
                       duration_text(interval.from - TimePoint{}),
                       duration_text(interval.until - TimePoint{})),
           row, waits});
    }
  }
  for (charts::GanttLane& lane : chart.lanes) {
    merge_narrow(lane, chart.to / chart.width);
    if (lane.spans.size() <= kMostSpans / lanes) continue;
    drawn.left_out += lane.spans.size() - kMostSpans / lanes;
    std::ranges::stable_sort(lane.spans, std::ranges::greater{},
                             [](const charts::GanttSpan& span) { return span.to - span.from; });
    lane.spans.resize(kMostSpans / lanes);
  }
  return drawn;
}

Markup timeline_figure(const sim::Recording& recording) {
  DrawnTimeline drawn = timeline_of(recording);
  std::string finding =
      fmt::format("At most {} {} {} GPU at once{}.", drawn.most_at_once,
                  drawn.most_at_once == 1 ? "pod has" : "pods share",
                  recording.gpus.size() == 1 ? "the" : "one", drawn_words(recording, " (", ")"));
  if (drawn.left_out > 0) {
    finding += fmt::format(" {} of {} intervals are not drawn, the shortest.", drawn.left_out,
                           drawn.intervals);
  }
  drawn.chart.text = {"chart-gpus", finding,
                      "One lane for each GPU or MIG instance, one bar for each pod on it, coloured "
                      "by workload."};
  HtmlTable table{"pods on GPUs", {{"Pod"}, {"GPUs"}, {"From", true}, {"Until", true}, {"What"}}};
  constexpr std::size_t kMostRows = 60;
  bool cut = false;
  for (const sim::RecordedPod& pod : recording.pods) {
    for (const sim::LaneInterval& interval : pod.intervals) {
      if (interval.gpus.empty()) continue;
      cut = table.rows.size() == kMostRows;
      if (cut) break;
      std::string gpus;
      for (const std::uint32_t gpu : interval.gpus) add_name(gpus, gpu_label(recording.gpus[gpu]));
      const auto when = [](TimePoint at) {
        return HtmlCell{duration_text(at - TimePoint{}), to_seconds(at - TimePoint{}), ""};
      };
      table.rows.push_back({pod.name, gpus, when(interval.from), when(interval.until),
                            std::string(phase_word(interval.phase))});
    }
  }
  if (cut) table.caption += fmt::format(", the first {}", kMostRows);
  return "<div>\n" + figure(draw(drawn.chart), finding, {table}) + "</div>\n";
}

// A way to see how full a GPU is in a column of time, of which its node is `there` for a part;
// nullopt: not known, or not there.
struct GpuView {
  const char* id;
  const char* name;
  const char* meaning;
  std::optional<double> (*share)(const sim::RecordedGpu& gpu, const TimeColumn& column,
                                 Duration there);
};

// How long nodes of the GPU's place were paid for within the column.
Duration time_there(const sim::Recording& recording, const sim::RecordedGpu& gpu,
                    const TimeColumn& column) {
  const TimePoint end = TimePoint{} + from_seconds(column.at_seconds);
  const TimePoint start = end - column.length;
  Duration there;
  for (const sim::RecordedNode& node : recording.nodes) {
    if (node.name != gpu.node || !node.launched) continue;
    const TimePoint from = std::max(start, *node.launched);
    const TimePoint until = std::min(end, node.until);
    if (from < until) there = there + (until - from);
  }
  return there;
}

std::optional<double> share_of_time(const std::vector<Duration>& values, const TimeColumn& column,
                                    Duration there) {
  if (there.ns <= 0) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t b = column.first; b < column.last; ++b) sum += values[b].ns;
  return static_cast<double>(sum) / static_cast<double>(there.ns);
}

std::optional<double> busy_share(const sim::RecordedGpu& gpu, const TimeColumn& column,
                                 Duration there) {
  return share_of_time(gpu.busy, column, there);
}

std::optional<double> sm_share(const sim::RecordedGpu& gpu, const TimeColumn& column,
                               Duration there) {
  if (gpu.sm_active.empty()) return std::nullopt;
  return share_of_time(gpu.sm_active, column, there);
}

std::optional<double> memory_share(const sim::RecordedGpu& gpu, const TimeColumn& column,
                                   Duration there) {
  if (there.ns <= 0) return std::nullopt;
  if (gpu.memory_total.count <= 0) return std::nullopt;
  std::int64_t most = 0;
  for (std::size_t b = column.first; b < column.last; ++b) {
    most = std::max(most, gpu.memory[b].count);
  }
  return static_cast<double>(most) / static_cast<double>(gpu.memory_total.count);
}

constexpr std::array<GpuView, 3> kGpuViews = {
    {{"gpus-busy", "Time busy", "some kernel ran", busy_share},
     {"gpus-sm-active", "SM active", "streaming multiprocessors with work, of all", sm_share},
     {"gpus-memory", "Memory", "held at the peak of the column, of the usable", memory_share}}};

Markup view_figure(const sim::Recording& recording, const GpuView& view) {
  const std::vector<TimeColumn> columns = time_columns(recording, kMostHeatColumns);
  charts::HeatMatrix chart;
  double sum = 0;
  double highest = 0;
  double known = 0;  // seconds of GPUs
  std::size_t gpus_known = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool named = c % std::max<std::size_t>(1, columns.size() / 8) == 0;
    chart.columns.push_back(
        named ? duration_text(from_seconds(columns[c].at_seconds) - columns[c].length)
              : std::string());
  }
  HtmlTable table{fmt::format("{} over time", view.name), {{"GPU"}}};
  for (const TimeColumn& column : columns) {
    table.columns.push_back({"to " + duration_text(from_seconds(column.at_seconds)), true});
  }
  for (std::size_t g = 0; g < std::min(kMostLanes, recording.gpus.size()); ++g) {
    const sim::RecordedGpu& gpu = recording.gpus[g];
    chart.rows.push_back(gpu_label(gpu));
    const double known_before = known;
    std::vector<charts::HeatCell> cells;
    std::vector<HtmlCell> row{gpu_label(gpu)};
    for (const TimeColumn& column : columns) {
      const Duration there = time_there(recording, gpu, column);
      const auto share = view.share(gpu, column, there);
      const std::string text = share ? fmt::format("{:.0f}%", 100 * *share) : "–";
      cells.push_back({share, text, ""});
      row.push_back({text, share, ""});
      if (!share) continue;
      sum += *share * to_seconds(there);
      highest = std::max(highest, *share);
      known += to_seconds(there);
    }
    gpus_known += known > known_before ? 1 : 0;
    chart.cells.push_back(std::move(cells));
    table.rows.push_back(std::move(row));
  }
  const std::size_t unknown = chart.rows.size() - gpus_known;
  const std::string finding =
      known == 0 ? fmt::format("{}: not known, no workload says.", view.name)
                 : fmt::format("{} ({}){}: {} on average, {} at most{}.", view.name, view.meaning,
                               drawn_words(recording, ", ", ""), percent_text(sum / known),
                               percent_text(highest),
                               unknown == 0 ? "" : "; not known of " + counted(unknown, "GPU"));
  chart.text = {fmt::format("chart-{}", view.id), finding,
                "One row for each GPU or MIG instance, one column for each part of the run."};
  chart.width = 960;
  chart.scale_least = "0%";
  chart.scale_most = "100%";
  return figure(draw(chart), finding, {table});
}

Markup views_markup(const sim::Recording& recording) {
  std::string choices;
  Markup views;
  for (std::size_t v = 0; v < kGpuViews.size(); ++v) {
    choices +=
        fmt::format("<label><input type=\"radio\" name=\"view\" id=\"view-{0}\"{1}>{2}</label>\n",
                    v, v == 0 ? " checked" : "", kGpuViews[v].name);
    views += fmt::format("<div class=\"view view-{}\">\n", v) +
             view_figure(recording, kGpuViews[v]) + "</div>\n";
  }
  return "<div class=\"views\">\n<fieldset class=\"toggle\"><legend>How full is each "
         "GPU?</legend>\n" +
         choices + "</fieldset>\n" + views + "</div>\n";
}

HtmlTable gpu_means(const sim::Result& result) {
  HtmlTable table{"GPUs and MIG instances, means over the replications",
                  {{"Option"},
                   {"GPU"},
                   {"Time busy", true},
                   {"SM active", true},
                   {"Switching", true},
                   {"Memory peak", true},
                   {"Usable", true}},
                  {},
                  {},
                  true};
  for (const sim::VariantResult& variant : result.variants) {
    for (const GpuRow& gpu : gpu_rows(variant.gpus, false)) {
      const auto sized = [](Bytes amount) {
        return HtmlCell{memory_text(amount), static_cast<double>(amount.count), ""};
      };
      table.rows.push_back(
          {variant.name,
           gpu.label,
           {percent_text(gpu.time_busy), gpu.time_busy, ""},
           gpu.sm_active ? HtmlCell{percent_text(*gpu.sm_active), gpu.sm_active} : HtmlCell{},
           {percent_text(gpu.switching), gpu.switching, ""},
           sized(gpu.memory_peak),
           sized(gpu.memory_total)});
    }
  }
  return table;
}

// The map of pods to GPUs of the leading variant, and what placement did to any.
Markup placement_markup(const sim::Result& result) {
  const sim::VariantResult* leading = best_variant(result);
  if (leading == nullptr && !result.variants.empty()) leading = &result.variants.front();
  if (leading == nullptr) return {};
  HtmlTable map{fmt::format("{}: {}", leading->name, seatings_heading(*leading)),
                {{"GPUs"}, {"Pods"}},
                {},
                {},
                true};
  for (const Seating& line : seatings(*leading, false)) {
    map.rows.push_back({line.gpus, line.pods});
  }
  Markup out;
  if (!map.rows.empty()) out += table_markup(map);
  for (const sim::VariantResult& variant : result.variants) {
    for (const std::string& sentence : placement_sentences(variant)) {
      out += paragraph(fmt::format("{}: {}.", variant.name, sentence));
    }
  }
  return out;
}

}  // namespace

Markup gpus_section(const HtmlReport& report) {
  Markup out = placement_markup(report.result);
  if (report.recording && !report.recording->gpus.empty() && report.recording->buckets() > 0) {
    const sim::Recording& recording = *report.recording;
    out +=
        timeline_figure(recording) + views_markup(recording) + paragraph(recording_note(recording));
    if (recording.gpus.size() > kMostLanes) {
      out += paragraph(
          fmt::format("The first {} of {} GPUs are drawn.", kMostLanes, recording.gpus.size()));
    }
  }
  const HtmlTable means = gpu_means(report.result);
  if (means.rows.empty()) return "";
  out += out.empty() ? table_markup(means)
                     : folded("GPUs of every option, means", table_markup(means));
  return section("gpus", "What runs where, and how full is it?", out);
}

}  // namespace slicewise::reports::html
