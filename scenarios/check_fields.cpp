#include "check_fields.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

namespace slicewise::scenarios {
namespace {

using Kind = Node::Kind;

constexpr std::size_t kLongestShown = 40;  // characters of a value in a message

// The value as messages show it.
std::string shown(const Node& node) {
  if (!node.is_scalar() || node.kind == Kind::Null) return std::string(kind_name(node.kind));
  if (node.text.size() <= kLongestShown) return fmt::format("\"{}\"", node.text);
  return "this text";
}

std::string in_path(const std::string& path) { return path.empty() ? "" : " in " + path; }

std::string did_you_mean(std::optional<std::string> name) {
  return name ? fmt::format("did you mean \"{}\"?", *name) : std::string{};
}

std::string last_name(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string list_of(const auto& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

class Checker {
 public:
  Checker(Completeness completeness, Findings& findings)
      : completeness_(completeness), findings_(findings) {}

  // NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
  void check(const Field& field, const Node& node, const std::string& path,
             const SourceLocation& where) {
    if (node.kind == Kind::Null && field.type != FieldType::Ignored) {
      check_null(field, node, path);
      return;
    }
    switch (field.type) {
      case FieldType::Block:
        return check_block(field, node, path, where);
      case FieldType::Patch:
        return Checker(Completeness::Part, findings_).check_patch(node, path, where);
      case FieldType::Blocks:
        return check_blocks(field, node, path);
      case FieldType::Text:
        return check_text(field, node, path);
      case FieldType::Name:
        return check_name(node, path);
      case FieldType::Word:
        return check_word(field, node, path);
      case FieldType::Words:
        return check_words(field, node, path);
      case FieldType::Boolean:
        return check_boolean(node, path);
      case FieldType::Integer:
        return check_integer(field, node, path);
      case FieldType::Integers:
        return check_integers(field, node, path);
      case FieldType::Bytes:
      case FieldType::Cpu:
      case FieldType::Duration:
      case FieldType::Percent:
      case FieldType::Rate:
        return check_quantity(field, node, path);
      case FieldType::Labels:
        return check_labels(node, path);
      case FieldType::Resources:
        return check_resources(node, path);
      case FieldType::Environment:
        return check_environment(field, node, path);
      case FieldType::RequestTime:
        return check_request_time(field, node, path, where);
      case FieldType::Sweep:
        return check_sweep(node, path);
      case FieldType::Ignored:
        return;  // reported with its key
    }
  }

 private:
  void check_null(const Field& field, const Node& node, const std::string& path) {
    if (completeness_ == Completeness::Part || field.nullable) return;
    findings_.add(Code::FieldType, node.where, fmt::format("{} has no value", path),
                  fmt::format("write it like `{}`, or remove the key", field.example));
  }

  void wrong_type(const Node& node, const std::string& path, std::string_view expected,
                  std::string help = {}) {
    findings_.add(Code::FieldType, node.where,
                  fmt::format("{} must be {}, not {}", path, expected,
                              node.is_scalar() ? shown(node) : std::string(kind_name(node.kind))),
                  std::move(help));
  }

  bool must_be_map(const Node& node, const std::string& path) {
    if (node.kind == Kind::Map) return true;
    wrong_type(node, path.empty() ? "a scenario file" : path, "a mapping");
    return false;
  }

  bool must_be_list(const Node& node, const std::string& path, std::string_view example) {
    if (node.kind == Kind::List) return true;
    wrong_type(node, path, "a list", fmt::format("write it like `{}`", example));
    return false;
  }

  void check_block(const Field& field, const Node& node, const std::string& path,
                   const SourceLocation& where) {
    if (must_be_map(node, path)) check_entries(field.children, node, path, where);
  }

  void check_patch(const Node& node, const std::string& path, const SourceLocation& where) {
    if (node.kind == Kind::Null) return;
    if (!must_be_map(node, path)) return;
    for (const std::string_view name : {"variants", "sweep"}) {
      if (const Entry* entry = node.entry(name)) {
        findings_.add(Code::SettingConflict, entry->key_where,
                      fmt::format("a patch cannot change {}", name), "move it to spec");
      }
    }
    // Inside a patch, paths read as they would in spec.
    check_entries(spec_field().children, node, "spec", where);
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
      } else {
        Checker(completeness_below(*field), findings_)
            .check(*field, *entry.value, child_path(path, entry.key), entry.key_where);
      }
    }
    const bool top = fields.first == scenario_field().children.first;
    if (completeness_ == Completeness::Whole || top) require(fields, node, path, where);
  }

  // With variants, only spec may be incomplete, and of spec neither variants nor sweep.
  Completeness completeness_below(const Field& field) const {
    if (completeness_ != Completeness::Base || &field == &spec_field()) return completeness_;
    const FieldList spec = spec_field().children;
    const bool in_spec = &field >= spec.begin() && &field < spec.end();
    const bool own = field.name == "variants" || field.name == "sweep";
    return in_spec && !own ? Completeness::Part : Completeness::Whole;
  }

  static std::string child_path(const std::string& path, const std::string& key) {
    return join_path(path == "spec" ? "" : path, key);
  }

  void require(FieldList fields, const Node& node, const std::string& path,
               const SourceLocation& where) {
    for (const Field& field : fields) {
      if (!field.required || node.entry(field.name) != nullptr) continue;
      findings_.add(Code::FieldMissing, where,
                    fmt::format("\"{}\" is missing{}", field.name, in_path(path)),
                    fmt::format("add `{}`", field.example));
    }
  }

  void unknown(FieldList fields, const Entry& entry, const std::string& path) {
    std::vector<std::string_view> names;
    for (const Field& field : fields) {
      if (field.type != FieldType::Ignored) names.push_back(field.name);
    }
    const auto nearest = nearest_name(entry.key, names);
    std::string message = fmt::format("unknown field \"{}\"{}", entry.key, in_path(path));
    if (nearest) message += fmt::format("; did you mean \"{}\"?", *nearest);
    findings_.add(Code::FieldUnknown, entry.key_where, std::move(message),
                  nearest ? "" : "known here: " + list_of(names));
  }

  void check_blocks(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_list(node, path, field.example)) return;
    if (node.items.size() < static_cast<std::size_t>(std::max<std::int64_t>(field.least, 0)) &&
        completeness_ == Completeness::Whole) {
      findings_.add(Code::ValueRange, node.where, fmt::format("{} is empty", path),
                    fmt::format("write it like `{}`", field.example));
    }
    std::map<std::string, int> first_line;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Node& item = *node.items[i];
      const std::string item_path = fmt::format("{}[{}]", path, i);
      if (item.kind == Kind::Null) {
        findings_.add(Code::FieldType, item.where, fmt::format("{} has no value", item_path));
      } else if (must_be_map(item, item_path)) {
        check_entries(field.children, item, item_path, item.where);
        check_duplicate_name(item, path, first_line);
      }
    }
  }

