#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "node_table.hpp"

// How the policies score a node for a job, one class each.
namespace slicewise::sim {

// Every node that fits is as good as any other: the first is taken, or one at random.
struct AnyFit {
  static std::uint8_t score(const NodeTable&, const NodeDemand&, std::uint32_t) { return 0; }
};

// 100 less what would be left over: the mean of CPU and GPUs, each as a percentage of the most that
// any node has. kube-scheduler spreads the scores over 0..100 afterwards, which keeps their order.
// Source: Weng et al. (ATC'23), artefact, best_fit_score.go.
class BestFit {
 public:
  explicit BestFit(const NodeTable& nodes)
      : cpu_(std::max<std::int64_t>(1, nodes.most_cpu())),
        gpu_(std::max<std::int64_t>(1, std::int64_t{nodes.most_gpus()} * kWholeGpu)) {}

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const {
    const NodeFree& free = nodes.free(node);
    const std::int64_t left =
        (free.cpu - demand.cpu) * gpu_ + (free.gpu_milli - demand.total_milli()) * cpu_;
    const std::int64_t all = 2 * cpu_ * gpu_;
    return static_cast<std::uint8_t>(100 * (all - left) / all);
  }

 private:
  std::int64_t cpu_;
  std::int64_t gpu_;
};

// 100 x (1 - half the dot product of what is asked for and what is free), CPU and GPUs as shares of
// the most that any node has: the less is free of what the job needs most, the better.
// Source: Grandl et al., "Multi-resource packing for cluster schedulers" (Tetris), SIGCOMM'14, in
// the form of Weng et al. (ATC'23), artefact, dot_product_score.go with GPUs merged.
class DotProduct {
 public:
  explicit DotProduct(const NodeTable& nodes)
      : cpu_(static_cast<double>(std::max<std::int64_t>(1, nodes.most_cpu()))),
        gpu_(static_cast<double>(std::max(1, nodes.most_gpus() * kWholeGpu))) {}

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const {
    const NodeFree& free = nodes.free(node);
    const double cpu =
        static_cast<double>(free.cpu) / cpu_ * (static_cast<double>(demand.cpu) / cpu_);
    const double gpu = static_cast<double>(free.gpu_milli) / gpu_ *
                       (static_cast<double>(demand.total_milli()) / gpu_);
    return static_cast<std::uint8_t>(100 * (1 - (cpu + gpu) / 2));
  }

 private:
  double cpu_;
  double gpu_;
};

// GPUs that are shared already come first, then free GPUs of nodes in use, then idle nodes.
// Source: Weng et al., "MLaaS in the wild", NSDI'22, in the form of Weng et al. (ATC'23), artefact,
// gpu_packing_score.go.
struct Packing {
  static std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    if (demand.gpus == 0) return 0;
    const NodeFree& free = nodes.free(node);
    if (free.whole_gpus == free.gpus) {
      return static_cast<std::uint8_t>(std::max(kIdleNode - free.gpus, int{free.gpus}));
    }
    if (!demand.shares_gpu()) {
      return static_cast<std::uint8_t>(std::max(kFreeGpu - demand.gpus, kIdleNode));
    }
    std::int32_t least = kWholeGpu;
    for (const std::int16_t milli : nodes.gpus(node)) {
      if (milli >= demand.gpu_milli) least = std::min(least, std::int32_t{milli});
    }
    if (least == kWholeGpu) return kFreeGpu - 1;
    return static_cast<std::uint8_t>(100 - least * 100 / kWholeGpu / 10);
  }

 private:
  static constexpr int kIdleNode = 100 / 3;
  static constexpr int kFreeGpu = 100 / 2;
};

// kube-scheduler's NodeResourcesFit with its default resources: the mean over CPU and memory of the
// percentage that would be free with the job on the node, or used. Resources that the node does not
// have are left out; GPUs count on nodes that are known by their GPUs alone.
// Source: Kubernetes pkg/scheduler/framework/plugins/noderesources, least_allocated.go and
// most_allocated.go. Not modelled: 100 m and 200 MB for containers without a request, because a
// trace does not say whether nothing was asked for or nothing was recorded.
template <class Percentage>
std::uint8_t kube_score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node,
                        const Percentage& percentage) {
  const NodeFree& all = nodes.capacity(node);
  const NodeFree& free = nodes.free(node);
  std::int64_t sum = 0;
  std::int64_t resources = 0;
  const auto count = [&](std::int64_t capacity, std::int64_t left) {
    if (capacity == 0) return;
    sum += percentage(capacity, left);
    ++resources;
  };
  count(all.cpu, free.cpu - demand.cpu);
  count(all.memory >> 20, (free.memory - demand.memory) >> 20);
  if (resources == 0) count(all.gpu_milli, free.gpu_milli - demand.total_milli());
  return static_cast<std::uint8_t>(resources == 0 ? 0 : sum / resources);
}

struct LeastAllocated {
  static std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    return kube_score(nodes, demand, node, [](std::int64_t capacity, std::int64_t left) {
      return left * 100 / capacity;
    });
  }
};

struct MostAllocated {
  static std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    return kube_score(nodes, demand, node, [](std::int64_t capacity, std::int64_t left) {
      return (capacity - left) * 100 / capacity;
    });
  }
};

// Jobs that ask for as many GPUs stay together: best is a node that holds only such jobs, then one
// that holds some, then an idle one; among equals the one with the least left.
// Source: Xiao et al., "Gandiva", OSDI'18, in the form of Weng et al. (ATC'23), artefact,
// gpu_clustering_score.go.
class Clustering {
 public:
  explicit Clustering(const NodeTable& nodes)
      : gpu_(std::max(1, nodes.most_gpus() * kWholeGpu)), residents_(nodes.size()) {}

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const {
    if (demand.gpus == 0) return 0;
    const Residents& residents = residents_[node];
    int quarter = 0;
    if (residents.kinds == 0) {
      quarter = 1;
    } else if ((residents.kinds & (1U << kind(demand))) != 0) {
      quarter = std::has_single_bit(residents.kinds) ? 3 : 2;
    }
    const int used = 25 * (gpu_ - nodes.free(node).gpu_milli) / gpu_;
    return static_cast<std::uint8_t>(25 * quarter + used);
  }

  void taken(std::uint32_t node, const NodeDemand& demand) {
    if (demand.gpus == 0) return;
    ++residents_[node].count[kind(demand)];
    residents_[node].kinds |= 1U << kind(demand);
  }

  void given(std::uint32_t node, const NodeDemand& demand) {
    if (demand.gpus == 0) return;
    if (--residents_[node].count[kind(demand)] == 0)
      residents_[node].kinds &= ~(1U << kind(demand));
  }

 private:
  struct Residents {
    std::uint32_t kinds = 0;  // bit mask of those with a count
    std::array<std::uint16_t, kMostGpusOfNode + 1> count{};
  };

  // 0 for a share of a GPU, else the number of GPUs.
  static std::size_t kind(const NodeDemand& demand) {
    return demand.shares_gpu() ? 0 : static_cast<std::size_t>(demand.gpus);
  }

  std::int32_t gpu_;
  std::vector<Residents> residents_;
};

}  // namespace slicewise::sim
