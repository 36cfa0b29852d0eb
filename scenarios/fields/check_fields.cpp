#include "check_fields.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "../blocks/blocks.hpp"
#include "check_scalar.hpp"
#include "whereabouts.hpp"

namespace slicewise::scenarios {
namespace {

using Kind = Node::Kind;

std::string in_path(const std::string& path) { return path.empty() ? "" : " in " + path; }

// The name that a key begins with: of an autoscaler `minReplicas` is `min` here.
std::optional<std::string> first_word_of(std::string_view key,
                                         const std::vector<std::string_view>& names) {
  constexpr std::size_t kShortestWord = 3;
  const auto leads = [&](std::string_view name) {
    return name.size() >= kShortestWord && key.size() > name.size() && key.starts_with(name) &&
           key[name.size()] >= 'A' && key[name.size()] <= 'Z';
  };
  const auto found = std::ranges::find_if(names, leads);
  return found == names.end() ? std::nullopt : std::optional(std::string(*found));
}

bool must_be_map(const Node& node, const std::string& path, Findings& findings,
                 const std::string& example = {}) {
  if (node.kind == Kind::Map) return true;
  std::string help = example.empty() ? "" : fmt::format("write it like `{}`", example);
  if (path.empty() && node.where.file.ends_with(".csv")) {
    help = fmt::format("a table of jobs is for `slicewise replay -f {}`", node.where.file);
  }
  report_type(node, path.empty() ? "a scenario file" : path, "a mapping", findings, help);
  return false;
}

bool must_be_list(const Node& node, const std::string& path, std::string_view example,
                  Findings& findings) {
  if (node.kind == Kind::List) return true;
  report_type(node, path, "a list", findings, fmt::format("write it like `{}`", example));
  return false;
}

void must_not_be_empty(const Node& list, const std::string& path, Findings& findings) {
  if (!list.items.empty()) return;
  findings.add(Code::ValueRange, list.where, fmt::format("{} is empty", path));
}

void check_duplicate_name(const Node& item, const std::string& path,
                          std::map<std::string, int>& first_line, Findings& findings) {
  const Node* name = item.find("name");
  if (name == nullptr || !name->is_scalar() || name->kind == Kind::Null) return;
  const auto [first, inserted] = first_line.emplace(name->text, name->where.line);
  if (inserted) return;
  findings.add(Code::NameDuplicate, name->where,
               fmt::format("two entries of {} are called \"{}\"", path, name->text),
               "give each its own name", fmt::format("first used on line {}", first->second));
}

void check_words(const Field& field, const Node& node, const std::string& path,
                 Findings& findings) {
  if (node.kind != Kind::List) return check_scalar(field, node, path, findings);
  for (const NodePtr& item : node.items) check_scalar(field, *item, path, findings);
  must_not_be_empty(node, path, findings);
}

void check_values(const Field& field, const Node& node, const std::string& path,
                  Findings& findings) {
  if (!must_be_list(node, path, field.written_example(), findings)) return;
  for (const NodePtr& item : node.items) check_scalar(field, *item, path, findings);
  if (field.type == FieldType::ClockTimes) must_not_be_empty(node, path, findings);
}

void check_texts(const Field& field, const Node& node, const std::string& path,
                 Findings& findings) {
  if (!must_be_list(node, path, field.written_example(), findings)) return;
  must_not_be_empty(node, path, findings);
  for (const NodePtr& item : node.items) must_be_text(*item, path, findings);
}

void check_devices(const Field& field, const Node& node, const std::string& path,
                   Findings& findings) {
  if (node.kind == Kind::Text && node.text == "all") return;
  if (node.kind != Kind::List) {
    return report_type(node, path, "all or a list of whole numbers", findings,
                       "write all, or the indexes of GPUs like [0, 1]");
  }
  must_not_be_empty(node, path, findings);
  for (const NodePtr& item : node.items) check_scalar(field, *item, path, findings);
}

void check_memory_slices(const Field& field, const Node& node, const std::string& path,
                         Findings& findings) {
  if (!must_be_list(node, path, field.written_example(), findings)) return;
  must_not_be_empty(node, path, findings);
  for (const NodePtr& item : node.items) {
    if (!must_be_text(*item, path, findings) || is_memory_slice(item->text)) continue;
    findings.add(Code::UnitUnknown, item->where,
                 fmt::format("{} is not the size of a slice of nos", shown(*item)),
                 "write whole gigabytes with a lower-case gb: 10gb");
  }
}

std::string child_path(const std::string& path, const std::string& key) {
  return join_path(path == "spec" ? "" : path, key);
}

class Checker {
 public:
  // `root` is the block that the whole file is.
  Checker(const Field& root, Completeness completeness, Findings& findings)
      : root_(root), completeness_(completeness), findings_(findings) {}

  // NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
  void check(const Field& field, const Node& node, const std::string& path,
             const SourceLocation& where) {
    if (node.refused) return;
    if (node.kind == Kind::Null && field.is_taken()) {
      check_null(field, node, path);
      return;
    }
    switch (field.type) {
      case FieldType::Range:
        if (node.kind != Kind::Map) return check_scalar(field, node, path, findings_);
        [[fallthrough]];
      case FieldType::Block:
        return check_block(field, node, path, where);
      case FieldType::Patch:
        return Checker(root_, Completeness::Part, findings_).check_patch(node, path, where);
      case FieldType::Blocks:
        return check_blocks(field, node, path);
      case FieldType::BlocksByName:
        return check_blocks_by_name(field, node, path);
      case FieldType::BlockByName:
        return check_block_by_name(field, node, path);
      case FieldType::Words:
        return check_words(field, node, path, findings_);
      case FieldType::Texts:
        return check_texts(field, node, path, findings_);
      case FieldType::Names:
      case FieldType::Integers:
      case FieldType::Durations:
      case FieldType::ClockTimes:
        return check_values(field, node, path, findings_);
      case FieldType::Devices:
        return check_devices(field, node, path, findings_);
      case FieldType::MigDevices:
        return check_mig_devices(field, node, path);
      case FieldType::MemorySlices:
        return check_memory_slices(field, node, path, findings_);
      case FieldType::Text:
      case FieldType::Name:
      case FieldType::Word:
      case FieldType::Boolean:
      case FieldType::Integer:
      case FieldType::Number:
      case FieldType::Bytes:
      case FieldType::Cpu:
      case FieldType::Quantity:
      case FieldType::Duration:
      case FieldType::FineDuration:
      case FieldType::ClockTime:
      case FieldType::UtcOffset:
      case FieldType::WeekTime:
      case FieldType::Percent:
      case FieldType::Rate:
      case FieldType::Target:
        return check_scalar(field, node, path, findings_);
      case FieldType::Labels:
        return check_labels(node, path);
      case FieldType::Resources:
        return check_resources(node, path);
      case FieldType::Environment:
        return check_environment(field, node, path);
      case FieldType::Random:
        return check_random(field, node, path, where);
      case FieldType::Sweep:
        return check_sweep(node, path);
      case FieldType::Ignored:
      case FieldType::Refused:
        return;  // reported with its key
    }
  }

 private:
  void check_null(const Field& field, const Node& node, const std::string& path) {
    if (completeness_ == Completeness::Part || field.nullable) return;
    findings_.add(Code::FieldType, node.where, fmt::format("{} has no value", path),
                  fmt::format("write it like `{}`, or remove the key", field.written_example()));
  }

  void check_block(const Field& field, const Node& node, const std::string& path,
                   const SourceLocation& where) {
    if (!must_be_map(node, path, findings_, field.written_example())) return;
    check_entries(field.children(), node, path, where);
  }

  void check_patch(const Node& node, const std::string& path, const SourceLocation& where) {
    if (node.kind == Kind::Null) return;
    if (!must_be_map(node, path, findings_)) return;
    for (const std::string_view name : {"variants", "sweep"}) {
      if (const Entry* entry = node.entry(name)) {
        findings_.add(Code::SettingConflict, entry->key_where,
                      fmt::format("a patch cannot change {}", name), "move it to spec");
      }
    }
    // Inside a patch, paths read as they would in spec.
    check_entries(spec_field().children(), node, "spec", where);
  }

