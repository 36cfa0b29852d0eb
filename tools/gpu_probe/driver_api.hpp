#pragma once

#include <cstddef>
#include <string>

// The few functions of NVIDIA's driver that the probe calls, found at run time: no CUDA toolkit to
// build, no driver to start. Signatures and constants are those of cuda.h, as the CUDA Driver API
// reference documents them (docs.nvidia.com/cuda/cuda-driver-api, sections 6.2 to 6.19).
namespace slicewise::gpu_probe {

using CuDevice = int;
using CuAddress = unsigned long long;
using CuHandle = void*;  // of a context, a module or a function

enum class CuAttribute : int {
  ClockKhz = 13,
  SmCount = 16,
  MemoryClockKhz = 36,
  L2Bytes = 38,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
};

// CU_CTX_SCHED_BLOCKING_SYNC: who waits for the GPU leaves the CPU to others.
inline constexpr unsigned kBlockingSync = 4;

struct DriverApi {
  int (*init)(unsigned flags) = nullptr;
  int (*version)(int* version) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device)(CuDevice* device, int ordinal) = nullptr;
  int (*device_name)(char* name, int length, CuDevice device) = nullptr;
  int (*attribute)(int* value, CuAttribute attribute, CuDevice device) = nullptr;
  int (*total_memory)(std::size_t* bytes, CuDevice device) = nullptr;
  int (*create_context)(CuHandle* context, unsigned flags, CuDevice device) = nullptr;
  int (*synchronize)() = nullptr;
  int (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  int (*allocate)(CuAddress* address, std::size_t bytes) = nullptr;
  int (*release)(CuAddress address) = nullptr;
  int (*copy_to_device)(CuAddress to, const void* from, std::size_t bytes) = nullptr;
  int (*copy_to_host)(void* to, CuAddress from, std::size_t bytes) = nullptr;
  int (*fill)(CuAddress address, unsigned char value, std::size_t bytes) = nullptr;
  int (*load_module)(CuHandle* module, const void* image) = nullptr;
  int (*find_function)(CuHandle* function, CuHandle module, const char* name) = nullptr;
  int (*launch)(CuHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                CuHandle stream, void** parameters, void** extra) = nullptr;
  int (*error_name)(int error, const char** name) = nullptr;
};

// Throws NoGpu when the library or one of the functions is missing. It stays loaded.
DriverApi open_driver(const std::string& library);

// Throws std::runtime_error, with the driver's name of the error, unless `status` is 0.
void check(const DriverApi& driver, int status, const char* what);

}  // namespace slicewise::gpu_probe
