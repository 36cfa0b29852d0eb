#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/quantity.hpp"

#include "../text/document.hpp"

// Reading of single values out of a checked mapping. A value that is absent or was reported as
// wrong reads as absent, so that the rules which follow look at everything else.
namespace slicewise::scenarios {

const Node* block(const Node* parent, std::string_view key);   // a Map, else nullptr
const Node* blocks(const Node* parent, std::string_view key);  // a List, else nullptr

std::optional<std::string> text_at(const Node* parent, std::string_view key);
std::optional<std::int64_t> integer_at(const Node* parent, std::string_view key);
std::optional<int> int_at(const Node* parent, std::string_view key);  // where the table bounds it
std::optional<double> number_at(const Node* parent, std::string_view key);
std::optional<bool> boolean_at(const Node* parent, std::string_view key);
std::optional<Bytes> bytes_at(const Node* parent, std::string_view key);
std::optional<Millicores> cpu_at(const Node* parent, std::string_view key);
std::optional<Duration> duration_at(const Node* parent, std::string_view key);
std::optional<double> seconds_at(const Node* parent, std::string_view key);  // FineDuration
std::optional<Duration> clock_time_at(const Node* parent, std::string_view key);
std::optional<Duration> utc_offset_at(const Node* parent, std::string_view key);
std::optional<Duration> week_time_at(const Node* parent, std::string_view key);
std::optional<double> percent_at(const Node* parent, std::string_view key);
std::optional<Rate> rate_at(const Node* parent, std::string_view key);
std::map<std::string, std::string> labels_at(const Node* parent, std::string_view key);

// The value and its place; an empty value without a place when absent.
Located<std::string> located_text_at(const Node* parent, std::string_view key);

// The key's place, for messages about the whole block; `parent`'s own when the key is absent.
SourceLocation key_place(const Node& parent, std::string_view key);
SourceLocation value_place(const Node& parent, std::string_view key);

// The word at `key` as the enumerator in the same position of `values`.
template <class Enum, std::size_t N>
std::optional<Enum> word_at(const Node* parent, std::string_view key,
                            const std::pair<std::string_view, Enum> (&values)[N]) {
  const auto text = text_at(parent, key);
  for (const auto& [word, value] : values) {
    if (text == word) return value;
  }
  return std::nullopt;
}

}  // namespace slicewise::scenarios
