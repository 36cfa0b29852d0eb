#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.hpp"

namespace slicewise::tools {

namespace {

// A file in memory. -1: there can be none, and a process says what it has to say by itself.
class SaidFile {
 public:
  SaidFile() : file_(memfd_create("stderr", MFD_CLOEXEC)) {}
  ~SaidFile() {
    if (file_ >= 0) close(file_);
  }
  SaidFile(const SaidFile&) = delete;
  SaidFile& operator=(const SaidFile&) = delete;

  int descriptor() const { return file_; }

  // Without the end of its last line; of a long text the beginning.
  std::string text() const {
    std::string text(4'096, '\0');
    const ssize_t count = file_ < 0 ? 0 : pread(file_, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  // Programs say in the end why they give up.
  std::string last_line() const {
    const std::string all = text();
    return all.substr(all.rfind('\n') + 1);
  }

 private:
  int file_;
};

}  // namespace

tl::expected<ProgramOutput, std::string> output_of(std::vector<std::string> words,
                                                   std::size_t most) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected<std::string>(std::strerror(errno));
  std::vector<char*> arguments(words.size() + 1);  // and nullptr at the end
  std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const SaidFile said;
  if (said.descriptor() >= 0) {
    posix_spawn_file_actions_adddup2(&actions, said.descriptor(), STDERR_FILENO);
  }
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 65'536> buffer{};
  while (problem == 0 && text.size() <= most) {
    const ssize_t count = read(ends[0], buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (problem != 0) return tl::unexpected<std::string>(std::strerror(problem));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (text.size() > most) return tl::unexpected<std::string>("the answer is too large");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (const std::string warning = said.text(); !warning.empty()) print_error(warning);
    return ProgramOutput{std::move(text), ""};
  }
  std::string why = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                      : fmt::format("ended by signal {}", WTERMSIG(status));
  if (const std::string last = said.last_line(); !last.empty()) why += ": " + last;
  return ProgramOutput{std::move(text), std::move(why)};
}

}  // namespace slicewise::tools
