#pragma once

#include <optional>
#include <string>
#include <vector>

// What NVIDIA's management library (NVML) says of a GPU: the driver's release, clocks, MIG.
// Signatures and constants are those of nvml.h (docs.nvidia.com/deploy/nvml-api).
namespace slicewise::gpu_probe {

struct MigDevice {
  std::string name;  // "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
  std::string uuid;  // what CUDA_VISIBLE_DEVICES takes
};

class Management {
 public:
  // `library`: libnvidia-ml.so.1. Throws NoGpu when there is none, or no GPU of that number.
  Management(const std::string& library, unsigned gpu);

  std::string driver_release() const;  // "" where unknown
  std::optional<unsigned> sm_clock_mhz() const;
  std::optional<unsigned> memory_clock_mhz() const;
  std::optional<unsigned> temperature() const;  // degrees Celsius
  bool mig_enabled() const;
  std::vector<MigDevice> mig_devices() const;

 private:
  using Device = void*;
  struct Api {
    int (*init)() = nullptr;
    int (*driver_version)(char* text, unsigned length) = nullptr;
    int (*device)(unsigned index, Device* device) = nullptr;
    int (*clock)(Device device, int type, unsigned* mhz) = nullptr;
    int (*temperature)(Device device, int sensor, unsigned* degrees) = nullptr;
    int (*mig_mode)(Device device, unsigned* current, unsigned* pending) = nullptr;
    int (*mig_count)(Device device, unsigned* count) = nullptr;
    int (*mig_device)(Device device, unsigned index, Device* mig) = nullptr;
    int (*name)(Device device, char* text, unsigned length) = nullptr;
    int (*uuid)(Device device, char* text, unsigned length) = nullptr;
  };

  std::optional<unsigned> clock(int type) const;

  Api api_;
  Device device_ = nullptr;
};

}  // namespace slicewise::gpu_probe
