#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"

#include "text_table.hpp"

// The parts of a report in GitHub-flavoured Markdown.
namespace slicewise::reports {

// What wraps and colours text is the page.
inline constexpr TextStyle kPlain{false, true, 0};

// Cells are user's names: a bar would end the cell, a "<" start HTML.
std::string markdown_cell(const std::string& text);
std::string markdown_table(const Cells& table);
// A section that is closed until it is clicked.
std::string markdown_folded(const std::string& title, const std::string& body);

}  // namespace slicewise::reports
