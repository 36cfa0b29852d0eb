#include <algorithm>

#include <fmt/format.h>

#include "../fields/check_scalar.hpp"
#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

// apimachinery pkg/util/validation: IsQualifiedName and IsValidLabelValue. A taint has the same key
// and value as a label.
constexpr std::size_t kLongestLabelName = 63;
constexpr std::size_t kLongestDomain = 253;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label_name(std::string_view text) {
  const auto fits = [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kLongestLabelName && std::ranges::all_of(text, fits) &&
         is_letter_or_digit(text.front()) && is_letter_or_digit(text.back());
}

// Labels of DNS, with dots between them.
bool is_subdomain(std::string_view text) {
  if (text.size() > kLongestDomain) return false;
  while (true) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_name(text);
  return is_subdomain(text.substr(0, slash)) && is_label_name(text.substr(slash + 1));
}

void check_label(std::string_view what, const std::string& key, const SourceLocation& key_where,
                 const std::string& value, const SourceLocation& value_where, Findings& findings) {
  if (!is_label_key(key)) {
    findings.add(Code::NameInvalid, key_where,
                 fmt::format("\"{}\" is no key of a {} that Kubernetes accepts", key, what),
                 "a key has at most 63 letters, digits, '-', '_' and '.', starts and ends with a "
                 "letter or digit, and may have a domain and '/' before it");
  }
  if (!value.empty() && !is_label_name(value)) {
    findings.add(
        Code::NameInvalid, value_where,
        fmt::format("\"{}\" is no value of a {} that Kubernetes accepts", value, what),
        "a value has at most 63 letters, digits, '-', '_' and '.', and starts and ends with "
        "a letter or digit");
  }
}

}  // namespace

void check_labels(const NodePool& pool, const Node& map, Findings& findings) {
  if (const Node* labels = block(&map, "labels")) {
    for (const auto& [key, value] : pool.labels) {
      check_label("label", key, key_place(*labels, key), value, value_place(*labels, key),
                  findings);
    }
  }
  const Node* taints = blocks(&map, "taints");
  if (taints == nullptr) return;
  for (std::size_t n = 0; n < std::min(pool.taints.size(), taints->items.size()); ++n) {
    const Node& taint = *taints->items[n];
    check_label("taint", pool.taints[n].key, value_place(taint, "key"), pool.taints[n].value,
                value_place(taint, "value"), findings);
  }
}

}  // namespace slicewise::scenarios
