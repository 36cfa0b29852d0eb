#include "draft_lines.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slicewise::scenarios {
namespace {

template <class Item>
std::string first_names(const std::vector<Item>& items, std::size_t most) {
  const std::span<const Item> shown(items.data(), std::min(items.size(), most));
  return fmt::format("{}{}", fmt::join(shown, ", "), items.size() > most ? ", ..." : "");
}

}  // namespace

void DraftLines::add(const std::string& text) {
  text_ += text;
  text_ += '\n';
  line_ += 1 + static_cast<int>(std::ranges::count(text, '\n'));
}

void DraftLines::todo(const std::string& text, const std::string& comment, const std::string& what,
                      const std::string& whose) {
  add(fmt::format("{}  # TODO: {}", text, comment));
  auto found =
      std::ranges::find(missing_, what, &std::pair<std::string, std::vector<std::string>>::first);
  if (found == missing_.end()) found = missing_.insert(found, {what, {}});
  found->second.push_back(whose);
  lines_.push_back(line_);
}

ScenarioText DraftLines::take() {
  if (missing_.empty()) return {std::move(text_)};
  std::string text = "Missing: ";
  for (const auto& [what, names] : missing_) {
    text += fmt::format("{}{} ({})", text.size() == 9 ? "" : ", ", what, first_names(names, 5));
  }
  text = fmt::format("{}. Filled with Assumed values; see TODO lines {}.", text,
                     first_names(lines_, 20));
  return {std::move(text_), std::move(text), std::move(assumed_pools_)};
}

}  // namespace slicewise::scenarios
