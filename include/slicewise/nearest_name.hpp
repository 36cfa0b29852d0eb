#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// "Did you mean": the known name that a misspelt one most likely stands for.
namespace slicewise {

// What is longer stands for no name.
inline constexpr std::size_t kLongestMisspelling = 80;

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

inline std::string lower_case(std::string_view name) {
  std::string letters(name);
  std::ranges::transform(letters, letters.begin(), lower);
  return letters;
}

inline std::string upper_case(std::string_view name) {
  std::string letters(name);
  std::ranges::transform(letters, letters.begin(), upper);
  return letters;
}

// Whether the names are equal but for the case of their ASCII letters.
constexpr bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

constexpr bool joins_words(char c) { return c == '-' || c == '_' || c == ' '; }

// "requesttokens" of "Request_Tokens".
inline std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (!joins_words(c)) letters += lower(c);
  }
  return letters;
}

// Whether it is the same word as people write it elsewhere: "timeSlicing" and "time_slicing" for
// "time-slicing". Flags and columns take such spellings; a scenario file has one, that of its
// schema.
inline bool is_spelling_of(std::string_view text, std::string_view word) {
  return letters_of(text) == letters_of(word);
}

// The words of a name, in lower case and sorted: "latency", "p95" of "p95Latency".
inline std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    const bool starts = lower(c) != c && !words.back().empty();
    if (starts || joins_words(c)) words.emplace_back();
    if (!joins_words(c)) words.back() += lower(c);
  }
  std::ranges::sort(words);
  return words;
}

// What others call things that have another name here.
inline constexpr std::pair<std::string_view, std::string_view> kNamesElsewhere[] = {
    {"fcfs", "fifo"},       {"sjf", "srtf"},        {"shortest-job-first", "srtf"},
    {"none", "exclusive"},  {"whole", "exclusive"}, {"dedicated", "exclusive"},
    {"ts", "time-slicing"}, {"ts", "timeSlicing"},
};

// Damerau-Levenshtein distance (optimal string alignment) that ignores ASCII case: insertions,
// deletions, substitutions and swaps of neighbours cost 1 each. O(|a| |b|).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_back(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t column = 0; column <= b.size(); ++column) {
    previous[column] = column;
  }
  for (std::size_t row = 1; row <= a.size(); ++row) {
    current[0] = row;
    for (std::size_t column = 1; column <= b.size(); ++column) {
      const char x = lower(a[row - 1]);
      const char y = lower(b[column - 1]);
      current[column] = std::min({previous[column] + 1, current[column - 1] + 1,
                                  previous[column - 1] + (x == y ? 0U : 1U)});
      if (row > 1 && column > 1 && x == lower(b[column - 2]) && lower(a[row - 2]) == y) {
        current[column] = std::min(current[column], two_back[column - 2] + 1);
      }
    }
    two_back.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

// The name of `known` that is nearest to `wrong`: at most a third of the longer name's letters
// (one at least) may differ. A name of which `wrong` is the beginning is accepted at any distance
// when three letters or more agree, one of the same words in another order and one that is called
// `wrong` elsewhere come first. Ties go to the earlier name, so the answer depends on the order
// of `known` only.
template <std::ranges::input_range Names>
requires std::convertible_to<std::ranges::range_reference_t<Names>, std::string_view>
    std::optional<std::string> nearest_name(std::string_view wrong, Names&& known) {
  constexpr std::size_t kShortestPrefix = 3;
  if (wrong.size() > kLongestMisspelling) return std::nullopt;
  const std::vector<std::string> words = words_of_name(wrong);
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::optional<std::string> answer;
  for (auto&& name : known) {
    const std::string_view candidate = name;
    const bool elsewhere = std::ranges::any_of(kNamesElsewhere, [&](const auto& pair) {
      return same_name(pair.first, wrong) && pair.second == candidate;
    });
    if (elsewhere || (words.size() > 1 && words == words_of_name(candidate))) {
      return std::string(candidate);
    }
    const bool prefix =
        wrong.size() >= kShortestPrefix && same_name(wrong, candidate.substr(0, wrong.size()));
    const auto [shorter, longer] = std::minmax({wrong.size(), candidate.size()});
    const std::size_t cap = std::max<std::size_t>(1, longer / 3);
    if (!prefix && longer - shorter > cap) continue;
    const std::size_t distance = edit_distance(wrong, candidate);
    if (!prefix && (distance > cap || distance >= candidate.size())) {
      continue;
    }
    // A shared prefix halves the distance: "replica" means "replicas" before "replace".
    const std::size_t rank = prefix ? distance : 2 * distance;
    if (rank < best) {
      best = rank;
      answer = std::string(candidate);
    }
  }
  return answer;
}

}  // namespace slicewise
