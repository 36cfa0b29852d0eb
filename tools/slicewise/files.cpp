#include "files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, FileCloser>;

// A device has no end, and nobody knows the size of a pipe: what is longer is to be a file.
constexpr std::size_t kLargestStream = std::size_t{1} << 30U;

// Reads to the end, or `most` bytes and one more, of a stream kLargestStream at most; false with
// errno set when that fails.
bool read_all(std::FILE* file, std::string& text, std::size_t most) {
  struct stat info {};
  if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode)) {
    text.reserve(std::min(static_cast<std::size_t>(info.st_size), most) + 1);
  } else {
    most = std::min(most, kLargestStream);
  }
  constexpr std::size_t kChunk = 65'536;
  std::string chunk(kChunk, '\0');
  std::size_t got = 0;
  while ((got = std::fread(chunk.data(), 1, std::min(kChunk, most + 1 - text.size()), file)) > 0) {
    text.append(chunk, 0, got);
  }
  if (text.size() > kLargestStream && most == kLargestStream) {
    errno = EFBIG;
    return false;
  }
  return std::ferror(file) == 0;
}

bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

tl::unexpected<Diagnostics> unreadable(const std::string& path) {
  const std::string reason =
      errno == EFBIG ? "more than 1 GiB comes; save it as a file" : std::strerror(errno);
  const std::string name = path == "-" ? "standard input" : "\"" + path + "\"";
  return failure(Code::FileUnreadable, {.file = path, .line = 0},
                 "cannot read " + name + ": " + reason);
}

ExitCode not_written(const std::string& name) {
  print_error("error: cannot write " + name + ": " + std::strerror(errno));
  return ExitCode::FileAccess;
}

// A device or pipe must be written in place: renaming a file over it would replace it.
bool must_write_in_place(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

Expected<SourceText> read_source(const std::string& path, std::size_t most) {
  SourceText source{.name = path, .text = {}};
  if (const Host* const host = current_host()) {
    const auto given = host->files.find(path);
    if (given != host->files.end()) {
      source.text = given->second.substr(0, most + 1);
      return source;
    }
    if (path == "-") {
      errno = ENOENT;
      return unreadable(path);
    }
  }
  if (path == "-") {
    if (!read_all(stdin, source.text, most)) {
      return unreadable(path);
    }
    return source;
  }
  const FilePointer file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr || !read_all(file.get(), source.text, most)) {
    return unreadable(path);
  }
  return source;
}

FilePart file_part(const std::string& argument) {
  const std::size_t mark = argument.rfind('#');
  if (mark == std::string::npos || !argument.substr(0, mark).ends_with(".json")) {
    return {argument, std::nullopt};
  }
  return {argument.substr(0, mark), argument.substr(mark + 1)};
}

std::string path_from(const std::string& document, const std::string& path) {
  if (document == "-" || path.empty() || path == "-") return path;
  const auto folder = std::filesystem::path(document).parent_path();
  const auto is_there = [](const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  };
  if (is_there(folder / path)) return (folder / path).string();
  if (is_there(path)) return path;
  const auto beside = folder / std::filesystem::path(path).filename();
  return is_there(beside) ? beside.string() : path;
}

namespace {

namespace fs = std::filesystem;

// Closes a file at the end of its scope; a mapping outlives it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }
  bool lock() const { return flock(number_, LOCK_EX | LOCK_NB) == 0; }

 private:
  int number_;
};

Descriptor open_to_read(const fs::path& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

// A file or folder under a name of its own beside `target`, removed unless it becomes that. Who
// writes it lives and holds its lock: what a killed run left behind is removed by the next one.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& target)
      : path_(target.string() + kMark + std::to_string(getpid())) {
    remove_left_behind(target);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code ignored;
    if (held_) fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  // Once it is there.
  void hold() {
    held_.emplace(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    held_->lock();
  }

 private:
  static constexpr const char* kMark = ".slicewise-tmp";

  static bool is_of_a_run(std::string_view digits) {
    pid_t run = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), run);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size() && run > 0;
    return is_number && (run == getpid() || (kill(run, 0) != 0 && errno == ESRCH));
  }

  static void remove_left_behind(const fs::path& target) {
    const std::string prefix = target.filename().string() + kMark;
    const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(prefix)) continue;
      if (!is_of_a_run(std::string_view(name).substr(prefix.size()))) continue;
      const Descriptor file = open_to_read(entry.path());
      if (file.number() >= 0 && file.lock()) fs::remove_all(entry.path(), ignored);
    }
  }

  fs::path path_;
  std::optional<Descriptor> held_;
};

}  // namespace

