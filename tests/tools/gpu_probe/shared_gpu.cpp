#include "shared_gpu.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fake_gpu {
namespace {

constexpr std::uint64_t kStart = 1'000'000'000;  // of the clock: nothing is at 0

// Real time: until others have had a chance to go on.
void let_others_work() { ::usleep(20); }

// What has ended stays in the table of processes until somebody has asked how: kill() finds it.
bool has_ended(pid_t pid) {
  if (::kill(pid, 0) != 0) return true;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t state = stat.rfind(") ");  // behind the program's name
  return state != std::string::npos && state + 2 < stat.size() && stat[state + 2] == 'Z';
}

bool alive(Process& process) {
  if (process.pid != 0 && has_ended(process.pid)) process = {};
  return process.pid != 0;
}

}  // namespace

// The file is locked while somebody looks at it.
template <class Use>
auto SharedGpu::with(Use use) {
  struct Lock {
    int file;
    explicit Lock(int which) : file(which) { ::flock(file, LOCK_EX); }
    ~Lock() { ::flock(file, LOCK_UN); }
  } const lock(file_);
  return use(*state_);
}

SharedGpu::SharedGpu() {
  const char* name = std::getenv("FAKE_GPU");
  file_ = ::open(name == nullptr ? "" : name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0 || ::ftruncate(file_, sizeof(State)) != 0) std::abort();
  void* const mapped = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) {
    std::perror("FAKE_GPU cannot be mapped");
    std::abort();
  }
  state_ = static_cast<State*>(mapped);
  with([](State& state) { state.clock = std::max(state.clock, kStart); });
}

SharedGpu::~SharedGpu() {
  if (number_ >= 0) with([&](State&) { own() = {}; });
}

int SharedGpu::enter(std::size_t most) {
  return number_ = with([&](State& state) {
           if (static_cast<std::size_t>(std::ranges::count_if(state.processes, alive)) >= most) {
             return -1;
           }
           const auto free = std::ranges::find(state.processes, 0, &Process::pid);
           free->pid = ::getpid();
           return static_cast<int>(free - state.processes.begin());
         });
}

std::size_t SharedGpu::processes() {
  return with([](State& state) {
    return static_cast<std::size_t>(std::ranges::count_if(state.processes, alive));
  });
}

void SharedGpu::note_kernel() {
  with([&](State&) { own().has_kernel = true; });
}

void SharedGpu::begin_run() {
  in_a_run = true;
  with([&](State&) { own().runs = true; });
  const auto all_run = [](State& state) {
    return std::ranges::all_of(state.processes, [](Process& process) {
      return !alive(process) || !process.has_kernel || process.runs;
    });
  };
  while (!with(all_run)) let_others_work();
}

void SharedGpu::end_run() {
  in_a_run = false;
  with([&](State&) { own().runs = false; });
}

std::uint64_t SharedGpu::now() {
  return with([](State& state) { return state.clock; });
}

void SharedGpu::wait_until(std::uint64_t time) {
  with([&](State&) { own().wakes_at = time; });
  const auto is_over = [&](State& state) {
    std::uint64_t first = time;
    for (Process& process : state.processes) {
      if (!alive(process) || !process.runs) continue;
      if (process.wakes_at <= state.clock) return state.clock >= time;
      first = std::min(first, process.wakes_at);
    }
    state.clock = first;
    return first >= time;
  };
  while (!with(is_over)) let_others_work();
}

bool SharedGpu::add(const Record& record) {
  return with([&](State& state) {
    if (state.records == kMostRecords) return false;
    state.record[state.records++] = record;
    return true;
  });
}

std::vector<Record> SharedGpu::records() {
  std::vector<Record> out = with([](State& state) {
    return std::vector<Record>(state.record.begin(),
                               state.record.begin() + static_cast<long>(state.records));
  });
  std::ranges::sort(out, {}, [](const Record& one) { return std::pair(one.from, one.process); });
  return out;
}

SharedGpu& shared() {
  static SharedGpu one;
  return one;
}

}  // namespace fake_gpu
