#include "slicewise/sim/placement/gpu_sets.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <boost/graph/adjacency_matrix.hpp>
#include <boost/graph/connected_components.hpp>

namespace slicewise::sim {
namespace {

using LinkGraph = boost::adjacency_matrix<boost::undirectedS>;
using GpuLinks = std::array<std::array<int, GpuSets::kMostGpus>, GpuSets::kMostGpus>;

// What NCCL's protocols leave of the line rate of an NVLink. See all_reduce_bytes_per_second.
constexpr double kOfLineRate = 0.8;

// NCCL's small messages. See all_reduce_latency_s.
constexpr double kStartSeconds = 6.6e-6;
constexpr double kHopOverNvlinkSeconds = 0.6e-6;
constexpr double kHopOverPcieSeconds = 1e-6;

// go-gpuallocator's points for each NVLink of a pair.
constexpr int kScoreOfLink = 100;

bool has_gpu(GpuMask set, std::size_t gpu) { return (set >> gpu & 1U) != 0; }

GpuMask lowest_of(GpuMask set) { return set & (~set + 1); }

GpuLinks links_of(const models::Interconnect& interconnect, const models::GpuModel& gpu, int gpus) {
  GpuLinks links{};
  const auto count = static_cast<std::size_t>(gpus);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (a == b) continue;
      if (interconnect.switched) links[a][b] = gpu.nvlink_links;
      if (!interconnect.nvlinks.empty()) links[a][b] = interconnect.nvlinks[a][b];
    }
  }
  return links;
}

// Sum over the pairs of a set.
template <class OfPair>
int over_pairs(GpuMask set, OfPair of_pair) {
  int sum = 0;
  for (std::size_t a = 0; a < GpuSets::kMostGpus; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (has_gpu(set, a) && has_gpu(set, b)) sum += of_pair(a, b);
    }
  }
  return sum;
}

// Whether there is a way over NVLinks from any GPU of the set to any other without leaving it.
bool hangs_together(const GpuLinks& links, GpuMask set) {
  std::vector<std::size_t> members;
  for (std::size_t gpu = 0; gpu < GpuSets::kMostGpus; ++gpu) {
    if (has_gpu(set, gpu)) members.push_back(gpu);
  }
  LinkGraph graph(members.size());
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (links[members[a]][members[b]] > 0) boost::add_edge(a, b, graph);
    }
  }
  std::vector<int> component(members.size());
  return boost::connected_components(graph, component.data()) == 1;
}

// The spanning trees that the links of a set carry side by side, see all_reduce_bytes_per_second:
// walks through all partitions of the set, at most Bell(8) = 4,140.
class TreePacking {
 public:
  TreePacking(const GpuLinks& links, GpuMask set) : links_(links), set_(set) {}

  double trees() {
    put(0, 0);
    return static_cast<double>(links_between_) / parting_;
  }

 private:
  // Puts `gpu` and those after it into one of `parts` parts or a new one.
  void put(std::size_t gpu, int parts) {
    if (gpu == GpuSets::kMostGpus) return weigh(parts);
    if (!has_gpu(set_, gpu)) return put(gpu + 1, parts);
    for (int part = 0; part <= parts; ++part) {
      part_of_[gpu] = part;
      put(gpu + 1, std::max(parts, part + 1));
    }
  }

  void weigh(int parts) {
    if (parts < 2) return;
    const int between = over_pairs(set_, [&](std::size_t a, std::size_t b) {
      return part_of_[a] == part_of_[b] ? 0 : links_[a][b];
    });
    const bool fewer = between * parting_ < links_between_ * (parts - 1);
    if (parting_ > 0 && !fewer) return;
    links_between_ = between;
    parting_ = parts - 1;
  }

  const GpuLinks& links_;
  GpuMask set_;
  std::array<int, GpuSets::kMostGpus> part_of_{};
  int links_between_ = 0;
  int parting_ = 0;
};

