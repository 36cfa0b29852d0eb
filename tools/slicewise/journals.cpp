#include "journals.hpp"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bug_report.hpp"

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

namespace {

constexpr std::string_view kStudyKind = "slicewise study journal 2: ";
constexpr std::string_view kDigits = "0123456789abcdef";

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::optional<std::string> bytes_of(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t n = 0; n < text.size(); n += 2) {
    const std::size_t high = kDigits.find(text[n]);
    const std::size_t low = kDigits.find(text[n + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4U | low);
  }
  return bytes;
}

// A number and the blank behind it, off the front.
std::optional<std::size_t> take_number(std::string_view& line) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
  const auto length = static_cast<std::size_t>(end - line.data());
  if (problem != std::errc{} || length == line.size() || line[length] != ' ') return std::nullopt;
  line.remove_prefix(length + 1);
  return number;
}

}  // namespace

Expected<std::unique_ptr<StudyJournal>> StudyJournal::open(const std::string& path,
                                                           std::string_view subject) {
  const BuildInfo build = build_info();
  std::map<Task, std::string> known;
  const auto take = [&](std::string_view line) {
    const auto step = take_number(line);
    const auto task = step ? take_number(line) : std::nullopt;
    auto bytes = task ? bytes_of(line) : std::nullopt;
    if (bytes) known.insert_or_assign({*step, *task}, std::move(*bytes));
    return bytes.has_value();
  };
  auto file = JournalFile::open(
      path, fmt::format("{}{} {} {}", kStudyKind, build.commit, build.compiler, subject), take);
  if (!file) return tl::unexpected(std::move(file.error()));
  return std::unique_ptr<StudyJournal>(new StudyJournal(std::move(*file), std::move(known)));
}

StudyJournal::StudyJournal(JournalFile&& file, std::map<Task, std::string> known)
    : file_(std::move(file)), known_(std::move(known)) {
  tasks_.find = [this](std::size_t step, std::size_t task) -> std::optional<std::string> {
    const std::lock_guard guard(lock_);
    const auto found = known_.find({step, task});
    if (found == known_.end()) return std::nullopt;
    ++found_;
    return found->second;
  };
  tasks_.keep = [this](std::size_t step, std::size_t task, const std::string& found) {
    const std::lock_guard guard(lock_);
    file_.write(fmt::format("{} {} {}", step, task, hexadecimal(found)));
  };
}

namespace {

constexpr std::string_view kJournalKind = "slicewise plan journal 8: ";
// Between a probe and its answer; neither holds one.
constexpr char kBetween = '\t';

// nullopt: not a line of a journal.
std::optional<std::pair<std::string, sim::PlanAnswer>> read_entry(std::string_view line) {
  const std::size_t between = line.find(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  const auto probe = sim::read_probe(line.substr(0, between));
  auto answer = sim::read_answer(line.substr(between + 1));
  if (!probe || !answer) return std::nullopt;
  return std::pair(sim::probe_line(*probe), std::move(*answer));
}

}  // namespace

Expected<PlanJournal> PlanJournal::open(const std::string& path, std::string_view subject) {
  std::map<std::string, sim::PlanAnswer> known;
  auto file = JournalFile::open(path, fmt::format("{}{}", kJournalKind, subject),
                                [&](std::string_view line) {
                                  auto entry = read_entry(line);
                                  if (entry) known.insert(std::move(*entry));
                                  return entry.has_value();
                                });
  if (!file) return tl::unexpected(std::move(file.error()));
  return PlanJournal(std::move(*file), std::move(known));
}

sim::ProbeJournal PlanJournal::hooks() {
  return {[this](const sim::PlanProbe& probe) -> std::optional<sim::PlanAnswer> {
            const auto known = known_.find(sim::probe_line(probe));
            if (known == known_.end()) return std::nullopt;
            ++found_;
            return known->second;
          },
          [this](const sim::PlanProbe& probe, const sim::PlanAnswer& answer) {
            file_.write(
                fmt::format("{}{}{}", sim::probe_line(probe), kBetween, sim::answer_line(answer)));
          }};
}

}  // namespace slicewise::tools
