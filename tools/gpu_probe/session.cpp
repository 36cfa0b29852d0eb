#include <array>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "driver_api.hpp"
#include "embedded/probe_files.hpp"
#include "library.hpp"
#include "worker.hpp"

namespace slicewise::gpu_probe {
namespace {

// Volta is the oldest that slicewise models; newer GPUs compile the text when they load it.
constexpr std::string_view kHeader = ".version 6.0\n.target sm_70\n.address_size 64\n";

// A kernel is prologue.ptx, its round and epilogue.ptx. Registers: rd1 report, rd2 data, rd3 words,
// rd4 deadline, rd5 now, rd6 last, rd7 units, rd8 pauses, rd9 begin, r1 number of the thread, r2
// all threads, r3 mask of words, r4 position; p1 first thread.
constexpr int kSteps = 16;  // of a round: some microseconds at most, so that pauses stand out

// Each waits for the one before: the arithmetic units are busy, the memory idle.
std::string compute_round() {
  std::string text;
  for (int step = 0; step < 4 * kSteps; ++step) text += "  fma.rn.f32 %f1, %f1, %f2, %f3;\n";
  return text;
}

// Reads that do not wait for each other, the threads of a warp side by side.
std::string bandwidth_round() {
  std::string text;
  for (int step = 0; step < kSteps; ++step) {
    text += fmt::format(
        "  and.b32 %r5, %r4, %r3;\n  mul.wide.u32 %rd12, %r5, 4;\n  add.u64 %rd12, %rd12, %rd2;\n"
        "  ld.global.cg.u32 %r{0}, [%rd12];\n  add.u32 %r4, %r4, %r2;\n",
        20 + step);
  }
  for (int step = 0; step < kSteps; ++step) {
    text += fmt::format("  xor.b32 %r6, %r6, %r{};\n", 20 + step);
  }
  return text;
}

// Each address is what the last read brought.
std::string latency_round() {
  std::string text = "  and.b32 %r4, %r4, %r3;\n";
  for (int step = 0; step < kSteps / 4; ++step) {
    text +=
        "  mul.wide.u32 %rd12, %r4, 4;\n  add.u64 %rd12, %rd12, %rd2;\n"
        "  ld.global.cg.u32 %r4, [%rd12];\n";
  }
  return text + "  xor.b32 %r6, %r6, %r4;\n";
}

std::string entry(Kernel kernel, const std::string& round) {
  return fmt::format(fmt::runtime(probe_files::prologue_ptx()), fmt::arg("name", name_of(kernel))) +
         round +
         fmt::format(fmt::runtime(probe_files::epilogue_ptx()), fmt::arg("pause", kPause),
                     fmt::arg("most", kMostPauses));
}

// The module as text. Each kernel takes (u64 report, u64 data, u64 words, u64 nanoseconds); `words`
// of 4 bytes is a power of two, at least 2^16.
std::string ptx_text() {
  return std::string(kHeader) + entry(Kernel::Compute, compute_round()) +
         entry(Kernel::Bandwidth, bandwidth_round()) + entry(Kernel::Latency, latency_round());
}

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

constexpr std::size_t kWord = 4;
constexpr std::uint64_t kPerMillisecond = 1'000'000;
constexpr std::uint64_t kPerMicrosecond = 1'000;

// Its context, its memory, its kernels.
class Session {
 public:
  // Throws NoGpu, or std::runtime_error with the driver's words.
  Session(const std::string& library, int gpu, const Task& task);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  nlohmann::json description() const;  // of the GPU, and of the slice of it that is seen
  Outcome run();

 private:
  int attribute(CuAttribute attribute) const;
  void prepare_data();
  void launch(std::uint64_t nanoseconds);
  void run_one_kernel(Outcome& out);
  void run_many_kernels(Outcome& out);

