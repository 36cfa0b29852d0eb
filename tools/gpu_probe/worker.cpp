#include "worker.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.hpp"

namespace slicewise::gpu_probe {
namespace {

constexpr int kPatienceMs = 60'000;

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no more pipes");
  return ends;
}

// The environment of a child: what a task names replaces what is there.
std::vector<std::string> environment_for(const Task& task) {
  std::vector<std::string> out;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!task.environment.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : task.environment) {
    if (!value.empty()) out.push_back(std::string(name).append("=").append(value));
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Worker::Worker(const Machine& machine, const Task& task) {
  const std::array<int, 2> in = make_pipe();
  const std::array<int, 2> out = make_pipe();
  std::vector<std::string> arguments = {
      "gpu_probe", "--child", nlohmann::json(task).dump(), "--driver", machine.driver, "--gpu",
      // With CUDA_VISIBLE_DEVICES a slice is the only GPU.
      task.environment.contains("CUDA_VISIBLE_DEVICES") ? "0" : std::to_string(machine.gpu)};
  std::vector<std::string> environment = environment_for(task);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execve("/proc/self/exe", argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_child_ = in[1];
  from_child_ = out[0];
  if (pid_ < 0) throw std::runtime_error("no more processes");
}

Worker::~Worker() {
  ::close(to_child_);  // its sign to end
  ::close(from_child_);
  if (pid_ <= 0) return;
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    ::usleep(10'000);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

nlohmann::json Worker::read_line() {
  std::size_t end = 0;
  while ((end = read_.find('\n')) == std::string::npos) {
    pollfd ready{from_child_, POLLIN, 0};
    if (::poll(&ready, 1, kPatienceMs) <= 0) throw std::runtime_error("a process hangs");
    std::array<char, 65'536> part{};
    const ssize_t count = ::read(from_child_, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("a process died");
    read_.append(part.data(), static_cast<std::size_t>(count));
  }
  nlohmann::json line = nlohmann::json::parse(read_.substr(0, end));
  read_.erase(0, end + 1);
  if (line.contains("noGpu")) throw NoGpu(line["noGpu"].get<std::string>());
  if (line.contains("error")) throw std::runtime_error(line["error"].get<std::string>());
  return line;
}

nlohmann::json Worker::wait_ready() { return read_line().at("ready"); }

void Worker::go() {
  if (::write(to_child_, "go\n", 3) != 3) throw std::runtime_error("a process died");
}

Outcome Worker::outcome() { return read_line().get<Outcome>(); }

std::vector<std::vector<Outcome>> run_together(const Machine& machine,
                                               const std::vector<Task>& tasks) {
  std::vector<std::unique_ptr<Worker>> workers;
  workers.reserve(tasks.size());
  for (const Task& task : tasks) workers.push_back(std::make_unique<Worker>(machine, task));
  for (const auto& worker : workers) worker->wait_ready();
  std::vector<std::vector<Outcome>> runs;
  for (int run = 0; run < machine.repetitions; ++run) {
    for (const auto& worker : workers) worker->go();
    runs.emplace_back();
    for (const auto& worker : workers) runs.back().push_back(worker->outcome());
  }
  return runs;
}

Spread speeds_alone(const Machine& machine, const Task& task) {
  std::vector<double> speeds;
  for (const std::vector<Outcome>& run : run_together(machine, {task})) {
    speeds.push_back(run.front().units_per_second);
  }
  return spread_of(std::move(speeds));
}

Task without_mps(Task task) {
  task.environment["CUDA_MPS_PIPE_DIRECTORY"] = "/nonexistent/mps";
  return task;
}

}  // namespace slicewise::gpu_probe
