#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_timetable.hpp"
#include "kernels.hpp"
#include "shared_gpu.hpp"

// A driver and an NVML of a GPU that is a file: whose kernels run when, and what they get done,
// follows from figures that a test sets and the probe must find. Loaded before the C library
// (LD_PRELOAD), it gives the probe the GPU's time for its own.
namespace fake_gpu {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kMpsMaxClients = 808;
constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kGibibyte = std::size_t{1} << 30;
constexpr std::array<double, 3> kUnitsPerSecond = {1e9, 2e8, 1e8};
constexpr double kMpsSpeed[3][3] = {{0.50, 0.95, 0.97}, {0.90, 0.52, 0.80}, {0.96, 0.70, 0.99}};

std::uint64_t figure(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

bool under_mps() {
  const char* pipes = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  struct stat ignored {};
  return pipes != nullptr && ::stat((std::string(pipes) + "/control").c_str(), &ignored) == 0;
}

struct Mine {
  Record running;
  slicewise::gpu_probe::KernelReport* report = nullptr;
  std::size_t working_set = 0;
  std::string module{};  // the text that was loaded
};

Mine& mine() {
  static Mine one;
  return one;
}

// Part of its speed that a kernel has beside those of other MPS clients, by how long they are
// there.
double speed_under_mps(const Record& own, const std::vector<Record>& all) {
  double speed = 1;
  std::array<std::uint64_t, kMostProcesses> seen_until{};
  for (const Record& other : all) {
    if (other.process == own.process) continue;
    std::uint64_t& seen = seen_until[static_cast<std::size_t>(other.process)];
    const std::uint64_t from = std::max({own.from, other.from, seen});
    const std::uint64_t to = std::min(own.to, other.to);
    if (to <= from) continue;
    seen = to;
    const double part = static_cast<double>(to - from) / static_cast<double>(own.to - own.from);
    speed -= (1 - kMpsSpeed[own.kernel][other.kernel]) * part;
  }
  const auto percent = static_cast<double>(figure("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", 100)) / 100;
  return speed * (own.kernel == 0 ? percent : std::min(1.0, 2 * percent));
}

// A short kernel waits for the turn of another process, or for blocks that fill the GPU.
std::uint64_t end_of_short(const Record& own, const std::vector<Record>& all) {
  std::uint64_t wait = 0;
  for (const Record& other : all) {
    if (other.process == own.process || other.from > own.from || other.to <= own.from) continue;
    if (!under_mps()) {
      wait = (figure("FAKE_TURN_US", 1'000) + figure("FAKE_SWITCH_US", 100)) * 1'000;
    } else if (other.fills) {
      wait = other.to - own.from;
    }
  }
  return own.to + wait;
}

void finish_long(const Record& own, slicewise::gpu_probe::KernelReport& report) {
  const std::vector<Record> all = shared().records();
  std::vector<Span> active = {{own.from, own.to}};
  double speed = 1;
  if (under_mps()) {
    speed = speed_under_mps(own, all);
  } else {
    active = turns_of(own, all, figure("FAKE_TURN_US", 1'000) * 1'000,
                      figure("FAKE_SWITCH_US", 100) * 1'000);
  }
  if (active.empty()) return;
  const double refill = active.size() < 2
                            ? 0
                            : static_cast<double>(figure("FAKE_REFILL_NS_PER_MIB", 0)) *
                                  static_cast<double>(mine().working_set >> 20);
  double seconds = 0;
  for (const Span& span : active) {
    seconds += std::max(0.0, static_cast<double>(span.to - span.from) - refill) * 1e-9;
  }
  report.begin = active.front().from;
  report.end = active.back().to;
  report.units += static_cast<std::uint64_t>(seconds * speed *
                                             kUnitsPerSecond[static_cast<std::size_t>(own.kernel)]);
  for (std::size_t i = 1; i < active.size() && report.pauses < report.pause.size(); ++i) {
    report.pause[report.pauses++] = {active[i - 1].to, active[i].from};
  }
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!in_a_run || clock != CLOCK_MONOTONIC) {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  }
  const std::uint64_t now = shared().now();
  *time = {static_cast<time_t>(now / kSecond), static_cast<long>(now % kSecond)};
  return 0;
}
int nanosleep(const timespec* length, timespec* left) {
  if (!in_a_run) return static_cast<int>(::syscall(SYS_nanosleep, length, left));
  shared().wait_until(shared().now() + static_cast<std::uint64_t>(length->tv_sec) * kSecond +
                      static_cast<std::uint64_t>(length->tv_nsec));
  return 0;
}

int cuInit(unsigned) { return figure("FAKE_GPUS", 1) == 0 ? kNoDevice : 0; }
int cuDriverGetVersion(int* version) {
  *version = 12'040;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(figure("FAKE_GPUS", 1));
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "NVIDIA A100-SXM4-40GB", static_cast<std::size_t>(length) - 1);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const bool slice = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr;
  *value = attribute == 13   ? 1'410'000
           : attribute == 16 ? (slice ? 14 : 108)
           : attribute == 36 ? 1'215'000
           : attribute == 38 ? 8 << 20
           : attribute == 75 ? 8
                             : 0;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr ? 5 * kGibibyte : 40 * kGibibyte;
  return 0;
}

int cuCtxCreate_v2(void** context, unsigned, int) {
  *context = &mine();
  const std::size_t most = under_mps() ? figure("FAKE_MPS_CLIENTS", 6) : kMostProcesses;
  return shared().enter(most) < 0 ? kMpsMaxClients : 0;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = 40 * kGibibyte;
  *free = *total - shared().processes() * (figure("FAKE_CONTEXT_MIB", 400) << 20);
  if (in_a_run) shared().end_run();  // a run ends with this call
  return 0;
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  const bool limited = std::getenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT") != nullptr;
  if (under_mps() && limited && bytes > kGibibyte) return kOutOfMemory;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = reinterpret_cast<unsigned long long>(memory);
  return 0;
}
int cuMemFree_v2(unsigned long long) { return 0; }
int cuMemcpyHtoD_v2(unsigned long long, const void*, std::size_t) { return 0; }
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemsetD8_v2(unsigned long long address, unsigned char value, std::size_t bytes) {
  if (bytes == sizeof(slicewise::gpu_probe::KernelReport)) {
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    shared().begin_run();  // with this one it begins
  }
  return 0;
}

int cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  mine().module = static_cast<const char*>(image);
  shared().note_kernel();
  return 0;
}
// The text has the kernel, as a real driver would find.
int cuModuleGetFunction(void** function, void* /*module*/, const char* name) {
  const auto& names = slicewise::gpu_probe::kKernelNames;
  const auto* const kernel = std::ranges::find(names, std::string_view(name));
  const std::string& text = mine().module;
  if (kernel == names.end() || text.find(".entry " + std::string(name) + "(") == std::string::npos)
    return 500;
  *function = reinterpret_cast<void*>(kernel - names.begin() + 1);
  return 0;
}

int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void*, void** parameters, void**) {
  constexpr unsigned kFilling = 4 * 108;
  const std::uint64_t length = *static_cast<std::uint64_t*>(parameters[3]);
  mine().report = reinterpret_cast<slicewise::gpu_probe::KernelReport*>(
      *static_cast<unsigned long long*>(parameters[0]));
  mine().working_set = *static_cast<std::uint64_t*>(parameters[2]) * 4;
  if (in_a_run) {
    shared().wait_until(shared().now() + figure("FAKE_LAUNCH_US", 5) * kMicrosecond);
  }
  const std::uint64_t from = shared().now();
  mine().running = {shared().number(),
                    static_cast<int>(reinterpret_cast<std::uintptr_t>(function)) - 1,
                    blocks > kFilling, from, from + length};
  if (!in_a_run || length < 100 * kMicrosecond) return 0;  // nobody notices
  return shared().add(mine().running) ? 0 : 999;
}

// All that began before the end of its time is in the file when that has come.
int cuCtxSynchronize() {
  const Record own = std::exchange(mine().running, {});
  if (!in_a_run || own.to == 0) return 0;
  shared().wait_until(own.to);
  if (own.to - own.from < 20 * kMillisecond) {
    shared().wait_until(end_of_short(own, shared().records()));
  } else {
    finish_long(own, *mine().report);
  }
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == kMpsMaxClients ? "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"
          : error == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
                                  : "CUDA_ERROR_UNKNOWN";
  return 0;
}

int nvmlInit_v2() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "550.54.15", length - 1);
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
  *device = &mine();
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1'410 : 1'215;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 44;
  return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = *pending = static_cast<unsigned>(figure("FAKE_MIG", 0));
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned index, void** mig) {
  *mig = &mine();
  return index == 1 ? 0 : 6;  // NVML_ERROR_NOT_FOUND: a place that nobody took
}
int nvmlDeviceGetName(void*, char* text, unsigned length) {
  std::strncpy(text, "NVIDIA A100-SXM4-40GB MIG 1g.5gb", length - 1);
  return 0;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned length) {
  std::strncpy(text, "MIG-fake", length - 1);
  return 0;
}
}
