#include "schema_check.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "cel.hpp"
#include "patterns.hpp"

namespace slicewise::scenarios::manifests {
namespace {

// One parsed rule for each text that stands in a schema; nullptr where it is not understood.
const CelRule* rule_of(const std::string& text) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<CelRule>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(text);
  const auto place = found != known.end() ? found : known.emplace(text, CelRule::parse(text)).first;
  return place->second ? &*place->second : nullptr;
}

class SchemaCheck {
 public:
  SchemaCheck(const Schemas& schemas, std::string kind, bool partial)
      : schemas_(schemas),
        kind_(std::move(kind)),
        partial_(partial),
        is_parameters_(kind_.ends_with("Config") && kind_ != "ClusterConfig") {}

  void check(const Node& object, const Json& schema) {
    look_at(object, schema, "");
    look_at_name(object);
    // kube-apiserver asks the rules once the schema holds; here a value that does not hold hides
    // none of those that are not about it.
    const auto errors = std::ranges::count(found_, Severity::Error, &Diagnostic::severity);
    const bool has_form = errors == static_cast<std::ptrdiff_t>(wrong_values_.size());
    if (has_form && !partial_) judge(object, schema, "");
  }

  Diagnostics take() { return std::move(found_); }

 private:
  void look_at_name(const Node& object) {
    const Node* metadata = object.find("metadata");
    const bool named =
        !text_below(metadata, {"name"}).empty() || !text_below(metadata, {"generateName"}).empty();
    if (named || (metadata != nullptr && !is_map(metadata)) || is_parameters_) return;
    tell(Code::FieldMissing, metadata == nullptr ? object.where : metadata->where,
         "metadata.name is missing", "");
  }

  // NOLINTBEGIN(misc-no-recursion): the reader bounds the depth of documents
  void look_at(const Node& node, const Json& given, const std::string& path) {
    const Json& schema = form_of(node, resolved(given));
    if (node.kind == Node::Kind::Null) return;
    if (!node.is_scalar()) return look_at_form(node, schema, path);
    const std::size_t known = found_.size();
    look_at_form(node, schema, path);
    if (found_.size() > known && found_.back().severity == Severity::Error) {
      wrong_values_.push_back(path);
    }
  }

  void look_at_form(const Node& node, const Json& schema, const std::string& path) {
    if (schema.value("x-kubernetes-int-or-string", false))
      return look_at_amount(node, schema, path);
    const std::string type = schema.value("type", "");
    if (!is_of(node, type, path)) return;
    if (type == "object") look_at_map(node, schema, path);
    if (type == "array") look_at_list(node, schema, path);
    if (type == "string") look_at_text(node, schema, path);
    if (type == "integer" || type == "number") look_at_number(node, schema, path);
  }

  // Of what may be a mapping or something else, the one that it is.
  static const Json& form_of(const Node& node, const Json& schema) {
    const auto forms = schema.find("anyOf");
    if (forms == schema.end()) return schema;
    const auto fits = [&](const Json& form) { return is_map(&node) == (form["type"] == "object"); };
    return *std::ranges::find_if(*forms, fits);
  }

  const Json& resolved(const Json& schema) const {
    const Json* at = &schema;
    for (auto ref = at->find("$ref"); ref != at->end(); ref = at->find("$ref")) {
      at = &schemas_.definitions->at(ref->get_ref<const std::string&>());
    }
    return *at;
  }

  bool is_of(const Node& node, const std::string& type, const std::string& path) {
    using NodeKind = Node::Kind;
    const NodeKind kind = node.kind;
    const bool old_boolean = old_truth(node).has_value();
    const bool fits = type.empty() || (type == "object" && kind == NodeKind::Map) ||
                      (type == "array" && kind == NodeKind::List) ||
                      (type == "string" && kind == NodeKind::Text && !old_boolean) ||
                      (type == "boolean" && (kind == NodeKind::Boolean || old_boolean)) ||
                      (type == "integer" && kind == NodeKind::Integer) ||
                      (type == "number" && (kind == NodeKind::Integer || kind == NodeKind::Float));
    if (fits) return true;
    const std::string wanted = type == "object"    ? "a mapping"
                               : type == "array"   ? "a list"
                               : type == "string"  ? "text"
                               : type == "boolean" ? "true or false"
                               : type == "integer" ? "a whole number"
                                                   : "a number";
    const std::string help =
        type == "string" && node.is_scalar()
            ? fmt::format(
                  "quote it: \"{}\"",
                  (node.written.empty() ? node.text : node.written).substr(0, kLongestShown))
        : node.is_scalar() && node.quoted ? std::string("remove the quotes")
                                          : std::string();
    tell(Code::FieldType, node.where,
         fmt::format("{} must be {}, not {}", path, wanted,
                     old_boolean ? "what YAML 1.1, which kubectl reads, takes for a boolean"
                                 : std::string(kind_name(kind))),
         help);
    return false;
  }

