#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/placement/placement.hpp"

namespace slicewise::sim {

// The policies as their sources define them, with a look at every node for every job and no table.
// Jobs that fit on one node only.
class NaivePlacement {
 public:
  struct Node {
    NodeShape shape;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::vector<int> gpus;         // free milli
    std::map<int, int> residents;  // jobs by number of GPUs; 0: a share

    int whole() const { return static_cast<int>(std::ranges::count(gpus, 1000)); }
    std::int64_t milli() const {
      std::int64_t sum = 0;
      for (const int gpu : gpus) sum += gpu;
      return sum;
    }
  };

  NaivePlacement(std::span<const NodeShape> nodes, std::span<const JobShape> shapes,
                 NodePolicy policy, std::uint64_t seed, std::span<const TypicalJob> typical)
      : shapes_(shapes.begin(), shapes.end()),
        policy_(policy),
        typical_(typical.begin(), typical.end()),
        random_(seed, 0, 0, Purpose::Placement) {
    for (const NodeShape& node : nodes) {
      nodes_.push_back({node,
                        node.cpu.count,
                        node.memory.count,
                        std::vector<int>(static_cast<std::size_t>(node.gpus), 1000),
                        {}});
      most_cpu_ = std::max(most_cpu_, node.cpu.count);
      most_gpu_ = std::max(most_gpu_, std::int64_t{node.gpus} * 1000);
    }
  }

  std::optional<AllocatedPart> place(ShapeId id) {
    const JobShape& job = shapes_[id];
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (fits(nodes_[n], job)) fitting.push_back(n);
    }
    if (fitting.empty()) return std::nullopt;
    std::uint32_t best = fitting.front();
    if (policy_ == NodePolicy::Random) {
      best = fitting[random_.below(static_cast<std::uint32_t>(fitting.size()))];
    } else {
      for (const std::uint32_t n : fitting) {
        if (score(nodes_[n], job) > score(nodes_[best], job)) best = n;
      }
    }
    const AllocatedPart part{best, gpus(nodes_[best], job)};
    nodes_[best] = after(nodes_[best], job, part.gpus);
    return part;
  }

