#include "slicewise/reports/difference.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "document_facts.hpp"

namespace slicewise::reports {
namespace {

bool is_same_figure(const StoredFigure& a, const StoredFigure& b) {
  return a.workload == b.workload && a.name == b.name;
}

std::vector<FigureDifference> match_figures(const std::vector<StoredFigure>& before,
                                            const std::vector<StoredFigure>& after) {
  std::vector<FigureDifference> figures;
  figures.reserve(after.size());
  const auto partner = [](const StoredFigure& figure, const std::vector<StoredFigure>& others) {
    const auto found = std::ranges::find_if(
        others, [&](const StoredFigure& other) { return is_same_figure(figure, other); });
    return found == others.end() ? std::nullopt : std::optional(*found);
  };
  for (const StoredFigure& figure : after) figures.push_back({partner(figure, before), figure});
  for (const StoredFigure& figure : before) {
    if (!partner(figure, after)) figures.push_back({figure, std::nullopt});
  }
  return figures;
}

bool is_rejected(const std::string& setting) { return setting.starts_with(kRejectedWord); }

std::vector<SettingDifference> match_settings(const NamedSettings& before,
                                              const NamedSettings& after) {
  std::vector<SettingDifference> settings;
  // Of settings with one name the first counts.
  const std::map<std::string, std::string> old_values(before.begin(), before.end());
  const std::map<std::string, std::string> new_values(after.begin(), after.end());
  std::set<std::string> seen;
  for (const auto& [name, value] : after) {
    if (!seen.insert(name).second) continue;
    const auto old = old_values.find(name);
    std::string was = old == old_values.end() ? std::string() : old->second;
    if (was == value || (is_rejected(was) && is_rejected(value))) continue;
    settings.push_back({name, std::move(was), value});
  }
  for (const auto& [name, value] : before) {
    if (!new_values.contains(name) && seen.insert(name).second) {
      settings.push_back({name, value, ""});
    }
  }
  // A configuration that was not tried before and is rejected now, or the other way round, says
  // nothing about the answer.
  std::erase_if(settings, [](const SettingDifference& setting) {
    return (setting.before.empty() && is_rejected(setting.after)) ||
           (setting.after.empty() && is_rejected(setting.before));
  });
  return settings;
}

std::vector<ItemDifference> match_items(const std::vector<ItemFacts>& before,
                                        const std::vector<ItemFacts>& after) {
  using Side = ItemDifference::Side;
  std::vector<ItemDifference> items;
  const auto add = [&](const ItemFacts& old, const ItemFacts& now, Side side) {
    items.push_back({side == Side::OldOnly ? old.name : now.name, side,
                     match_figures(old.figures, now.figures),
                     side == Side::Both ? match_settings(old.settings, now.settings)
                                        : std::vector<SettingDifference>{},
                     old.verdict, now.verdict, old.is_best, now.is_best});
  };
  for (const ItemFacts& item : after) {
    const auto old = std::ranges::find(before, item.name, &ItemFacts::name);
    const bool both = old != before.end();
    add(both ? *old : ItemFacts{}, item, both ? Side::Both : Side::NewOnly);
  }
  for (const ItemFacts& item : before) {
    if (std::ranges::find(after, item.name, &ItemFacts::name) == after.end()) {
      add(item, {}, Side::OldOnly);
    }
  }
  return items;
}

// The way the one item of each document is called says nothing when there is one on either side.
void pair_only_items(std::vector<ItemFacts>& before, const std::vector<ItemFacts>& after) {
  if (before.size() == 1 && after.size() == 1) before.front().name = after.front().name;
}

// Options of a comparison are tried to find one that stands and can be had.
bool any_will_do(const DocumentDifference& difference) { return difference.kind == "Comparison"; }

}  // namespace

bool FigureDifference::differs() const {
  if (!before || !after) return true;
  return before->value != after->value || before->limit != after->limit ||
         before->misses() != after->misses();
}

bool FigureDifference::is_significant() const {
  if (!before || !after) return true;
  const double change = std::abs(after->value - before->value);
  const double wide_before = before->ci95.value_or(0);
  const double wide_after = after->ci95.value_or(0);
  return change > 0 && change > std::sqrt(wide_before * wide_before + wide_after * wide_after);
}

std::optional<double> FigureDifference::ratio() const {
  if (!before || !after || before->value <= 0) return std::nullopt;
  return after->value / before->value - 1;
}

bool FigureDifference::newly_fails() const {
  return after && after->misses() && (!before || !before->misses());
}

bool FigureDifference::newly_passes() const {
  return before && after && before->misses() && after->standing && !after->misses();
}

std::vector<sim::Verdict::Reason> ItemDifference::new_reasons() const {
  std::vector<sim::Verdict::Reason> reasons;
  if (!verdict_after) return reasons;
  const auto was_there = [&](const sim::Verdict::Reason& reason) {
    return verdict_before &&
           std::ranges::any_of(verdict_before->reasons, [&](const sim::Verdict::Reason& old) {
             return old.cause == reason.cause && old.workload == reason.workload;
           });
  };
  std::ranges::remove_copy_if(verdict_after->reasons, std::back_inserter(reasons), was_there);
  return reasons;
}

bool ItemDifference::newly_stands() const {
  return verdict_before && verdict_after && !verdict_before->stands() && verdict_after->stands();
}

double ItemDifference::more_oom_kills() const {
  for (const FigureDifference& figure : figures) {
    if (!figure.after || figure.after->condition != "pods.oom" || !figure.is_significant())
      continue;
    return std::max(0.0, figure.after->value - (figure.before ? figure.before->value : 0));
  }
  return 0;
}

bool ItemDifference::is_worse() const {
  return !new_reasons().empty() || more_oom_kills() > 0 ||
         std::ranges::any_of(figures, &FigureDifference::newly_fails);
}

std::optional<bool> DocumentDifference::stands() const {
  std::vector<bool> standing;
  for (const ItemDifference& item : items) {
    if (item.verdict_after) standing.push_back(item.verdict_after->stands());
  }
  if (standing.empty()) return std::nullopt;
  if (any_will_do(*this)) return std::ranges::any_of(items, &ItemDifference::is_best_after);
  return std::ranges::find(standing, false) == standing.end();
}

bool DocumentDifference::lost_its_best() const {
  return std::ranges::any_of(items, &ItemDifference::is_best_before) &&
         std::ranges::none_of(items, &ItemDifference::is_best_after);
}

std::vector<const ItemDifference*> DocumentDifference::worse() const {
  std::vector<const ItemDifference*> out;
  if (any_will_do(*this) && stands() == true) return out;
  for (const ItemDifference& item : items) {
    if (item.is_worse()) out.push_back(&item);
  }
  return out;
}

bool DocumentDifference::is_good() const {
  return failed.empty() && stands().value_or(true) && worse().empty();
}

bool ItemDifference::differs() const {
  return side != Side::Both || !settings.empty() ||
         std::ranges::any_of(figures, &FigureDifference::differs);
}

bool DocumentDifference::differs() const {
  const auto counts = [](const SettingDifference& setting) { return setting.name != "version"; };
  return std::ranges::any_of(metadata, counts) ||
         std::ranges::any_of(items, &ItemDifference::differs);
}

int DocumentDifference::newly_failing() const {
  int count = 0;
  for (const ItemDifference& item : items) {
    if (item.side == ItemDifference::Side::OldOnly) continue;
    count += static_cast<int>(std::ranges::count_if(item.figures, &FigureDifference::newly_fails));
  }
  return count;
}

Expected<DocumentDifference> compare_documents(const SourceText& older, const SourceText& newer) {
  Expected<DocumentFacts> before = document_facts(older);
  Expected<DocumentFacts> after = document_facts(newer);
  Diagnostics problems;
  for (const auto* side : {&before, &after}) {
    if (!*side) problems.insert(problems.end(), side->error().begin(), side->error().end());
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  if (before->kind != after->kind) {
    return failure(
        Code::ApiVersionUnknown, {newer.name, 1, 1, 1},
        fmt::format("this is a {}, and \"{}\" a {}", after->kind, older.name, before->kind),
        "diff takes two documents of one kind");
  }
  DocumentDifference difference;
  difference.kind = after->kind;
  difference.scenario = after->scenario;
  difference.old_name = older.name;
  difference.new_name = newer.name;
  difference.metadata = match_settings(before->metadata, after->metadata);
  if (!before->inputs.empty() && !after->inputs.empty()) {
    std::ranges::move(match_settings(before->inputs, after->inputs),
                      std::back_inserter(difference.metadata));
  }
  pair_only_items(before->items, after->items);
  difference.items = match_items(before->items, after->items);
  return difference;
}

}  // namespace slicewise::reports