  void look_at_amount(const Node& node, const Json& schema, const std::string& path) {
    const bool quantity = schema.value("format", "") == "quantity";
    const bool fits = node.kind == Node::Kind::Integer || node.kind == Node::Kind::Text ||
                      (quantity && node.kind == Node::Kind::Float);
    if (!fits) {
      const bool is_part = node.kind == Node::Kind::Float;
      const std::string found =
          is_part ? node.text.substr(0, kLongestShown) : std::string(kind_name(node.kind));
      return tell(Code::FieldType, node.where,
                  fmt::format("{} is {} or text, not {}", path,
                              quantity ? "a number" : "a whole number", found),
                  is_part ? fmt::format("write \"{}\"", found) : "");
    }
    const bool negative = node.text.starts_with('-');
    if (quantity && !quantity_in_thousandths(negative ? node.text.substr(1) : node.text)) {
      return tell(Code::UnitUnknown, node.where,
                  fmt::format("{}: \"{}\" is no quantity of Kubernetes", path,
                              node.text.substr(0, kLongestShown)),
                  "write 500m, 2, 8Gi");
    }
    if (node.kind == Node::Kind::Text) look_at_text(node, schema, path);
    if (node.kind == Node::Kind::Integer && !quantity) look_at_number(node, schema, path);
  }

  void look_at_map(const Node& node, const Json& schema, const std::string& path) {
    static const Json nothing = Json::object();
    const auto properties = schema.find("properties");
    const Json& known = properties == schema.end() ? nothing : *properties;
    const auto additional = schema.find("additionalProperties");
    const bool has_schema = additional != schema.end() && additional->is_object();
    const bool is_free = schema.value("x-kubernetes-preserve-unknown-fields", false) ||
                         (additional == schema.end() ? known.empty() : *additional == true);
    for (const Entry& entry : node.entries) {
      const auto child = known.find(entry.key);
      const std::string below = path.empty() ? entry.key : path + "." + entry.key;
      const bool directs = partial_ && entry.key.starts_with('$');  // $patch: delete
      if (child == known.end() && !has_schema && !is_free) {
        if (!directs) unknown(entry, known, path);
      } else if (entry.value != nullptr && (child != known.end() || has_schema)) {
        look_at(*entry.value, child != known.end() ? *child : *additional, below);
      }
    }
    if (!partial_) require(node, schema, path);
    const std::size_t size = node.entries.size();
    count(node, size, schema, "minProperties", "maxProperties", path, "entries");
  }

  void unknown(const Entry& entry, const Json& known, const std::string& path) {
    std::vector<std::string> names;
    for (const auto& [name, of] : known.items()) names.push_back(name);
    const auto near = nearest_name(entry.key, names);
    std::string help =
        near ? fmt::format("did you mean {}?", *near) : "remove it, or move it to where it belongs";
    if (schemas_.is_operator) {
      help +=
          fmt::format("; {} is what is known here, another release may have it", schemas_.program);
    }
    tell(Code::FieldUnknown, entry.key_where,
         fmt::format("{} of {} has no field \"{}\"{}", kind_, schemas_.program,
                     entry.key.substr(0, kLongestShown), path.empty() ? "" : " in " + path),
         std::move(help));
    if (schemas_.is_operator) found_.back().severity = Severity::Warning;
  }

  void require(const Node& node, const Json& schema, const std::string& path) {
    const auto required = schema.find("required");
    if (required == schema.end()) return;
    for (const Json& name : *required) {
      const Node* value = node.find(name.get_ref<const std::string&>());
      if (value != nullptr && value->kind != Node::Kind::Null) continue;
      tell(Code::FieldMissing, node.where,
           fmt::format("\"{}\" is missing{}", name.get_ref<const std::string&>(),
                       path.empty() ? "" : " in " + path),
           fmt::format("{} needs it", schemas_.program));
    }
  }