ExitCode write_text(const std::string& path, std::string_view text) {
  if (Host* const host = current_host()) {
    host->written[path].text += text;
    return ExitCode::Success;
  }
  if (path.empty()) {
    return write_all(stdout, text) ? ExitCode::Success : not_written("to standard output");
  }
  const std::string quoted = "\"" + path + "\"";
  if (must_write_in_place(path)) {
    const FilePointer file(std::fopen(path.c_str(), "wb"));
    const bool complete = file != nullptr && write_all(file.get(), text);
    return complete ? ExitCode::Success : not_written(quoted);
  }
  Unfinished unfinished(path);
  FilePointer file(std::fopen(unfinished.path().c_str(), "wbx"));
  if (file == nullptr) return not_written(quoted);
  unfinished.hold();
  const bool complete = write_all(file.get(), text) && std::fclose(file.release()) == 0 &&
                        std::rename(unfinished.path().c_str(), path.c_str()) == 0;
  return complete ? ExitCode::Success : not_written(quoted);
}

namespace {

tl::unexpected<Diagnostics> unreadable(const std::string& path, const std::string& reason) {
  return failure(Code::FileUnreadable, {.file = path, .line = 0},
                 "cannot read \"" + path + "\": " + reason);
}

}  // namespace

Expected<MappedFile> map_file(const std::string& path) {
  const Host* const host = current_host();
  if (host != nullptr && host->files.contains(path)) {
    return unreadable(path, "it is no file of the disk");
  }
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return unreadable(path, std::strerror(errno));
  struct stat info {};
  if (fstat(file.number(), &info) != 0) return unreadable(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return unreadable(path, "it is no regular file");
  if (info.st_size == 0) return MappedFile{};
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) return unreadable(path, std::strerror(errno));
  return MappedFile{
      {static_cast<const char*>(start), size},
      std::shared_ptr<const void>(start, [size](void* mapped) { munmap(mapped, size); })};
}

namespace {

ExitCode directory_not_written(const fs::path& path, const std::string& why) {
  print_error("error: cannot write \"" + path.string() + "\": " + why);
  return ExitCode::FileAccess;
}

ExitCode write_into(const fs::path& directory, const reports::ExportFile& file) {
  const fs::path path = directory / file.path;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return directory_not_written(path.parent_path(), error.message());
  if (const ExitCode code = write_text(path.string(), file.text); failed(code)) {
    return code;
  }
  if (!file.executable) return ExitCode::Success;
  fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  return error ? directory_not_written(path, error.message()) : ExitCode::Success;
}

ExitCode write_files(const fs::path& directory, const reports::ExportFiles& files) {
  for (const reports::ExportFile& file : files) {
    if (const ExitCode code = write_into(directory, file); failed(code)) return code;
  }
  return ExitCode::Success;
}

// The mode and the owner of `from`; false: that cannot be had, or more applies to it (ACLs).
bool take_rights(const fs::path& from, const fs::path& to) {
  for (const char* rules : {"system.posix_acl_access", "system.posix_acl_default"}) {
    if (getxattr(from.c_str(), rules, nullptr, 0) > 0) return false;
  }
  struct stat had {};
  return stat(from.c_str(), &had) == 0 && chown(to.c_str(), had.st_uid, had.st_gid) == 0 &&
         chmod(to.c_str(), had.st_mode & 07777U) == 0;
}

using Names = std::span<const std::string_view>;

// The files of `from` that `to` does not have stand in both.
bool keep_others(const fs::path& from, const fs::path& to, Names outdated) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    const fs::path kept = to / entry.path().filename();
    const bool is_outdated =
        std::ranges::find(outdated, entry.path().filename().string()) != outdated.end();
    if (is_outdated || fs::exists(kept)) continue;
    if (!entry.is_regular_file()) return false;
    fs::create_hard_link(entry.path(), kept, error);
    if (error) return false;
  }
  return !error;
}

