#include "markdown_comment.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slicewise::reports {
namespace {

// "-->" would end the HTML comment.
std::string marker_name(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  std::string out(name.substr(0, kLongest));
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_';
    if (!plain) c = '-';
  }
  while (out.find("--") != std::string::npos) out.erase(out.find("--"), 1);
  return out;
}

std::string shed_sections_line(std::size_t left_out, std::size_t all) {
  if (left_out == 0) return "";
  return fmt::format(
      "{} of {} sections were left out to stay below {} characters: see `-o json` for "
      "everything.\n\n",
      left_out, all, kLongestComment);
}

// "<!-- slicewise:voice-t4 -->"; the name is made harmless inside of a comment of HTML.
std::string comment_marker(std::string_view name) {
  return name.empty() ? "<!-- slicewise -->\n"
                      : fmt::format("<!-- slicewise:{} -->\n", marker_name(name));
}

}  // namespace

std::string cut_text(const std::string& text, std::size_t most, std::string_view end) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most).append(end);
}

std::string markdown_comment(const std::string& top, std::vector<std::string> sections,
                             const std::string& bottom, std::string_view name) {
  constexpr std::size_t kRoomForTheLine = 150;
  constexpr std::string_view kCut = "...\n\n";
  const std::string end = cut_text(bottom, kLongestComment / 4, kCut) + comment_marker(name);
  const std::string begin = cut_text(top, kLongestComment / 2, kCut);
  const std::size_t all = sections.size();
  std::size_t size = begin.size() + end.size() + kRoomForTheLine;
  for (const std::string& section : sections) size += section.size();
  while (size > kLongestComment && !sections.empty()) {
    const auto largest = std::ranges::max_element(sections, {}, &std::string::size);
    size -= largest->size();
    sections.erase(largest);
  }
  std::string out = begin;
  for (const std::string& section : sections) out += section;
  return out + shed_sections_line(all - sections.size(), all) + end;
}

}  // namespace slicewise::reports
