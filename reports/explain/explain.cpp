#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/reference.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../document/result_model.hpp"
#include "../text/text_table.hpp"
#include "explanations.hpp"

namespace slicewise::reports {
namespace {

// "FIX   Write 2 or more ...", with the text aligned behind the label; nothing for no text.
std::string labelled_paragraph(std::string_view label, std::string_view text,
                               const TextStyle& style) {
  constexpr int kLabelWidth = 9;
  if (text.empty()) return "";
  return wrapped_text(text, style.width, fmt::format("{:<{}}", label, kLabelWidth), kLabelWidth);
}

std::string code_text(const CodeInfo& code, const TextStyle& style) {
  const CodeExplanation& e = explanation_of(code.code);
  return wrapped_text(
             fmt::format("{} ({}): {}", code.name, severity_name(code.severity), code.meaning),
             style.width, "", 2) +
         "\n" + labelled_paragraph("WHAT", e.happens, style) +
         labelled_paragraph("MESSAGE", e.message, style) + labelled_paragraph("FIX", e.fix, style) +
         labelled_paragraph("SOURCE", e.source, style);
}

std::string topic_text(const Topic& topic, const TextStyle& style) {
  std::string out = topic.title + '\n';
  bool was_block = true;
  for (const std::string& paragraph : topic.paragraphs) {
    const bool block = paragraph.starts_with(' ');
    if (!block || !was_block) out += '\n';
    out += block ? paragraph + '\n' : wrapped_text(paragraph, style.width, "", 0);
    was_block = block;
  }
  return out;
}

std::string children_text(const std::vector<std::string>& children) {
  std::string out;
  for (const std::string& child : children) {
    if (child.empty()) continue;
    add_name(out, child);
  }
  return out;
}

std::string field_text(const scenarios::FieldDoc& field, const TextStyle& style) {
  std::string title = fmt::format("{} <{}>", field.path, field.type);
  if (field.required) title += ", required";
  return wrapped_text(title, style.width, "", 2) + "\n" +
         labelled_paragraph("MEANING", field.description, style) +
         labelled_paragraph("DEFAULT", field.default_value, style) +
         labelled_paragraph("EXAMPLE", field.example, style) +
         labelled_paragraph("FIELDS", children_text(field.children), style);
}

// A figure of a result, and what it is called where.
std::string figure_text(const DeclaredValue& value, const TextStyle& style) {
  const auto all = [](const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
  };
  return wrapped_text(fmt::format("{} <{}>{}", value.path, value.type,
                                  value.may_be_absent ? ", may be absent" : ""),
                      style.width, "", 2) +
         "\n" + labelled_paragraph("MEANING", value.meaning, style) +
         labelled_paragraph("CSV", all(value.csv), style) +
         labelled_paragraph("POLICIES", all(value.policies), style) +
         labelled_paragraph("DIFF", all(value.diff), style);
}

const CodeInfo* code_named(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kCodes, [&](const CodeInfo& code) { return same_name(code.name, name); });
  return found == kCodes.end() ? nullptr : found;
}

// What people call a thing elsewhere, and the topic or field that has it here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kOtherWords{
    {{"scenario", "spec"},
     {"hpa", "autoscaling"},
     {"keda", "autoscaling"},
     {"karpenter", "autoscaling-nodes"},
     {"cluster-autoscaler", "autoscaling-nodes"},
     {"priority", "spec.workloads.priority"},
     {"preemption", "spec.workloads.preemptionPolicy"},
     {"tensor-parallelism", "llm"},
     {"vllm", "llm"},
     {"dra", "sharing"},
     {"nos", "mig"}}};

std::vector<std::string> names_of_topics() {
  std::vector<std::string> names;
  for (const Topic& topic : topics()) names.emplace_back(topic.name);
  for (const CodeInfo& code : kCodes) names.emplace_back(code.name);
  return names;
}

