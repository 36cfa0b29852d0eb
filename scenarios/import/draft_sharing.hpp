#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/import.hpp"

// How the nodes of a pool on its way share their GPUs.
namespace slicewise::scenarios {

// Of a slice by nos: "nvidia.com/gpu-10gb".
inline constexpr std::string_view kMemorySlicePrefix = "nvidia.com/gpu-";

// NVIDIA's device plugin, where it offers a GPU or an instance of MIG more than once.
struct DraftPlugin {
  std::string config;  // its file, as a flow mapping
  std::vector<ReplicatedResource> resources;
  bool renames = false;
};

struct DraftMig {
  bool is_mixed = true;
  std::string layout;              // mig-parted's name for it
  std::vector<MigPartFile> parts;  // what the files write out under that name
  std::string configs;             // ... as a flow mapping; "" for one that is built in
};

struct DraftSharing {
  enum class Driver : std::uint8_t { Nvidia, Dra, Hami, Kai };  // who gives GPUs to pods

  Driver driver = Driver::Nvidia;
  bool makes_mig = false;  // the DRA driver: MIG devices for claims
  std::optional<DraftMig> mig;
  std::optional<DraftPlugin> plugin;
  std::int64_t virtual_gpus = 0;        // of a GPU, by AWS's plugin; 0: it is not there
  std::int64_t active_threads = 0;      // in percent, of a client of its MPS daemon; 0: no limit
  std::vector<std::string> nos_slices;  // of a GPU, by nos: "10gb"
  std::int64_t split = 0;               // HAMi: pods that a GPU takes; 0: its default

  bool is_none() const { return entries().empty(); }
  // As a pool of a scenario has it: "devicePlugin: {...}".
  std::vector<std::string> entries() const;
};

// NVIDIA's device plugin that shares each GPU, or each instance of MIG of one kind, alike.
DraftSharing shared_by_plugin(FileSharing mode, bool renames, std::int64_t replicas,
                              bool refuses_several = false, std::string_view device = kGpuResource);
DraftSharing shared_by_plugin(FileSharing mode, bool renames, bool refuses_several,
                              std::vector<ReplicatedResource> resources);
// A layout that mig-manager knows by its name.
DraftSharing cut_by_mig(std::string layout, bool is_mixed = true);

// Whether mig-manager has the layout for GPUs of the type, so that its instances are counted.
bool is_counted_layout(const DraftMig& mig, const std::string& instance_type,
                       const ImportOptions& options);

// How many of a resource a GPU of such nodes is for the scheduler; 0: it is not offered.
std::int64_t units_per_gpu(const DraftSharing& sharing, const std::string& instance_type,
                           const std::string& resource, const ImportOptions& options);
// The resource of the MIG instance that a pod which asks for `resource` has to itself; "": it has
// none, or shares it.
std::string instance_alone(const DraftSharing& sharing, const std::string& resource);
// How many claims of DRA, or of its driver's resources, a GPU of such nodes is for.
std::int64_t devices_per_gpu(const DraftSharing& sharing, const std::string& instance_type,
                             const ImportOptions& options);

}  // namespace slicewise::scenarios
