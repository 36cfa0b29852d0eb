#include <algorithm>

#include <fmt/format.h>

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// A Service or a pipeline, and what it recorded.
struct Stream {
  const WorkloadResult* result;
  SourceLocation where;    // of its name
  SourceLocation traffic;  // of its load
  std::vector<const RequestRecord*> records;
};

std::vector<Stream> streams_of(const World& world, std::span<const Replication> replications,
                               const VariantResult& result) {
  std::vector<Stream> streams;
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    if (!result.workloads[w].requests) continue;
    Stream stream{&result.workloads[w], {}, {}, {}};
    if (w < world.workloads.size()) {
      const scenarios::Workload& spec = world.workloads[w].spec;
      stream.where = spec.name.where;
      stream.traffic = spec.traffic ? spec.traffic->where : spec.name.where;
      for (const Replication& r : replications) {
        stream.records.push_back(&r.workloads[w].requests);
      }
    } else {
      const std::size_t p = w - world.workloads.size();
      stream.where = world.pipelines[p].spec.name.where;
      stream.traffic = world.pipelines[p].spec.traffic.where;
      for (const Replication& r : replications) stream.records.push_back(&r.pipelines[p].requests);
    }
    streams.push_back(std::move(stream));
  }
  return streams;
}

void refused_finding(const Stream& stream, Diagnostics& found) {
  if (stream.result->requests->refused == 0) return;
  found.push_back(make_diagnostic(
      Code::RequestsRefused, stream.where,
      fmt::format("{:.0f} requests of \"{}\" found no ready replica or lost theirs",
                  stream.result->requests->refused, stream.result->name),
      "they miss every latency objective; those of the start-up are left out by a warmup longer "
      "than it"));
}

// Still in a queue or on a GPU when the run ended.
std::int64_t unanswered(const RequestRecord& requests) {
  return requests.arrived - requests.answered - requests.refused - requests.dropped -
         requests.timed_out;
}

// A stable queue is a handful of requests; one that holds a fiftieth of all that came only grows.
void queue_finding(const Stream& stream, Diagnostics& found) {
  constexpr std::int64_t kWorthSaying = 100;
  std::int64_t arrived = 0;
  std::int64_t open = 0;
  for (const RequestRecord* record : stream.records) {
    arrived += record->arrived;
    open += unanswered(*record);
  }
  const auto runs = static_cast<std::int64_t>(stream.records.size());
  if (open < kWorthSaying * runs || open * 50 < arrived) return;
  found.push_back(make_diagnostic(
      Code::QueueUnstable, stream.traffic,
      fmt::format("\"{}\" ended with {} of {} requests unanswered: they arrive faster than the "
                  "GPUs serve them, and the latencies only tell how long the run was",
                  stream.result->name, open / runs, arrived / runs),
      "add replicas on more GPUs, or lower traffic.mean; with time-slicing the switches count"));
}

}  // namespace

void request_findings(const World& world, std::span<const Replication> replications,
                      const VariantResult& result, Diagnostics& found) {
  for (const Stream& stream : streams_of(world, replications, result)) {
    refused_finding(stream, found);
    queue_finding(stream, found);
  }
}

}  // namespace slicewise::sim
