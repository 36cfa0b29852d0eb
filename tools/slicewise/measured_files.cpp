#include "measured_files.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/recorded_window.hpp"

#include "import_notes.hpp"

namespace slicewise::tools {
namespace {

void read_window(const std::vector<SourceText>& answers, const models::Catalogue& catalogue,
                 const models::MeasuredContext& context, MeasuredFiles& out,
                 Diagnostics& problems) {
  const auto recorded = scenarios::read_sharing_levels(answers, context.workload);
  if (!recorded) {
    std::ranges::copy(recorded.error(), std::back_inserter(problems));
    return;
  }
  std::ranges::move(import_notes(recorded->log, "levels of sharing"),
                    std::back_inserter(out.notes));
  auto points = sim::window_points(recorded->levels, context, catalogue);
  if (!points) {
    std::ranges::move(points.error(), std::back_inserter(problems));
    return;
  }
  out.window = std::move(*points);
  for (const sim::WindowPoint& point : out.window) {
    if (point.counts()) out.measurements.push_back(point.setting);
  }
}

}  // namespace

Expected<MeasuredFiles> read_measured(const std::vector<SourceText>& files,
                                      const models::Catalogue& catalogue,
                                      const models::MeasuredContext& context) {
  MeasuredFiles out;
  Diagnostics problems;
  std::vector<SourceText> answers;
  const auto take = [&](auto read, const auto& add) {
    if (read) {
      add(std::move(*read));
    } else {
      std::ranges::move(read.error(), std::back_inserter(problems));
    }
  };
  for (const SourceText& file : files) {
    if (scenarios::is_prometheus_answer(file)) {
      answers.push_back(file);
    } else if (models::is_llm_shape(file)) {
      take(models::read_llm_shape(file),
           [&](models::LlmShape shape) { out.shapes.push_back(std::move(shape)); });
    } else {
      if (const std::string what = models::what_is_read_of(file); !what.empty()) {
        out.notes.push_back(fmt::format("{}: {}", file.name, what));
      }
      take(models::read_measurements(file, catalogue, context),
           [&](std::vector<models::Measurement> measured) {
             std::ranges::move(measured, std::back_inserter(out.measurements));
           });
    }
  }
  if (!answers.empty()) read_window(answers, catalogue, context, out, problems);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return out;
}

}  // namespace slicewise::tools
