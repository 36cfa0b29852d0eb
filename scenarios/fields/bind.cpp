#include "bind.hpp"

#include <array>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "slicewise/scenarios/quantity.hpp"

#include "check_scalar.hpp"

namespace slicewise::scenarios {
namespace {

using Kind = Node::Kind;

template <class Value>
bool take(const Node& node, const Parsed<Value>& parsed, Value& value) {
  if (node.is_scalar() && parsed) value = *parsed;
  return node.is_scalar() && parsed.has_value();
}

template <class Value>
bool take_whole(const Node& node, Value& value) {
  const auto whole = node.kind == Kind::Integer ? to_integer(node.text) : std::nullopt;
  const bool fits = whole && std::in_range<Value>(*whole);
  if (fits) value = static_cast<Value>(*whole);
  return fits;
}

std::string in_units(std::int64_t value,
                     std::initializer_list<std::pair<std::string_view, std::int64_t>> units) {
  std::string text;
  for (const auto& [name, size] : units) {
    if (value / size > 0) text += fmt::format("{}{}", value / size, name);
    value %= size;
  }
  return text.empty() ? "0" : text;
}

std::string clock_text(std::int64_t minute) {
  return fmt::format("{:02}:{:02}", minute / 60, minute % 60);
}

constexpr std::array<std::string_view, 7> kWeekDays = {"Mon", "Tue", "Wed", "Thu",
                                                       "Fri", "Sat", "Sun"};
constexpr std::int64_t kMinutesOfDay = std::int64_t{24} * 60;

}  // namespace

bool read_value(const Field& field, const Node& node, bool& value) {
  if (field.type == FieldType::Word) {
    const auto word = word_value(field, node);
    if (word) value = *word != 0;
    return word.has_value();
  }
  if (node.kind != Kind::Boolean) return false;
  value = node.text.starts_with('t') || node.text.starts_with('T');
  return true;
}

bool read_value(const Field& field, const Node& node, int& value) {
  std::int64_t whole = 0;
  if (!read_value(field, node, whole) || !std::in_range<int>(whole)) return false;
  value = static_cast<int>(whole);
  return true;
}

// What is out of range is reported, and no model ever holds it.
bool read_value(const Field& field, const Node& node, std::int64_t& value) {
  if (field.type != FieldType::Bytes) {
    std::int64_t whole = 0;
    if (!take_whole(node, whole)) return false;
    const bool ranged = field.type == FieldType::Integer || field.type == FieldType::Integers;
    if (ranged && (whole < field.least || whole > field.most)) return false;
    value = whole;
    return true;
  }
  Bytes bytes;
  if (!read_value(field, node, bytes)) return false;
  value = bytes.count;
  return true;
}

bool read_value(const Field& /*field*/, const Node& node, std::uint64_t& value) {
  std::int64_t whole = 0;
  if (!take_whole(node, whole)) return false;
  value = static_cast<std::uint64_t>(whole);
  return true;
}

bool read_value(const Field& field, const Node& node, double& value) {
  switch (field.type) {
    case FieldType::Percent:
      return take(node, parse_percent(node.text), value);
    case FieldType::FineDuration:
      return take(node, parse_seconds(node.text), value);
    case FieldType::Bytes: {
      Bytes bytes;
      if (!read_value(field, node, bytes)) return false;
      value = static_cast<double>(bytes.count);
      return true;
    }
    case FieldType::Duration: {
      Duration time;
      if (!read_value(field, node, time)) return false;
      value = to_seconds(time);
      return true;
    }
    default: {
      if (node.kind != Kind::Integer && node.kind != Kind::Float) return false;
      const auto number = to_number(node.text);
      if (number) value = *number;
      return number.has_value();
    }
  }
}

bool read_value(const Field& field, const Node& node, Duration& value) {
  switch (field.type) {
    case FieldType::ClockTime:
    case FieldType::ClockTimes:
      return take(node, parse_clock_time(node.text), value);
    case FieldType::UtcOffset:
      return take(node, parse_utc_offset(node.text), value);
    case FieldType::WeekTime:
      return take(node, parse_week_time(node.text), value);
    default: {
      Duration time;
      if (!take(node, parse_duration(node.text), time) || time > field.longest) return false;
      value = time;
      return true;
    }
  }
}

bool read_value(const Field& field, const Node& node, Bytes& value) {
  Bytes read;
  if (!take(node, parse_bytes(node.text), read)) return false;
  if (read.count < field.least || read > kMostMemory) return false;
  value = read;
  return true;
}

bool read_value(const Field& /*field*/, const Node& node, Millicores& value) {
  return take(node, parse_cpu(node.text), value);
}

bool read_value(const Field& field, const Node& node, Rate& value) {
  if (field.type == FieldType::Rate) return take(node, parse_rate(node.text), value);
  double per_hour = 0;
  if (!read_value(field, node, per_hour)) return false;
  value = {per_hour / 3600};
  return true;
}

bool read_value(const Field& field, const Node& node, Usd& value) {
  double dollars = 0;
  if (!read_value(field, node, dollars) || dollars < static_cast<double>(field.least) ||
      dollars > static_cast<double>(field.most)) {
    return false;
  }
  value = from_dollars(dollars);
  return true;
}

bool read_value(const Field& field, const Node& node, std::string& value) {
  const bool is_number =
      field.type == FieldType::Quantity && (node.kind == Kind::Integer || node.kind == Kind::Float);
  if (node.kind != Kind::Text && !is_number) return false;
  value = node.text;
  return true;
}

bool read_value(const Field& field, const Node& node, Located<std::string>& value) {
  if (!read_value(field, node, value.value)) return false;
  value.where = node.where;
  return true;
}

bool read_value(const Field& /*field*/, const Node& node,
                std::map<std::string, std::string>& value) {
  for (const Entry& entry : node.entries) value[entry.key] = entry.value->text;
  return node.kind == Kind::Map;
}

bool read_value(const Field& field, const Node& node,
                std::vector<std::pair<Located<std::string>, int>>& value) {
  for (const Entry& entry : node.entries) {
    std::int64_t count = 0;
    const bool is_read = read_value(field, *entry.value, count);
    if (!is_read || count < 0 || !std::in_range<int>(count)) continue;
    value.push_back({{entry.key, entry.key_where}, static_cast<int>(count)});
  }
  return node.kind == Kind::Map;
}

std::string shown_value(const Field& field, bool value) {
  if (field.type == FieldType::Word) return word_of(field, value ? 1 : 0);
  return value ? "true" : "false";
}
std::string shown_value(const Field& /*field*/, int value) { return std::to_string(value); }
std::string shown_value(const Field& /*field*/, std::int64_t value) {
  return std::to_string(value);
}
std::string shown_value(const Field& /*field*/, std::uint64_t value) {
  return std::to_string(value);
}

std::string shown_value(const Field& field, double value) {
  if (field.type == FieldType::Percent) return fmt::format("{:.10g}%", 100 * value);
  return fmt::format("{:.10g}", value);
}

std::string shown_value(const Field& field, Duration value) {
  const std::int64_t minute = value.ns / minutes(1).ns;
  switch (field.type) {
    case FieldType::ClockTime:
    case FieldType::ClockTimes:
      return clock_text(minute);
    case FieldType::UtcOffset:
      return (minute < 0 ? "-" : "+") + clock_text(std::abs(minute));
    case FieldType::WeekTime:
      return fmt::format("{} {}", kWeekDays.at(static_cast<std::size_t>(minute / kMinutesOfDay)),
                         clock_text(minute % kMinutesOfDay));
    default:
      return in_units(value.ns, {{"h", hours(1).ns},
                                 {"m", minutes(1).ns},
                                 {"s", seconds(1).ns},
                                 {"ms", 1'000'000},
                                 {"us", 1'000},
                                 {"ns", 1}});
  }
}

std::string shown_value(const Field& /*field*/, Bytes value) {
  for (const auto& [name, size] : {std::pair("Gi", gibibytes(1)), std::pair("Mi", mebibytes(1)),
                                   std::pair("Ki", Bytes{1024})}) {
    if (value.count > 0 && value.count % size.count == 0) {
      return fmt::format("{}{}", value.count / size.count, name);
    }
  }
  return value.count == 0 ? "0" : fmt::format("{:.17g}k", static_cast<double>(value.count) / 1000);
}

std::string shown_value(const Field& /*field*/, Millicores value) {
  return fmt::format("{}m", value.count);
}

std::string shown_value(const Field& field, Rate value) {
  return field.type == FieldType::Rate ? fmt::format("{:.10g}/s", value.per_second)
                                       : fmt::format("{:.10g}", value.per_second * 3600);
}

std::string shown_value(const Field& /*field*/, Usd value) {
  return fmt::format("{:.10g}", to_dollars(value));
}

std::string shown_value(const Field& field, const std::string& value) {
  if (field.type == FieldType::Quantity) return value;
  return value.empty() ? "" : scalar_text(value);
}
std::string shown_value(const Field& field, const Located<std::string>& value) {
  return shown_value(field, value.value);
}

std::string shown_value(const Field& /*field*/, const std::map<std::string, std::string>& value) {
  std::string text;
  for (const auto& [key, word] : value) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", scalar_text(key), scalar_text(word));
  }
  return text.empty() ? "" : "{" + text + "}";
}

std::string shown_value(const Field& /*field*/,
                        const std::vector<std::pair<Located<std::string>, int>>& value) {
  std::string text;
  for (const auto& [key, count] : value) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key.value, count);
  }
  return text.empty() ? "" : "{" + text + "}";
}

