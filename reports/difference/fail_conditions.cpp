#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/difference.hpp"

#include "difference_rows.hpp"

namespace slicewise::reports {
namespace {

using Role = StoredFigure::Role;

// What --fail-on takes. With a threshold the condition compares figures, without one it counts.
struct KnownCondition {
  std::string_view subject;
  bool has_threshold;
  bool (*is_about)(const StoredFigure& figure);
};

bool ends_in(const StoredFigure& figure, std::string_view end) {
  return (figure.role == Role::Objective || figure.role == Role::Latency) &&
         std::string_view(figure.name).ends_with(end);
}

constexpr std::array kKnownConditions = {
    KnownCondition{
        "cost", true,
        [](const StoredFigure& f) { return f.name == "monthlyUsd" || f.name == "usdPerHour"; }},
    KnownCondition{"cost.total", true, [](const StoredFigure& f) { return f.name == "totalUsd"; }},
    KnownCondition{"cost.per1k", true,
                   [](const StoredFigure& f) { return f.name == "per1kRequestsInSloUsd"; }},
    KnownCondition{"cost.perJob", true,
                   [](const StoredFigure& f) { return f.name == "perJobUsd"; }},
    KnownCondition{"p50", true, [](const StoredFigure& f) { return ends_in(f, "P50"); }},
    KnownCondition{"p90", true, [](const StoredFigure& f) { return ends_in(f, "P90"); }},
    KnownCondition{"p95", true, [](const StoredFigure& f) { return ends_in(f, "P95"); }},
    KnownCondition{"p99", true, [](const StoredFigure& f) { return ends_in(f, "P99"); }},
    KnownCondition{"p999", true, [](const StoredFigure& f) { return ends_in(f, "P999"); }},
    KnownCondition{"headroom", true, [](const StoredFigure& f) { return f.name == "headroom"; }},
    KnownCondition{"slo.newlyFailing", false,
                   [](const StoredFigure& f) { return f.pass.has_value(); }},
    KnownCondition{"slo.failing", false, [](const StoredFigure& f) { return f.pass.has_value(); }},
    KnownCondition{"pods.pending", false,
                   [](const StoredFigure& f) { return f.name == "pendingMax"; }},
    KnownCondition{"pods.oom", false, [](const StoredFigure& f) { return f.name == "oomKilled"; }},
    KnownCondition{
        "pods.failed", false,
        [](const StoredFigure& f) { return f.role == Role::Pods && f.name == "failed"; }},
};

std::string condition_list() {
  std::vector<std::string> words;
  words.reserve(std::size(kKnownConditions));
  for (const KnownCondition& known : kKnownConditions) {
    words.push_back(fmt::format("{}{}", known.subject, known.has_threshold ? ":+10%" : ""));
  }
  return fmt::format("conditions: {}", fmt::join(words, ", "));
}

// "+10%" as 0.1; nullopt when it is not that.
std::optional<double> signed_percentage(const std::string& text) {
  constexpr std::size_t kLongest = 12;
  const bool shaped = text.size() >= 3 && text.size() <= kLongest && text.back() == '%' &&
                      (text.front() == '+' || text.front() == '-');
  if (!shaped) return std::nullopt;
  const std::string digits = text.substr(1, text.size() - 2);
  const bool plain =
      std::ranges::count(digits, '.') <= 1 && digits.front() != '.' &&
      std::ranges::all_of(digits, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  if (!plain) return std::nullopt;
  const double percent = std::strtod(digits.c_str(), nullptr) / 100;
  return text.front() == '-' ? -percent : percent;
}

tl::expected<FailCondition, std::string> parse_condition(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  FailCondition condition{text, text.substr(0, colon), std::nullopt};
  const auto* const known =
      std::ranges::find(kKnownConditions, condition.subject, &KnownCondition::subject);
  if (known == kKnownConditions.end()) {
    std::vector<std::string> names;
    names.reserve(std::size(kKnownConditions));
    for (const KnownCondition& k : kKnownConditions) names.emplace_back(k.subject);
    const auto near = nearest_name(condition.subject, names);
    return tl::unexpected(fmt::format("there is no condition \"{}\"{}; {}", condition.subject,
                                      near ? "; did you mean " + *near + "?" : "",
                                      condition_list()));
  }
  if (!known->has_threshold && colon < text.size()) {
    return tl::unexpected(
        fmt::format("{} takes no threshold; {}", condition.subject, condition_list()));
  }
  if (!known->has_threshold) return condition;
  condition.threshold = signed_percentage(text.substr(std::min(colon + 1, text.size())));
  if (!condition.threshold) {
    return tl::unexpected(
        fmt::format("\"{}\" needs how far it may change: {}:+10%", text, condition.subject));
  }
  return condition;
}

// Whether a figure on both sides of the comparison is beyond what the condition allows.
bool is_met(const FailCondition& condition, const FigureDifference& figure) {
  if (condition.subject == "slo.newlyFailing") return figure.newly_fails();
  if (condition.subject == "slo.failing") return figure.after && figure.after->pass == false;
  if (!figure.after || !figure.is_significant()) return false;
  if (!condition.threshold) {
    return figure.after->value > (figure.before ? figure.before->value : 0);
  }
  const auto ratio = figure.ratio();
  // From nothing to something is more than any share.
  if (!ratio) return figure.before && figure.after->value > 0 && *condition.threshold >= 0;
  return *condition.threshold >= 0 ? *ratio > *condition.threshold : *ratio < *condition.threshold;
}

// A gate that finds nothing to look at must not pass: a threshold needs both sides, a count the new
// one.
bool can_judge(const FailCondition& condition, const FigureDifference& figure) {
  return figure.after && (figure.before || !condition.threshold);
}

}  // namespace

tl::expected<std::vector<FailCondition>, std::string> parse_fail_on(std::string_view text) {
  std::vector<FailCondition> conditions;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    auto condition = parse_condition(std::string(text.substr(at, comma - at)));
    if (!condition) return tl::unexpected(condition.error());
    conditions.push_back(std::move(*condition));
    at = comma + 1;
  }
  return conditions;
}

std::vector<std::string> failed_conditions(const DocumentDifference& difference,
                                           const std::vector<FailCondition>& conditions) {
  std::vector<std::string> failed;
  for (const FailCondition& condition : conditions) {
    const auto* const known =
        std::ranges::find(kKnownConditions, condition.subject, &KnownCondition::subject);
    bool is_judged = false;
    for (const ItemDifference& item : difference.items) {
      for (const FigureDifference& figure : item.figures) {
        if (!known->is_about(figure.shown())) continue;
        is_judged = is_judged || can_judge(condition, figure);
        if (!is_met(condition, figure)) continue;
        failed.push_back(
            fmt::format("{}: {}", condition.text, figure_sentence(item, figure, {false, true, 0})));
      }
    }
    if (!is_judged) {
      failed.push_back(fmt::format("{}: nothing to judge: {}", condition.text,
                                   condition.threshold ? "no such figure is in both documents"
                                                       : "no such figure is in NEW"));
    }
  }
  return failed;
}

}  // namespace slicewise::reports
