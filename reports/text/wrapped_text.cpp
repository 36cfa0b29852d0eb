#include "wrapped_text.hpp"

#include <cstddef>

#include "text_table.hpp"

namespace slicewise::reports {

std::string wrapped_text(std::string_view paragraph, int width, std::string_view first_indent,
                         int indent) {
  std::string out(first_indent);
  int column = display_width(first_indent);
  bool at_line_start = true;
  while (true) {
    const std::size_t begin = paragraph.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    paragraph.remove_prefix(begin);
    const std::string_view word = paragraph.substr(0, paragraph.find(' '));
    paragraph.remove_prefix(word.size());
    const int word_width = display_width(word);
    if (!at_line_start && width > 0 && column + 1 + word_width > width) {
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
      at_line_start = true;
    }
    if (!at_line_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word_width;
    at_line_start = false;
  }
  return out + '\n';
}

}  // namespace slicewise::reports
