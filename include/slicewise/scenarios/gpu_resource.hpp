#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names of extended resources that are GPUs.
namespace slicewise::scenarios {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuTaint = kGpuResource;  // key of the taint of GPU nodes
inline constexpr std::string_view kSharedGpuResource = "nvidia.com/gpu.shared";
inline constexpr std::string_view kMigPrefix = "nvidia.com/mig-";

// Parts of the GPU that pods ask HAMi for beside it: MiB, and percent of its memory and its time.
inline constexpr std::string_view kHamiMemory = "nvidia.com/gpumem";
inline constexpr std::string_view kHamiPercentage = "nvidia.com/gpumem-percentage";
inline constexpr std::string_view kHamiCores = "nvidia.com/gpucores";

// Interfaces of the Elastic Fabric Adapter, which AWS's device plugin for it hands out.
inline constexpr std::string_view kEfaResource = "vpc.amazonaws.com/efa";

// Clients of the MPS server of a GPU since Volta, up to CUDA 13.0: what device plugins count on.
// Catalogues say what a GPU takes. Source: docs.nvidia.com/deploy/mps.
inline constexpr std::int64_t kMpsClients = 48;

// What a device plugin advertises a shared device as: under the name of the device, or, where it
// renames, with ".shared" behind it; and the device of an advertised name.
std::string advertised_name(std::string_view device, bool renames);
std::string_view device_name(std::string_view advertised);
// "nvidia.com/mig-1g.5gb.me" of the MIG profile 1g.5gb+me.
std::string mig_resource(std::string_view profile);

// Names of NVIDIA's device plugin; HAMi's and others' have rules of their own.
bool is_plugin_resource(std::string_view name);

// What the name of an extended resource says about the GPU behind it.
struct GpuResource {
  enum class Kind : std::uint8_t {
    Whole,        // nvidia.com/gpu: a GPU, or a replica of one where the plugin does not rename
    Replica,      // nvidia.com/gpu.shared
    Mig,          // nvidia.com/mig-1g.5gb
    MigReplica,   // nvidia.com/mig-1g.5gb.shared
    VirtualGpu,   // k8s.amazonaws.com/vgpu
    MemorySlice,  // nvidia.com/gpu-10gb, of nos
  };
  Kind kind = Kind::Whole;
  int slices = 0;     // Mig: compute slices of the profile ...
  int slices_of = 0;  // ... and of the whole GPU
  int gigabytes = 0;  // Mig and MemorySlice: memory in the name

  bool is_replica() const { return kind == Kind::Replica || kind == Kind::MigReplica; }
};

// nullopt when it is no GPU of NVIDIA's: cpu, amd.com/gpu, vpc.amazonaws.com/efa, ...
std::optional<GpuResource> gpu_resource(std::string_view name);

// The whole name of what a log calls "1g.5gb", "mig-1g.5gb" or "nvidia.com/mig-1g.5gb"; nullopt
// when it is none of these.
std::optional<std::string> recorded_resource(std::string_view recorded);

// Accelerators that are not read: amd.com/gpu, aws.amazon.com/neuron, habana.ai/gaudi, ...
bool is_other_accelerator(std::string_view name);

// kube-state-metrics writes nvidia.com/mig-1g.5gb as nvidia_com_mig_1g_5gb: the name as Kubernetes
// has it; other names come back as they are.
std::string resource_of_label(std::string_view sanitised);

}  // namespace slicewise::scenarios
