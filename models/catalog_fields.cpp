#include "catalog_fields.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"

namespace slicewise::models {

// How a value is written.
struct CatalogFields::Form {
  const char* type;  // of JSON Schema
  const char* what;  // "a string", for people
  bool (*fits)(const CatalogValue& value);
};

namespace {

using Kind = CatalogValue::Kind;

bool is_string(const CatalogValue& value) { return value.kind == Kind::Text; }
bool is_integer(const CatalogValue& value) { return value.kind == Kind::Integer; }
bool is_number(const CatalogValue& value) {
  return value.kind == Kind::Integer || value.kind == Kind::Number;
}
bool is_flag(const CatalogValue& value) { return value.kind == Kind::Flag; }
bool is_object(const CatalogValue& value) { return value.kind == Kind::Object; }
bool is_list(const CatalogValue& value) { return value.kind == Kind::List; }
bool is_text_list(const CatalogValue& value) {
  return is_list(value) && std::ranges::all_of(value.members, is_string);
}
bool is_small_integer(const CatalogValue& value) {
  return is_integer(value) && value.integer >= std::numeric_limits<int>::min() &&
         value.integer <= std::numeric_limits<int>::max();
}
bool is_integer_list(const CatalogValue& value) {
  return is_list(value) && std::ranges::all_of(value.members, is_small_integer);
}
bool is_table(const CatalogValue& value) {
  return is_list(value) && std::ranges::all_of(value.members, is_integer_list);
}
bool is_text_map(const CatalogValue& value) {
  return is_object(value) && std::ranges::all_of(value.members, is_string);
}

std::vector<int> integers_of(const CatalogValue& list) {
  std::vector<int> out;
  for (const CatalogValue& member : list.members) out.push_back(static_cast<int>(member.integer));
  return out;
}

std::string path_in(std::string object, std::string_view name) {
  object += '.';
  object += name;
  return object;
}

template <class T>
bool is_within(const CatalogFields& fields, std::string_view name, T value, T least, T most) {
  if (value >= least && value <= most) return true;
  fields.fail(name, fmt::format("is {}; it must be from {} to {}", value, least, most));
  return false;
}

// What an object that is none is read as.
const CatalogValue& nothing() {
  static const CatalogValue empty{.kind = Kind::Object};
  return empty;
}

}  // namespace

void CatalogReading::add(Code code, const std::string& path, std::string message,
                         std::string help) {
  const auto key = file->keys.find(path);
  const bool of_key = code == Code::FieldUnknown && key != file->keys.end();
  add_diagnostic(problems, code, of_key ? key->second : file->place_of(path), std::move(message),
                 std::move(help));
}

CatalogFields::CatalogFields(const CatalogValue& object, std::string where, CatalogReading* reading)
    : object_(&object), where_(std::move(where)), reading_(reading) {
  if (is_object(object)) return;
  if (reading_ == nullptr) throw std::runtime_error(where_ + ": not an object");
  object_ = &nothing();
  reading_->add(Code::FieldType, where_, "this must be an object: names, each with its value");
}

CatalogFields::CatalogFields(nlohmann::json& schema, CatalogReading& reading)
    : object_(&nothing()), reading_(&reading), schema_(&schema) {
  schema = {{"type", "object"},
            {"additionalProperties", false},
            {"properties", nlohmann::json::object()}};
}

void CatalogFields::fail(std::string_view field, const std::string& problem, Code code,
                         const std::string& help) const {
  if (schema_ != nullptr) return;
  if (reading_ == nullptr) throw std::runtime_error(path_in(where_, field) + ": " + problem);
  reading_->add(code, path_in(where_, field), fmt::format("`{}` {}", field, problem), help);
}

nlohmann::json* CatalogFields::describe(std::string_view name, const Form& form) {
  nlohmann::json& property = (*schema_)["properties"][name];
  property["type"] = form.type;
  needed_.emplace(name);
  return &property;
}

const CatalogValue* CatalogFields::take(std::string_view name, const Form& form) {
  if (schema_ != nullptr) {
    describe(name, form);
    return nullptr;
  }
  if (reading_ != nullptr) needed_.emplace(name);
  const CatalogValue* found = object_->find(name);
  if (found == nullptr) {
    fail(name, "is missing", Code::FieldMissing);
    return nullptr;
  }
  taken_.push_back(found);
  if (form.fits(*found)) return found;
  fail(name, fmt::format("must be {}", form.what), Code::FieldType);
  return nullptr;
}

bool CatalogFields::has(std::string_view name) {
  if (reading_ != nullptr) optional_.emplace(name);
  return schema_ != nullptr || object_->find(name) != nullptr;
}

std::vector<std::string> CatalogFields::names() const {
  std::vector<std::string> out;
  for (const CatalogValue& member : object_->members) out.emplace_back(member.key);
  return out;
}

std::string CatalogFields::text(std::string_view name) {
  const CatalogValue* value = take(name, {"string", "a text", is_string});
  if (schema_ != nullptr) (*schema_)["properties"][name]["minLength"] = 1;
  if (value == nullptr) return {};
  if (is_users(*this) && value->text.empty()) fail(name, "is empty");
  return std::string(value->text);
}

std::string CatalogFields::word(std::string_view name, std::string_view only) {
  const CatalogValue* value = take(name, {"string", "a text", is_string});
  if (schema_ != nullptr) (*schema_)["properties"][name]["const"] = only;
  if (value != nullptr && value->text != only) {
    fail(name, fmt::format("is {}, not {}", value->text, only), Code::ApiVersionUnknown,
         fmt::format("write `{}: {}`", name, only));
  }
  return std::string(only);
}

std::int64_t CatalogFields::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const CatalogValue* value = take(name, {"integer", "a whole number", is_integer});
  if (schema_ != nullptr) (*schema_)["properties"][name]["minimum"] = least;
  if (value == nullptr) return least;
  const std::int64_t number = value->integer;
  return is_within(*this, name, number, least, most) ? number : least;
}

