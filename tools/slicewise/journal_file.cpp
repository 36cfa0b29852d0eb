#include "journal_file.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slicewise::tools {
namespace {

tl::unexpected<Diagnostics> journal_refused(const std::string& path, Code code, std::size_t line,
                                            std::string message, std::string help) {
  return failure(code, {path, static_cast<int>(line), 1, 1}, std::move(message), std::move(help));
}

std::optional<std::string> whole_file(int file) {
  std::string text;
  std::vector<char> piece(1U << 16U);
  for (;;) {
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

bool write_line(int file, std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t wrote = ::write(file, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return fdatasync(file) == 0;
}

}  // namespace

Expected<JournalFile> JournalFile::open(const std::string& path, const std::string& first,
                                        const std::function<bool(std::string_view line)>& take) {
  constexpr mode_t kReadableByAll = 0644;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kReadableByAll);
  if (file < 0) {
    return journal_refused(path, Code::FileUnreadable, 1,
                           fmt::format("cannot open the journal: {}", std::strerror(errno)), "");
  }
  JournalFile journal(file);
  struct stat what {};
  if (fstat(file, &what) != 0 || !S_ISREG(what.st_mode)) {
    return journal_refused(path, Code::FileUnreadable, 1, "the journal is no regular file",
                           "name a file that is one, or is not there yet");
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return journal_refused(path, Code::PlanStale, 1, "another run is writing this journal",
                           "wait for it, or name another file");
  }
  const auto text = whole_file(file);
  if (!text) {
    return journal_refused(path, Code::FileUnreadable, 1, "cannot read the journal", "");
  }
  std::size_t at = 0;
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(*text).substr(at, end - at);
    if (number == 1 && line != first) {
      return journal_refused(
          path, Code::PlanStale, 1,
          "this journal is of another scenario, question, catalogue, price file or build",
          "name another file, or remove this one");
    }
    if (number > 1 && !take(line)) {
      return journal_refused(path, Code::PlanStale, number, "no line of a journal",
                             "name another file, or remove this one");
    }
    at = end + 1;
  }
  const bool whole = ftruncate(file, static_cast<off_t>(at)) == 0;
  if (!whole || (at == 0 && !write_line(file, first))) {
    return journal_refused(path, Code::FileUnreadable, 1,
                           fmt::format("cannot write the journal: {}", std::strerror(errno)), "");
  }
  return journal;
}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), failed_(other.failed_) {}

JournalFile::~JournalFile() {
  if (file_ >= 0) close(file_);
}

void JournalFile::write(const std::string& line) {
  if (!failed_) failed_ = !write_line(file_, line);
}

}  // namespace slicewise::tools
