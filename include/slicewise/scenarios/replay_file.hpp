#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/units.hpp"

namespace slicewise::scenarios {

// A file of `kind: Replay`: a trace of jobs, a cluster and the schedulers to compare, as the flags
// of `slicewise replay` say them.
struct ReplayFile {
  struct Instances {
    Located<std::string> type;
    std::int64_t count = 1;
  };
  struct Nodes {
    std::int64_t count = 1;
    int gpus = 0;
    std::string gpu_model;          // "": any job may use it
    std::optional<Millicores> cpu;  // absent, as memory: GPUs alone count
    std::optional<Bytes> memory;
  };

  std::string name;
  Located<std::string> trace;  // as written; relative to the file
  int repeat = 1;
  std::optional<Duration> shift;
  // One of these four.
  std::optional<std::int64_t> gpus;  // one pool
  std::vector<Nodes> nodes;
  std::string node_list;  // CSV file, relative to the file
  std::vector<Instances> instances;
  std::string region;  // of the instances; "" = us-east-1
  bool any_gpu = false;
  std::vector<std::string> queues;      // "fifo"; empty: that
  std::vector<std::string> placements;  // "best-fit"; empty: that
  bool restart_preempted = false;
  std::optional<double> inflate;  // share of the GPUs
  std::optional<std::uint64_t> seed;
  std::optional<int> replications;
};

// Whether a text is meant to be such a file: a line says so.
bool is_replay_file(const SourceText& source);

// Every mistake at once, in file order.
Expected<ReplayFile> read_replay_file(const SourceText& source);

}  // namespace slicewise::scenarios