// In one step, which not every C library knows.
bool exchange([[maybe_unused]] const fs::path& one, [[maybe_unused]] const fs::path& other) {
#ifdef RENAME_EXCHANGE
  return renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

// The older one is removed with what has its name then.
bool take_place(const fs::path& unfinished, const fs::path& target, Names outdated) {
  return keep_others(target, unfinished, outdated) && take_rights(target, unfinished) &&
         exchange(unfinished, target);
}

}  // namespace

ExitCode write_directory(const std::string& path, const reports::ExportFiles& files,
                         Existing existing, std::span<const std::string_view> outdated) {
  if (Host* const host = current_host()) {
    for (const reports::ExportFile& file : files) {
      host->written[(fs::path(path) / file.path).string()] = {file.text, file.executable};
    }
    return ExitCode::Success;
  }
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "out/"
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(target, error));
  if (exists) {
    target = fs::canonical(target, error);
    if (error) return directory_not_written(path, error.message());
    const bool may_be_written = fs::is_directory(target, error) &&
                                (existing == Existing::Replaced || fs::is_empty(target, error));
    if (!may_be_written) {
      return directory_not_written(path, "it exists and is not an empty directory");
    }
  }
  const auto write_over = [&] {
    for (const std::string_view name : outdated) {
      fs::remove_all(target / name, error);
      if (error) return directory_not_written(target / name, error.message());
    }
    return write_files(target, files);
  };
  // Who stands there would be left in the one that is gone.
  if (exists && fs::equivalent(target, ".", error)) return write_over();
  Unfinished unfinished(target);
  fs::create_directories(unfinished.path(), error);
  if (error) return directory_not_written(target, error.message());
  unfinished.hold();
  if (const ExitCode code = write_files(unfinished.path(), files); failed(code)) {
    return code;
  }
  if (!exists) {
    fs::rename(unfinished.path(), target, error);
    return error ? directory_not_written(target, error.message()) : ExitCode::Success;
  }
  // A mount, or a folder with others in it, stays: one file after the other becomes the new one.
  return take_place(unfinished.path(), target, outdated) ? ExitCode::Success : write_over();
}

namespace {

namespace fs = std::filesystem;

Diagnostic unreadable_folder(const std::string& path, const std::string& why) {
  return make_diagnostic(Code::FileUnreadable, {.file = path, .line = 0},
                         fmt::format("cannot read \"{}\": {}", path, why));
}

// Files below a folder that may be manifests, in alphabetic order.
void append_folder(const std::string& folder, std::vector<std::string>& names,
                   Diagnostics& problems) {
  constexpr std::array<std::string_view, 4> kEndings = {".yaml", ".yml", ".json", ".toml"};
  std::error_code error;
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.')) {
      if (it->is_directory(ignored)) it.disable_recursion_pending();
      continue;
    }
    const std::string ending = it->path().extension().string();
    const bool wanted = std::ranges::find(kEndings, std::string_view(ending)) != kEndings.end();
    if (wanted && it->is_regular_file(ignored)) found.push_back(it->path().string());
  }
  if (error) {
    problems.push_back(unreadable_folder(folder, error.message()));
  } else if (found.empty()) {
    problems.push_back(unreadable_folder(folder, "no .yaml, .yml, .json or .toml file in it"));
  }
  std::ranges::sort(found);
  std::ranges::move(found, std::back_inserter(names));
}

}  // namespace

std::vector<std::string> file_names(const std::vector<std::string>& given, Diagnostics& problems) {
  std::vector<std::string> names;
  for (const std::string& name : given) {
    std::error_code ignored;
    if (name != "-" && fs::is_directory(name, ignored)) {
      append_folder(name, names, problems);
    } else {
      names.push_back(name);
    }
  }
  // One file under two names is one file: its objects would contradict themselves.
  std::vector<std::string> once;
  std::set<std::string> seen;
  for (std::string& name : names) {
    std::error_code error;
    const std::string path = name == "-" ? name : fs::weakly_canonical(name, error).string();
    if (seen.insert(error ? name : path).second) once.push_back(std::move(name));
  }
  return once;
}

}  // namespace slicewise::tools
