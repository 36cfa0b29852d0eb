#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

// Which node and which GPUs a job gets: the policies of the field behind one interface.
namespace slicewise::sim {

enum class NodePolicy : std::uint8_t {
  FirstFit,        // the first node in order
  LeastAllocated,  // kube-scheduler's default score: spread
  MostAllocated,   // kube-scheduler's score for bin packing
  Random,          // any node that fits, any GPU that fits
  BestFit,         // the node with the least left over
  DotProduct,      // demand against what is free (Tetris)
  Fgd,             // fragmentation gradient descent (Weng et al., USENIX ATC'23)
  Clustering,      // jobs with as many GPUs on the same nodes (Gandiva)
  Packing,         // shared GPUs before free ones, used nodes before free ones (MLaaS)
  // By who is on a GPU already, of which the others know nothing: for GPUs that are shared.
  MemoryBinpack,       // the GPU with the least memory left over
  UtilizationBinpack,  // the GPU whose SMs are busiest with it, up to all of them
  GavelPacking,        // free GPUs, then the pair with the most throughput, above 1.5 (Gavel)
  LucidPacking,        // pairs that slow each other down little, then free GPUs (Lucid)
  LeastInterference,   // where everybody together is slowed down least
};

// Whether it places jobs by who is on a GPU already.
constexpr bool knows_sharing(NodePolicy policy) { return policy >= NodePolicy::MemoryBinpack; }

// As on the command line: "best-fit", "fgd".
std::string_view policy_name(NodePolicy policy);
std::optional<NodePolicy> node_policy_named(std::string_view name);

// Which GPU of its node a job gets that takes a part of one, where the policy itself does not say.
enum class GpuOrder : std::uint8_t {
  Fullest,   // the one with the least left that has room
  Emptiest,  // NVIDIA's device plugin, `distributed`
};

// A node. Ties are broken in the order in which nodes are given.
struct NodeShape {
  std::string name;
  Millicores cpu;  // at most kMostCpuOfNode
  Bytes memory;
  int gpus = 0;           // at most kMostGpusOfNode
  std::string gpu_model;  // "" = any job may use it
};

using models::kMostGpusOfNode;
inline constexpr Millicores kMostCpuOfNode{2'000'000'000};

// What one job asks for. Jobs with the same shape share all caches of the policies.
struct JobShape {
  Millicores cpu;
  Bytes memory;
  int gpus = 0;                         // more than a node has: spread over whole nodes
  int gpu_milli = 1000;                 // of each; less than 1000 only with gpus == 1
  std::vector<std::string> gpu_models;  // allowed; empty = any
  std::uint32_t guest = 0;              // into GuestTable: what it is to others on its GPU

  friend bool operator==(const JobShape&, const JobShape&) = default;
};

using ShapeId = std::uint32_t;
using AllocationId = std::uint32_t;

// A part of an allocation: GPUs of one node.
struct AllocatedPart {
  std::uint32_t node = 0;
  std::uint32_t gpus = 0;  // bit mask
};

// A shape and how often it is asked for: the "typical pods" of FGD.
struct TypicalJob {
  ShapeId shape = 0;
  double share = 0;  // of all jobs; they add up to 1
};

// What is free on all nodes together.
struct FreeResources {
  std::int64_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t whole_gpus = 0;
};

struct GuestTable;

// The nodes of a cluster and what is free on them. Indexed by free resources: placing and
// releasing cost far less than one look at every node. Nothing is allocated in steady state.
// Not thread-safe.
class Placement {
 public:
  // `shapes` are all that will ever be placed. `typical` is read by Fgd only, `guests` by policies
  // that know sharing, as long as this lives. REQUIRES: those have it.
  Placement(std::span<const NodeShape> nodes, std::span<const JobShape> shapes, NodePolicy policy,
            std::uint64_t seed, std::span<const TypicalJob> typical = {},
            GpuOrder gpu_order = GpuOrder::Fullest, const GuestTable* guests = nullptr);
  ~Placement();
  Placement(Placement&&) noexcept;
  Placement& operator=(Placement&&) noexcept;

  // nullopt when it fits nowhere now. A job with more GPUs than a node has gets whole nodes and
  // one part of a node for the rest, all or nothing.
  std::optional<AllocationId> place(ShapeId shape);
  // These very GPUs; nullopt when some of it is taken. REQUIRES: `parts` is what parts() said, or
  // would say, of an allocation of this shape. Without `by_rule` a policy that would rather let it
  // wait than pair it so is not asked: only what there is counts.
  std::optional<AllocationId> place_again(ShapeId shape, std::span<const AllocatedPart> parts,
                                          bool by_rule = true);
  void release(AllocationId allocation);
  // How much the policy wants the shape on this node, more is better; nullopt: it does not fit.
  // For callers who choose among nodes by themselves. REQUIRES: the shape fits one node.
  std::optional<int> score(ShapeId shape, std::uint32_t node) const;

  // Whether the shape would fit if the cluster were empty.
  bool fits_empty(ShapeId shape) const;

  // Valid until the next place or release.
  std::span<const AllocatedPart> parts(AllocationId allocation) const;
  FreeResources free() const;
  std::int64_t total_gpu_milli() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The different shapes among the jobs of a trace, numbered in order of first appearance.
class ShapeTable {
 public:
  // The number of this shape, with one more job that asks for it.
  ShapeId add(const JobShape& shape);

  std::span<const JobShape> shapes() const { return shapes_; }
  // Jobs of each shape.
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  struct Before {
    bool operator()(const JobShape& a, const JobShape& b) const;
  };
  std::map<JobShape, ShapeId, Before> numbers_;
  std::vector<JobShape> shapes_;
  std::vector<std::int64_t> counts_;
};

// The most frequent kinds of job that together make up 95 % of all, for Fgd: kMostTypicalJobs at
// most. Shapes that differ in memory only are one kind, as in the authors' experiments. `counts`:
// jobs of each shape.
inline constexpr std::size_t kMostTypicalJobs = 1'000;
std::vector<TypicalJob> typical_jobs(std::span<const JobShape> shapes,
                                     std::span<const std::int64_t> counts);

}  // namespace slicewise::sim