double CatalogFields::number(std::string_view name, double least, double most) {
  const CatalogValue* value = take(name, {"number", "a number", is_number});
  if (schema_ != nullptr) {
    nlohmann::json& property = (*schema_)["properties"][name];
    property["minimum"] = least;
    if (most < kMost) property["maximum"] = most;
  }
  if (value == nullptr) return least;
  const double read = value->number;
  return is_within(*this, name, read, least, most) ? read : least;
}

double CatalogFields::positive(std::string_view name) {
  const double value = number(name);
  if (schema_ != nullptr) {
    nlohmann::json& property = (*schema_)["properties"][name];
    property.erase("minimum");
    property["exclusiveMinimum"] = 0;
  } else if (const CatalogValue* found = object_->find(name);
             found != nullptr && is_number(*found) && found->number == 0) {
    fail(name, "is 0; it must be above 0");
  }
  return value > 0 ? value : 1;
}

bool CatalogFields::flag(std::string_view name) {
  const CatalogValue* value = take(name, {"boolean", "true or false", is_flag});
  return value != nullptr && value->flag;
}

CatalogFields CatalogFields::object(std::string_view name) {
  const Form form{"object", "an object", is_object};
  if (schema_ != nullptr) return {*describe(name, form), *reading_};
  const CatalogValue* value = take(name, form);
  return {value == nullptr ? nothing() : *value, path_in(where_, name), reading_};
}

void CatalogFields::leave(std::string_view name) {
  if (schema_ != nullptr) return static_cast<void>(describe(name, {"array", "a list", is_list}));
  if (const CatalogValue* found = object_->find(name)) taken_.push_back(found);
  needed_.emplace(name);
}

std::vector<CatalogFields> CatalogFields::objects(std::string_view name) {
  const Form form{"array", "a list", is_list};
  std::vector<CatalogFields> out;
  if (schema_ != nullptr) {
    out.push_back({(*describe(name, form))["items"], *reading_});
    return out;
  }
  const CatalogValue* list = take(name, form);
  for (std::size_t i = 0; list != nullptr && i < list->members.size(); ++i) {
    out.emplace_back(list->members[i], fmt::format("{}[{}]", path_in(where_, name), i), reading_);
  }
  return out;
}

