#include "catalog_fields.hpp"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slicewise::models {

CatalogFields::CatalogFields(const nlohmann::json& object, std::string where)
    : object_(&object), where_(std::move(where)) {
  if (!object.is_object()) throw std::runtime_error(where_ + ": not an object");
}

void CatalogFields::fail(const std::string& field, const std::string& problem) const {
  throw std::runtime_error(where_ + "." + field + ": " + problem);
}

const nlohmann::json& CatalogFields::take(const std::string& name) {
  const auto found = object_->find(name);
  if (found == object_->end()) fail(name, "missing");
  taken_.insert(name);
  return *found;
}

bool CatalogFields::has(const std::string& name) const { return object_->contains(name); }

std::vector<std::string> CatalogFields::names() const {
  std::vector<std::string> out;
  for (const auto& [key, member] : object_->items()) out.push_back(key);
  return out;
}

std::string CatalogFields::text(const std::string& name) {
  const nlohmann::json& value = take(name);
  if (!value.is_string()) fail(name, "not a string");
  return value.get<std::string>();
}

std::int64_t CatalogFields::integer(const std::string& name) {
  const nlohmann::json& value = take(name);
  if (!value.is_number_integer()) fail(name, "not an integer");
  return value.get<std::int64_t>();
}

int CatalogFields::small_integer(const std::string& name) {
  const std::int64_t value = integer(name);
  if (value < 0 || value > std::numeric_limits<int>::max()) fail(name, "out of range");
  return static_cast<int>(value);
}

double CatalogFields::number(const std::string& name) {
  const nlohmann::json& value = take(name);
  if (!value.is_number()) fail(name, "not a number");
  return value.get<double>();
}

bool CatalogFields::flag(const std::string& name) {
  const nlohmann::json& value = take(name);
  if (!value.is_boolean()) fail(name, "not true or false");
  return value.get<bool>();
}

CatalogFields CatalogFields::object(const std::string& name) {
  return {take(name), where_ + "." + name};
}

std::vector<CatalogFields> CatalogFields::objects(const std::string& name) {
  const nlohmann::json& list = take(name);
  if (!list.is_array()) fail(name, "not a list");
  std::vector<CatalogFields> out;
  for (const nlohmann::json& element : list) {
    out.emplace_back(element, fmt::format("{}.{}[{}]", where_, name, out.size()));
  }
  return out;
}

std::vector<std::string> CatalogFields::texts(const std::string& name) {
  const nlohmann::json& list = take(name);
  if (!list.is_array()) fail(name, "not a list");
  std::vector<std::string> out;
  for (const nlohmann::json& element : list) {
    if (!element.is_string()) fail(name, "not a list of strings");
    out.push_back(element.get<std::string>());
  }
  return out;
}

std::vector<int> CatalogFields::integer_list(const std::string& name,
                                             const nlohmann::json& list) const {
  if (!list.is_array()) fail(name, "not a list");
  std::vector<int> out;
  for (const nlohmann::json& element : list) {
    if (!element.is_number_integer()) fail(name, "not a list of integers");
    out.push_back(element.get<int>());
  }
  return out;
}

std::vector<int> CatalogFields::integers(const std::string& name) {
  return integer_list(name, take(name));
}

std::vector<std::vector<int>> CatalogFields::integer_rows(const std::string& name) {
  const nlohmann::json& list = take(name);
  if (!list.is_array()) fail(name, "not a list");
  std::vector<std::vector<int>> out;
  for (const nlohmann::json& row : list) out.push_back(integer_list(name, row));
  return out;
}

std::vector<std::pair<std::string, CatalogFields>> CatalogFields::named_objects(
    const std::string& name) {
  const nlohmann::json& members = take(name);
  if (!members.is_object()) fail(name, "not an object");
  std::vector<std::pair<std::string, CatalogFields>> out;
  for (const auto& [key, member] : members.items()) {
    out.emplace_back(key, CatalogFields(member, fmt::format("{}.{}.{}", where_, name, key)));
  }
  return out;
}

std::map<std::string, std::string> CatalogFields::named_texts(const std::string& name) {
  const nlohmann::json& members = take(name);
  if (!members.is_object()) fail(name, "not an object");
  std::map<std::string, std::string> out;
  for (const auto& [key, member] : members.items()) {
    if (!member.is_string()) fail(fmt::format("{}.{}", name, key), "not a string");
    out.emplace(key, member.get<std::string>());
  }
  return out;
}

std::string CatalogFields::text_or_empty(const std::string& name) {
  return has(name) ? text(name) : std::string();
}

std::optional<int> CatalogFields::maybe_integer(const std::string& name) {
  if (!has(name)) return std::nullopt;
  return small_integer(name);
}

std::optional<double> CatalogFields::maybe_number(const std::string& name) {
  if (!has(name)) return std::nullopt;
  return number(name);
}

std::optional<Bytes> CatalogFields::maybe_mebibytes(const std::string& name) {
  if (!has(name)) return std::nullopt;
  constexpr double kBytesPerMebibyte = 1'048'576;
  return Bytes{static_cast<std::int64_t>(number(name) * kBytesPerMebibyte)};
}

std::optional<Duration> CatalogFields::maybe_milliseconds(const std::string& name) {
  if (!has(name)) return std::nullopt;
  return from_seconds(number(name) / 1'000);
}

void CatalogFields::done() const {
  for (const auto& [key, member] : object_->items()) {
    if (!taken_.contains(key)) fail(key, "unknown field");
  }
}

SourceTable::SourceTable(CatalogFields& file) : where_(file.where() + ".sources") {
  for (auto& [id, fields] : file.named_objects("sources")) {
    Source source{fields.text("text"), fields.text("date"), false};
    if (fields.has("derived")) source.derived = fields.flag("derived");
    fields.done();
    sources_.emplace(id, std::move(source));
  }
}

const Source& SourceTable::find(const std::string& id) const {
  const auto found = sources_.find(id);
  if (found == sources_.end()) throw std::runtime_error(where_ + "." + id + ": no such source");
  return found->second;
}

}  // namespace slicewise::models
