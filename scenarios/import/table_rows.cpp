#include "table_rows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../text/characters.hpp"

namespace slicewise::scenarios {
bool TableRows::read_header() {
  constexpr std::size_t kMostColumns = 1'000;
  if (!lines_.next()) return false;
  for (std::size_t i = 0; i < std::min(lines_.size(), kMostColumns); ++i) {
    names_.emplace_back(lines_.value(i));
  }
  if (last_separator_ && names_.size() > 1 && names_.back().empty()) names_.pop_back();
  return true;
}

std::optional<std::size_t> TableRows::column(std::string_view names) {
  used_.resize(names_.size());
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (same_name(names_[i], names.substr(0, bar))) {
        used_[i] = 1;
        return i;
      }
    }
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return std::nullopt;
}

std::string TableRows::unused() const {
  std::string text;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i < used_.size() && used_[i] != 0) continue;
    if (!text.empty()) text += ", ";
    text += names_[i].empty() ? fmt::format("the {}. (without a name)", i + 1) : names_[i];
  }
  return text;
}

bool TableRows::next() {
  while (lines_.next()) {
    report_.read();
    if (fits_header()) return true;
  }
  return false;
}

bool TableRows::fits_header() {
  if (lines_.is_broken()) {
    return bad(std::nullopt, "a quote that is not closed, or text after it");
  }
  const bool has_last =
      last_separator_ && lines_.size() == names_.size() + 1 && lines_.value(names_.size()).empty();
  if (lines_.size() == names_.size() || has_last) return true;
  return bad(std::nullopt, fmt::format("{} values where the header has {} columns", lines_.size(),
                                       names_.size()));
}

bool TableRows::bad(std::optional<std::size_t> column, const std::string& what, std::string help) {
  constexpr std::size_t kLongest = 40;
  if (!column) {
    report_.bad_row(lines_.place(), what, std::move(help));
    return false;
  }
  const std::string_view value = lines_.value(*column);
  const std::string shown = value.size() <= kLongest ? fmt::format("\"{}\"", value) : "this text";
  report_.bad_row(lines_.place(*column), fmt::format("{}: {} {}", names_[*column], shown, what),
                  std::move(help));
  return false;
}

}  // namespace slicewise::scenarios
