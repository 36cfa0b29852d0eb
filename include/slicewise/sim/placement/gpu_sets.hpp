#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/models/hardware.hpp"

namespace slicewise::sim {

// GPUs of one node: bit i stands for GPU i.
using GpuMask = std::uint32_t;

// What each set of a node's GPUs is worth to a pod that has all of them, by the NVLinks between
// them. Computed once for a node of up to kMostGpus GPUs; read-only afterwards.
class GpuSets {
 public:
  static constexpr int kMostGpus = 8;  // of any EC2 instance

  GpuSets() = default;
  bool empty() const { return worth_.empty(); }
  // REQUIRES: 1 <= gpus <= kMostGpus; the interconnect has as many when it is a mesh.
  GpuSets(const models::Interconnect& interconnect, const models::GpuModel& gpu, int gpus);

  // Whether every two GPUs of the set have an NVLink (or the NVSwitch) between them.
  bool all_linked(GpuMask set) const { return of(set).all_linked; }

  // Bytes that an all-reduce of the set gets through in a second, each GPU holding all of them:
  // nccl-tests' "algbw". 0 for a single GPU, which has nobody to reduce with.
  //
  // Over NVLink it is the number of spanning trees that the links between the GPUs can carry side
  // by side (Nash-Williams and Tutte: the least, over all partitions of the set, of links between
  // its parts / (parts - 1)), times the speed of a link. Where all GPUs have as many links to each
  // other, that is the ring law: bytes x 2(n-1)/n over all links of a GPU. Sets that NVLink does
  // not hold together go over PCIe, by the ring law. Of the line rate NCCL leaves 80 %.
  // Sources: Nash-Williams, J. London Math. Soc. 36 (1961); NVIDIA/nccl-tests doc/PERFORMANCE.md
  // (ring law, algbw and busbw); NVIDIA/nccl-tests issue 212 (protocols cost about 20 %).
  double all_reduce_bytes_per_second(GpuMask set) const { return of(set).bytes_per_second; }

  // What the smallest all-reduce of the set takes: NCCL's start and 2(n-1) hops of its ring with
  // protocol LL. Gradients are so large that nobody sees it; tokens are not.
  // Source: NVIDIA/nccl src/graph/tuning.cc @5067397c (6.6 us; 0.6 us over NVLink, 1 us over PCIe).
  double all_reduce_latency_s(GpuMask set) const { return of(set).latency_s; }

  // The GPUs that the device plugin gives to a pod that asks for `count` when `free` are free: the
  // set with the highest score out of the partition of all free GPUs into sets of that size whose
  // scores add up to the most. The score of a set is 100 for each NVLink between two of its GPUs.
  // Ties: the lowest indexes (the plugin's order is that of a Go map). The PCIe part of the score
  // is left out: the hypervisor hides that hierarchy, so that all pairs have the same.
  // Source: NVIDIA/go-gpuallocator gpuallocator/besteffort_policy.go @1ef5d10b.
  // REQUIRES: 1 <= count <= number of free GPUs.
  GpuMask choose(GpuMask free, int count) const;

  int score(GpuMask set) const { return of(set).score; }

 private:
  struct Worth {
    int score = 0;
    bool all_linked = false;
    double bytes_per_second = 0;
    double latency_s = 0;
  };
  const Worth& of(GpuMask set) const { return worth_[set]; }

  std::vector<Worth> worth_;  // by set
};

}  // namespace slicewise::sim
