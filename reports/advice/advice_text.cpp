#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/reports/advice.hpp"

#include "../export/bundle_parts.hpp"
#include "../text/amount_text.hpp"
#include "embedded/advice_files.hpp"
#include "node_steps.hpp"

namespace slicewise::reports {
namespace {

std::string figure_words(const std::string& figure) {
  if (figure == "gpuUse") return "GPU in use by a pod";
  if (figure == "wait") return "creation of a pod to its container's start, mean";
  return "latency p" + figure.substr(figure.size() - 2);
}

std::string value_text(const Deviation& deviation, double value) {
  return amount_text(
      {value, deviation.is_time ? sim::AmountUnit::Seconds : sim::AmountUnit::Ratio});
}

std::string off_text(const Deviation& deviation) {
  if (deviation.recorded != 0) return change_text(deviation.off());
  return deviation.simulated == 0 ? "0%" : "not seen in the cluster";
}

std::string deviations_part(const Advice& advice) {
  if (advice.recorded_from.empty()) {
    return fmt::format("Nobody knows: no recording was read.\n{}",
                       advice.how_to_record.empty() ? "" : "\n" + advice.how_to_record + "\n");
  }
  if (advice.deviations.empty()) {
    return fmt::format("{} has no figure of these workloads to hold the simulation to.\n",
                       advice.recorded_from);
  }
  std::string text = fmt::format("Recorded: {}.\n\n", advice.recorded_from);
  text += "| WORKLOAD | FIGURE | CLUSTER | SIMULATED | OFF BY |\n|---|---|---:|---:|---:|\n";
  for (const Deviation& one : advice.deviations) {
    text += fmt::format("| {}/{} | {} | {} | {} | {} |\n", one.space, one.workload,
                        figure_words(one.figure), value_text(one, one.recorded),
                        value_text(one, one.simulated), off_text(one));
  }
  return text + std::string(advice_files::deviations_md());
}

std::string bullets(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("- {}\n", printable(line));
  return text;
}

std::string code_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("    {}\n", printable(line));
  return text;
}

std::string rests_part(const Advice& advice) {
  std::string text;
  if (!advice.placeholders.empty()) {
    text =
        filled(advice_files::placeholders_md(),
               {{"workloads", printable(fmt::format("{}", fmt::join(advice.placeholders, ", ")))}});
  }
  if (!advice.assumed_pools.empty()) {
    text +=
        filled(advice_files::assumed_pools_md(),
               {{"pools", printable(fmt::format("{}", fmt::join(advice.assumed_pools, ", ")))}});
  }
  return text.empty() ? text : "## What this rests on\n\n" + text;
}

// What apply.sh leaves to people, whose nodes may go.
std::string hand_part(const Advice& advice) {
  const auto left = advice.option ? left_by_hand(*advice.option) : std::vector<std::string>();
  if (left.empty()) return "";
  std::string text =
      "First by hand, as `apply.sh` said: pods of these ask for what they asked for, and stay "
      "Pending where their\n   nodes go:\n";
  for (const std::string& one : left) text += fmt::format("   - {}\n", one);
  return text + "\n   ";
}

// Which nodes come and go, among the steps.
std::string with_nodes(std::string_view steps, const Advice& advice) {
  const NodeSteps nodes = node_steps(advice);
  const auto part = [](const std::string& list, std::string_view heading, std::string_view none) {
    return list.empty() ? std::string(none) : fmt::format("{}:\n{}", heading, list);
  };
  return filled(
      steps,
      {{"karpenter", nodes.by_karpenter ? " --karpenter" : ""},
       {"come", part(nodes.come, "First these nodes", "No nodes have to be there first.\n")},
       {"hand", hand_part(advice)},
       {"back",
        part(nodes.back, "The way back: first the nodes that went, until they are Ready", "") +
            (nodes.back.empty() ? "" : "   Then ")},
       {"go",
        part(nodes.go,
             "When the new pods run (`kubectl get pods -A -o wide`), these nodes go, and pods "
             "that are still on them\n   start again elsewhere; until then nothing is saved",
             "No nodes go.\n")}});
}

}  // namespace

std::string advice_text(const Advice& advice) {
  std::vector<std::string> paths;
  for (const ExportFile& file : advice.files) paths.push_back(file.path);
  const std::string problem =
      advice.problem.empty()
          ? std::string()
          : fmt::format("What stands against it:\n\n```text\n{}```\n\n", advice.problem);
  const std::string no_path =
      advice.no_path.empty()
          ? std::string()
          : fmt::format("\nNo path from the present pools is part of it:\n\n```text\n{}```\n",
                        advice.no_path);
  const std::string plan = problem + advice.plan_markdown + no_path;
  const bool has_files = std::ranges::any_of(
      paths, [](const std::string& path) { return path.starts_with("apply/"); });
  const bool is_guess = !advice.placeholders.empty();
  const std::string_view steps = is_guess             ? advice_files::not_to_apply_md()
                                 : has_files          ? advice_files::steps_md()
                                 : advice.keeps_as_is ? advice_files::nothing_to_apply_md()
                                                      : std::string_view();
  return filled(advice_files::advice_md(), {{"scenario", advice.scenario},
                                            {"rests", rests_part(advice)},
                                            {"if", is_guess ? ", if that were so" : ""},
                                            {"plan", plan},
                                            {"notes", bullets(advice.notes)},
                                            {"deviations", deviations_part(advice)},
                                            {"steps", with_nodes(steps, advice)},
                                            {"files", code_lines(paths)},
                                            {"commands", code_lines(advice.commands)}});
}

}  // namespace slicewise::reports
