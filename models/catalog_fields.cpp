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
  bool (*fits)(const nlohmann::json& value);
};

namespace {

bool is_string(const nlohmann::json& value) { return value.is_string(); }
bool is_integer(const nlohmann::json& value) { return value.is_number_integer(); }
bool is_number(const nlohmann::json& value) { return value.is_number(); }
bool is_flag(const nlohmann::json& value) { return value.is_boolean(); }
bool is_object(const nlohmann::json& value) { return value.is_object(); }
bool is_list(const nlohmann::json& value) { return value.is_array(); }
bool is_text_list(const nlohmann::json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_string);
}
bool is_integer_list(const nlohmann::json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const nlohmann::json& number) {
           return number.is_number_integer() && number >= std::numeric_limits<int>::min() &&
                  number <= std::numeric_limits<int>::max();
         });
}
bool is_table(const nlohmann::json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_integer_list);
}
bool is_text_map(const nlohmann::json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), is_string);
}

std::string path_in(const std::string& object, const std::string& name) {
  return object + "." + name;
}

template <class T>
bool is_within(const CatalogFields& fields, const std::string& name, T value, T least, T most) {
  if (value >= least && value <= most) return true;
  fields.fail(name, fmt::format("is {}; it must be from {} to {}", value, least, most));
  return false;
}