std::vector<std::string> CatalogFields::texts(std::string_view name) {
  const CatalogValue* list = take(name, {"array", "a list of texts", is_text_list});
  if (schema_ != nullptr) (*schema_)["properties"][name]["items"] = {{"type", "string"}};
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const CatalogValue& member : list->members) out.emplace_back(member.text);
  return out;
}

std::vector<int> CatalogFields::integers(std::string_view name) {
  const CatalogValue* list = take(name, {"array", "a list of whole numbers", is_integer_list});
  if (schema_ != nullptr) (*schema_)["properties"][name]["items"] = {{"type", "integer"}};
  return list == nullptr ? std::vector<int>() : integers_of(*list);
}

std::vector<std::vector<int>> CatalogFields::integer_rows(std::string_view name) {
  const CatalogValue* table = take(name, {"array", "a list of lists of whole numbers", is_table});
  if (schema_ != nullptr) {
    (*schema_)["properties"][name]["items"] = {{"type", "array"}, {"items", {{"type", "integer"}}}};
  }
  std::vector<std::vector<int>> out;
  if (table == nullptr) return out;
  for (const CatalogValue& row : table->members) out.push_back(integers_of(row));
  return out;
}

std::vector<std::pair<std::string, CatalogFields>> CatalogFields::named_objects(
    std::string_view name) {
  const Form form{"object", "an object", is_object};
  std::vector<std::pair<std::string, CatalogFields>> out;
  if (schema_ != nullptr) {
    out.emplace_back("", CatalogFields((*describe(name, form))["additionalProperties"], *reading_));
    return out;
  }
  const CatalogValue* members = take(name, form);
  if (members == nullptr) return out;
  const std::string path = path_in(where_, name);
  for (const CatalogValue& member : members->members) {
    out.emplace_back(member.key, CatalogFields(member, path_in(path, member.key), reading_));
  }
  return out;
}

std::map<std::string, std::string> CatalogFields::named_texts(std::string_view name) {
  const CatalogValue* members = take(name, {"object", "an object of texts", is_text_map});
  if (schema_ != nullptr) {
    (*schema_)["properties"][name]["additionalProperties"] = {{"type", "string"}};
  }
  std::map<std::string, std::string> out;
  if (members == nullptr) return out;
  for (const CatalogValue& member : members->members) out.emplace(member.key, member.text);
  return out;
}

std::map<std::string, double> CatalogFields::named_numbers(std::string_view name, double least,
                                                           double most) {
  const Form form{"object", "an object of numbers", is_object};
  std::map<std::string, double> out;
  if (schema_ != nullptr) {
    (*describe(name, form))["additionalProperties"] = {
        {"type", "number"}, {"minimum", least}, {"maximum", most}};
    return out;
  }
  const CatalogValue* members = take(name, form);
  if (members == nullptr) return out;
  CatalogFields fields(*members, path_in(where_, name), reading_);
  for (const std::string& key : fields.names()) out[key] = fields.number(key, least, most);
  return out;
}

void CatalogFields::done() const {
  if (schema_ != nullptr) {
    nlohmann::json required = nlohmann::json::array();
    for (const std::string& name : needed_) {
      if (!optional_.contains(name)) required.push_back(name);
    }
    if (!required.empty()) (*schema_)["required"] = std::move(required);
    return;
  }
  for (const CatalogValue& member : object_->members) {
    if (contains(taken_, &member)) continue;
    const std::string_view key = member.key;
    if (reading_ == nullptr) fail(key, "unknown field");
    std::set<std::string> known(needed_.begin(), needed_.end());
    known.insert(optional_.begin(), optional_.end());
    const auto nearest = nearest_name(key, known);
    reading_->add(Code::FieldUnknown, path_in(where_, key), fmt::format("unknown field `{}`", key),
                  nearest ? fmt::format("did you mean `{}`?", *nearest)
                          : fmt::format("known fields: {}", fmt::join(known, ", ")));
  }
}

int small_integer(CatalogFields& fields, std::string_view name, int least) {
  constexpr int kMostSmall = 1'000'000'000;
  return static_cast<int>(fields.integer(name, least, kMostSmall));
}

