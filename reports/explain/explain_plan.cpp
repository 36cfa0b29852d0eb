#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/studies.hpp"

#include "../difference/stored_document.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {
namespace {

// Reasons of one kind that are named before the rest is only counted.
constexpr std::size_t kReasonsShown = 5;

// What a stored plan says of its options, in sentences.
class PlanExplainer {
 public:
  PlanExplainer(StoredDocument document, StoredPlan plan, const TextStyle& style)
      : document_(std::move(document)), plan_(std::move(plan)), style_(style) {}

  std::string option(std::size_t index) {
    const std::string at = fmt::format("/options/{}", index);
    std::string out = fmt::format("#{} of {}: {}\n", index + 1, plan_.options.size(), name(index));
    out += said(cost_sentence(index, at)) + objectives(at) + said(use_sentence(at)) +
           said(rank_sentence(index, at));
    for (const std::string& sentence : flip_sentences(index)) out += said(sentence);
    return out;
  }

  std::string whole() {
    std::string out;
    if (plan_.options.empty()) {
      out += "No configuration that was tried stands.\n";
    } else {
      out += fmt::format("Recommended of {}: {}\n", plan_.options.size(), name(0)) +
             said(cost_sentence(0, "/options/0")) + objectives("/options/0");
      for (const std::string& sentence : flip_sentences(0)) out += said(sentence);
    }
    return out + rejections() +
           said(
               "slicewise explain PLAN#2 says why an option is where it is, slicewise export -f "
               "PLAN --candidate 2 writes its files");
  }

  const Diagnostics& problems() const { return document_.problems(); }

 private:
  std::string said(const std::string& sentence) const {
    return sentence.empty() ? "" : wrapped_text(sentence, style_.width, "  ", 4);
  }

  std::string name(std::size_t index) const {
    std::vector<std::string> pools;
    for (const sim::PoolChoice& pool : plan_.options[index]) pools.push_back(describe(pool));
    return fmt::format("{}", fmt::join(pools, " + "));
  }

  double figure(const std::string& pointer) { return document_.number(pointer).value_or(0); }

  std::string cost_sentence(std::size_t index, const std::string& at) {
    const double monthly = figure(at + "/monthlyUsd");
    std::string out = fmt::format("{} a month", money_text(from_dollars(monthly)));
    if (index == 0) return out;
    const double best = figure("/options/0/monthlyUsd");
    if (best <= 0 || monthly == best) return out + ", as much as #1";
    return out + fmt::format(", {} {} than #1 ({})",
                             money_text(from_dollars(std::max(monthly - best, best - monthly))),
                             monthly > best ? "more" : "less", change_text(monthly / best - 1));
  }

  std::string objectives(const std::string& option) {
    const auto* all = document_.list(option + "/objectives");
    std::string out;
    for (std::size_t o = 0; all != nullptr && o < all->size(); ++o) {
      const std::string at = fmt::format("{}/objectives/{}", option, o);
      const sim::AmountUnit unit = unit_of_word(document_.required_text(at + "/unit"));
      const bool at_least = document_.truth(at + "/atLeast").value_or(false);
      const sim::ObjectiveStanding standing =
          stored_standing(document_.truth(at + "/pass").value_or(false), figure(at + "/value"),
                          document_.number(at + "/ci95"), figure(at + "/limit"), at_least);
      const std::string value =
          amount_text({figure(at + "/value"), unit}, document_.number(at + "/ci95"), style_);
      out += said(fmt::format(
          "{} {} {}: {} of {} {}, {} of the limit", standing_sign(standing, style_),
          document_.required_text(at + "/workload"), document_.required_text(at + "/name"), value,
          at_least ? "at least" : "at most", amount_text({figure(at + "/limit"), unit}),
          percent_text(figure(at + "/ratio"))));
    }
    return out;
  }

  std::string use_sentence(const std::string& at) {
    return fmt::format("the GPUs are busy {} of the time; up to {} pods run at once",
                       percent_text(figure(at + "/gpuBusyRatio")),
                       count_text(figure(at + "/runningMax")));
  }

