#include "shared_gpu.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The file that processes share in place of a GPU.
namespace fake_gpu {
namespace {

std::string use_new_file(const char* name) {
  std::string file = testing::TempDir() + name + std::to_string(::getpid());
  std::filesystem::remove(file);
  ::setenv("FAKE_GPU", file.c_str(), 1);
  return file;
}

// It waited for them for good: a child that its parent has not asked for is still there for kill().
TEST(SharedGpu, ProcessesThatEndedAreNotWaitedFor) {
  const std::string file = use_new_file("ended");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto* const gpu = new SharedGpu;  // whose end nobody tells the file
    gpu->enter(kMostProcesses);
    gpu->note_kernel();
    ::_exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  {
    SharedGpu gpu;
    EXPECT_EQ(gpu.processes(), 0U);
    ASSERT_GE(gpu.enter(1), 0);
    gpu.note_kernel();
    gpu.begin_run();
    gpu.end_run();
  }
  ::waitpid(child, nullptr, 0);
  std::filesystem::remove(file);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(SharedGpuDeathTest, SaysWhereItCannotBeMapped) {
  const std::string file = use_new_file("unmapped");
  const auto open_without_memory = [] {
    const rlimit none{1, 1};
    ::setrlimit(RLIMIT_AS, &none);
    const SharedGpu gpu;
  };
  EXPECT_DEATH(open_without_memory(), "cannot be mapped");
  std::filesystem::remove(file);
}
#endif

}  // namespace
}  // namespace fake_gpu