  void check_entries(FieldList fields, const Node& node, const std::string& path,
                     const SourceLocation& where) {
    for (const Entry& entry : node.entries) {
      const Field* field = fields.find(entry.key);
      if (field == nullptr) {
        unknown(fields, entry, path);
      } else if (field->type == FieldType::Ignored) {
        findings_.add(Code::PluginFieldIgnored, entry.key_where,
                      fmt::format("the device plugin ignores \"{}\"{}", entry.key, in_path(path)),
                      std::string(field->description));
      } else if (field->type == FieldType::Refused) {
        findings_.add(Code::FieldUnknown, entry.key_where,
                      fmt::format("\"{}\"{} is not taken here", entry.key, in_path(path)),
                      std::string(field->description));
      } else {
        Checker(root_, completeness_below(*field), findings_)
            .check(*field, *entry.value, child_path(path, entry.key), entry.key_where);
      }
    }
    const bool top = fields.first == scenario_field().children().first;
    if (completeness_ == Completeness::Whole || top) require(fields, node, path, where);
  }

  // With variants, only spec may be incomplete, and of spec neither variants nor sweep.
  Completeness completeness_below(const Field& field) const {
    if (completeness_ != Completeness::Base || &field == &spec_field()) return completeness_;
    const FieldList spec = spec_field().children();
    const bool in_spec = &field >= spec.begin() && &field < spec.end();
    const bool own = field.name == "variants" || field.name == "sweep";
    return in_spec && !own ? Completeness::Part : Completeness::Whole;
  }

  void require(FieldList fields, const Node& node, const std::string& path,
               const SourceLocation& where) {
    for (const Field& field : fields) {
      if (!field.required || node.entry(field.name) != nullptr) continue;
      findings_.add(Code::FieldMissing, where,
                    fmt::format("\"{}\" is missing{}", field.name, in_path(path)),
                    fmt::format("add `{}`", field.written_example()));
    }
  }

  void unknown(FieldList fields, const Entry& entry, const std::string& path) {
    std::vector<std::string_view> names;
    for (const Field& field : fields) {
      if (field.is_taken()) names.push_back(field.name);
    }
    auto nearest = nearest_name(entry.key, names);
    std::string help;
    const auto suits = [&](const Field& field) {
      Findings problems;
      Checker(root_, completeness_, problems).check(field, *entry.value, path, entry.key_where);
      return problems.empty();
    };
    if (!nearest) help = whereabouts(root_, entry, path, suits);
    if (!nearest && help.empty()) nearest = first_word_of(entry.key, names);
    std::string message = fmt::format("unknown field \"{}\"{}", entry.key, in_path(path));
    if (nearest) message += fmt::format("; did you mean \"{}\"?", *nearest);
    if (!nearest && help.empty()) help = "known here: " + list_of(names);
    findings_.add(Code::FieldUnknown, entry.key_where, std::move(message), std::move(help));
  }

  void must_hold_least(const Field& field, const Node& node, std::size_t size,
                       const std::string& path) {
    if (completeness_ != Completeness::Whole) return;
    if (size >= static_cast<std::size_t>(std::max<std::int64_t>(field.least, 0))) return;
    findings_.add(Code::ValueRange, node.where, fmt::format("{} is empty", path),
                  fmt::format("write it like `{}`", field.written_example()));
  }

  void check_blocks_by_name(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_map(node, path, findings_)) return;
    must_hold_least(field, node, node.entries.size(), path);
    for (const Entry& entry : node.entries) {
      Field list = field;
      list.type = FieldType::Blocks;
      check(list, *entry.value, join_path(path, entry.key), entry.key_where);
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
  void check_block_by_name(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_map(node, path, findings_)) return;
    Field one = field;
    one.type = FieldType::Block;
    for (const Entry& entry : node.entries) {
      check(one, *entry.value, join_path(path, entry.key), entry.key_where);
    }
  }

  void check_blocks(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_list(node, path, field.written_example(), findings_)) return;
    must_hold_least(field, node, node.items.size(), path);
    std::map<std::string, int> first_line;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Node& item = *node.items[i];
      const std::string item_path = fmt::format("{}[{}]", path, i);
      if (item.kind == Kind::Null) {
        findings_.add(Code::FieldType, item.where, fmt::format("{} has no value", item_path));
      } else if (must_be_map(item, item_path, findings_)) {
        check_entries(field.children(), item, item_path, item.where);
        check_duplicate_name(item, path, first_line, findings_);
      }
    }
  }

