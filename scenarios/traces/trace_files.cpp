#include "trace_files.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace slicewise::scenarios {
namespace {

Expected<SourceText> read_trace_file(const std::string& path, const FileReader& read_file) {
  const auto failure = [&](Code code, std::string message) {
    return tl::unexpected(
        Diagnostics{make_diagnostic(code, {.file = path, .line = 0}, std::move(message))});
  };
  if (!read_file) {
    return failure(Code::FileUnreadable,
                   fmt::format("cannot read \"{}\": no other file is read here", path));
  }
  Expected<SourceText> file = read_file(path);
  if (file && file->text.size() > kLargestTrace) {
    return failure(Code::ValueRange,
                   fmt::format("\"{}\" is larger than {} MiB", path, kLargestTrace >> 20U));
  }
  return file;
}

}  // namespace

TraceFiles::TraceFiles(const std::string& scenario, const FileReader& read_file)
    : folder_(scenario == "-" ? "" : std::filesystem::path(scenario).parent_path().string()),
      read_file_(read_file) {}

const SourceText* TraceFiles::find(const Located<std::string>& path, Findings& findings) {
  auto known = files_.find(path.value);
  if (known == files_.end()) {
    const std::string full = (std::filesystem::path(folder_) / path.value).string();
    known = files_.emplace(path.value, read_trace_file(full, read_file_)).first;
  }
  if (known->second) return &*known->second;
  const Diagnostic& reason = known->second.error().front();
  findings.add(reason.code, path.where, reason.message,
               "the path is relative to the folder of the scenario file");
  return nullptr;
}

std::vector<SourceText> TraceFiles::take() {
  std::vector<SourceText> texts;
  for (auto& [path, file] : files_) {
    if (file) texts.push_back(std::move(*file));
  }
  files_.clear();
  return texts;
}

}  // namespace slicewise::scenarios
