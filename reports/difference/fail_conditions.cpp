#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/difference.hpp"
#include "slicewise/sim/result_record.hpp"

#include "difference_rows.hpp"

namespace slicewise::reports {
namespace {

using Role = StoredFigure::Role;

bool ends_in(const StoredFigure& figure, std::string_view end) {
  return (figure.role == Role::Objective || figure.role == Role::Latency) &&
         std::string_view(figure.name).ends_with(end);
}

// What --fail-on takes. With a threshold the condition compares figures, without one it counts.
struct KnownCondition {
  std::string_view subject;
  bool has_threshold;
  bool (*is_about)(const StoredFigure& figure);  // nullptr: figures declared with it
};

constexpr std::string_view kVerdictWord = "verdict";  // about no figure

constexpr KnownCondition kQuantiles[] = {
    {"p50", true, [](const StoredFigure& f) { return ends_in(f, "P50"); }},
    {"p90", true, [](const StoredFigure& f) { return ends_in(f, "P90"); }},
    {"p95", true, [](const StoredFigure& f) { return ends_in(f, "P95"); }},
    {"p99", true, [](const StoredFigure& f) { return ends_in(f, "P99"); }},
    {"p999", true, [](const StoredFigure& f) { return ends_in(f, "P999"); }},
    {"headroom", true, [](const StoredFigure& f) { return f.name == "headroom"; }},
    {"slo.newlyFailing", false, [](const StoredFigure& f) { return f.standing.has_value(); }},
    {"slo.failing", false, [](const StoredFigure& f) { return f.standing.has_value(); }},
    {kVerdictWord, false, [](const StoredFigure&) { return false; }},
};

void add_declared(const sim::Record& record, std::vector<const sim::DiffFigure*>& all) {
  sim::visit_fields(record, [&](std::span<const sim::Field* const>, const sim::Field& field) {
    for (const sim::DiffFigure& figure : field.diffs) {
      if (!figure.condition.empty()) all.push_back(&figure);
    }
  });
}

// Of money first, then of what has no figure of its own, then of pods.
std::vector<KnownCondition> list_conditions() {
  std::vector<const sim::DiffFigure*> declared;
  add_declared(sim::record_of<sim::VariantResult>(), declared);
  add_declared(sim::record_of<sim::WorkloadResult>(), declared);
  std::ranges::stable_sort(declared, {}, &sim::DiffFigure::rank);
  std::vector<KnownCondition> known;
  const auto add = [&](bool cost) {
    for (const sim::DiffFigure* figure : declared) {
      if ((figure->role == Role::Cost) == cost) known.push_back({figure->condition, cost, nullptr});
    }
  };
  add(true);
  known.insert(known.end(), std::begin(kQuantiles), std::end(kQuantiles));
  add(false);
  return known;
}

const std::vector<KnownCondition>& known_conditions() {
  static const std::vector<KnownCondition> known = list_conditions();
  return known;
}

const KnownCondition* find_condition(std::string_view subject) {
  const auto found = std::ranges::find(known_conditions(), subject, &KnownCondition::subject);
  return found == known_conditions().end() ? nullptr : &*found;
}

bool is_about(const KnownCondition& known, const StoredFigure& figure) {
  if (known.is_about != nullptr) return known.is_about(figure);
  // What a replay costs is its bill.
  return figure.condition == known.subject ||
         (known.subject == "cost" && figure.condition == "cost.total" && figure.is_main);
}

std::string condition_list() {
  std::vector<std::string> words;
  for (const KnownCondition& known : known_conditions()) {
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
  const KnownCondition* const known = find_condition(condition.subject);
  if (known == nullptr) {
    std::vector<std::string> names;
    for (const KnownCondition& k : known_conditions()) names.emplace_back(k.subject);
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
  if (condition.subject == "slo.failing") return figure.after && figure.after->misses();
  if (!figure.after || !figure.is_significant()) return false;
  // Nothing was finished any more: that is worse than any figure.
  if (figure.after->found_nothing()) return figure.before && !figure.before->found_nothing();
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

// One sentence for each item by whose verdict the document is worse than it was.
void judge_verdicts(const FailCondition& condition, const DocumentDifference& difference,
                    std::vector<std::string>& failed) {
  if (!difference.stands()) {
    failed.push_back(fmt::format("{}: nothing to judge: NEW has no verdict", condition.text));
  }
  bool told = false;
  for (const ItemDifference* item : difference.worse()) {
    if (item->new_reasons().empty()) continue;
    failed.push_back(fmt::format("{}: {}", condition.text, verdict_sentence(*item)));
    told = true;
  }
  if (!told && difference.lost_its_best()) {
    failed.push_back(fmt::format("{}: no option that stands can be had", condition.text));
  }
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
    if (condition.subject == kVerdictWord) {
      judge_verdicts(condition, difference, failed);
      continue;
    }
    const KnownCondition* const known = find_condition(condition.subject);
    bool is_judged = false;
    for (const ItemDifference& item : difference.items) {
      for (const FigureDifference& figure : item.figures) {
        if (!is_about(*known, figure.shown())) continue;
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