  void look_at_list(const Node& node, const Json& schema, const std::string& path) {
    if (const auto items = schema.find("items"); items != schema.end()) {
      for (std::size_t n = 0; n < node.items.size(); ++n) {
        look_at(*node.items[n], *items, fmt::format("{}[{}]", path, n));
      }
    }
    count(node, node.items.size(), schema, "minItems", "maxItems", path, "items");
    const std::string kind = schema.value("x-kubernetes-list-type", "");
    if (kind == "set" || kind == "map") look_for_twins(node, schema, path);
  }

  // A set has a value once; a map, items of which no two have the same keys.
  void look_for_twins(const Node& list, const Json& schema, const std::string& path) {
    static const Json none = Json::array();
    const auto keys = schema.find("x-kubernetes-list-map-keys");
    std::set<std::string> seen;
    for (const NodePtr& item : list.items) {
      std::string identity = item->is_scalar() ? item->text : "";
      for (const Json& key : keys == schema.end() ? none : *keys) {
        identity += text_below(item.get(), {key.get_ref<const std::string&>()}) + '\n';
      }
      if (item->is_scalar() || is_map(item.get())) {
        if (seen.insert(identity).second) continue;
        tell(Code::NameDuplicate, item->where, fmt::format("{} has the same item twice", path), "");
      }
    }
  }

  void look_at_text(const Node& node, const Json& schema, const std::string& path) {
    if (const auto words = schema.find("enum"); words != schema.end()) {
      if (std::ranges::find(*words, Json(node.text)) != words->end()) return;
      std::vector<std::string> names;
      for (const Json& word : *words) {
        if (word == Json("")) continue;  // "any" is no word to write
        names.push_back(word.is_string() ? word : Json(word.dump()));
      }
      const auto near = nearest_name(node.text, names);
      return tell(Code::EnumUnknown, node.where,
                  fmt::format("{}: \"{}\" is none of {}", path, node.text.substr(0, kLongestShown),
                              fmt::join(names, ", ")),
                  near ? fmt::format("did you mean {}?", *near) : "");
    }
    const auto pattern = schema.find("pattern");
    if (pattern != schema.end() &&
        !matches_pattern(node.text, pattern->get_ref<const std::string&>())) {
      tell(Code::ValueRange, node.where,
           fmt::format("{}: \"{}\" is not of the form {}", path, node.text.substr(0, kLongestShown),
                       pattern->get_ref<const std::string&>()),
           "");
    }
    if (schema.value("format", "") == "cron") look_at_schedule(node, path);
    count(node, node.text.size(), schema, "minLength", "maxLength", path, "characters");
  }

  void look_at_schedule(const Node& node, const std::string& path) {
    constexpr std::string_view kEvery = "@every ";
    constexpr const char* kDurations = "^([0-9]+([.][0-9]*)?(ns|us|ms|s|m|h))+$";  // of Go
    if (node.text.starts_with(kEvery)) {
      const std::string time = node.text.substr(kEvery.size());
      if (matches_pattern(time, kDurations)) return;
      return tell(Code::ValueRange, node.where,
                  fmt::format("{}: \"{}\" is no duration", path, time.substr(0, kLongestShown)),
                  "write @every 1h30m");
    }
    if (const auto read = parse_cron(node.text); !read) {
      tell(Code::ValueRange, node.where, fmt::format("{}: {}", path, read.error().message),
           read.error().help);
    }
  }

  void look_at_number(const Node& node, const Json& schema, const std::string& path) {
    constexpr int kDigits = 3;
    constexpr double kThousand = 1000;
    if (node.text.find_first_of("xo") != std::string::npos) return;  // 0x1F, 0o17
    const auto thousandths = scaled_of(node.text, kDigits);
    const double value = thousandths ? static_cast<double>(*thousandths) / kThousand
                                     : (node.text.starts_with('-') ? -1e18 : 1e18);
    const bool small = schema.value("format", "") == "int32";
    constexpr double kLargestSmall = 2'147'483'647;
    constexpr double kLargest = 9.2e18;
    const double least =
        std::max(schema.value("minimum", -kLargest), small ? -kLargestSmall - 1 : -kLargest);
    const double most =
        std::min(schema.value("maximum", kLargest), small ? kLargestSmall : kLargest);
    if (value >= least && value <= most) return;
    tell(Code::ValueRange, node.where,
         fmt::format("{}: {} is {} {:.0f}", path, node.text.substr(0, kLongestShown),
                     value < least ? "below" : "above", value < least ? least : most),
         "");
  }

