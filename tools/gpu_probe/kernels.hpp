#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What runs on the GPU: three kernels that each press on one resource until their time is over,
// count what they got done, and note when they stood still.
namespace slicewise::gpu_probe {

enum class Kernel : std::uint8_t { Compute, Bandwidth, Latency };

inline constexpr std::array<std::string_view, 3> kKernelNames = {"compute", "bandwidth", "latency"};

inline std::string_view name_of(Kernel kernel) {
  return kKernelNames[static_cast<std::size_t>(kernel)];
}
std::optional<Kernel> kernel_called(std::string_view name);

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

// The module as text. Each kernel takes (u64 report, u64 data, u64 words, u64 nanoseconds); `words`
// of 4 bytes is a power of two, at least 2^16.
std::string ptx_text();

}  // namespace slicewise::gpu_probe