  void release(ShapeId id, const AllocatedPart& part) {
    const JobShape& job = shapes_[id];
    Node& node = nodes_[part.node];
    node.cpu += job.cpu.count;
    node.memory += job.memory.count;
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      if ((part.gpus >> gpu & 1) != 0) node.gpus[gpu] += job.gpu_milli;
    }
    if (job.gpus > 0 && --node.residents[kind(job)] == 0) node.residents.erase(kind(job));
  }

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  static bool is_share(const JobShape& job) { return job.gpus == 1 && job.gpu_milli < 1000; }
  static int kind(const JobShape& job) { return is_share(job) ? 0 : job.gpus; }

  static bool model_fits(const Node& node, const JobShape& job) {
    return job.gpus == 0 || job.gpu_models.empty() || node.shape.gpu_model.empty() ||
           std::ranges::find(job.gpu_models, node.shape.gpu_model) != job.gpu_models.end();
  }

  static bool gpus_fit(const Node& node, const JobShape& job) {
    if (job.gpus == 0) return true;
    return std::ranges::count_if(node.gpus, [&](int gpu) { return gpu >= job.gpu_milli; }) >=
           job.gpus;
  }

  static bool fits(const Node& node, const JobShape& job) {
    return node.cpu >= job.cpu.count && node.memory >= job.memory.count && gpus_fit(node, job) &&
           model_fits(node, job);
  }

  static Node after(Node node, const JobShape& job, std::uint32_t gpus) {
    node.cpu -= job.cpu.count;
    node.memory -= job.memory.count;
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      if ((gpus >> gpu & 1) != 0) node.gpus[gpu] -= job.gpu_milli;
    }
    if (job.gpus > 0) ++node.residents[kind(job)];
    return node;
  }

  static std::uint32_t whole_gpus(const Node& node, int count) {
    std::uint32_t mask = 0;
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      if (node.gpus[gpu] == 1000 && std::popcount(mask) < count) mask |= 1U << gpu;
    }
    return mask;
  }

  std::uint32_t gpus(const Node& node, const JobShape& job) {
    if (!is_share(job)) return whole_gpus(node, job.gpus);
    std::vector<std::size_t> fitting;
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      if (node.gpus[gpu] >= job.gpu_milli) fitting.push_back(gpu);
    }
    if (policy_ == NodePolicy::Random) {
      return 1U << fitting[random_.below(static_cast<std::uint32_t>(fitting.size()))];
    }
    std::size_t best = fitting.front();
    for (const std::size_t gpu : fitting) {
      const bool better = policy_ == NodePolicy::Fgd
                              ? fgd_score(node, job, 1U << gpu) > fgd_score(node, job, 1U << best)
                              : node.gpus[gpu] < node.gpus[best];
      if (better) best = gpu;
    }
    return 1U << best;
  }

  std::int64_t score(const Node& node, const JobShape& job) const {
    const std::int64_t milli = std::int64_t{job.gpus} * job.gpu_milli;
    switch (policy_) {
      case NodePolicy::LeastAllocated:
      case NodePolicy::MostAllocated:
        return kube_score(node, job);
      case NodePolicy::BestFit: {
        const double cpu =
            0.5 * static_cast<double>(node.cpu - job.cpu.count) / static_cast<double>(most_cpu_);
        const double gpu =
            0.5 * static_cast<double>(node.milli() - milli) / static_cast<double>(most_gpu_);
        return static_cast<std::int64_t>(100 * (1 - cpu - gpu) + 1e-9);
      }
      case NodePolicy::DotProduct: {
        const auto share = [](std::int64_t a, std::int64_t b) {
          return static_cast<double>(a) / static_cast<double>(b);
        };
        return static_cast<std::int64_t>(
            100 * (1 - (share(node.cpu, most_cpu_) * share(job.cpu.count, most_cpu_) +
                        share(node.milli(), most_gpu_) * share(milli, most_gpu_)) /
                           2));
      }
      case NodePolicy::Fgd:
        return fgd_score(node, job);
      case NodePolicy::Clustering:
        return clustering_score(node, job);
      case NodePolicy::Packing:
        return packing_score(node, job);
      default:
        return 0;
    }
  }

  std::int64_t kube_score(const Node& node, const JobShape& job) const {
    const auto percent = [&](std::int64_t capacity, std::int64_t left) {
      return (policy_ == NodePolicy::LeastAllocated ? left : capacity - left) * 100 / capacity;
    };
    return (percent(node.shape.cpu.count, node.cpu - job.cpu.count) +
            percent(node.shape.memory.count >> 20, (node.memory - job.memory.count) >> 20)) /
           2;
  }

  std::int64_t clustering_score(const Node& node, const JobShape& job) const {
    if (job.gpus == 0) return 0;
    const std::int64_t used = 25 * (most_gpu_ - node.milli()) / most_gpu_;
    if (node.residents.empty()) return used + 25;
    if (!node.residents.contains(kind(job))) return used;
    return used + (node.residents.size() == 1 ? 75 : 50);
  }

  static std::int64_t packing_score(const Node& node, const JobShape& job) {
    if (job.gpus == 0) return 0;
    const auto gpus = static_cast<std::int64_t>(node.gpus.size());
    if (node.whole() == gpus) return std::max<std::int64_t>(33 - gpus, gpus);
    std::vector<int> sorted = node.gpus;
    std::ranges::sort(sorted);
    std::erase_if(sorted, [&](int gpu) { return gpu < job.gpu_milli; });
    if (sorted[0] == 1000) return std::max(50 - job.gpus, 33);
    return std::max(100 - sorted[0] * 100 / 1000 / 10, 50);
  }

  // The best over the GPUs that fit, or with these GPUs.
  std::int64_t fgd_score(const Node& node, const JobShape& job,
                         std::optional<std::uint32_t> gpus = std::nullopt) const {
    if (!gpus && is_share(job)) {
      std::int64_t best = 0;
      for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
        if (node.gpus[gpu] >= job.gpu_milli) best = std::max(best, fgd_score(node, job, 1U << gpu));
      }
      return best;
    }
    const std::uint32_t mask = gpus ? *gpus : whole_gpus(node, job.gpus);
    const long double gain = (fragments(node) - fragments(after(node, job, mask))) / 1000;
    return static_cast<std::int64_t>(100 / (1 + std::exp(-gain)));
  }

  long double fragments(const Node& node) const {
    long double sum = 0;
    for (const TypicalJob& typical : typical_) {
      const JobShape& job = shapes_[typical.shape];
      std::int64_t lost = node.milli();
      const bool hosted =
          job.gpus > 0 && node.cpu >= job.cpu.count && gpus_fit(node, job) && model_fits(node, job);
      if (hosted) {
        lost = 0;
        for (const int gpu : node.gpus) lost += gpu < job.gpu_milli ? gpu : 0;
      }
      sum += static_cast<long double>(typical.share) * static_cast<long double>(lost);
    }
    return sum;
  }

  std::vector<Node> nodes_;
  std::vector<JobShape> shapes_;
  NodePolicy policy_;
  std::vector<TypicalJob> typical_;
  RandomStream random_;
  std::int64_t most_cpu_ = 0;
  std::int64_t most_gpu_ = 0;
};

}  // namespace slicewise::sim
