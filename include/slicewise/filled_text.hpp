#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// Texts that are files of the program and have places to fill in.
namespace slicewise {

// `text` with each "@name@" in it replaced by the value of that name. A line that is nothing but a
// name stands for whole lines: its value ends in a newline or is empty.
inline std::string filled(
    std::string_view text,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (true) {
    const std::size_t at = text.find('@');
    if (at == std::string_view::npos) return out.append(text);
    const std::string_view after = text.substr(at + 1);
    const auto* place = std::ranges::find_if(values, [&](const auto& value) {
      return after.starts_with(value.first) && after.substr(value.first.size()).starts_with('@');
    });
    out += text.substr(0, at);
    const bool starts_line = out.empty() || out.back() == '\n';
    text = after;
    if (place == values.end()) {
      out += '@';
      continue;
    }
    out += place->second;
    text.remove_prefix(place->first.size() + 1);
    if (starts_line && text.starts_with('\n')) text.remove_prefix(1);
  }
}

}  // namespace slicewise
