#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_timetable.hpp"
#include "kernels.hpp"

// A driver and an NVML of a GPU that is a file (FAKE_GPU), which all processes map: whose kernels
// run when, and what they get done, follows from figures that a test sets and the probe must find.
namespace fake_gpu {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kMpsMaxClients = 808;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::size_t kGibibyte = std::size_t{1} << 30;
constexpr std::array<double, 3> kUnitsPerSecond = {1e9, 2e8, 1e8};
constexpr double kMpsSpeed[3][3] = {{0.50, 0.95, 0.97}, {0.90, 0.52, 0.80}, {0.96, 0.70, 0.99}};

std::uint64_t figure(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void sleep_until(std::uint64_t time) {
  const timespec until{static_cast<time_t>(time / 1'000'000'000U),
                       static_cast<long>(time % 1'000'000'000U)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

bool under_mps() {
  const char* pipes = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  struct stat ignored {};
  return pipes != nullptr && ::stat((std::string(pipes) + "/control").c_str(), &ignored) == 0;
}

constexpr std::size_t kMostProcesses = 128;
constexpr std::size_t kMostRecords = std::size_t{1} << 18;

struct State {
  std::array<pid_t, kMostProcesses> processes;
  std::size_t records;
  std::array<Record, kMostRecords> record;
};

// The file, locked while somebody looks at it.
class Shared {
 public:
  Shared() {
    const char* name = std::getenv("FAKE_GPU");
    file_ = ::open(name == nullptr ? "" : name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0 || ::ftruncate(file_, sizeof(State)) != 0) std::abort();
    state_ = static_cast<State*>(
        ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
  }
  template <class Use>
  auto with(Use use) {
    ::flock(file_, LOCK_EX);
    auto result = use(*state_);
    ::flock(file_, LOCK_UN);
    return result;
  }

 private:
  int file_ = -1;
  State* state_ = nullptr;
};

Shared& shared() {
  static Shared one;
  return one;
}

std::size_t alive(State& state) {
  std::size_t count = 0;
  for (pid_t& process : state.processes) {
    if (process != 0 && ::kill(process, 0) != 0) process = 0;
    count += process != 0 ? 1U : 0U;
  }
  return count;
}

struct Mine {
  int process = -1;
  Record running;
  slicewise::gpu_probe::KernelReport* report = nullptr;
  std::size_t working_set = 0;

  ~Mine() {
    if (process < 0) return;
    shared().with([&](State& state) {
      state.processes[static_cast<std::size_t>(process)] = 0;
      return 0;
    });
  }
};

Mine& mine() {
  static Mine one;
  return one;
}

std::vector<Record> all_records() {
  std::vector<Record> out = shared().with([](State& state) {
    return std::vector<Record>(state.record.begin(),
                               state.record.begin() + static_cast<long>(state.records));
  });
  std::ranges::sort(out, {}, &Record::from);
  return out;
}

// Part of its speed that a kernel has beside those of other MPS clients, by how long they are
// there. A client that launches one kernel after the other is there in between as well.
double speed_under_mps(const Record& own, const std::vector<Record>& all) {
  constexpr std::uint64_t kBetween = 8 * kMillisecond;
  double speed = 1;
  std::array<std::uint64_t, kMostProcesses> seen_until{};
  for (const Record& other : all) {
    if (other.process == own.process) continue;
    std::uint64_t& seen = seen_until[static_cast<std::size_t>(other.process)];
    const std::uint64_t from = std::max({own.from, other.from, seen});
    const std::uint64_t to = std::min(own.to, other.to + kBetween);
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
  const std::vector<Record> all = all_records();
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
  mine().process = shared().with([](State& state) {
    if (under_mps() && alive(state) >= figure("FAKE_MPS_CLIENTS", 6)) return -1;
    const auto free = std::ranges::find(state.processes, 0);
    *free = ::getpid();
    return static_cast<int>(free - state.processes.begin());
  });
  return mine().process < 0 ? kMpsMaxClients : 0;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = 40 * kGibibyte;
  *free = *total - shared().with([](State& state) {
    return alive(state) * (figure("FAKE_CONTEXT_MIB", 400) << 20);
  });
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
  }
  return 0;
}

int cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return 0;
}
// The text has the kernel, as a real driver would find.
int cuModuleGetFunction(void** function, void* /*module*/, const char* name) {
  const auto kernel = slicewise::gpu_probe::kernel_called(name);
  const std::string text = slicewise::gpu_probe::ptx_text();
  if (!kernel || text.find(".entry " + std::string(name) + "(") == std::string::npos) return 500;
  *function = reinterpret_cast<void*>(static_cast<std::uintptr_t>(*kernel) + 1);
  return 0;
}

int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void*, void** parameters, void**) {
  constexpr unsigned kFilling = 4 * 108;
  const std::uint64_t length = *static_cast<std::uint64_t*>(parameters[3]);
  mine().report = reinterpret_cast<slicewise::gpu_probe::KernelReport*>(
      *static_cast<unsigned long long*>(parameters[0]));
  mine().working_set = *static_cast<std::uint64_t*>(parameters[2]) * 4;
  const std::uint64_t from = now();
  mine().running = {mine().process,
                    static_cast<int>(reinterpret_cast<std::uintptr_t>(function)) - 1,
                    blocks > kFilling, from, from + length};
  if (length < 100'000) return 0;  // nobody notices
  return shared().with([](State& state) {
    if (state.records == kMostRecords) return 999;
    state.record[state.records++] = mine().running;
    return 0;
  });
}

int cuCtxSynchronize() {
  Record& own = mine().running;
  if (own.to == 0) return 0;
  const bool is_short = own.to - own.from < 20 * kMillisecond;
  if (is_short) {
    if (own.to - own.from >= 100'000) sleep_until(end_of_short(own, all_records()));
  } else {
    sleep_until(own.to + 5 * kMillisecond);  // by then all that began in between is in the file
    finish_long(own, *mine().report);
  }
  own.to = 0;
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
