#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/gpu_room.hpp"

#include "../text/text_table.hpp"
#include "result_comparison.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"
#include "screen.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;

bool has_warnings(const sim::Result& result) {
  return std::ranges::any_of(result.variants, [](const VariantResult& variant) {
    return std::ranges::any_of(variant.findings,
                               [](const Diagnostic& d) { return d.severity != Severity::Note; });
  });
}

// Variants of which the run was over before their Jobs were done; one line for those with the same
// Jobs left.
std::vector<std::string> unfinished_lines(const sim::Result& result, const TextStyle& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const VariantResult& variant : result.variants) {
    if (variant.stopped_at) continue;  // somebody interrupted it
    const std::string left = unfinished_by_workload(sim::unfinished_jobs(variant));
    if (left.empty()) continue;
    const auto known = std::ranges::find(found, left, [](const auto& f) { return f.first; });
    if (known != found.end()) {
      known->second.push_back(variant.name);
    } else {
      found.push_back({left, {variant.name}});
    }
  }
  std::vector<std::string> lines;
  for (const auto& [left, variants] : found) {
    const bool is_all = variants.size() == result.variants.size() && variants.size() > 1;
    lines.push_back(fmt::format("{} {}: {} unfinished when the run was over", signs(style).warn,
                                is_all ? "every variant" : joined(variants), left));
  }
  if (!lines.empty()) lines.back() += "; a longer duration shows when they are done";
  return lines;
}

// Why variants do not stand, below the table of all.
std::vector<Sentence> shortfall_sentences(const sim::Result& result, const TextStyle& style,
                                          bool brief) {
  std::vector<Sentence> out;
  for (const VariantResult& variant : result.variants) {
    if (variant.verdict.stands()) continue;
    out.push_back(
        {fmt::format("{} {}: {}", signs(style).fail, variant.name,
                     brief ? brief_reasons(variant.verdict) : full_reasons(variant.verdict))});
  }
  for (std::string& line : unfinished_lines(result, style)) out.push_back({std::move(line)});
  if (const std::optional<int> runs = deciding_runs(result)) {
    out.push_back({fmt::format(
        "Limits lie within their intervals: --replications {} should decide.", *runs)});
  }
  return out;
}

// With an objective that it misses, and whose.
sim::VariantRooms rooms_of(const VariantResult& variant) {
  for (const sim::WorkloadResult& workload : variant.workloads) {
    for (const sim::ObjectiveResult& objective : workload.objectives) {
      if (!objective.pass) return {variant.name, variant.rooms, objective.name, workload.name};
    }
  }
  return {variant.name, variant.rooms};
}

// How many pods a GPU holds, and what stops more: before all figures.
ScreenPart rooms_part(const sim::Result& result, Detail detail) {
  constexpr std::size_t kMostLines = 4;
  std::vector<sim::VariantRooms> variants;
  for (const VariantResult& variant : result.variants) {
    variants.push_back(rooms_of(variant));
  }
  std::vector<std::string> lines = sim::room_lines(variants);
  if (detail != Detail::Wide && lines.size() > kMostLines) {
    const std::size_t more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(fmt::format("and {} more (-o wide)", more));
  }
  return {.sentences = sentences_of(lines)};
}

// The variants side by side. A comment shows the first ones, and all of them folded.
std::vector<ScreenPart> comparison_parts(const sim::Result& result, const TextStyle& style,
                                         Detail detail) {
  constexpr std::size_t kMostVariants = 5;
  // A sweep is read as a table; the details of dozens of variants would bury it.
  constexpr std::size_t kMostDetailed = 6;
  const std::size_t variants = result.variants.size();
  const bool brief = detail != Detail::Wide && variants > kMostDetailed;
  ScreenPart all{.table = comparison(result, style, brief),
                 .sentences = shortfall_sentences(result, style, brief)};
  for (std::string& line : knee_lines(result)) all.sentences.push_back({std::move(line)});
  if (detail != Detail::Comment) {
    if (brief) {
      all.sentences.push_back({fmt::format("{} variants; -o wide shows each", variants)});
      return {all};
    }
    std::vector<ScreenPart> parts = variant_parts(result, style, detail == Detail::Wide);
    parts.insert(parts.begin(), std::move(all));
    return parts;
  }
  std::vector<ScreenPart> parts = variant_parts(result, style, false);
  if (variants <= kMostVariants) {
    all.is_answer = true;
    parts.insert(parts.begin(), std::move(all));
    return parts;
  }
  ScreenPart first{.table = all.table, .is_answer = true};
  first.table.rows.resize(kMostVariants);
  first.sentences = std::move(all.sentences);
  all.sentences.clear();
  first.sentences.insert(first.sentences.begin(),
                         {fmt::format("The first {} of {} variants.", kMostVariants, variants)});
  all.folded = fmt::format("All {} variants", variants);
  parts.insert(parts.begin(), {std::move(first), std::move(all)});
  return parts;
}

}  // namespace

Screen screen_of(const sim::Result& result, const TextStyle& style, Detail detail) {
  const bool comment = detail == Detail::Comment;
  Screen screen{result.stamp.scenario, interrupted_line(result),
                comment ? result.stamp.scenario : ""};
  screen.origin = origin_line(result, style);
  if (comment) {
    screen.parts.push_back({.sentences = {{verdict(result)}}, .is_answer = true});
  } else if (result.variants.empty()) {
    if (!result.interrupted) {
      screen.parts.push_back({.sentences = {{result.stamp.scenario + ": no variants"}}});
    }
    return screen;
  }
  screen.parts.push_back(rooms_part(result, detail));
  std::ranges::move(comparison_parts(result, style, detail), std::back_inserter(screen.parts));
  std::vector<std::string> lines = note_lines(result.variants, detail != Detail::Brief);
  if (std::string prices = price_note(result.variants); !prices.empty()) {
    lines.insert(lines.begin(), std::move(prices));
  }
  ScreenPart notes = notes_part(lines);
  if (!comment && has_warnings(result)) {
    notes.sentences.push_back({"slicewise explain CODE tells what a warning means and what to do"});
  }
  screen.parts.push_back(std::move(notes));
  return screen;
}

}  // namespace slicewise::reports