  Task task_;
  DriverApi driver_;
  CuDevice device_ = 0;
  CuHandle function_ = nullptr;
  CuAddress report_ = 0;
  CuAddress data_ = 0;
  unsigned blocks_ = 0;
};

Session::Session(const std::string& library, int gpu, const Task& task)
    : task_(task), driver_(open_driver(library)) {
  if (driver_.init(0) != 0) throw NoGpu("the driver finds no GPU");
  int count = 0;
  if (driver_.device_count(&count) != 0 || gpu >= count) {
    throw NoGpu("there is no GPU " + std::to_string(gpu) + ", but " + std::to_string(count));
  }
  check(driver_, driver_.device(&device_, gpu), "cuDeviceGet");
  CuHandle context = nullptr;
  check(driver_, driver_.create_context(&context, kBlockingSync, device_), "cuCtxCreate");
  if (task_.kernel == Kernel::None) return;
  CuHandle module = nullptr;
  check(driver_, driver_.load_module(&module, ptx_text().c_str()), "cuModuleLoadData");
  check(driver_,
        driver_.find_function(&function_, module, std::string(name_of(task_.kernel)).c_str()),
        "cuModuleGetFunction");
  blocks_ = task_.blocks_per_sm * static_cast<unsigned>(attribute(CuAttribute::SmCount));
  check(driver_, driver_.allocate(&report_, sizeof(KernelReport)), "cuMemAlloc");
  check(driver_, driver_.allocate(&data_, task_.working_set), "cuMemAlloc");
  prepare_data();
  launch(kPerMicrosecond);  // what the first launch loads is not measured
  check(driver_, driver_.synchronize(), "cuCtxSynchronize");
}

// For the chain of reads: each word names another one, far away; an odd step from anywhere reaches
// every word of a power of two.
void Session::prepare_data() {
  if (task_.kernel != Kernel::Latency) {
    check(driver_, driver_.fill(data_, 1, task_.working_set), "cuMemsetD8");
    return;
  }
  constexpr std::uint32_t kFar = 0x9E3779B1;
  constexpr std::uint32_t kPart = 1 << 14;  // words that are written at a time; divides the set
  const auto mask = static_cast<std::uint32_t>(task_.working_set / kWord - 1);
  std::array<std::uint32_t, kPart> next{};
  for (std::uint64_t done = 0; done <= mask; done += kPart) {
    for (std::uint32_t i = 0; i < kPart; ++i) {
      next[i] = (static_cast<std::uint32_t>(done) + i + kFar) & mask;
    }
    check(driver_, driver_.copy_to_device(data_ + done * kWord, next.data(), sizeof(next)),
          "cuMemcpyHtoD");
  }
}

int Session::attribute(CuAttribute wanted) const {
  int value = 0;
  check(driver_, driver_.attribute(&value, wanted, device_), "cuDeviceGetAttribute");
  return value;
}

nlohmann::json Session::description() const {
  std::array<char, 128> name{};
  std::size_t memory = 0;
  int version = 0;
  check(driver_, driver_.device_name(name.data(), name.size(), device_), "cuDeviceGetName");
  check(driver_, driver_.total_memory(&memory, device_), "cuDeviceTotalMem");
  check(driver_, driver_.version(&version), "cuDriverGetVersion");
  constexpr int kThousand = 1'000;
  return {{"name", name.data()},
          {"cuda",
           std::to_string(version / kThousand) + "." + std::to_string(version % kThousand / 10)},
          {"computeCapability", std::to_string(attribute(CuAttribute::CapabilityMajor)) + "." +
                                    std::to_string(attribute(CuAttribute::CapabilityMinor))},
          {"smCount", attribute(CuAttribute::SmCount)},
          {"memoryBytes", memory},
          {"l2Bytes", attribute(CuAttribute::L2Bytes)},
          {"maximumClockMhz", attribute(CuAttribute::ClockKhz) / kThousand},
          {"maximumMemoryClockMhz", attribute(CuAttribute::MemoryClockKhz) / kThousand}};
}

void Session::launch(std::uint64_t nanoseconds) {
  std::uint64_t words = task_.working_set / kWord;
  std::array<void*, 4> parameters = {&report_, &data_, &words, &nanoseconds};
  check(driver_,
        driver_.launch(function_, blocks_, 1, 1, kThreadsPerBlock, 1, 1, 0, nullptr,
                       parameters.data(), nullptr),
        "cuLaunchKernel");
}

void Session::run_one_kernel(Outcome& out) {
  const auto report = std::make_unique<KernelReport>();
  check(driver_, driver_.fill(report_, 0, sizeof(KernelReport)), "cuMemsetD8");
  launch(static_cast<std::uint64_t>(task_.run_ms) * kPerMillisecond);
  check(driver_, driver_.synchronize(), "cuCtxSynchronize");
  check(driver_, driver_.copy_to_host(report.get(), report_, sizeof(KernelReport)), "cuMemcpyDtoH");
  out.active = active_times(*report);
  const auto nanoseconds = static_cast<double>(report->end - report->begin);
  if (nanoseconds > 0) {
    out.units_per_second = static_cast<double>(report->units) * 1e9 / nanoseconds;
  }
}

void Session::run_many_kernels(Outcome& out) {
  std::vector<double> latencies;
  std::vector<double> launches;
  const auto length = static_cast<std::uint64_t>(task_.launch_us) * kPerMicrosecond;
  check(driver_, driver_.fill(report_, 0, sizeof(KernelReport)), "cuMemsetD8");
  const auto end = Clock::now() + std::chrono::milliseconds(task_.run_ms);
  double sum = 0;
  while (Clock::now() < end) {
    const auto from = Clock::now();
    launch(length);
    launches.push_back(microseconds_since(from));
    check(driver_, driver_.synchronize(), "cuCtxSynchronize");
    latencies.push_back(microseconds_since(from));
    sum += latencies.back();
    if (task_.pause_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(task_.pause_us));
  }
  const auto report = std::make_unique<KernelReport>();
  check(driver_, driver_.copy_to_host(report.get(), report_, sizeof(KernelReport)), "cuMemcpyDtoH");
  out.units_per_second = static_cast<double>(report->units) * 1e6 / sum;
  out.mean_latency_us = sum / static_cast<double>(latencies.size());
  out.latency_us = spread_of(std::move(latencies));
  out.launch_us = spread_of(std::move(launches));
}

Outcome Session::run() {
  Outcome out;
  if (task_.allocate > 0) {
    CuAddress more = 0;
    out.allocated = driver_.allocate(&more, task_.allocate) == 0;
    if (out.allocated) check(driver_, driver_.release(more), "cuMemFree");
  }
  if (task_.kernel != Kernel::None)
    task_.launch_us > 0 ? run_many_kernels(out) : run_one_kernel(out);
  std::size_t total = 0;
  check(driver_, driver_.memory_info(&out.free_bytes, &total), "cuMemGetInfo");
  return out;
}

}  // namespace

int serve(const std::string& library, int gpu, const Task& task) {
  try {
    Session session(library, gpu, task);
    std::cout << nlohmann::json({{"ready", session.description()}}).dump() << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
      std::cout << nlohmann::json(session.run()).dump() << std::endl;
    }
    return 0;
  } catch (const NoGpu& reason) {
    std::cout << nlohmann::json({{"noGpu", reason.what()}}).dump() << std::endl;
  } catch (const std::exception& problem) {
    std::cout << nlohmann::json({{"error", problem.what()}}).dump() << std::endl;
  }
  return 1;
}

}  // namespace slicewise::gpu_probe
