#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/sim/placement/placement.hpp"

// How much of a cluster's GPUs a placement policy can hand out before fragments stop it: the
// experiment of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent", USENIX ATC'23.
namespace slicewise::sim {

struct InflationJob {
  std::string name;
  ShapeId shape = 0;
};

struct InflationInput {
  std::vector<NodeShape> nodes;  // any order: ties go to the smallest name
  std::vector<JobShape> shapes;
  std::vector<InflationJob> jobs;  // the rows of the trace
};

struct InflationPoint {
  int arrived_percent = 0;       // GPUs asked for so far, of the cluster's GPUs; rounded
  double allocated_percent = 0;  // of the cluster's GPUs; mean over the jobs that arrived in this
                                 // percent
};

struct InflationResult {
  std::vector<InflationPoint> curve;  // ascending; a percent that no job ends in is left out
  double allocated_percent = 0;       // at the target: of the last point of the curve
  std::int64_t arrived = 0;           // jobs
  std::int64_t failed = 0;            // jobs that fitted nowhere: dropped
};

// Jobs sorted by name and shuffled with the seed arrive one after the other and stay. They are
// followed by rows drawn at random with replacement until the next would take the GPUs asked for
// above `target_percent` of the cluster's; of a trace that asks for more, rows drawn at random are
// left out instead. Fgd takes its typical jobs from the rows. Pure: same input and seed, same
// result. REQUIRES: a node with a GPU, a job that asks for one.
InflationResult inflate(const InflationInput& input, NodePolicy policy, std::uint64_t seed,
                        int target_percent);

}  // namespace slicewise::sim
