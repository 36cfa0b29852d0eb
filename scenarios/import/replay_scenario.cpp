#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "importers.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

// GPUs in use at once if every job started when it arrived, in whole GPUs.
std::int64_t peak_gpus(const JobTrace& trace) {
  using End = std::pair<Duration, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::int64_t milli = 0;
  std::int64_t peak = 0;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    while (!ends.empty() && ends.top().first <= trace.arrival[row]) {
      milli -= ends.top().second;
      ends.pop();
    }
    const std::int64_t each = trace.gpu_milli.empty() ? 1000 : trace.gpu_milli[row];
    const std::int64_t asked = trace.gpus[row] * each;
    if (asked <= 0 || trace.run[row].ns < 0) continue;
    milli += asked;
    peak = std::max(peak, milli);
    ends.emplace(trace.arrival[row] + trace.run[row], asked);
  }
  return (peak + 999) / 1000;
}

}  // namespace

std::string replay_scenario(const Imported& imported, ImportKind kind,
                            const ImportOptions& options) {
  const JobTrace& trace = std::get<JobTrace>(imported.content);
  const std::string name = dns_name(options.name, "jobs");
  const std::string path = options.trace_path.value_or(name + ".csv");
  const std::int64_t gpus = std::max<std::int64_t>(1, peak_gpus(trace));
  std::string file;
  if (!options.trace_path) {
    file = fmt::format("  # TODO: write it with slicewise import {} ... -o trace --out {}\n",
                       kind_name(kind), path);
  }
  return fmt::format(
      "# {} jobs, imported as {}. Run it with: slicewise replay -f FILE\n"
      "apiVersion: slicewise.dev/v1alpha1\n"
      "kind: Replay\n"
      "metadata: {{name: {}}}\n"
      "spec:\n"
      "{}"
      "  trace: {{file: {}}}\n"
      "  # Assumed: as many GPUs as the jobs would use at once if none waited. TODO: your "
      "cluster:\n"
      "  # instances: [{{instanceType: p3.16xlarge, count: 8}}], nodes: [{{count: 8, gpus: 8}}] or "
      "nodeList: nodes.csv\n"
      "  cluster: {{gpus: {}}}\n"
      "  # Assumed. Also backfill, easy, priority, srtf, srsf; a list compares.\n"
      "  queue: fifo\n",
      trace.size(), kind_name(kind), name, file, in_quotes(path), gpus);
}

}  // namespace slicewise::scenarios
