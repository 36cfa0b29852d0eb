#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comparison_words.hpp"
#include "plan_screen.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::RejectedChoice;

// Names that a reason lists before the others are only counted.
constexpr std::size_t kNamesInReason = 4;

std::optional<double> number_in(std::string_view core) {
  double value = 0;
  const auto [end, error] = std::from_chars(core.data(), core.data() + core.size(), value);
  if (error != std::errc{} || end != core.data() + core.size()) return std::nullopt;
  return value;
}

template <class Text>
void append_new(std::vector<Text>& texts, const Text& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

// "768 to 2717" of numbers, "T4, L4" of names. `before`: what stands before them.
std::string figures_text(const std::vector<std::string_view>& figures, std::string_view before) {
  std::vector<std::string_view> different;
  for (const std::string_view figure : figures) append_new(different, figure);
  const bool is_money = before.ends_with('$');
  const auto text = [&](std::string_view figure) {
    return is_money ? with_thousands(std::string(figure)) : std::string(figure);
  };
  if (different.size() == 1) return text(different.front());
  if (std::ranges::all_of(different, [](auto figure) { return number_in(figure).has_value(); })) {
    const auto [least, most] =
        std::ranges::minmax_element(different, {}, [](auto figure) { return *number_in(figure); });
    return fmt::format("{} to {}{}", text(*least), is_money ? "$" : "", text(*most));
  }
  const std::size_t rest = different.size() - std::min(different.size(), kNamesInReason);
  if (rest > 0) different.resize(kNamesInReason);
  return fmt::format("{}{}", fmt::join(different, ", "),
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

// Choices of one stage, code and form of the reason.
struct RejectedMembers {
  std::vector<const RejectedChoice*> choices;

  bool takes(const RejectedChoice& choice) const {
    const RejectedChoice& first = *choices.front();
    return first.stage == choice.stage && first.code == choice.code &&
           first.reason.form == choice.reason.form;
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
    const RejectedChoice& first = *choices.front();
    return (first.code ? fmt::format("{}: ", info(*first.code).name) : "") +
           sim::filled_form(first.reason.form, [&](std::size_t place, std::string_view before) {
             std::vector<std::string_view> figures;
             for (const RejectedChoice* rejected : choices) {
               figures.emplace_back(rejected->reason.figures.at(place));
             }
             return figures_text(figures, before);
           });
  }
};

}  // namespace

std::vector<RejectedGroup> rejected_groups(const sim::Plan& plan, bool all_types) {
  using Stage = RejectedChoice::Stage;
  std::vector<RejectedMembers> found;
  for (const Stage stage : {Stage::Simulation, Stage::Bound, Stage::Feasibility}) {
    for (const RejectedChoice& rejected : plan.rejected) {
      if (rejected.stage != stage) continue;
      const auto known = std::ranges::find_if(
          found, [&](const RejectedMembers& members) { return members.takes(rejected); });
      if (known == found.end()) {
        found.push_back({{&rejected}});
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
