#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// What runs on the GPU: three kernels that each press on one resource until their time is over,
// count what they got done, and note when they stood still.
namespace slicewise::gpu_probe {

enum class Kernel : std::uint8_t { Compute, Bandwidth, Latency, None };

inline constexpr std::array<std::string_view, 3> kKernelNames = {"compute", "bandwidth", "latency"};

inline std::string_view name_of(Kernel kernel) {
  return kKernelNames[static_cast<std::size_t>(kernel)];
}

inline constexpr unsigned kThreadsPerBlock = 256;
inline constexpr std::size_t kMostPauses = 4096;

// A thread that reads the clock more than this apart stood still: the loop takes microseconds, a
// turn of another process a good part of a millisecond. Nanoseconds.
inline constexpr std::uint64_t kPause = 60'000;

// What a kernel leaves in memory; times are those of the GPU's %globaltimer, in nanoseconds, the
// same in all processes.
struct KernelReport {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t units = 0;  // rounds of all threads, of all launches since it was cleared
  std::uint64_t pauses = 0;
  struct Pause {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  std::array<Pause, kMostPauses> pause{};
};

}  // namespace slicewise::gpu_probe