std::optional<std::int64_t> word_value(const Field& field, const Node& node) {
  const Word* word = node.kind == Kind::Text ? field.words.find(node.text) : nullptr;
  return word == nullptr ? std::nullopt : std::optional(word->value);
}

std::string word_of(const Field& field, std::int64_t value) {
  for (const Word& word : field.words) {
    if (word.value == value) return std::string(word.text);
  }
  return "";
}

std::vector<NodePtr> values_of(const Field& field, const Node& node, Reading& reading) {
  if (node.is_scalar()) return {std::make_shared<Node>(node)};
  if (!field.each_once) return node.items;
  std::vector<NodePtr> values;
  std::set<std::string> seen;
  for (const NodePtr& item : node.items) {
    if (!item->is_scalar()) continue;
    if (seen.insert(item->text).second) {
      values.push_back(item);
    } else {
      reading.findings.add(Code::NameDuplicate, item->where,
                           fmt::format("{} has {} twice", field.name, shown(*item)));
    }
  }
  return values;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void read_fields(const FieldList& fields, const Node& map, void* owner, Reading& reading) {
  for (const Field& field : fields) {
    const Entry* entry = map.entry(field.name);
    if (entry == nullptr) continue;
    const bool is_map = entry->value->kind == Kind::Map;
    if (field.block != nullptr && field.block->owner == fields.owner && is_map) {
      read_fields(*field.block, *entry->value, owner, reading);
    } else if (field.set != nullptr) {
      field.set(owner, field, *entry, reading);
    } else if (field.binding != nullptr) {
      void* member = field.binding->member(owner);
      if (member != nullptr) field.binding->type->read(field, *entry, member, reading);
    }
  }
  if (fields.finish != nullptr) fields.finish(owner, map, reading);
}

// "{min: 2}" is 2.
static std::string shown_range(std::string range) {
  constexpr std::string_view kLeast = "{min: ";
  if (!range.starts_with(kLeast) || range.find(',') != std::string::npos) return range;
  return range.substr(kLeast.size(), range.size() - kLeast.size() - 1);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
std::vector<std::pair<std::string_view, std::string>> shown_entries(const FieldList& fields,
                                                                    const void* owner) {
  std::vector<std::pair<std::string_view, std::string>> entries;
  for (const Field& field : fields) {
    std::string value;
    if (field.block != nullptr && field.block->owner == fields.owner) {
      value = shown_fields(*field.block, owner);
      if (value == "{}") continue;
    } else if (field.binding != nullptr) {
      const void* member = field.binding->member(const_cast<void*>(owner));  // NOLINT: not written
      if (member != nullptr) value = field.binding->type->shown(field, member);
      // A block that is always there and says nothing.
      if (value == "{}" &&
          field.binding->type->shown(field, field.binding->default_member()) == value) {
        continue;
      }
    }
    if (value.empty()) continue;
    if (field.type == FieldType::Range) value = shown_range(std::move(value));
    entries.emplace_back(field.name, std::move(value));
  }
  return entries;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
std::string shown_fields(const FieldList& fields, const void* owner) {
  std::string text;
  for (const auto& [name, value] : shown_entries(fields, owner)) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  }
  return "{" + text + "}";
}

std::string Field::default_text() const {
  if (!other_default.empty()) return std::string(other_default);
  const bool holds_fields = block != nullptr && type != FieldType::Range;
  if (required || !has_default || binding == nullptr || holds_fields) return "";
  return binding->type->shown(*this, binding->default_member());
}

}  // namespace slicewise::scenarios
