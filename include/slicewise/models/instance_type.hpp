#pragma once

#include <string>

#include "slicewise/models/sourced.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

// An EC2 GPU instance type and what an EKS node of that type offers to pods.
struct InstanceType {
  std::string name;        // "p3.8xlarge"
  std::string family;      // "p3"
  std::string retired_on;  // ISO date when AWS retired the type, "" while it is offered
  int vcpus = 0;
  Bytes memory;
  std::string gpu_model;       // GpuModel::name
  int gpu_count = 0;           // devices that a node exposes as nvidia.com/gpu (1 for g6f)
  double gpu_fraction = 1;     // share of a physical GPU behind one device: 1/8, 1/4, 1/2 for g6f
  Bytes gpu_memory;            // per device
  Millicores allocatable_cpu;  // after kube-reserved (EKS AL2023 formula)
  Bytes allocatable_memory;    // after kube-reserved, eviction threshold and VM overhead
  // Allocatable memory from a MemTotal read on a running instance; else Karpenter's rule, which
  // takes 7.5 % of the memory as VM overhead and so understates what the node offers.
  bool allocatable_memory_measured = false;
  int max_pods = 0;
  double network_gbps = 0;  // sustained
  int local_nvme_gb = 0;
  std::string interconnect;  // of its GPUs: Interconnect::name
  std::string note;          // "Capacity Blocks and Spot only", "vGPU profile L4-3Q", ...
  Source source;             // of the sizes: vCPUs, memory, GPUs, allocatable
};

}  // namespace slicewise::models
