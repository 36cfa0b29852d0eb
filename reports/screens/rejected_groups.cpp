#include "rejected_groups.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comparison_words.hpp"

namespace slicewise::reports {
namespace {

using sim::RejectedChoice;

// Names that a reason lists before the others are only counted.
constexpr std::size_t kNamesInReason = 4;

// A word of a reason: "(15110" is "(", "15110" and "".
struct ReasonWord {
  std::string_view before;
  std::string_view core;
  std::string_view after;
  bool is_figure = false;  // a number or a name with one in it: configurations differ in it

  // Words of the same shape differ in their figure only.
  friend bool operator==(const ReasonWord& a, const ReasonWord& b) {
    return a.is_figure == b.is_figure && a.before == b.before && a.after == b.after &&
           (a.is_figure || a.core == b.core);
  }
};

ReasonWord reason_word(std::string_view word) {
  constexpr std::string_view kBefore = "$(\"";
  constexpr std::string_view kAfter = ",;:.)\"";
  const std::size_t first = std::min(word.find_first_not_of(kBefore), word.size());
  const std::size_t last = word.find_last_not_of(kAfter);
  const std::size_t end = last == std::string_view::npos || last < first ? first : last + 1;
  const std::string_view core = word.substr(first, end - first);
  return {word.substr(0, first), core, word.substr(end),
          core.find_first_of("0123456789") != std::string_view::npos};
}

std::vector<ReasonWord> reason_words(std::string_view reason) {
  std::vector<ReasonWord> words;
  while (!reason.empty()) {
    const std::size_t end = std::min(reason.find(' '), reason.size());
    words.push_back(reason_word(reason.substr(0, end)));
    reason.remove_prefix(std::min(end + 1, reason.size()));
  }
  return words;
}

std::optional<double> number_of_word(std::string_view core) {
  double value = 0;
  const auto [end, error] = std::from_chars(core.data(), core.data() + core.size(), value);
  if (error != std::errc{} || end != core.data() + core.size()) return std::nullopt;
  return value;
}

template <class Text>
void append_new(std::vector<Text>& texts, const Text& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

// "768 to 2717" of numbers, "T4, L4" of names.
std::string figures_text(const std::vector<std::string_view>& cores, std::string_view before) {
  std::vector<std::string_view> different;
  for (const std::string_view core : cores) append_new(different, core);
  if (different.size() == 1) return fmt::format("{}{}", before, different.front());
  if (std::ranges::all_of(different, [](auto core) { return number_of_word(core).has_value(); })) {
    const auto [least, most] =
        std::ranges::minmax_element(different, {}, [](auto core) { return *number_of_word(core); });
    return fmt::format("{}{} to {}{}", before, *least, before.ends_with('$') ? "$" : "", *most);
  }
  const std::size_t rest = different.size() - std::min(different.size(), kNamesInReason);
  if (rest > 0) different.resize(kNamesInReason);
  return fmt::format("{}{}{}", before, fmt::join(different, ", "),
                     rest > 0 ? fmt::format(" and {} more", rest) : "");
}

std::string family_of(const std::string& type) { return type.substr(0, type.find('.')); }

// "g4dn, g6.xlarge": a family where several of its types are meant, unless all are to be named.
std::string types_text(const std::vector<std::string>& types, bool all_types) {
  if (all_types) return fmt::format("{}", fmt::join(types, ", "));
  std::vector<std::string> names;
  for (const std::string& type : types) {
    const std::string family = family_of(type);
    const auto of_family = std::ranges::count(types, family, family_of);
    append_new(names, of_family > 1 ? family : type);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Choices of one stage, code and shape of the reason.
struct RejectedMembers {
  std::vector<const RejectedChoice*> choices;
  std::vector<ReasonWord> shape;

  bool takes(const RejectedChoice& choice, const std::vector<ReasonWord>& words) const {
    return choices.front()->stage == choice.stage && choices.front()->code == choice.code &&
           shape == words;
  }

  std::string what(bool all_types) const {
    if (choices.size() == 1) return sim::describe(choices.front()->choice);
    std::vector<std::string> strategies;
    std::vector<std::string> types;
    for (const RejectedChoice* rejected : choices) {
      append_new(strategies, strategy_title(rejected->choice.strategy));
      append_new(types, rejected->choice.instance_type);
    }
    return fmt::format("{} on {} ({} configurations)", fmt::join(strategies, ", "),
                       types_text(types, all_types), choices.size());
  }

  std::string reason() const {
    std::string out =
        choices.front()->code ? std::string(info(*choices.front()->code).name) + ":" : "";
    for (std::size_t w = 0; w < shape.size(); ++w) {
      std::vector<std::string_view> cores;
      for (const RejectedChoice* rejected : choices) {
        cores.push_back(reason_words(rejected->reason)[w].core);
      }
      out += (out.empty() ? "" : " ") + figures_text(cores, shape[w].before) +
             std::string(shape[w].after);
    }
    return out;
  }
};

}  // namespace

std::vector<RejectedGroup> rejected_groups(const sim::Plan& plan, bool all_types) {
  using Stage = RejectedChoice::Stage;
  std::vector<RejectedMembers> found;
  for (const Stage stage : {Stage::Simulation, Stage::Bound, Stage::Feasibility}) {
    for (const RejectedChoice& rejected : plan.rejected) {
      if (rejected.stage != stage) continue;
      std::vector<ReasonWord> words = reason_words(rejected.reason);
      const auto known = std::ranges::find_if(
          found, [&](const RejectedMembers& members) { return members.takes(rejected, words); });
      if (known == found.end()) {
        found.push_back({{&rejected}, std::move(words)});
      } else {
        known->choices.push_back(&rejected);
      }
    }
  }
  std::vector<RejectedGroup> groups;
  groups.reserve(found.size());
  for (const RejectedMembers& members : found) {
    groups.push_back({members.what(all_types), members.reason(), members.choices.size()});
  }
  return groups;
}

}  // namespace slicewise::reports