  void count(const Node& node, std::size_t size, const Json& schema, const char* least,
             const char* most, const std::string& path, std::string_view what) {
    const auto fewest = schema.find(least);
    const auto largest = schema.find(most);
    if (fewest != schema.end() && size < fewest->get<std::size_t>()) {
      tell(Code::ValueRange, node.where,
           fmt::format("{} has {} {}, at least {} are needed", path, size, what, fewest->dump()),
           "");
    }
    if (largest != schema.end() && size > largest->get<std::size_t>()) {
      tell(Code::ValueRange, node.where,
           fmt::format("{} has {} {}, {} are the most", path, size, what, largest->dump()), "");
    }
  }

  // The rules of the schemas, from the outside in.
  void judge(const Node& node, const Json& given, const std::string& path) {
    const Json& schema = resolved(given);
    if (node.kind == Node::Kind::Null) return;
    if (const auto rules = schema.find("x-kubernetes-validations"); rules != schema.end()) {
      for (const Json& rule : *rules) judge_by(node, rule[0], rule[1], path);
    }
    const auto properties = schema.find("properties");
    const auto additional = schema.find("additionalProperties");
    for (const Entry& entry : node.entries) {
      if (entry.value == nullptr) continue;
      const Json* child = nullptr;
      if (properties != schema.end()) {
        const auto found = properties->find(entry.key);
        if (found != properties->end()) child = &*found;
      }
      if (child == nullptr && additional != schema.end() && additional->is_object()) {
        child = &*additional;
      }
      if (child == nullptr) continue;
      judge(*entry.value, *child, path.empty() ? entry.key : path + "." + entry.key);
    }
    const auto items = schema.find("items");
    for (std::size_t n = 0; items != schema.end() && n < node.items.size(); ++n) {
      judge(*node.items[n], *items, fmt::format("{}[{}]", path, n));
    }
  }
  // NOLINTEND(misc-no-recursion)

  // Whether a rule names one of the last two keys of a path: "limits", "memory".
  static bool names_end_of(std::string_view path, std::string_view rule) {
    for (int keys = 0; keys < 2 && !path.empty(); ++keys) {
      const std::size_t dot = path.rfind('.');
      std::string_view key = path.substr(dot == path.npos ? 0 : dot + 1);
      key = key.substr(0, key.find('['));
      if (rule.find(key) != rule.npos) return true;
      path = path.substr(0, dot == path.npos ? 0 : dot);
    }
    return false;
  }

  void judge_by(const Node& node, const std::string& text, const std::string& message,
                const std::string& path) {
    if (std::ranges::any_of(wrong_values_,
                            [&](const std::string& wrong) { return names_end_of(wrong, text); })) {
      return;
    }
    const CelRule* rule = rule_of(text);
    if (rule == nullptr) {
      found_.push_back(make_diagnostic(
          Code::KindNotChecked, node.where,
          fmt::format("{}: a rule of {} is not understood here: {}", path, schemas_.program, text),
          "kubectl apply --dry-run=server asks the cluster"));
      return;
    }
    const Node* broken_by = rule->broken_by(node);
    if (broken_by == nullptr) return;
    tell(Code::SettingConflict, broken_by->where,
         path.empty() ? message : fmt::format("{}: {}", path, message), "");
  }

  void tell(Code code, const SourceLocation& where, std::string message, std::string help) {
    if (help.empty()) help = fmt::format("{} refuses the object", schemas_.program);
    found_.push_back(make_diagnostic(code, where, std::move(message), std::move(help)));
  }

  static constexpr std::size_t kLongestShown = 60;

  const Schemas& schemas_;
  std::string kind_;
  bool partial_;
  bool is_parameters_;  // of a driver, which are no object of their own
  Diagnostics found_;
  std::vector<std::string> wrong_values_;  // paths of those that are errors
};

}  // namespace

Diagnostics schema_problems(const Schemas& schemas, std::string kind, bool partial,
                            const Node& object, const Json& schema) {
  SchemaCheck check(schemas, std::move(kind), partial);
  check.check(object, schema);
  return check.take();
}

}  // namespace slicewise::scenarios::manifests
