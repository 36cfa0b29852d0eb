#include "export_directory.hpp"

#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
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