// GPU_OOM for "OOM": codes of which it is a word.
std::vector<std::string> codes_with(std::string_view word) {
  std::vector<std::string> codes;
  for (const CodeInfo& code : kCodes) {
    std::istringstream words{std::string(code.name)};
    for (std::string one; std::getline(words, one, '_');) {
      if (same_name(one, word)) codes.emplace_back(code.name);
    }
  }
  return codes;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// "spec.nodePools.v100" is a node pool, and "spec.nodePools.zones" may be meant as a field: neither
// says anything that the field above it does not.
bool names_an_item(std::string_view topic, const scenarios::FieldDoc& field) {
  const std::string_view last = last_name(topic);
  const bool is_resource = topic.find('/') != std::string_view::npos;  // nvidia.com/mig-1g.5gb
  return !is_resource && !same_name(last.substr(0, last.find('[')), last_name(field.path));
}

Diagnostics unknown_topic(std::string_view topic) {
  std::vector<std::string> near = codes_with(topic);
  std::ranges::move(scenarios::similar_fields(topic), std::back_inserter(near));
  const auto nearest = nearest_name(topic, names_of_topics());
  if (nearest && std::ranges::find(near, *nearest) == near.end()) {
    near.insert(near.begin(), *nearest);
  }
  std::string help;
  for (const std::string& name : near) help += (help.empty() ? "did you mean " : ", ") + name;
  help += help.empty() ? "" : "? ";
  help +=
      "A file is explained by its path. Topics are codes, fields of the scenario (spec.nodePools), "
      "and: ";
  for (const Topic& known : topics()) {
    help += fmt::format("{}{}", &known == topics().data() ? "" : ", ", known.name);
  }
  return {make_diagnostic(Code::PathUnknown, {},
                          fmt::format("nothing is known about \"{}\"", topic), help)};
}

// A patch holds the fields of spec once more, and so on without end: it is not entered.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void append_fields(std::string& out, const std::string& path) {
  const auto field = scenarios::describe_field(path);
  if (!field) return;
  out += path + '\n';
  if (path.ends_with(".patch")) return;
  for (const std::string& child : field->children) {
    if (child.empty()) continue;
    std::string below = path;
    below += '.';
    below += child;
    append_fields(out, below);
  }
}

}  // namespace

Expected<std::string> explain(std::string_view topic, const TextStyle& style) {
  if (const CodeInfo* code = code_named(topic)) return code_text(*code, style);
  for (const Topic& known : topics()) {
    if (same_name(known.name, topic)) return topic_text(known, style);
  }
  for (const auto& [word, meant] : kOtherWords) {
    if (same_name(word, topic)) return explain(meant, style);
  }
  const auto field = scenarios::describe_field(topic);
  if (field && !names_an_item(topic, *field)) return field_text(*field, style);
  for (const std::string& path : scenarios::similar_fields(topic)) {
    if (same_name(path, topic) || same_name(path, fmt::format("spec.{}", topic))) {
      return field_text(*scenarios::describe_field(path), style);
    }
  }
  if (const DeclaredValue* value = find_value(topic)) return figure_text(*value, style);
  return tl::unexpected(unknown_topic(topic));
}

std::string explain_index(const TextStyle& style) {
  std::string out;
  const auto add_line = [&](std::string_view name, std::string_view meaning, int width) {
    out += wrapped_text(meaning, style.width, fmt::format("  {:<{}}  ", name, width), width + 4);
  };
  out += "TOPICS: slicewise explain sharing\n";
  for (const Topic& topic : topics()) add_line(topic.name, topic.title, 17);
  out += "\nFIELDS of a scenario: slicewise explain spec.nodePools\n";
  const auto spec = scenarios::describe_field("spec");
  for (const std::string& child : spec->children) {
    if (child.empty()) continue;
    add_line("spec." + child, scenarios::describe_field("spec." + child)->description, 22);
  }
  out += "\nFIGURES of a result: slicewise explain cost.perJobUsd\n";
  out += "\nSTORED results and plans: slicewise explain plan.json#2\n";
  out += "\nPROFILES of the catalogue: slicewise explain profile NAME\n";
  out += "\nCODES of errors, warnings and notes: slicewise explain GPU_OOM\n";
  for (const CodeInfo& code : kCodes) add_line(code.name, code.meaning, 26);
  return out;
}

std::string explain_topics() {
  std::string out;
  for (const std::string& name : names_of_topics()) out += name + '\n';
  return out;
}

std::string explain_fields() {
  std::string out;
  append_fields(out, "spec");
  return out;
}

}  // namespace slicewise::reports
