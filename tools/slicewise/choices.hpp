#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "slicewise/choice.hpp"
#include "slicewise/scenarios/gpu_software.hpp"
#include "slicewise/scenarios/placements.hpp"

#include "command_line.hpp"
#include "commands.hpp"

// The words that options take and what each stands for.
namespace slicewise::tools {

using scenarios::kCostSplits;
using scenarios::kFidelities;
using scenarios::kGoals;
using sim::kQueuePolicies;

inline constexpr std::array kColors = {
    Choice{"auto", ColorChoice::Auto},
    Choice{"always", ColorChoice::Always},
    Choice{"never", ColorChoice::Never},
};

inline constexpr std::array kProgress = {
    Choice{"auto", ProgressChoice::Auto},
    Choice{"tty", ProgressChoice::Tty},
    Choice{"plain", ProgressChoice::Plain},
    Choice{"none", ProgressChoice::None},
};

inline constexpr std::array kMeasuredWays = {
    Choice{"mps", models::MeasuredSharing::Mps},
    Choice{"time-slicing", models::MeasuredSharing::TimeSlicing},
};

inline constexpr std::array kVerdictFormats = {
    Choice{"table", RunFormat::Table}, Choice{"wide", RunFormat::Wide},
    Choice{"json", RunFormat::Json},   Choice{"yaml", RunFormat::Yaml},
    Choice{"csv", RunFormat::Csv},     Choice{"md", RunFormat::Markdown},
    Choice{"junit", RunFormat::Junit},
};

// ... and of verbs that judge no objectives.
inline constexpr auto kRunFormats = [] {
  std::array<Choice<RunFormat>, kVerdictFormats.size() - 1> formats{};
  std::copy_n(kVerdictFormats.begin(), formats.size(), formats.begin());
  return formats;
}();

// ... and html, before the last.
template <std::size_t kCount>
constexpr auto with_page(const std::array<Choice<RunFormat>, kCount>& formats) {
  std::array<Choice<RunFormat>, kCount + 1> all{};
  std::copy(formats.begin(), formats.end(), all.begin());
  all.back() = std::exchange(all[kCount - 1], {"html", RunFormat::Html});
  return all;
}
inline constexpr auto kVerdictPageFormats = with_page(kVerdictFormats);
inline constexpr auto kPageFormats = with_page(kRunFormats);

inline constexpr std::array kCheckFormats = {
    Choice{"table", CheckFormat::Table}, Choice{"json", CheckFormat::Json},
    Choice{"sarif", CheckFormat::Sarif}, Choice{"github", CheckFormat::Github},
    Choice{"junit", CheckFormat::Junit},
};

inline constexpr std::array kValidateFormats = {
    Choice{"table", RunFormat::Table}, Choice{"wide", RunFormat::Wide},
    Choice{"json", RunFormat::Json},   Choice{"csv", RunFormat::Csv},
    Choice{"md", RunFormat::Markdown},
};

inline constexpr auto kNodePolicies = [] {
  std::array<Choice<sim::NodePolicy>, scenarios::kPlacementWords.size()> choices{};
  for (std::size_t n = 0; n < choices.size(); ++n) {
    choices[n] = {scenarios::kPlacementWords[n], static_cast<sim::NodePolicy>(n)};
  }
  return choices;
}();

// A queue is a partition or a virtual cluster: what traces call a group.
inline constexpr std::array kGroupBys = {
    Choice{"user", sim::GroupBy::User},   Choice{"group", sim::GroupBy::Group},
    Choice{"queue", sim::GroupBy::Group}, Choice{"project", sim::GroupBy::Project},
    Choice{"size", sim::GroupBy::Size},
};

inline constexpr std::array kOutages = {
    Choice{"node", sim::Outage::Node},
    Choice{"zone", sim::Outage::Zone},
};

inline constexpr std::array kInputChoices = {
    Choice{"given", InputChoice::Given},
    Choice{"sampled", InputChoice::Sampled},
};

inline constexpr auto kExportTargets = [] {
  std::array<Choice<const reports::ExportKind*>, reports::kExportKinds.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {reports::kExportKinds[i].name, &reports::kExportKinds[i]};
  }
  return out;
}();

using scenarios::kNodeImages;

inline constexpr auto kImportKinds = [] {
  std::array<Choice<scenarios::ImportKind>, scenarios::kImportKindNames.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {scenarios::kImportKindNames[i], static_cast<scenarios::ImportKind>(i)};
  }
  return out;
}();

inline constexpr std::array kImportFormats = {
    Choice{"trace", ImportFormat::Trace},
    Choice{"binary", ImportFormat::Binary},
    Choice{"scenario", ImportFormat::Scenario},
};

inline constexpr std::array kListFormats = {
    Choice{"table", reports::ListFormat::Table}, Choice{"wide", reports::ListFormat::Wide},
    Choice{"json", reports::ListFormat::Json},   Choice{"yaml", reports::ListFormat::Yaml},
    Choice{"csv", reports::ListFormat::Csv},     Choice{"name", reports::ListFormat::Name},
};

inline constexpr std::array kInstanceOrders = {
    Choice{"name", "name"},
    Choice{"price", "price"},
    Choice{"price-per-gpu", "price-per-gpu"},
    Choice{"gpu-memory", "gpu-memory"},
};

inline constexpr std::array kDiffFormats = {
    Choice{"table", DiffFormat::Table}, Choice{"wide", DiffFormat::Wide},
    Choice{"json", DiffFormat::Json},   Choice{"yaml", DiffFormat::Yaml},
    Choice{"md", DiffFormat::Markdown}, Choice{"svg", DiffFormat::Svg},
};

inline constexpr std::array kVersionFormats = {Choice{"text", false}, Choice{"json", true}};

inline constexpr std::array kShells = {
    Choice{"bash", Shell::Bash},
    Choice{"zsh", Shell::Zsh},
    Choice{"fish", Shell::Fish},
    Choice{"powershell", Shell::PowerShell},
};

}  // namespace slicewise::tools
