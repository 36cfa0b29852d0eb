#include "job_stream.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "slicewise/sim/placement/placement.hpp"

namespace slicewise::sim {
namespace {

template <class T>
T value_at(const scenarios::TraceColumn<T>& column, std::size_t row, T absent) {
  return column.empty() ? absent : column[row];
}

// The models that "V100M16|a100" means on this cluster.
std::vector<std::string> models_of(std::string_view text, const ReplayCluster& cluster) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    const std::string_view name = text.substr(0, end);
    if (const auto known = cluster.gpu_names.find(name); known != cluster.gpu_names.end()) {
      models.insert(models.end(), known->second.begin(), known->second.end());
    } else if (!name.empty()) {
      models.emplace_back(name);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return models;
}

}  // namespace

TraceShapes shapes_of(const scenarios::JobTrace& trace, const ReplayCluster& cluster, int tickets) {
  const bool only_gpus = cluster.only_gpus || cluster.nodes.empty();
  using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::uint32_t>;
  std::map<Key, ShapeId> known;
  std::vector<std::int64_t> counts;
  TraceShapes result;
  result.of_row.resize(trace.size());
  for (std::size_t row = 0; row < trace.size(); ++row) {
    const std::int32_t gpus = trace.gpus[row];
    const bool is_ticket = gpus == 1 && tickets > 0;
    const std::int32_t milli = is_ticket   ? milli_of_ticket(tickets)
                               : gpus == 1 ? trace.milli_of_each(row)
                                           : 1000;
    const std::int64_t cpu = only_gpus ? 0 : std::max(0, value_at(trace.cpu_milli, row, 0));
    const std::int64_t memory =
        only_gpus ? 0 : std::max<std::int64_t>(0, value_at(trace.memory, row, Bytes{}).count);
    const std::uint32_t models =
        only_gpus || cluster.any_gpu_model ? 0 : value_at(trace.gpu_models, row, 0U);
    const auto [entry, is_new] = known.try_emplace({gpus, milli, cpu, memory, models},
                                                   static_cast<ShapeId>(result.shapes.size()));
    if (is_new) {
      result.shapes.push_back(
          {{cpu}, {memory}, gpus, milli, models_of(trace.names[models], cluster)});
      counts.push_back(0);
    }
    ++counts[entry->second];
    result.of_row[row] = entry->second;
  }
  result.typical = typical_jobs(result.shapes, counts);
  return result;
}

namespace {

constexpr std::uint32_t kNoGang = UINT32_MAX;

}  // namespace

JobStream::JobStream(const scenarios::JobTrace& trace, const ReplaySettings& settings, int tickets)
    : trace_(trace),
      rows_(static_cast<JobNumber>(trace.size())),
      total_(rows_ * static_cast<JobNumber>(settings.repeat)),
      shift_(settings.shift),
      on_nodes_(!settings.cluster.nodes.empty()),
      ticket_milli_(tickets > 0 ? milli_of_ticket(tickets) : 0) {
  if (!trace.gang.empty()) find_gangs();
}

void JobStream::find_gangs() {
  gang_of_row_.assign(rows_, kNoGang);
  gang_run_.assign(trace_.run.values().begin(), trace_.run.values().end());
  std::unordered_map<std::uint32_t, std::uint32_t> gang_by_name;
  for (JobNumber row = 0; row < rows_; ++row) {
    const std::uint32_t name = trace_.gang[row];
    if (name == 0 || trace_.run[row].ns < 0) continue;
    const auto [entry, is_new] =
        gang_by_name.try_emplace(name, static_cast<std::uint32_t>(gangs_.size()));
    if (is_new) gangs_.emplace_back();
    gangs_[entry->second].push_back(row);
    gang_of_row_[row] = entry->second;
  }
  for (const std::vector<std::uint32_t>& gang : gangs_) {
    Duration longest;
    for (const std::uint32_t row : gang) {
      longest = std::max(longest, trace_.run[row]);
      gang_run_[row] = scenarios::kUnknownDuration;
    }
    gang_run_[gang.back()] = longest;
  }
}

std::span<const std::uint32_t> JobStream::rows_of(JobNumber job) const {
  const auto at = static_cast<std::uint32_t>(row(job));
  if (!gangs_.empty() && gang_of_row_[at] != kNoGang) return gangs_[gang_of_row_[at]];
  single_ = at;
  return {&single_, 1};
}

std::int64_t JobStream::milli_of_row(std::size_t at) const {
  const std::int64_t gpus = trace_.gpus[at];
  if (gpus == 1 && ticket_milli_ > 0) return ticket_milli_;
  return gpus * (gpus > 1 && on_nodes_ ? 1000 : trace_.milli_of_each(at));
}

std::int64_t JobStream::gpu_milli(JobNumber job) const {
  if (gangs_.empty()) return milli_of_row(row(job));
  std::int64_t sum = 0;
  for (const std::uint32_t at : rows_of(job)) sum += milli_of_row(at);
  return sum;
}

Duration JobStream::estimate(JobNumber job) const {
  if (trace_.time_limit.empty()) return run(job);
  const Duration limit = trace_.time_limit[row(job)];
  return limit.ns >= 0 ? limit : run(job);
}

}  // namespace slicewise::sim
