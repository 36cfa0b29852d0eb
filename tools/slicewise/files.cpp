#include "files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal.hpp"

namespace slicewise::tools {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, FileCloser>;

// Reads to the end, or `most` bytes and one more; false with errno set when that fails.
bool read_all(std::FILE* file, std::string& text, std::size_t most) {
  constexpr std::size_t kChunk = 65'536;
  std::string chunk(kChunk, '\0');
  std::size_t got = 0;
  while ((got = std::fread(chunk.data(), 1, std::min(kChunk, most + 1 - text.size()), file)) > 0) {
    text.append(chunk, 0, got);
  }
  return std::ferror(file) == 0;
}

bool write_all(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

tl::unexpected<Diagnostics> unreadable(const std::string& path) {
  const std::string reason = std::strerror(errno);
  const std::string name = path == "-" ? "standard input" : "\"" + path + "\"";
  return tl::unexpected(Diagnostics{make_diagnostic(Code::FileUnreadable, {.file = path, .line = 0},
                                                    "cannot read " + name + ": " + reason)});
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

ExitCode write_text(const std::string& path, std::string_view text) {
  if (path.empty()) {
    return write_all(stdout, text) ? ExitCode::Success : not_written("to standard output");
  }
  const bool in_place = must_write_in_place(path);
  const std::string written = in_place ? path : path + ".tmp" + std::to_string(getpid());
  const std::string quoted = "\"" + path + "\"";
  FilePointer file(std::fopen(written.c_str(), in_place ? "wb" : "wbx"));
  if (file == nullptr) {
    return not_written(quoted);
  }
  const bool complete = write_all(file.get(), text) && std::fclose(file.release()) == 0;
  if (!complete || (!in_place && std::rename(written.c_str(), path.c_str()) != 0)) {
    const ExitCode code = not_written(quoted);
    if (!in_place) {
      std::remove(written.c_str());
    }
    return code;
  }
  return ExitCode::Success;
}

namespace {

tl::unexpected<Diagnostics> unreadable(const std::string& path, const std::string& reason) {
  return tl::unexpected(Diagnostics{make_diagnostic(Code::FileUnreadable, {.file = path, .line = 0},
                                                    "cannot read \"" + path + "\": " + reason)});
}

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

 private:
  int number_;
};

}  // namespace

Expected<MappedFile> map_file(const std::string& path) {
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

namespace fs = std::filesystem;

ExitCode directory_not_written(const fs::path& path, const std::string& why) {
  print_error("error: cannot write \"" + path.string() + "\": " + why);
  return ExitCode::FileAccess;
}

// Removes what is not finished.
class UnfinishedDirectory {
 public:
  explicit UnfinishedDirectory(fs::path path) : path_(std::move(path)) {}
  UnfinishedDirectory(const UnfinishedDirectory&) = delete;
  UnfinishedDirectory& operator=(const UnfinishedDirectory&) = delete;
  ~UnfinishedDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  fs::path path_;
};

ExitCode write_into(const fs::path& directory, const reports::ExportFile& file) {
  const fs::path path = directory / file.path;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return directory_not_written(path.parent_path(), error.message());
  if (const ExitCode code = write_text(path.string(), file.text); code != ExitCode::Success) {
    return code;
  }
  if (!file.executable) return ExitCode::Success;
  fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  return error ? directory_not_written(path, error.message()) : ExitCode::Success;
}

}  // namespace

ExitCode write_directory(const std::string& path, const reports::ExportFiles& files) {
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "out/"
  std::error_code error;
  if (fs::exists(target, error) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error))) {
    return directory_not_written(target, "it exists and is not an empty directory");
  }
  UnfinishedDirectory unfinished(target.string() + ".tmp" + std::to_string(getpid()));
  for (const reports::ExportFile& file : files) {
    if (const ExitCode code = write_into(unfinished.path(), file); code != ExitCode::Success) {
      return code;
    }
  }
  fs::remove(target, error);  // the empty one
  fs::rename(unfinished.path(), target, error);
  if (error) return directory_not_written(target, error.message());
  unfinished.keep();
  return ExitCode::Success;
}

}  // namespace slicewise::tools