  void check_mig_devices(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_map(node, path, findings_)) return;
    for (const Entry& entry : node.entries) {
      if (!is_mig_profile(entry.key)) {
        findings_.add(Code::MigConfigUnknown, entry.key_where,
                      fmt::format("\"{}\" is not the name of a MIG profile: mig-parted stops with "
                                  "\"invalid format for '{}'\"",
                                  entry.key, entry.key),
                      "names look like 1g.5gb or 1g.5gb+me, with a plus sign");
      }
      if (entry.value->kind == Kind::Null && completeness_ == Completeness::Part) continue;
      check_scalar(field, *entry.value, fmt::format("{}[\"{}\"]", path, entry.key), findings_);
    }
  }

  void check_labels(const Node& node, const std::string& path) {
    if (!must_be_map(node, path, findings_)) return;
    for (const Entry& entry : node.entries) {
      if (entry.value->kind == Kind::Null && completeness_ == Completeness::Part) continue;
      must_be_text(*entry.value, fmt::format("{}[\"{}\"]", path, entry.key), findings_);
    }
  }

  void check_resources(const Node& node, const std::string& path) {
    constexpr Field kCpu{.name = "cpu", .type = FieldType::Cpu, .example = "500m"};
    constexpr Field kMemory{.name = "memory", .type = FieldType::Bytes, .example = "4Gi"};
    if (!must_be_map(node, path, findings_)) return;
    for (const Entry& entry : node.entries) {
      const std::string entry_path = join_path(path, entry.key);
      if (entry.key == "cpu") {
        check(kCpu, *entry.value, entry_path, entry.key_where);
      } else if (entry.key == "memory") {
        check(kMemory, *entry.value, entry_path, entry.key_where);
      } else if (entry.key.find('/') != std::string::npos) {
        check_extended(entry, entry_path);
      } else {
        constexpr std::string_view kKnown[] = {"cpu", "memory", kGpuResource};
        const auto nearest =
            entry.key == "gpu" ? std::string(kGpuResource) : nearest_name(entry.key, kKnown);
        findings_.add(
            Code::FieldUnknown, entry.key_where,
            fmt::format("unknown resource \"{}\" in {}{}", entry.key, path,
                        nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
            nearest ? "" : "known: cpu, memory and extended resources such as nvidia.com/gpu");
      }
    }
  }

  void check_extended(const Entry& entry, const std::string& path) {
    const Node& node = *entry.value;
    if (node.kind == Kind::Null && completeness_ == Completeness::Part) return;
    if (node.refused || extended_count(node)) return;
    findings_.add(Code::ExtendedResourceInteger, node.where,
                  fmt::format("{} must be a whole number, not {}", path, shown(node)),
                  "Kubernetes counts extended resources in whole units; to share a GPU set "
                  "sharing.timeSlicing on the node pool and ask for 1");
  }

  void check_environment(const Field& field, const Node& node, const std::string& path) {
    if (node.kind == Kind::List) return check_blocks(field, node, path);
    check_labels(node, path);
  }

  void check_random(const Field& field, const Node& node, const std::string& path,
                    const SourceLocation& where) {
    if (node.kind != Kind::Map) {
      return check_scalar(*field.children().find("mean"), node, path, findings_);
    }
    check_entries(field.children(), node, path, where);
    if (completeness_ != Completeness::Part) check_random_form(node, path, where, findings_);
  }

  void check_sweep(const Node& node, const std::string& path) {
    if (!must_be_map(node, path, findings_)) return;
    for (const Entry& entry : node.entries) {
      const std::string entry_path = fmt::format("{}[\"{}\"]", path, entry.key);
      if (!must_be_list(*entry.value, entry_path, entry.key + ": [2, 5, 10]", findings_)) continue;
      if (entry.value->items.empty()) {
        findings_.add(Code::ValueRange, entry.value->where, fmt::format("{} is empty", entry_path));
      }
    }
  }

  const Field& root_;
  Completeness completeness_;
  Findings& findings_;
};

}  // namespace

void check_field(const Field& field, const Node& node, const std::string& path,
                 const SourceLocation& where, Completeness completeness, Findings& findings) {
  Checker(field, completeness, findings).check(field, node, path, where);
}

std::string join_path(const std::string& path, std::string_view name) {
  std::string joined = path;  // of each value of a file: format() takes thrice as long
  if (!path.empty()) joined += '.';
  return joined += name;
}

}  // namespace slicewise::scenarios
