#include "driver_api.hpp"

#include <stdexcept>

#include "library.hpp"

namespace slicewise::gpu_probe {

DriverApi open_driver(const std::string& file) {
  const Library library(file);
  DriverApi api;
  library.find("cuInit", api.init);
  library.find("cuDriverGetVersion", api.version);
  library.find("cuDeviceGetCount", api.device_count);
  library.find("cuDeviceGet", api.device);
  library.find("cuDeviceGetName", api.device_name);
  library.find("cuDeviceGetAttribute", api.attribute);
  library.find("cuDeviceTotalMem_v2", api.total_memory);
  library.find("cuCtxCreate_v2", api.create_context);
  library.find("cuCtxSynchronize", api.synchronize);
  library.find("cuMemGetInfo_v2", api.memory_info);
  library.find("cuMemAlloc_v2", api.allocate);
  library.find("cuMemFree_v2", api.release);
  library.find("cuMemcpyHtoD_v2", api.copy_to_device);
  library.find("cuMemcpyDtoH_v2", api.copy_to_host);
  library.find("cuMemsetD8_v2", api.fill);
  library.find("cuModuleLoadData", api.load_module);
  library.find("cuModuleGetFunction", api.find_function);
  library.find("cuLaunchKernel", api.launch);
  library.find("cuGetErrorName", api.error_name);
  return api;
}

void check(const DriverApi& driver, int status, const char* what) {
  if (status == 0) return;
  const char* name = nullptr;
  driver.error_name(status, &name);
  throw std::runtime_error(std::string(what) + ": " +
                           (name == nullptr ? "error " + std::to_string(status) : name));
}

}  // namespace slicewise::gpu_probe