// What an object that is none is read as.
const nlohmann::json& nothing() {
  static const nlohmann::json empty = nlohmann::json::object();
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

CatalogFields::CatalogFields(const nlohmann::json& object, std::string where,
                             CatalogReading* reading)
    : object_(&object), where_(std::move(where)), reading_(reading) {
  if (object.is_object()) return;
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

void CatalogFields::fail(const std::string& field, const std::string& problem, Code code,
                         const std::string& help) const {
  if (schema_ != nullptr) return;
  if (reading_ == nullptr) throw std::runtime_error(path_in(where_, field) + ": " + problem);
  reading_->add(code, path_in(where_, field), fmt::format("`{}` {}", field, problem), help);
}

nlohmann::json* CatalogFields::describe(const std::string& name, const Form& form) {
  nlohmann::json& property = (*schema_)["properties"][name];
  property["type"] = form.type;
  taken_.insert(name);
  return &property;
}

const nlohmann::json* CatalogFields::take(const std::string& name, const Form& form) {
  if (schema_ != nullptr) {
    describe(name, form);
    return nullptr;
  }
  taken_.insert(name);
  const auto found = object_->find(name);
  if (found == object_->end()) {
    fail(name, "is missing", Code::FieldMissing);
    return nullptr;
  }
  if (form.fits(*found)) return &*found;
  fail(name, fmt::format("must be {}", form.what), Code::FieldType);
  return nullptr;
}

bool CatalogFields::has(const std::string& name) {
  optional_.insert(name);
  return schema_ != nullptr || object_->contains(name);
}

std::vector<std::string> CatalogFields::names() const {
  std::vector<std::string> out;
  for (const auto& [key, member] : object_->items()) out.push_back(key);
  return out;
}

std::string CatalogFields::text(const std::string& name) {
  const nlohmann::json* value = take(name, {"string", "a text", is_string});
  if (schema_ != nullptr) (*schema_)["properties"][name]["minLength"] = 1;
  if (value == nullptr) return {};
  if (is_users(*this) && value->get_ref<const std::string&>().empty()) fail(name, "is empty");
  return value->get<std::string>();
}

std::string CatalogFields::word(const std::string& name, const std::string& only) {
  const nlohmann::json* value = take(name, {"string", "a text", is_string});
  if (schema_ != nullptr) (*schema_)["properties"][name]["const"] = only;
  if (value != nullptr && *value != only) {
    fail(name, fmt::format("is {}, not {}", value->get<std::string>(), only),
         Code::ApiVersionUnknown, fmt::format("write `{}: {}`", name, only));
  }
  return only;
}

std::int64_t CatalogFields::integer(const std::string& name, std::int64_t least,
                                    std::int64_t most) {
  const nlohmann::json* value = take(name, {"integer", "a whole number", is_integer});
  if (schema_ != nullptr) (*schema_)["properties"][name]["minimum"] = least;
  if (value == nullptr) return least;
  const auto number = value->get<std::int64_t>();
  return is_within(*this, name, number, least, most) ? number : least;
}

double CatalogFields::number(const std::string& name, double least, double most) {
  const nlohmann::json* value = take(name, {"number", "a number", is_number});
  if (schema_ != nullptr) {
    nlohmann::json& property = (*schema_)["properties"][name];
    property["minimum"] = least;
    if (most < kMost) property["maximum"] = most;
  }
  if (value == nullptr) return least;
  const auto read = value->get<double>();
  return is_within(*this, name, read, least, most) ? read : least;
}

double CatalogFields::positive(const std::string& name) {
  const double value = number(name);
  if (schema_ != nullptr) {
    nlohmann::json& property = (*schema_)["properties"][name];
    property.erase("minimum");
    property["exclusiveMinimum"] = 0;
  } else if (const auto found = object_->find(name);
             found != object_->end() && found->is_number() && found->get<double>() == 0) {
    fail(name, "is 0; it must be above 0");
  }
  return value > 0 ? value : 1;
}

bool CatalogFields::flag(const std::string& name) {
  const nlohmann::json* value = take(name, {"boolean", "true or false", is_flag});
  return value != nullptr && value->get<bool>();
}

CatalogFields CatalogFields::object(const std::string& name) {
  const Form form{"object", "an object", is_object};
  if (schema_ != nullptr) return {*describe(name, form), *reading_};
  const nlohmann::json* value = take(name, form);
  return {value == nullptr ? nothing() : *value, path_in(where_, name), reading_};
}

void CatalogFields::leave(const std::string& name) {
  if (schema_ != nullptr) describe(name, {"array", "a list", is_list});
  taken_.insert(name);
}

std::vector<CatalogFields> CatalogFields::objects(const std::string& name) {
  const Form form{"array", "a list", is_list};
  std::vector<CatalogFields> out;
  if (schema_ != nullptr) {
    out.push_back({(*describe(name, form))["items"], *reading_});
    return out;
  }
  const nlohmann::json* list = take(name, form);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    out.emplace_back((*list)[i], fmt::format("{}[{}]", path_in(where_, name), i), reading_);
  }
  return out;
}

std::vector<std::string> CatalogFields::texts(const std::string& name) {
  const nlohmann::json* list = take(name, {"array", "a list of texts", is_text_list});
  if (schema_ != nullptr) (*schema_)["properties"][name]["items"] = {{"type", "string"}};
  return list == nullptr ? std::vector<std::string>() : list->get<std::vector<std::string>>();
}

std::vector<int> CatalogFields::integers(const std::string& name) {
  const nlohmann::json* list = take(name, {"array", "a list of whole numbers", is_integer_list});
  if (schema_ != nullptr) (*schema_)["properties"][name]["items"] = {{"type", "integer"}};
  return list == nullptr ? std::vector<int>() : list->get<std::vector<int>>();
}

std::vector<std::vector<int>> CatalogFields::integer_rows(const std::string& name) {
  const nlohmann::json* table = take(name, {"array", "a list of lists of whole numbers", is_table});
  if (schema_ != nullptr) {
    (*schema_)["properties"][name]["items"] = {{"type", "array"}, {"items", {{"type", "integer"}}}};
  }
  return table == nullptr ? std::vector<std::vector<int>>()
                          : table->get<std::vector<std::vector<int>>>();
}

std::vector<std::pair<std::string, CatalogFields>> CatalogFields::named_objects(
    const std::string& name) {
  const Form form{"object", "an object", is_object};
  std::vector<std::pair<std::string, CatalogFields>> out;
  if (schema_ != nullptr) {
    out.emplace_back("", CatalogFields((*describe(name, form))["additionalProperties"], *reading_));
    return out;
  }
  const nlohmann::json* members = take(name, form);
  if (members == nullptr) return out;
  for (const auto& [key, member] : members->items()) {
    out.emplace_back(key, CatalogFields(member, path_in(where_, name) + "." + key, reading_));
  }
  return out;
}

std::map<std::string, std::string> CatalogFields::named_texts(const std::string& name) {
  const nlohmann::json* members = take(name, {"object", "an object of texts", is_text_map});
  if (schema_ != nullptr) {
    (*schema_)["properties"][name]["additionalProperties"] = {{"type", "string"}};
  }
  return members == nullptr ? std::map<std::string, std::string>()
                            : members->get<std::map<std::string, std::string>>();
}

std::map<std::string, double> CatalogFields::named_numbers(const std::string& name, double least,
                                                           double most) {
  const Form form{"object", "an object of numbers", is_object};
  std::map<std::string, double> out;
  if (schema_ != nullptr) {
    (*describe(name, form))["additionalProperties"] = {
        {"type", "number"}, {"minimum", least}, {"maximum", most}};
    return out;
  }
  const nlohmann::json* members = take(name, form);
  if (members == nullptr) return out;
  CatalogFields fields(*members, path_in(where_, name), reading_);
  for (const std::string& key : fields.names()) out[key] = fields.number(key, least, most);
  return out;
}

void CatalogFields::done() const {
  if (schema_ != nullptr) {
    nlohmann::json required = nlohmann::json::array();
    for (const std::string& name : taken_) {
      if (!optional_.contains(name)) required.push_back(name);
    }
    if (!required.empty()) (*schema_)["required"] = std::move(required);
    return;
  }
  std::set<std::string> known = taken_;
  known.insert(optional_.begin(), optional_.end());
  for (const auto& [key, member] : object_->items()) {
    if (taken_.contains(key)) continue;
    if (reading_ == nullptr) fail(key, "unknown field");
    const auto nearest = nearest_name(key, known);
    reading_->add(Code::FieldUnknown, path_in(where_, key), fmt::format("unknown field `{}`", key),
                  nearest ? fmt::format("did you mean `{}`?", *nearest)
                          : fmt::format("known fields: {}", fmt::join(known, ", ")));
  }
}

int small_integer(CatalogFields& fields, const std::string& name, int least) {
  constexpr int kMostSmall = 1'000'000'000;
  return static_cast<int>(fields.integer(name, least, kMostSmall));
}

std::string text_or_empty(CatalogFields& fields, const std::string& name) {
  return fields.has(name) ? fields.text(name) : std::string();
}

bool flag_or_false(CatalogFields& fields, const std::string& name) {
  return fields.has(name) && fields.flag(name);
}

std::vector<std::string> texts_or_none(CatalogFields& fields, const std::string& name) {
  return fields.has(name) ? fields.texts(name) : std::vector<std::string>();
}

std::optional<int> maybe_integer(CatalogFields& fields, const std::string& name, int least) {
  if (!fields.has(name)) return std::nullopt;
  return small_integer(fields, name, least);
}

std::optional<double> maybe_number(CatalogFields& fields, const std::string& name, double least,
                                   double most) {
  if (!fields.has(name)) return std::nullopt;
  return fields.number(name, least, most);
}

std::optional<double> maybe_share(CatalogFields& fields, const std::string& name) {
  return maybe_number(fields, name, 0, 1);
}

std::optional<Bytes> maybe_mebibytes(CatalogFields& fields, const std::string& name) {
  if (!fields.has(name)) return std::nullopt;
  constexpr double kBytesPerMebibyte = 1'048'576;
  constexpr double kMostMebibytes = 1e12;
  return Bytes{
      static_cast<std::int64_t>(fields.number(name, 0, kMostMebibytes) * kBytesPerMebibyte)};
}

std::optional<Duration> maybe_milliseconds(CatalogFields& fields, const std::string& name) {
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
