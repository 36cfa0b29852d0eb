#include "study_journal.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "build_info.hpp"

namespace slicewise::tools {
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

}  // namespace slicewise::tools
