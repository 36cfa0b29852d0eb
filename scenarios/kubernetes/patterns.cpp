#include "patterns.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <regex>

namespace slicewise::scenarios::manifests {
namespace {

constexpr std::size_t kLongestText = 1'000;
// In time that does not explode, whatever the text; of libstdc++.
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;

// Compiled once; nullptr where it is no pattern. Nothing of a thread's own goes into Python's
// module.
const std::regex* compiled(const std::string& pattern) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<std::regex>> known;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(pattern);
  if (is_new) {
    try {
      place->second.emplace(pattern, kSyntax);
    } catch (const std::regex_error&) {
      place->second.reset();
    }
  }
  return place->second ? &*place->second : nullptr;
}

}  // namespace

bool matches_pattern(const std::string& text, const std::string& pattern) {
  const std::regex* expression = text.size() > kLongestText ? nullptr : compiled(pattern);
  return expression == nullptr || std::regex_search(text, *expression);
}

std::string found_pattern(const std::string& text, const std::string& pattern) {
  const std::regex* expression = text.size() > kLongestText ? nullptr : compiled(pattern);
  std::smatch found;
  if (expression == nullptr || !std::regex_search(text, found, *expression)) return "";
  return found.str();
}

}  // namespace slicewise::scenarios::manifests