  std::string rank_sentence(std::size_t index, const std::string& at) {
    const std::string goal = document_.required_text("/metadata/goal");
    if (index == 0) return fmt::format("it has the least {} of all that stand", goal);
    std::string out = fmt::format("it ranks behind #{} by {}", index, goal);
    if (figure(at + "/goal") == figure(fmt::format("/options/{}/goal", index - 1))) {
      out += ", of which both have as much, and then by the share of its limits that it uses";
    }
    if (document_.truth(at + "/pareto").value_or(false)) {
      return out + "; no ranked option is both cheaper and further from its limits";
    }
    for (std::size_t other = 0; other < plan_.options.size(); ++other) {
      const std::string against = fmt::format("/options/{}", other);
      if (other != index && figure(against + "/monthlyUsd") <= figure(at + "/monthlyUsd") &&
          figure(against + "/worstRatio") <= figure(at + "/worstRatio")) {
        return out + fmt::format("; #{} costs no more and is no nearer to its limits", other + 1);
      }
    }
    return out;
  }

  // Of the best option: all; of another: those that make it the best.
  std::vector<std::string> flip_sentences(std::size_t index) {
    std::vector<std::string> sentences;
    const auto* flips = document_.list("/flips");
    for (std::size_t f = 0; flips != nullptr && f < flips->size(); ++f) {
      const std::string at = fmt::format("/flips/{}", f);
      const bool mine = wins_at(at, index);
      if (index > 0 && !mine) continue;
      sentences.push_back(fmt::format(
          "{} {} is {} times what it is", index > 0 ? "it would be best if" : "another is best if",
          document_.required_text(at + "/input"), decimal_text(figure(at + "/factor"))));
    }
    return sentences;
  }

  bool wins_at(const std::string& flip, std::size_t index) {
    const nlohmann::json::json_pointer winner(flip + "/winner/pools");
    const nlohmann::json::json_pointer mine(fmt::format("/options/{}/pools", index));
    const nlohmann::json& root = document_.root();
    return root.contains(winner) && root.contains(mine) && root.at(winner) == root.at(mine);
  }

  std::string rejections() {
    std::map<std::string, std::size_t> reasons;
    const auto* rejected = document_.list("/rejected");
    if (rejected == nullptr || rejected->empty()) return "";
    for (std::size_t r = 0; r < rejected->size(); ++r) {
      const std::string at = fmt::format("/rejected/{}", r);
      const auto code = document_.text(at + "/code");
      ++reasons[code ? *code : document_.required_text(at + "/reason")];
    }
    std::vector<std::pair<std::size_t, std::string>> ordered;
    ordered.reserve(reasons.size());
    for (const auto& [reason, count] : reasons) ordered.emplace_back(count, reason);
    std::ranges::stable_sort(ordered,
                             [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string out = fmt::format("{} configurations were rejected:\n", rejected->size());
    for (std::size_t r = 0; r < std::min(ordered.size(), kReasonsShown); ++r) {
      out += said(fmt::format("{} x {}", ordered[r].first, ordered[r].second));
    }
    if (ordered.size() > kReasonsShown) {
      out += said(fmt::format("and {} reasons more", ordered.size() - kReasonsShown));
    }
    return out;
  }

  StoredDocument document_;
  StoredPlan plan_;
  TextStyle style_;
};

}  // namespace

Expected<std::string> explain_plan(const SourceText& source, std::optional<std::size_t> option,
                                   const TextStyle& style) {
  Expected<StoredPlan> plan = read_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const std::size_t count = plan->options.size();
  if (option && (*option == 0 || *option > count)) {
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::ValueRange, {source.name, 1, 1, 1},
        fmt::format("the plan has {} options, no option {}", count, *option), "1 is the best")});
  }
  Expected<StoredDocument> document = StoredDocument::read(source);
  if (!document) return tl::unexpected(std::move(document.error()));
  PlanExplainer explainer(std::move(*document), std::move(*plan), style);
  std::string text = option ? explainer.option(*option - 1) : explainer.whole();
  if (!explainer.problems().empty()) return tl::unexpected(explainer.problems());
  return text;
}

}  // namespace slicewise::reports
