#include "table_block.hpp"

#include <fmt/format.h>

#include "../screens/result_details.hpp"
#include "wrapped_text.hpp"

namespace slicewise::reports {

std::string table_block(const std::vector<Column>& columns,
                        const std::vector<std::vector<std::string>>& rows, const TextStyle& style,
                        bool wide) {
  std::vector<std::string> dropped;
  const std::string table = text_table(columns, rows, wide ? 0 : style.width, &dropped);
  const std::size_t end = table.find('\n');
  return emphasised(table.substr(0, end), Emphasis::Heading, style) + table.substr(end) +
         dropped_line(dropped, style);
}

std::string dropped_line(const std::vector<std::string>& dropped, const TextStyle& style) {
  if (dropped.empty()) return "";
  return wrapped_text(fmt::format("not shown: {} (-o wide)", fmt::join(dropped, ", ")), style.width,
                      "", 2);
}

}  // namespace slicewise::reports
