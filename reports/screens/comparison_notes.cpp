#include "comparison_notes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../text/name_list.hpp"
#include "comparison_words.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"

namespace slicewise::reports {
namespace {

using sim::ComparedOption;
using sim::ReplicaChoice;
using sim::StrategyComparison;

std::string replicas_text(const ReplicaChoice& choice) {
  const bool full = choice.rule == ReplicaChoice::Rule::GpuMemory;
  return fmt::format("{} {}{}", choice.instance_type, choice.replicas,
                     full ? " (GPU memory holds no more)" : "");
}

std::string replicas_rule(const StrategyComparison& comparison) {
  const ReplicaChoice& first = comparison.replicas.front();
  if (first.rule == ReplicaChoice::Rule::Asked) {
    return fmt::format("pods per shared GPU: {}, as asked", first.replicas);
  }
  if (first.rule == ReplicaChoice::Rule::Scenario) {
    return fmt::format("pods per shared GPU (--replicas): {}, as in the scenario", first.replicas);
  }
  std::string text;
  for (const ReplicaChoice& choice : comparison.replicas) add_name(text, replicas_text(choice));
  return "pods per shared GPU (--replicas), if one node held all of them: " + text;
}

std::string replicas_note(const StrategyComparison& comparison) {
  std::string fewer;
  for (const ReplicaChoice& choice : comparison.replicas) {
    if (choice.mps_replicas == choice.replicas) continue;
    add_name(fewer, fmt::format("{} {}", choice.instance_type, choice.mps_replicas));
  }
  std::string rule = replicas_rule(comparison);
  if (fewer.empty()) return rule;
  return rule + "; with MPS, which cuts the memory in equal shares: " + fewer;
}

// Sharing cannot help where every pod has a GPU for itself anyway.
void add_room_notes(const StrategyComparison& comparison, std::vector<std::string>& lines) {
  for (const std::string& type : comparison.instance_types) {
    const auto option = std::find_if(
        comparison.options.begin(), comparison.options.end(),
        [&](const ComparedOption& o) { return o.configuration.instance_type == type; });
    if (option == comparison.options.end()) continue;
    const int gpus = option->result.node_pools.front().gpus_per_node;
    const double pods = option->result.pods.submitted;
    if (gpus < 2 || gpus < pods) continue;
    lines.push_back(fmt::format("{} has {} GPUs for {} {}: none needs to share", type, gpus,
                                count_text(pods), pods == 1 ? "pod" : "pods"));
  }
}

// Of those notes of the runs that say where figures come from.
bool is_about_inputs(const Diagnostic& d, bool full) {
  return d.code == Code::InstanceRetired || d.code == Code::PriceDerived ||
         (full && d.code == Code::ProfileScaled);
}

// "PROFILE_SCALED: 6 figures carried over to other GPUs by the roofline rule".
void add_scaled_count(const StrategyComparison& comparison, std::vector<std::string>& lines) {
  std::vector<std::string> messages;
  for (const ComparedOption& option : comparison.options) {
    for (const Diagnostic& d : option.result.findings) {
      if (d.code != Code::ProfileScaled) continue;
      if (std::find(messages.begin(), messages.end(), d.message) == messages.end()) {
        messages.push_back(d.message);
      }
    }
  }
  if (messages.empty()) return;
  lines.push_back(fmt::format(
      "{}: {} carried over to other GPUs by the roofline rule (-o wide)",
      info(Code::ProfileScaled).name,
      messages.size() == 1 ? std::string("a figure") : fmt::format("{} figures", messages.size())));
}

bool is_mixed(const StrategyComparison& comparison) {
  return !comparison.options.empty() &&
         work_of(comparison.options.front().result) == WorkKind::Mixed;
}

bool has_shared_instances(const StrategyComparison& comparison) {
  return std::any_of(comparison.options.begin(), comparison.options.end(),
                     [](const ComparedOption& o) {
                       return o.configuration.strategy == sim::Strategy::MigTimeSlicing;
                     });
}

bool has_other_than_stock(const StrategyComparison& comparison) {
  return std::any_of(
      comparison.options.begin(), comparison.options.end(),
      [](const ComparedOption& o) { return !sim::is_stock(o.configuration.strategy); });
}

}  // namespace

std::vector<std::string> comparison_notes(const StrategyComparison& comparison, bool full) {
  std::vector<std::string> lines;
  lines.push_back(comparison.nodes
                      ? fmt::format("nodes: {}, as asked", *comparison.nodes)
                      : std::string("nodes (--nodes): as few as hold all pods at once"));
  if (!comparison.replicas.empty()) lines.push_back(replicas_note(comparison));
  add_room_notes(comparison, lines);
  if (has_shared_instances(comparison)) lines.emplace_back("TS: time-slicing of each instance");
  if (has_other_than_stock(comparison)) {
    lines.emplace_back("not stock: no setting of the device plugin uncaps MPS; never the best");
  }
  if (is_mixed(comparison)) {
    lines.emplace_back(
        "an hour of work is what a pod alone on the GPU it was measured on does in an hour");
  }
  for (const Diagnostic& d : comparison.notes) {
    lines.push_back(fmt::format("{}: {}", info(d.code).name, d.message));
  }
  if (!full) add_scaled_count(comparison, lines);
  std::vector<sim::VariantResult> variants;
  for (const ComparedOption& option : comparison.options) {
    sim::VariantResult& variant = variants.emplace_back();
    variant.provenance = option.result.provenance;
    for (const Diagnostic& d : option.result.findings) {
      if (is_about_inputs(d, full)) variant.findings.push_back(d);
    }
  }
  for (std::string& line : note_lines(variants, full)) lines.push_back(std::move(line));
  return lines;
}

std::string comparison_origin(const StrategyComparison& comparison, const TextStyle& style) {
  return origin_line(comparison.stamp, false, style);
}

}  // namespace slicewise::reports
