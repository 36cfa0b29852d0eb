#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/models/sourced.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

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
  int mps_max_clients = 48;  // CUDA 13.0 and older; 60 from CUDA 13.1
  Duration time_slice;       // turn of the driver's round robin, q
  // Figures above that have no primary source ("l2_cache"): recalled, or taken over from a sibling.
  std::vector<std::string> unverified;
  std::vector<Source> sources;
};

// Memory that processes can share out: what CUDA reports, else what nvidia-smi prints.
Bytes usable_memory(const GpuModel& gpu);

}  // namespace slicewise::models
