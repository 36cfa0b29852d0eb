#include "management_api.hpp"

#include <array>

#include "library.hpp"

namespace slicewise::gpu_probe {
namespace {

constexpr unsigned kTextLength = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE, _UUID_V2_
constexpr int kSmClock = 1;           // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;       // NVML_CLOCK_MEM
constexpr int kGpuSensor = 0;         // NVML_TEMPERATURE_GPU

using Text = std::array<char, kTextLength>;

}  // namespace

Management::Management(const std::string& file, unsigned gpu) {
  const Library library(file);
  library.find("nvmlInit_v2", api_.init);
  library.find("nvmlSystemGetDriverVersion", api_.driver_version);
  library.find("nvmlDeviceGetHandleByIndex_v2", api_.device);
  library.find("nvmlDeviceGetClockInfo", api_.clock);
  library.find("nvmlDeviceGetTemperature", api_.temperature);
  library.find("nvmlDeviceGetMigMode", api_.mig_mode);
  library.find("nvmlDeviceGetMaxMigDeviceCount", api_.mig_count);
  library.find("nvmlDeviceGetMigDeviceHandleByIndex", api_.mig_device);
  library.find("nvmlDeviceGetName", api_.name);
  library.find("nvmlDeviceGetUUID", api_.uuid);
  if (api_.init() != 0 || api_.device(gpu, &device_) != 0) {
    throw NoGpu(file + " knows no GPU " + std::to_string(gpu));
  }
}

std::string Management::driver_release() const {
  Text text{};
  return api_.driver_version(text.data(), kTextLength) == 0 ? text.data() : "";
}

std::optional<unsigned> Management::clock(int type) const {
  unsigned mhz = 0;
  return api_.clock(device_, type, &mhz) == 0 ? std::optional(mhz) : std::nullopt;
}

std::optional<unsigned> Management::sm_clock_mhz() const { return clock(kSmClock); }

std::optional<unsigned> Management::memory_clock_mhz() const { return clock(kMemoryClock); }

std::optional<unsigned> Management::temperature() const {
  unsigned degrees = 0;
  return api_.temperature(device_, kGpuSensor, &degrees) == 0 ? std::optional(degrees)
                                                              : std::nullopt;
}

bool Management::mig_enabled() const {
  unsigned current = 0;
  unsigned pending = 0;
  return api_.mig_mode(device_, &current, &pending) == 0 && current == 1;
}

std::vector<MigDevice> Management::mig_devices() const {
  std::vector<MigDevice> found;
  unsigned count = 0;
  if (!mig_enabled() || api_.mig_count(device_, &count) != 0) return found;
  for (unsigned i = 0; i < count; ++i) {
    Device mig = nullptr;
    Text name{};
    Text uuid{};
    if (api_.mig_device(device_, i, &mig) != 0) continue;  // a place that nobody took
    if (api_.uuid(mig, uuid.data(), kTextLength) != 0) continue;
    if (api_.name(mig, name.data(), kTextLength) != 0) continue;
    found.push_back({name.data(), uuid.data()});
  }
  return found;
}

}  // namespace slicewise::gpu_probe
