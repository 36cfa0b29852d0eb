#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "fake_timetable.hpp"

// The GPU that is a file (FAKE_GPU), which all processes map: who has a context, which kernels ran,
// and a clock of its own. Time passes only while every process that runs kernels waits for it, and
// then jumps to the first one's end: what is found does not depend on how busy the machine is.
namespace fake_gpu {

inline constexpr std::size_t kMostProcesses = 128;
inline constexpr std::size_t kMostRecords = std::size_t{1} << 18;

struct Process {
  pid_t pid = 0;
  bool has_kernel = false;
  bool runs = false;           // between the first call of a run and its last
  std::uint64_t wakes_at = 0;  // what it waits for; in the past while it works
};

struct State {
  std::array<Process, kMostProcesses> processes;
  std::uint64_t clock;  // nanoseconds
  std::size_t records;
  std::array<Record, kMostRecords> record;
};

// This process' view of it.
class SharedGpu {
 public:
  SharedGpu();
  ~SharedGpu();
  SharedGpu(const SharedGpu&) = delete;
  SharedGpu& operator=(const SharedGpu&) = delete;

  // A number for this process, or -1 where `most` have a context.
  int enter(std::size_t most);
  int number() const { return number_; }
  std::size_t processes();
  void note_kernel();

  // A run begins when all processes with a kernel have begun it.
  void begin_run();
  void end_run();

  std::uint64_t now();
  void wait_until(std::uint64_t time);

  bool add(const Record& record);  // false: the file is full
  std::vector<Record> records();   // by `from`

 private:
  template <class Use>
  auto with(Use use);
  Process& own() { return state_->processes[static_cast<std::size_t>(number_)]; }

  int file_ = -1;
  State* state_ = nullptr;
  int number_ = -1;
};

SharedGpu& shared();

// Whether this process is in one: a clock is asked before and after there is a GPU, too.
inline bool in_a_run = false;

}  // namespace fake_gpu