// An all-reduce over a ring moves 2(n-1)/n of the bytes over each of its links.
double over_ring(double ring_bytes_per_second, int gpus) {
  return ring_bytes_per_second * gpus / (2.0 * (gpus - 1));
}

// All partitions of the free GPUs into sets of one size, in lexicographic order. GPUs that are
// missing for the last set are stood in for by bits of `padding`, all of them in one set.
class PartitionSearch {
 public:
  PartitionSearch(const GpuSets& sets, GpuMask padding, int size)
      : sets_(sets), padding_(padding), size_(size) {}

  GpuMask best_set(GpuMask free) {
    split(free | padding_, {});
    return best_.set;
  }

 private:
  struct Sets {
    int total = 0;
    int score = -1;   // of `set`
    GpuMask set = 0;  // the best so far
  };

  void split(GpuMask rest, const Sets& chosen) {
    if (rest == 0) {
      if (best_.score < 0 || chosen.total > best_.total) best_ = chosen;
      return;
    }
    const GpuMask first = lowest_of(rest);
    extend(rest, first, rest ^ first, chosen);
  }

  // `later`: those of the rest that may still join the set.
  void extend(GpuMask rest, GpuMask set, GpuMask later, const Sets& chosen) {
    if (std::popcount(set) == size_) return close(rest, set, chosen);
    while (later != 0) {
      const GpuMask next = lowest_of(later);
      later ^= next;
      extend(rest, set | next, later, chosen);
    }
  }

  void close(GpuMask rest, GpuMask set, Sets chosen) {
    const GpuMask stand_ins = set & padding_;
    if (stand_ins != 0 && stand_ins != padding_) return;
    const int score = sets_.score(set & ~padding_);
    chosen.total += score;
    if (stand_ins == 0 && score > chosen.score) {
      chosen.score = score;
      chosen.set = set;
    }
    split(rest & ~set, chosen);
  }

  const GpuSets& sets_;
  GpuMask padding_;
  int size_;
  Sets best_;
};

}  // namespace

GpuSets::GpuSets(const models::Interconnect& interconnect, const models::GpuModel& gpu, int gpus) {
  const GpuLinks links = links_of(interconnect, gpu, gpus);
  // Of one NVLink in one direction; the catalogue has both directions of all.
  const double link_speed = gpu.nvlink_links == 0 ? 0
                                                  : kOfLineRate * gpu.nvlink_gbytes_per_second *
                                                        1e9 / 2 / gpu.nvlink_links;
  worth_.resize(std::size_t{1} << gpus);
  for (GpuMask set = 1; set < worth_.size(); ++set) {
    Worth& worth = worth_[set];
    const int size = std::popcount(set);
    worth.score =
        kScoreOfLink * over_pairs(set, [&](std::size_t a, std::size_t b) { return links[a][b]; });
    worth.all_linked = over_pairs(set, [&](std::size_t a, std::size_t b) {
                         return links[a][b] == 0 ? 1 : 0;
                       }) == 0;
    if (size == 1) continue;
    double hop_s = kHopOverNvlinkSeconds;
    if (interconnect.switched) {
      worth.bytes_per_second = over_ring(link_speed * gpu.nvlink_links, size);
    } else if (hangs_together(links, set)) {
      worth.bytes_per_second = link_speed * TreePacking(links, set).trees();
    } else {
      worth.bytes_per_second = over_ring(interconnect.pcie_gbytes_per_second * 1e9, size);
      hop_s = kHopOverPcieSeconds;
    }
    worth.latency_s = kStartSeconds + 2 * (size - 1) * hop_s;
  }
}

GpuMask GpuSets::choose(GpuMask free, int count) const {
  const int over = std::popcount(free) % count;
  const GpuMask stand_ins = over == 0 ? 0 : (GpuMask{1} << (count - over)) - 1;
  return PartitionSearch(*this, stand_ins << kMostGpus, count).best_set(free);
}

}  // namespace slicewise::sim
