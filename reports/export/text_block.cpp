#include "text_block.hpp"

#include <algorithm>

namespace slicewise::reports {
namespace {

constexpr std::size_t kWidestLine = 100;

std::string with_margin(std::string_view block, std::string_view margin) {
  std::string out;
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string line = std::string(margin) + std::string(block.substr(0, end));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return out;
}

}  // namespace

std::string indented(std::string_view block, int spaces) {
  return with_margin(block, std::string(static_cast<std::size_t>(spaces), ' '));
}

std::string commented(std::string_view block) { return with_margin(block, "# "); }

std::string comment(std::string_view paragraph, int indent) {
  const std::string margin = std::string(static_cast<std::size_t>(indent), ' ') + '#';
  std::string out;
  std::string line = margin;
  while (!paragraph.empty()) {
    const std::size_t end = std::min(paragraph.find(' '), paragraph.size());
    if (line.size() + 1 + end > kWidestLine && line != margin) {
      out += line + '\n';
      line = margin;
    }
    line += ' ';
    line += paragraph.substr(0, end);
    paragraph.remove_prefix(std::min(end + 1, paragraph.size()));
  }
  return out + line + '\n';
}

}  // namespace slicewise::reports
