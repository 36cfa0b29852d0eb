#include "difference_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "slicewise/counted.hpp"

#include "../screens/result_figures.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"

namespace slicewise::reports {
namespace {

using FigureRole = StoredFigure::Role;
using Side = ItemDifference::Side;

sim::Amount amount_of_figure(double value, const std::string& unit) {
  if (unit == "usd") return {value, sim::AmountUnit::Dollars};
  if (unit == "seconds") return {value, sim::AmountUnit::Seconds};
  if (unit == "ratio") return {value, sim::AmountUnit::Ratio};
  if (unit == "perSecond") return {value, sim::AmountUnit::PerSecond};
  return {value, sim::AmountUnit::Count};
}

// Values from a file may be anything: what no figure can be is printed as a plain number.
std::string stored_amount(double value, const std::optional<double>& half_width,
                          const StoredFigure& figure, const TextStyle& style) {
  constexpr double kSane = 8e9;
  const bool sane = std::abs(value) < kSane && std::abs(half_width.value_or(0)) < kSane;
  if (!sane || figure.name == "headroom") return fmt::format("{:.3g}", value);
  return amount_text(amount_of_figure(value, figure.unit), half_width, style);
}

std::string side_cell(const std::optional<StoredFigure>& figure, const TextStyle& style) {
  if (!figure) return std::string(signs(style).none);
  std::string text = figure->found_nothing()
                         ? std::string(signs(style).none)
                         : stored_amount(figure->value, figure->ci95, *figure, style);
  if (figure->name == "headroom") text += "x";
  if (figure->standing) text += " " + std::string(standing_sign(*figure->standing, style));
  return text;
}

// Jobs finished on both sides, where these are not as many: a price of each is no comparison then.
std::string different_work(const ItemDifference& item, const FigureDifference& figure) {
  if (figure.shown().condition != "cost.perJob") return "";
  const auto jobs = std::ranges::find_if(item.figures, [](const FigureDifference& other) {
    const bool counts = other.shown().name == "succeeded" || other.shown().name == "finished";
    return counts && other.before && other.after;
  });
  if (jobs == item.figures.end() || !jobs->differs()) return "";
  return fmt::format("of {}, of {} jobs", count_text(jobs->before->value),
                     count_text(jobs->after->value));
}

std::string change_cell(const ItemDifference& item, const FigureDifference& figure,
                        const TextStyle& style) {
  const auto has_value = [](const std::optional<StoredFigure>& side) {
    return side && !side->found_nothing();
  };
  const bool had = has_value(figure.before);
  const bool has = has_value(figure.after);
  if (!figure.before || (has && !had)) return "new";
  if (!figure.after || (had && !has)) return "gone";
  if (std::string work = different_work(item, figure); !work.empty()) return work;
  if (figure.before->value == figure.after->value) {
    return figure.before->limit == figure.after->limit ? "0" : "limit";
  }
  const auto ratio = figure.ratio();
  const bool countable = !ratio || figure.after->role == FigureRole::Pods;
  std::string text;
  if (countable) {
    const double change = figure.after->value - figure.before->value;
    text = (change < 0 ? "-" : "+") +
           stored_amount(std::abs(change), std::nullopt, *figure.after, style);
  } else {
    text = change_text(*ratio);
  }
  return figure.is_significant() ? text : text + " (within the interval)";
}

std::string figure_title(const StoredFigure& figure) {
  const std::string name(figure.title.empty() ? std::string_view(figure.name) : figure.title);
  return figure.workload.empty() ? name : figure.workload + " " + name;
}

std::string title_with_limit(const FigureDifference& figure, const TextStyle& style) {
  const StoredFigure& shown = figure.shown();
  if (!shown.limit) return figure_title(shown);
  const auto limit = [&](const StoredFigure& f) {
    return stored_amount(f.limit.value_or(0), std::nullopt, f, style);
  };
  const bool moved = figure.before && figure.after && figure.before->limit != figure.after->limit;
  return fmt::format("{} (limit {}{})", figure_title(shown), limit(shown),
                     moved ? ", was " + limit(*figure.before) : "");
}

// With what stays the same left out, the bill and the objectives are still what a reader looks for.
bool is_main_figure(const StoredFigure& figure) {
  return figure.role == FigureRole::Objective || figure.is_main;
}

std::optional<double> largest_bill_change(const DocumentDifference& difference) {
  std::optional<double> largest;
  for (const ItemDifference& item : difference.items) {
    for (const FigureDifference& figure : item.figures) {
      const auto ratio = figure.ratio();
      if (!ratio || figure.shown().condition != "cost") continue;
      if (!largest || std::abs(*ratio) > std::abs(*largest)) largest = ratio;
    }
  }
  return largest;
}

int count_newly_passing(const DocumentDifference& difference) {
  int count = 0;
  for (const ItemDifference& item : difference.items) {
    count += static_cast<int>(std::ranges::count_if(item.figures, &FigureDifference::newly_passes));
  }
  return count;
}

}  // namespace

std::string figure_sentence(const ItemDifference& item, const FigureDifference& figure,
                            const TextStyle& style) {
  return fmt::format("{}: {} {} -> {} ({})", item.name, figure_title(figure.shown()),
                     side_cell(figure.before, style), side_cell(figure.after, style),
                     change_cell(item, figure, style));
}

std::string verdict_sentence(const ItemDifference& item) {
  const bool stood = item.verdict_before && item.verdict_before->stands();
  return fmt::format("{} {}: {}", item.name,
                     stood                     ? "no longer stands"
                     : item.side == Side::Both ? "stands even less"
                                               : "does not stand",
                     brief_reasons({item.new_reasons()}));
}

// The worst first.
std::string difference_summary(const DocumentDifference& difference) {
  std::vector<std::string> parts;
  const std::vector<const ItemDifference*> worse = difference.worse();
  bool worse_verdict = false;
  std::ptrdiff_t failing = 0;
  for (const ItemDifference* item : worse) {
    failing += std::ranges::count_if(item->figures, &FigureDifference::newly_fails);
    if (const double more = item->more_oom_kills(); more > 0) {
      parts.push_back(fmt::format("{} more OOM kill{} in {}", count_text(more),
                                  more == 1 ? "" : "s", item->name));
    }
  }
  for (const ItemDifference* item : worse) {
    if (item->new_reasons().empty()) continue;
    worse_verdict = true;
    parts.push_back(verdict_sentence(*item));
  }
  if (failing > 0) {
    parts.push_back(
        fmt::format("{} newly {}", counted(failing, "objective"), failing == 1 ? "fails" : "fail"));
  }
  if (const int passing = count_newly_passing(difference); passing > 0) {
    parts.push_back(fmt::format("{} newly {}", counted(passing, "objective"),
                                passing == 1 ? "passes" : "pass"));
  }
  for (const ItemDifference& item : difference.items) {
    if (item.newly_stands()) parts.push_back(item.name + " stands now");
  }
  const auto bill = difference.differs() ? largest_bill_change(difference) : std::nullopt;
  if (bill) parts.push_back(*bill == 0 ? "the same $/month" : "bill " + change_text(*bill));
  if (parts.empty())
    parts.emplace_back(difference.differs() ? "something differs" : "no difference");
  if (difference.stands() == false && !worse_verdict) {
    std::vector<std::string> still;
    for (const ItemDifference& item : difference.items) {
      if (item.verdict_after && !item.verdict_after->stands()) still.push_back(item.name);
    }
    const auto stands = [](const ItemDifference& item) {
      return item.verdict_after && item.verdict_after->stands();
    };
    if (std::ranges::any_of(difference.items, stands) && difference.kind == "Comparison") {
      parts.push_back(fmt::format("{} option that stands can be had",
                                  difference.lost_its_best() ? "no" : "still no"));
      return fmt::format("{}", fmt::join(parts, ", "));
    }
    constexpr std::size_t kMostNamed = 3;
    const std::string who = still.size() > kMostNamed
                                ? fmt::format("{} of {}", still.size(), difference.items.size())
                                : fmt::format("{}", fmt::join(still, " and "));
    parts.push_back(fmt::format("{} still {} not stand", who, still.size() == 1 ? "does" : "do"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Cells figure_cells(const ItemDifference& item, const TextStyle& style, bool all) {
  Cells table{{{"FIGURE"}, {"OLD", true}, {"NEW", true}, {"CHANGE", true}}, {}};
  for (const FigureDifference& figure : item.figures) {
    if (!all && !figure.differs() && !is_main_figure(figure.shown())) continue;
    table.rows.push_back({title_with_limit(figure, style), side_cell(figure.before, style),
                          side_cell(figure.after, style), change_cell(item, figure, style)});
  }
  return table;
}

Cells setting_cells(const std::vector<SettingDifference>& settings, const TextStyle& style) {
  constexpr std::size_t kLongest = 48;
  const auto cell = [&](const std::string& value) {
    // Of a hash the beginning is enough; words are kept.
    const bool is_hash = value.size() > kLongest && value.find(' ') == std::string::npos;
    return is_hash ? value.substr(0, 12) + "..." : or_none(value, style);
  };
  Cells table{{{"SETTING"}, {"OLD"}, {"NEW"}}, {}};
  for (const SettingDifference& setting : settings) {
    table.rows.push_back({setting.name, cell(setting.before), cell(setting.after)});
  }
  return table;
}

std::string item_title(const ItemDifference& item, const DocumentDifference& difference) {
  const std::string_view what = difference.kind == "Comparison" ? "option "
                                : difference.kind == "Replay"   ? "scheduler "
                                : difference.kind == "Plan"     ? ""
                                                                : "variant ";
  std::string title = std::string(what) + item.name;
  switch (item.side) {
    case Side::OldOnly:
      return title + ": only in OLD";
    case Side::NewOnly:
      return title + ": only in NEW";
    case Side::Both:
      break;
  }
  return title;
}

}  // namespace slicewise::reports
