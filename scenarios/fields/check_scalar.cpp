#include "check_scalar.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"
#include "bind.hpp"

namespace slicewise::scenarios {
namespace {

// Takes a number of at least 1 and then `unit` off the front of `text`.
bool take(std::string_view& text, std::string_view unit) {
  if (text.empty() || text[0] == '0') return false;
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  if (digits == 0 || !text.substr(digits).starts_with(unit)) return false;
  text.remove_prefix(digits + unit.size());
  return true;
}

// "me", "me.all", "me,gfx".
bool are_attributes(std::string_view text) {
  char before = '.';
  for (const char c : text) {
    if (!is_lower(c) && (!is_lower(before) || (c != '.' && c != ','))) return false;
    before = c;
  }
  return is_lower(before);
}

}  // namespace

bool is_mig_profile(std::string_view text) {
  take(text, "c.");
  if (!take(text, "g.") || !take(text, "gb")) return false;
  if (text.empty()) return true;
  return (text[0] == '+' || text[0] == '-') && are_attributes(text.substr(1));
}

bool is_memory_slice(std::string_view text) {
  constexpr std::size_t kLongest = 8;  // the sizes of all GPUs to come fit six digits
  return text.size() <= kLongest && take(text, "gb") && text.empty();
}

namespace {

using Kind = Node::Kind;

constexpr std::size_t kLongestShown = 40;  // characters of a value in a message

std::string did_you_mean(std::optional<std::string> name) {
  return name ? fmt::format("did you mean \"{}\"?", *name) : std::string{};
}

std::string last_name(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

class ScalarChecker {
 public:
  explicit ScalarChecker(Findings& findings) : findings_(findings) {}

  void check(const Field& field, const Node& node, const std::string& path) {
    switch (field.type) {
      case FieldType::Text:
        return check_text(field, node, path);
      case FieldType::Name:
      case FieldType::Names:
        return check_name(node, path);
      case FieldType::Word:
      case FieldType::Words:
        return check_word(field, node, path);
      case FieldType::Boolean:
        return check_boolean(node, path);
      case FieldType::Integer:
      case FieldType::Integers:
      case FieldType::Range:
      case FieldType::Devices:
      case FieldType::MigDevices:
        return check_integer(field, node, path);
      case FieldType::Number:
        return check_number(field, node, path);
      case FieldType::Target:
        return check_target(field, node, path);
      default:
        return check_quantity(field, node, path);
    }
  }

 private:
  void wrong_type(const Node& node, const std::string& path, std::string_view expected,
                  std::string help = {}) {
    report_type(node, path, expected, findings_, std::move(help));
  }

  void check_text(const Field& field, const Node& node, const std::string& path) {
    if (!must_be_text(node, path, findings_)) return;
    if (node.text.size() >= static_cast<std::size_t>(field.least)) return;
    findings_.add(Code::ValueRange, node.where, fmt::format("{} is empty", path));
  }

  void check_name(const Node& node, const std::string& path) {
    if (!must_be_text(node, path, findings_) || is_dns_label(node.text)) return;
    findings_.add(Code::NameInvalid, node.where,
                  fmt::format("{} is not a name that Kubernetes accepts", shown(node)),
                  "a name has at most 63 lower-case letters, digits and '-', and starts and ends "
                  "with a letter or digit");
  }

  bool is_word(const Field& field, const Node& node) {
    return node.kind == Kind::Text && field.words.find(node.text) != nullptr;
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
      findings_.add(
          Code::ReplicasTooFew, node.where,
          fmt::format("{}: the device plugin refuses this with \"number of replicas must be >= 2\"",
                      path),
          "for no sharing remove `sharing`, or write `devicePlugin: null`");
      return;
    }
    findings_.add(Code::ValueRange, node.where,
                  fmt::format("{} must be between {} and {}, not {}", path, field.least, field.most,
                              node.text));
  }

  void check_number(const Field& field, const Node& node, const std::string& path) {
    if (node.kind != Kind::Integer && node.kind != Kind::Float) {
      const Kind plain = core_schema_kind(node.text);
      const bool quoted = node.quoted && (plain == Kind::Integer || plain == Kind::Float);
      return wrong_type(node, path, "a number", quoted ? "remove the quotes" : "");
    }
    const auto value = to_number(node.text);
    if (value && *value >= static_cast<double>(field.least) &&
        *value <= static_cast<double>(field.most)) {
      return;
    }
    findings_.add(Code::ValueRange, node.where,
                  fmt::format("{} must be between {} and {}, not {}", path, field.least, field.most,
                              node.text));
  }

  void check_target(const Field& field, const Node& node, const std::string& path) {
    const bool number = node.kind == Kind::Integer || node.kind == Kind::Float;
    number ? check_number(field, node, path) : check_quantity(field, node, path);
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

  static QuantityError more_than_a_machine_has(std::string_view text, std::string_view most) {
    return {Code::ValueRange, fmt::format("\"{}\" is more than any machine has", text),
            fmt::format("at most {}", most)};
  }

  static std::optional<QuantityError> quantity_error(const Field& field, std::string_view text) {
    switch (field.type) {
      case FieldType::Bytes: {
        const auto bytes = parse_bytes(text);
        if (bytes && bytes->count < field.least) return must_be_positive(text);
        if (bytes && *bytes > kMostMemory) {
          return more_than_a_machine_has(
              text, fmt::format("{} TiB", kMostMemory.count / gibibytes(1'024).count));
        }
        return error_of(bytes);
      }
      case FieldType::Cpu: {
        const auto cpu = parse_cpu(text);
        if (cpu && cpu->count > field.most) {
          return more_than_a_machine_has(text, fmt::format("{} vCPUs", field.most / 1'000));
        }
        return error_of(cpu);
      }
      case FieldType::Quantity:
        if (quantity_in_thousandths(text)) return std::nullopt;
        return QuantityError{Code::FieldType,
                             fmt::format("\"{}\" is not a Kubernetes quantity", text),
                             "write 4 GPUs as 4, half a CPU as 500m, memory as 64Gi"};
      case FieldType::Percent: {
        const auto share = parse_percent(text);
        if (share && *share <= 0 && field.least > 0) return must_be_positive(text);
        return error_of(share);
      }
      case FieldType::Rate: {
        const auto rate = parse_rate(text);
        if (rate && rate->per_second <= 0 && field.least > 0) return must_be_positive(text);
        return error_of(rate);
      }
      case FieldType::FineDuration: {
        const auto time = parse_seconds(text);
        if (time && *time <= 0 && field.least > 0) return must_be_positive(text);
        if (time && *time > to_seconds(field.longest)) return longer_than(field, text);
        return error_of(time);
      }
      case FieldType::ClockTime:
      case FieldType::ClockTimes:
        return error_of(parse_clock_time(text));
      case FieldType::UtcOffset:
        return error_of(parse_utc_offset(text));
      case FieldType::WeekTime:
        return error_of(parse_week_time(text));
      case FieldType::Target:
        return text.ends_with('%') ? error_of(parse_percent(text)) : error_of(parse_rate(text));
      default: {
        const auto duration = parse_duration(text);
        if (duration && duration->ns < field.least) return must_be_positive(text);
        if (duration && *duration > field.longest) return longer_than(field, text);
        return error_of(duration);
      }
    }
  }

  static QuantityError must_be_positive(std::string_view text) {
    return {Code::ValueRange, fmt::format("\"{}\" must be more than zero", text), ""};
  }

  static QuantityError longer_than(const Field& field, std::string_view text) {
    return {Code::ValueRange,
            fmt::format("\"{}\" is longer than {}", text, shown_value(field, field.longest)), ""};
  }

  template <class Value>
  static std::optional<QuantityError> error_of(const Parsed<Value>& parsed) {
    if (parsed) return std::nullopt;
    return parsed.error();
  }

  Findings& findings_;
};

}  // namespace

void check_scalar(const Field& field, const Node& node, const std::string& path,
                  Findings& findings) {
  if (node.refused) return;
  ScalarChecker(findings).check(field, node, path);
}

bool must_be_text(const Node& node, const std::string& path, Findings& findings) {
  if (node.refused) return false;
  if (node.kind == Kind::Text) return true;
  std::string help;
  if (node.is_scalar()) help = fmt::format("quote it: \"{}\"", node.text);
  report_type(node, path, "text", findings, std::move(help));
  return false;
}

void report_type(const Node& node, const std::string& path, std::string_view expected,
                 Findings& findings, std::string help) {
  findings.add(Code::FieldType, node.where,
               fmt::format("{} must be {}, not {}", path, expected,
                           node.is_scalar() ? shown(node) : std::string(kind_name(node.kind))),
               std::move(help));
}

// The value as messages show it.
std::string shown(const Node& node) {
  if (!node.is_scalar() || node.kind == Kind::Null) return std::string(kind_name(node.kind));
  if (node.text.size() <= kLongestShown) return fmt::format("\"{}\"", node.text);
  return "this text";
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

std::optional<double> to_number(std::string_view text) {
  if (const auto whole = to_integer(text)) return static_cast<double>(*whole);
  return decimal_of(text);
}

std::optional<std::int64_t> extended_count(const Node& node) {
  if (!node.is_scalar() || core_schema_kind(node.text) != Kind::Integer) return std::nullopt;
  const auto value = to_integer(node.text);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace slicewise::scenarios
