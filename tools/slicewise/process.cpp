#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slicewise::tools {

tl::expected<std::string, std::string> output_of(std::vector<std::string> words, std::size_t most) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected<std::string>(std::strerror(errno));
  std::vector<char*> arguments(words.size() + 1);  // and nullptr at the end
  std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
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
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  return tl::unexpected(WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                          : fmt::format("ended by signal {}", WTERMSIG(status)));
}

}  // namespace slicewise::tools