  void check_duplicate_name(const Node& item, const std::string& path,
                            std::map<std::string, int>& first_line) {
    const Node* name = item.find("name");
    if (name == nullptr || !name->is_scalar() || name->kind == Kind::Null) return;
    const auto [first, inserted] = first_line.emplace(name->text, name->where.line);
    if (inserted) return;
    findings_.add(Code::NameDuplicate, name->where,
                  fmt::format("two entries of {} are called \"{}\"", path, name->text),
                  "give each its own name", fmt::format("first used on line {}", first->second));
  }

  bool must_be_text(const Node& node, const std::string& path) {
    if (node.kind == Kind::Text) return true;
    std::string help;
    if (node.is_scalar()) help = fmt::format("quote it: \"{}\"", node.text);
    wrong_type(node, path, "text", std::move(help));
    return false;
  }

  void check_text(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_text(node, path)) return;
    if (node.text.size() >= static_cast<std::size_t>(field.least)) return;
    findings_.add(Code::ValueRange, node.where, fmt::format("{} is empty", path));
  }

  void check_name(const Node& node, const std::string& path) {
    if (!must_be_text(node, path) || is_dns_label(node.text)) return;
    findings_.add(Code::NameInvalid, node.where,
                  fmt::format("{} is not a name that Kubernetes accepts", shown(node)),
                  "a name has at most 63 lower-case letters, digits and '-', and starts and ends "
                  "with a letter or digit");
  }

  bool is_word(const Field& field, const Node& node) {
    return node.kind == Kind::Text &&
           std::find(field.words.begin(), field.words.end(), node.text) != field.words.end();
  }

  void check_word(const Field& field, const Node& node, const std::string& path) {
    if (!node.is_scalar()) return wrong_type(node, path, "one of " + list_of(field.words));
    if (is_word(field, node)) return;
    std::string help = did_you_mean(nearest_name(node.text, field.words));
    if (help.empty())
      help = (field.words.count == 1 ? "write " : "one of: ") + list_of(field.words);
    findings_.add(field.wrong_word, node.where,
                  fmt::format("{} is not a value of {}", shown(node), last_name(path)),
                  std::move(help));
  }

  void check_words(const Field& field, const Node& node, const std::string& path) {
    if (node.kind != Kind::List) return check_word(field, node, path);
    for (const NodePtr& item : node.items) check_word(field, *item, path);
    if (node.items.empty()) {
      findings_.add(Code::ValueRange, node.where, fmt::format("{} is empty", path));
    }
  }

  void check_boolean(const Node& node, const std::string& path) {
    if (node.kind == Kind::Boolean) return;
    constexpr std::string_view kYes[] = {"yes", "on", "y"};
    constexpr std::string_view kNo[] = {"no", "off", "n"};
    std::string help;
    if (std::find(std::begin(kYes), std::end(kYes), node.text) != std::end(kYes)) {
      help = "write true: in YAML 1.2 this word is text";
    }
    if (std::find(std::begin(kNo), std::end(kNo), node.text) != std::end(kNo)) {
      help = "write false: in YAML 1.2 this word is text";
    }
    if (node.quoted) help = "remove the quotes";
    wrong_type(node, path, "true or false", std::move(help));
  }

  void check_integer(const Field& field, const Node& node, const std::string& path) {
    if (node.kind != Kind::Integer) {
      const bool quoted_number = node.quoted && core_schema_kind(node.text) == Kind::Integer;
      return wrong_type(node, path, "a whole number", quoted_number ? "remove the quotes" : "");
    }
    const auto value = to_integer(node.text);
    if (value && *value >= field.least && *value <= field.most) return;
    if (value && *value < field.least && field.below == Code::ReplicasTooFew) {
      findings_.add(Code::ReplicasTooFew, node.where,
                    fmt::format("{}: the device plugin refuses this with \"number of replicas "
                                "must be >= 2\"",
                                path),
                    "for no sharing remove `sharing`, or write `devicePlugin: null`");
      return;
    }
    findings_.add(Code::ValueRange, node.where,
                  fmt::format("{} must be between {} and {}, not {}", path, field.least, field.most,
                              node.text));
  }

  void check_integers(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_list(node, path, field.example)) return;
    for (const NodePtr& item : node.items) check_integer(field, *item, path);
  }

  void check_quantity(const Field& field, const Node& node, const std::string& path) {
    if (!node.is_scalar() || node.kind == Kind::Boolean) {
      return wrong_type(node, path, "a " + type_text(field));
    }
    const std::optional<QuantityError> error = quantity_error(field, node.text);
    if (!error) return;
    // "did you mean" belongs beside the caret, as it is about these very characters.
    const bool short_help = error->help.starts_with("did you mean");
    findings_.add(error->code, node.where, error->message, short_help ? "" : error->help,
                  short_help ? error->help : "");
  }

  static std::optional<QuantityError> quantity_error(const Field& field, std::string_view text) {
    switch (field.type) {
      case FieldType::Bytes:
        return error_of(parse_bytes(text));
      case FieldType::Cpu:
        return error_of(parse_cpu(text));
      case FieldType::Percent:
        return error_of(parse_percent(text));
      case FieldType::Rate: {
        const auto rate = parse_rate(text);
        if (rate && rate->per_second <= 0) return must_be_positive(text);
        return error_of(rate);
      }
      default: {
        const auto duration = parse_duration(text);
        if (duration && duration->ns < field.least) return must_be_positive(text);
        return error_of(duration);
      }
    }
  }

  static QuantityError must_be_positive(std::string_view text) {
    return {Code::ValueRange, fmt::format("\"{}\" must be more than zero", text), ""};
  }

  template <class Value>
  static std::optional<QuantityError> error_of(const Parsed<Value>& parsed) {
    if (parsed) return std::nullopt;
    return parsed.error();
  }

  void check_labels(const Node& node, const std::string& path) {
    if (!must_be_map(node, path)) return;
    for (const Entry& entry : node.entries) {
      if (entry.value->kind == Kind::Null && completeness_ == Completeness::Part) continue;
      must_be_text(*entry.value, fmt::format("{}[\"{}\"]", path, entry.key));
    }
  }

  void check_resources(const Node& node, const std::string& path) {
    constexpr Field kCpu{.name = "cpu", .type = FieldType::Cpu, .example = "cpu: 500m"};
    constexpr Field kMemory{.name = "memory", .type = FieldType::Bytes, .example = "memory: 4Gi"};
    if (!must_be_map(node, path)) return;
    for (const Entry& entry : node.entries) {
      const std::string entry_path = join_path(path, entry.key);
      if (entry.key == "cpu") {
        check(kCpu, *entry.value, entry_path, entry.key_where);
      } else if (entry.key == "memory") {
        check(kMemory, *entry.value, entry_path, entry.key_where);
      } else if (entry.key.find('/') != std::string::npos) {
        check_extended(entry, entry_path);
      } else {
        constexpr std::string_view kKnown[] = {"cpu", "memory", "nvidia.com/gpu"};
        const auto nearest =
            entry.key == "gpu" ? "nvidia.com/gpu" : nearest_name(entry.key, kKnown);
        findings_.add(Code::FieldUnknown, entry.key_where,
                      fmt::format("unknown resource \"{}\" in {}{}", entry.key, path,
                                  nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
                      nearest ? ""
                              : "known: cpu, memory and extended resources such as "
                                "nvidia.com/gpu");
      }
    }
  }

  void check_extended(const Entry& entry, const std::string& path) {
    const Node& node = *entry.value;
    if (node.kind == Kind::Null && completeness_ == Completeness::Part) return;
    if (extended_count(node)) return;
    findings_.add(Code::ExtendedResourceInteger, node.where,
                  fmt::format("{} must be a whole number, not {}", path, shown(node)),
                  "Kubernetes counts extended resources in whole units; to share a GPU set "
                  "sharing.timeSlicing on the node pool and ask for 1");
  }

  void check_environment(const Field& field, const Node& node, const std::string& path) {
    if (node.kind == Kind::List) return check_blocks(field, node, path);
    check_labels(node, path);
  }

  void check_request_time(const Field& field, const Node& node, const std::string& path,
                          const SourceLocation& where) {
    if (node.kind != Kind::Map) return check_quantity(field, node, path);
    check_entries(field.children, node, path, where);
    if (completeness_ == Completeness::Part) return;
    const bool mean = node.entry("mean") != nullptr;
    const bool p50 = node.entry("p50") != nullptr;
    const bool p99 = node.entry("p99") != nullptr;
    if (mean && (p50 || p99)) {
      findings_.add(Code::SettingConflict, node.entry(p50 ? "p50" : "p99")->key_where,
                    "mean together with percentiles", "give {mean, distribution} or {p50, p99}");
    } else if (!mean && !(p50 && p99)) {
      findings_.add(Code::FieldMissing, where,
                    fmt::format("{} needs {}", path,
                                p50   ? "p99"
                                : p99 ? "p50"
                                      : "a mean"),
                    "give {mean, distribution} or {p50, p99}");
    } else if (const Entry* law = node.entry("distribution"); law != nullptr && !mean) {
      findings_.add(Code::SettingConflict, law->key_where, "distribution together with percentiles",
                    "p50 and p99 already say that the time is log-normal");
    }
  }

  void check_sweep(const Node& node, const std::string& path) {
    if (!must_be_map(node, path)) return;
    for (const Entry& entry : node.entries) {
      const std::string entry_path = fmt::format("{}[\"{}\"]", path, entry.key);
      if (!must_be_list(*entry.value, entry_path, entry.key + ": [2, 5, 10]")) continue;
      if (entry.value->items.empty()) {
        findings_.add(Code::ValueRange, entry.value->where, fmt::format("{} is empty", entry_path));
      }
    }
  }

  Completeness completeness_;
  Findings& findings_;
};

}  // namespace

void check_field(const Field& field, const Node& node, const std::string& path,
                 const SourceLocation& where, Completeness completeness, Findings& findings) {
  Checker(completeness, findings).check(field, node, path, where);
}

bool is_dns_label(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongest && plain(text.front()) && plain(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) base = 16;
  if (text.starts_with("0o")) base = 8;
  if (base != 10) text.remove_prefix(2);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> extended_count(const Node& node) {
  if (!node.is_scalar() || core_schema_kind(node.text) != Kind::Integer) return std::nullopt;
  const auto value = to_integer(node.text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::string join_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

}  // namespace slicewise::scenarios
