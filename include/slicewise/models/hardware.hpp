#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/units.hpp"

// GPUs, the instance types that have them, and how those of a node reach each other.
namespace slicewise::models {

// Where a catalogue figure comes from.
struct Source {
  std::string text;      // document, repository@commit or measurement
  std::string date;      // ISO date (or month) of the data, "" when the source gives none
  bool derived = false;  // computed from other figures by a rule that `text` states
};

// Turn of the driver's round robin, from Volta to Blackwell. Source: NVIDIA open-gpu-kernel-modules
// 595.45.04, kernel_fifo_gv100.c: 128 << 3 us.
inline constexpr Duration kDriversTimeSlice = microseconds(1'024);

// A GPU model as EC2 offers it: the figures that the execution laws need.
struct GpuModel {
  std::string name;                  // "V100-SXM2-16GB"
  std::vector<std::string> aliases;  // "V100-16GB", "V100": accepted in scenario files
  std::string architecture;          // "Volta"
  std::string compute_capability;    // "7.0"
  std::string kubernetes_product;  // GFD's nvidia.com/gpu.product, e.g. "Tesla-V100-SXM2-16GB"; ""
                                   // = unknown
  int sm_count = 0;
  Bytes register_file_per_sm;
  Bytes shared_memory_per_sm;     // the most a kernel may use
  std::optional<Bytes> l2_cache;  // nullopt: not published
  double memory_bandwidth_bytes_per_second = 0;
  Bytes memory_total;                  // as recent nvidia-smi prints it
  std::optional<Bytes> memory_usable;  // as CUDA reports it (cudaMemGetInfo total)
  std::optional<double> fp32_tflops;
  std::optional<double> fp16_tensor_tflops;
  int nvlink_links = 0;
  double nvlink_gbytes_per_second = 0;  // both directions, all links
  int tdp_watts = 0;
  bool supports_mig = false;
  int mps_max_clients = 48;                 // CUDA 13.0 and older; 60 from CUDA 13.1
  Duration time_slice = kDriversTimeSlice;  // turn of the round robin, q
  std::optional<Duration> switch_cost;      // of one turn to the next, where it was measured
  std::optional<Bytes> context_memory;      // of a CUDA process, where it was measured
  // Figures above that have no primary source ("l2_cache"): recalled, or taken over from a sibling.
  std::vector<std::string> unverified;
  std::vector<Source> sources;
};

// Memory that processes can share out: what CUDA reports, else what nvidia-smi prints.
Bytes usable_memory(const GpuModel& gpu);
// ... of one device of a node, of which it may be a part.
struct InstanceType;
Bytes usable_memory(const InstanceType& type, const GpuModel& gpu);

// Of nodes with more, such as whole racks, nothing is modelled.
inline constexpr int kMostGpusOfNode = 16;

// An EC2 GPU instance type and what an EKS node of that type offers to pods.
struct InstanceType {
  std::string name;                    // "p3.8xlarge"
  std::string family;                  // "p3"
  std::string retired_on;              // ISO date when AWS retired the type, "" while it is offered
  std::string architecture = "amd64";  // of its CPUs, as kubernetes.io/arch has it
  int vcpus = 0;
  Bytes memory;
  std::string gpu_model;       // GpuModel::name
  int gpu_count = 0;           // devices that a node exposes as nvidia.com/gpu (1 for g6f)
  double gpu_fraction = 1;     // share of a physical GPU behind one device: 1/8, 1/4, 1/2 for g6f
  Bytes gpu_memory;            // per device
  std::string ec2_gpu_name;    // EC2's words, as Karpenter's labels have them: "rtx-pro-4500", ...
  Bytes ec2_gpu_memory;        // ... and figures, which are not what nvidia-smi prints
  Millicores allocatable_cpu;  // after kube-reserved (EKS AL2023 formula)
  Bytes allocatable_memory;    // after kube-reserved, eviction threshold and VM overhead
  // Allocatable memory from a MemTotal read on a running instance; else Karpenter's rule, which
  // takes 7.5 % of the memory as VM overhead and so understates what the node offers.
  bool allocatable_memory_measured = false;
  int max_pods = 0;
  double network_gbps = 0;            // sustained
  std::optional<int> efa_interfaces;  // of the Elastic Fabric Adapter; nullopt: not known
  int local_nvme_gb = 0;
  std::string interconnect;  // of its GPUs: Interconnect::name
  std::string note;          // "Capacity Blocks and Spot only", "vGPU profile L4-3Q", ...
  Source source;             // of the sizes: vCPUs, memory, GPUs, allocatable
};

// How the GPUs of one node reach each other: a graph of GPUs whose edges are NVLinks, and PCIe
// through the host where there is none.
struct Interconnect {
  std::string name;       // InstanceType::interconnect
  bool switched = false;  // NVSwitch: any two GPUs reach each other over all their links
  // NVLinks between GPU i and GPU j, symmetric; empty when switched or without NVLink.
  std::vector<std::vector<int>> nvlinks;
  // What a ring of copies gets over PCIe, in each direction at once; 0 where NVLink joins all.
  double pcie_gbytes_per_second = 0;
  bool pcie_assumed = false;  // nobody published a measurement on these instances
  Source source;
};

}  // namespace slicewise::models
