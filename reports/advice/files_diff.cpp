#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/advice.hpp"

namespace slicewise::reports {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct Edit {
  char sign = ' ';  // ' ', '-', '+'
  std::string_view line;
};

// The shortest edit by the longest common subsequence: files that people read are short.
std::vector<Edit> edits(const std::vector<std::string_view>& before,
                        const std::vector<std::string_view>& after) {
  const std::size_t width = after.size() + 1;
  std::vector<std::size_t> common((before.size() + 1) * width);  // of what is left of both
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      common[i * width + j] =
          before[i] == after[j] ? common[(i + 1) * width + j + 1] + 1
                                : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::vector<Edit> result;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      result.push_back({' ', before[i++]});
      ++j;
    } else if (j == after.size() ||
               (i < before.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      result.push_back({'-', before[i++]});
    } else {
      result.push_back({'+', after[j++]});
    }
  }
  return result;
}

// Changes with three lines around them.
std::string hunks(const std::vector<Edit>& all) {
  constexpr std::size_t kAround = 3;
  std::string text;
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  for (std::size_t at = 0; at < all.size();) {
    std::size_t first = at;
    while (first < all.size() && all[first].sign == ' ') ++first;
    if (first == all.size()) break;
    const std::size_t begin = std::max(at, first - std::min(first, kAround));
    std::size_t end = first;
    for (std::size_t same = 0; end < all.size() && same <= 2 * kAround; ++end) {
      same = all[end].sign == ' ' ? same + 1 : 0;
    }
    while (end > first && all[end - 1].sign == ' ') --end;
    end = std::min(all.size(), end + kAround);
    for (std::size_t i = at; i < begin; ++i) {
      ++old_line;
      ++new_line;
    }
    std::string body;
    std::size_t old_count = 0;
    std::size_t new_count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      body += fmt::format("{}{}\n", all[i].sign, all[i].line);
      old_count += all[i].sign != '+' ? 1 : 0;
      new_count += all[i].sign != '-' ? 1 : 0;
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", old_count == 0 ? old_line - 1 : old_line,
                        old_count, new_count == 0 ? new_line - 1 : new_line, new_count, body);
    old_line += old_count;
    new_line += new_count;
    at = end;
  }
  return text;
}

const ExportFile* file_at(const ExportFiles& files, const std::string& path) {
  const auto found = std::ranges::find(files, path, &ExportFile::path);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace

std::string files_diff(const ExportFiles& before, const ExportFiles& after,
                       const std::string& before_folder, const std::string& after_folder) {
  std::vector<std::string> paths;
  for (const ExportFiles* files : {&before, &after}) {
    for (const ExportFile& file : *files) paths.push_back(file.path);
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::string text;
  for (const std::string& path : paths) {
    const ExportFile* older = file_at(before, path);
    const ExportFile* newer = file_at(after, path);
    const std::string changes = hunks(edits(lines_of(older == nullptr ? "" : older->text),
                                            lines_of(newer == nullptr ? "" : newer->text)));
    if (changes.empty()) continue;
    text += fmt::format("--- {}\n+++ {}\n{}",
                        older == nullptr ? "/dev/null" : fmt::format("{}/{}", before_folder, path),
                        newer == nullptr ? "/dev/null" : fmt::format("{}/{}", after_folder, path),
                        changes);
  }
  return text;
}

}  // namespace slicewise::reports
