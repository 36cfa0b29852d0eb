#include "kubernetes_names.hpp"

#include <algorithm>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::size_t kLongestLabelName = 63;
constexpr std::size_t kLongestDomain = 253;

}  // namespace

bool is_dns_label(std::string_view text) {
  const auto fits = [](char c) { return is_lower_or_digit(c) || c == '-'; };
  return !text.empty() && text.size() <= kLongestLabelName && std::ranges::all_of(text, fits) &&
         is_lower_or_digit(text.front()) && is_lower_or_digit(text.back());
}

bool is_subdomain(std::string_view text) {
  if (text.size() > kLongestDomain) return false;
  while (true) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_name_in_space(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != text.npos && is_subdomain(text.substr(0, slash)) &&
         is_subdomain(text.substr(slash + 1));
}

bool is_label_name(std::string_view text) {
  const auto fits = [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kLongestLabelName && std::ranges::all_of(text, fits) &&
         is_letter_or_digit(text.front()) && is_letter_or_digit(text.back());
}

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_name(text);
  return is_subdomain(text.substr(0, slash)) && is_label_name(text.substr(slash + 1));
}

bool is_of_another_plugin(std::string_view resource) {
  return resource.find('/') != std::string_view::npos && !resource.starts_with("nvidia.com/") &&
         !gpu_resource(resource) && !is_other_accelerator(resource);
}

bool is_kind(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot != text.npos && !is_subdomain(text.substr(dot + 1))) return false;
  text = text.substr(0, dot);
  return !text.empty() && text.size() <= kLongestLabelName && is_upper(text.front()) &&
         std::ranges::all_of(text, is_letter_or_digit);
}

std::string dns_name(const std::string& text, const std::string& other) {
  constexpr std::size_t kLongest = 63;
  std::string name;
  for (const char c : text) {
    if (is_letter_or_digit(c)) {
      name += lower(c);
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name = name.substr(0, kLongest);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? other : name;
}

}  // namespace slicewise::scenarios
