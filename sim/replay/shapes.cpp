#include <algorithm>
#include <map>
#include <tuple>

#include "slicewise/sim/placement/placement.hpp"
#include "slicewise/sim/replay/replay.hpp"

namespace slicewise::sim {
namespace {

template <class T>
T value_at(const scenarios::TraceColumn<T>& column, std::size_t row, T absent) {
  return column.empty() ? absent : column[row];
}

std::vector<std::string> split_models(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    if (end > 0) models.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return models;
}

}  // namespace

TraceShapes shapes_of(const scenarios::JobTrace& trace, const ReplayCluster& cluster) {
  const bool only_gpus = cluster.only_gpus || cluster.nodes.empty();
  using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::uint32_t>;
  std::map<Key, ShapeId> known;
  std::vector<std::int64_t> counts;
  TraceShapes result;
  result.of_row.resize(trace.size());
  for (std::size_t row = 0; row < trace.size(); ++row) {
    const std::int32_t gpus = trace.gpus[row];
    const std::int32_t milli = gpus == 1 ? value_at(trace.gpu_milli, row, 1000) : 1000;
    const std::int64_t cpu = only_gpus ? 0 : std::max(0, value_at(trace.cpu_milli, row, 0));
    const std::int64_t memory =
        only_gpus ? 0 : std::max<std::int64_t>(0, value_at(trace.memory, row, Bytes{}).count);
    const std::uint32_t models =
        only_gpus || cluster.any_gpu_model ? 0 : value_at(trace.gpu_models, row, 0U);
    const auto [entry, is_new] = known.try_emplace({gpus, milli, cpu, memory, models},
                                                   static_cast<ShapeId>(result.shapes.size()));
    if (is_new) {
      result.shapes.push_back({{cpu}, {memory}, gpus, milli, split_models(trace.names[models])});
      counts.push_back(0);
    }
    ++counts[entry->second];
    result.of_row[row] = entry->second;
  }
  result.typical = typical_jobs(result.shapes, counts);
  return result;
}

}  // namespace slicewise::sim
