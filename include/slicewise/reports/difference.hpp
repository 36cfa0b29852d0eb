#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/describe.hpp"
#include "slicewise/sim/judge.hpp"

// What changed between two stored documents of one kind: `slicewise diff OLD NEW`. Read are the
// JSON documents of `run`, `compare`, `max-load` and `plan`.
namespace slicewise::reports {

// Bytes of the largest document that is read.
inline constexpr std::size_t kLargestDocument = 64U << 20U;

// A figure of one document, in the unit that the document gives.
struct StoredFigure {
  using Role = sim::DiffFigure::Role;
  std::string workload;  // "" of the whole item
  std::string name;      // "monthlyUsd", "latencyP99", "pendingMax"
  std::string unit;      // "usd", "seconds", "ratio", "perSecond", "number"
  Role role = Role::Cost;
  double value = 0;
  std::optional<double> ci95 = std::nullopt;                      // half width
  std::optional<double> limit = std::nullopt;                     // of an objective
  std::optional<sim::ObjectiveStanding> standing = std::nullopt;  // of an objective
  bool more_is_better = false;
  std::string_view title = {};      // for people; "": the name
  std::string_view condition = {};  // of --fail-on
  bool is_main = false;             // shown even when it stays the same

  // An objective of which nothing was served or finished: the value is no figure.
  bool found_nothing() const { return misses() && !more_is_better && value == 0; }
  std::optional<bool> pass() const { return standing ? std::optional(!misses()) : std::nullopt; }
  bool misses() const { return standing == sim::ObjectiveStanding::Missed; }
};

// One figure on both sides; a side is absent where its document has no such figure.
struct FigureDifference {
  std::optional<StoredFigure> before;
  std::optional<StoredFigure> after;

  const StoredFigure& shown() const { return after ? *after : *before; }
  bool differs() const;
  // Beyond what the intervals of both sides leave open. Without intervals every change is.
  bool is_significant() const;
  std::optional<double> ratio() const;  // after / before - 1; absent without a before above zero
  bool newly_fails() const;
  bool newly_passes() const;
};

// A setting as text: an instance type, the seed.
struct SettingDifference {
  std::string name;    // "nodePools.gpu.strategy"
  std::string before;  // "": not there
  std::string after;
};

// A variant, an option of a comparison, the best option of a plan, or a scheduler of a replay.
struct ItemDifference {
  enum class Side : std::uint8_t { Both, OldOnly, NewOnly };
  std::string name;
  Side side = Side::Both;
  std::vector<FigureDifference> figures;    // also those that did not change
  std::vector<SettingDifference> settings;  // those that changed
  // As stored; absent on a side that is not there, or that an old slicewise wrote.
  std::optional<sim::Verdict> verdict_before = std::nullopt;
  std::optional<sim::Verdict> verdict_after = std::nullopt;
  bool is_best_before = false;  // of the options of a comparison
  bool is_best_after = false;

  bool differs() const;
  // Why it does not stand, where OLD had no reason of the kind about the workload.
  std::vector<sim::Verdict::Reason> new_reasons() const;
  bool newly_stands() const;
  bool is_worse() const;          // by such a reason, an objective or OOM kills
  double more_oom_kills() const;  // beyond the intervals; 0 where there are not more
};

struct DocumentDifference {
  std::string kind;  // "Result", "Comparison", "MaxLoad", "Plan", "Replay"
  std::string scenario;
  std::string old_name;  // files, as the user gave them
  std::string new_name;
  std::vector<SettingDifference> metadata;  // seed, prices, scenario, version ...: what changed
  std::vector<ItemDifference> items;        // in the order of the new document, then the old one's
  std::vector<std::string> failed = {};     // failed_conditions(), where there are conditions

  // Anything but the version of slicewise is different.
  bool differs() const;
  int newly_failing() const;  // objectives
  // Whether NEW does what it should: every variant of a result stands, a comparison has a best
  // option. nullopt without verdicts.
  std::optional<bool> stands() const;
  // The best option, which stands and can be had, is there no more.
  bool lost_its_best() const;
  // The items by which NEW became worse: none while it stands by any other, as comparisons do.
  std::vector<const ItemDifference*> worse() const;
  // Nothing failed, became worse or does not stand: what may have a tick.
  bool is_good() const;
};

// Matches items, workloads and figures by their names. Errors have file:line:col: text that is not
// JSON, a document of another kind or program, a newer format, values of the wrong type.
Expected<DocumentDifference> compare_documents(const SourceText& older, const SourceText& newer);

// One condition of --fail-on.
struct FailCondition {
  std::string text;                 // as it was written
  std::string subject;              // "cost", "p99", "slo.newlyFailing"
  std::optional<double> threshold;  // +10 % is 0.1, -5 % is -0.05
};

// "cost:+10%,slo.newlyFailing". The error lists the conditions that there are.
tl::expected<std::vector<FailCondition>, std::string> parse_fail_on(std::string_view text);

// One sentence for each condition that is met, saying by what. A change within the intervals meets
// none; a condition for which the documents have nothing to compare is met, too.
std::vector<std::string> failed_conditions(const DocumentDifference& difference,
                                           const std::vector<FailCondition>& conditions);

// What changed; `wide` shows the figures that did not, too.
std::string difference_table(const DocumentDifference& difference, const TextStyle& style,
                             bool wide);
// A comment for a pull request: GitHub-flavoured, at most 60,000 bytes, the largest section is left
// out first; ends with "<!-- slicewise:NAME -->", by which a bot finds its earlier comment.
std::string difference_markdown(const DocumentDifference& difference);
// Both sides of each item in one scatter: dollars against the tightest objective, a latency or the
// time of jobs. nullopt where no side has both.
std::optional<std::string> difference_svg(const DocumentDifference& difference);
// slicewise.dev/difference.v1alpha1.
std::string difference_json(const DocumentDifference& difference);
std::string difference_yaml(const DocumentDifference& difference);
// The JSON Schema (draft-07) that difference_json obeys.
std::string difference_schema_json();

}  // namespace slicewise::reports
