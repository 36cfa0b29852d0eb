#include "folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace slicewise::tools {
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