std::string text_or_empty(CatalogFields& fields, std::string_view name) {
  return fields.has(name) ? fields.text(name) : std::string();
}

bool flag_or_false(CatalogFields& fields, std::string_view name) {
  return fields.has(name) && fields.flag(name);
}

std::vector<std::string> texts_or_none(CatalogFields& fields, std::string_view name) {
  return fields.has(name) ? fields.texts(name) : std::vector<std::string>();
}

std::optional<int> maybe_integer(CatalogFields& fields, std::string_view name, int least) {
  if (!fields.has(name)) return std::nullopt;
  return small_integer(fields, name, least);
}

std::optional<double> maybe_number(CatalogFields& fields, std::string_view name, double least,
                                   double most) {
  if (!fields.has(name)) return std::nullopt;
  return fields.number(name, least, most);
}

std::optional<double> maybe_share(CatalogFields& fields, std::string_view name) {
  return maybe_number(fields, name, 0, 1);
}

std::optional<Bytes> maybe_mebibytes(CatalogFields& fields, std::string_view name) {
  if (!fields.has(name)) return std::nullopt;
  constexpr double kBytesPerMebibyte = 1'048'576;
  constexpr double kMostMebibytes = 1e12;
  return Bytes{
      static_cast<std::int64_t>(fields.number(name, 0, kMostMebibytes) * kBytesPerMebibyte)};
}

std::optional<Duration> maybe_milliseconds(CatalogFields& fields, std::string_view name) {
  if (!fields.has(name)) return std::nullopt;
  constexpr double kMostMilliseconds = 1e9;  // days
  return from_seconds(fields.number(name, 0, kMostMilliseconds) / 1'000);
}

SourceTable::SourceTable(CatalogFields& file) : where_(file.where() + ".sources") {
  if (is_users(file)) usual_ = file.reading()->usual_source;
  if (is_users(file) && !file.has("sources")) return;
  for (auto& [id, fields] : file.named_objects("sources")) {
    Source source{fields.text("text"), text_or_empty(fields, "date"), false};
    source.derived = flag_or_false(fields, "derived");
    fields.done();
    sources_.emplace(id, std::move(source));
  }
}

Source SourceTable::find(const std::string& id) const {
  const auto found = sources_.find(id);
  if (found != sources_.end()) return found->second;
  if (usual_) return {id, usual_->date, false};
  throw std::runtime_error(where_ + "." + id + ": no such source");
}

Source SourceTable::of(CatalogFields& fields) const {
  if (!usual_) return find(fields.text("source"));
  const std::string id = text_or_empty(fields, "source");
  return id.empty() ? *usual_ : find(id);
}

std::vector<FigureUncertainty> read_uncertainty(CatalogFields& object,
                                                std::span<const std::string_view> figures) {
  std::vector<FigureUncertainty> out;
  const auto is_listed = [&](const std::string& figure) {
    return contains(out, figure, &FigureUncertainty::figure);
  };
  for (CatalogFields& fields : object.objects("uncertainty")) {
    FigureUncertainty one;
    one.figure = fields.text("figure");
    one.half_width_95 = fields.number("halfWidth95");
    const auto least = maybe_number(fields, "least");
    const auto most = maybe_number(fields, "most");
    if (least.has_value() != most.has_value()) {
      fields.fail(least ? "least" : "most", "is one of two bounds: give both, or neither");
    } else if (least && *least > *most) {
      fields.fail("least", "is above most");
    } else if (least) {
      one.between = Between{*least, *most};
    }
    if (fields.has("correlations")) one.correlations = fields.named_numbers("correlations", -1, 1);
    fields.done();
    if (!contains(figures, one.figure)) {
      fields.fail("figure", "is no figure that measurements leave uncertain", Code::EnumUnknown,
                  fmt::format("one of {}", fmt::join(figures, ", ")));
    } else if (is_listed(one.figure)) {
      fields.fail("figure", "is in the list twice");
    }
    for (const auto& [other, correlation] : one.correlations) {
      if (!is_listed(other)) {
        fields.fail("correlations", fmt::format("{} is not in the list before", other));
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace slicewise::models
