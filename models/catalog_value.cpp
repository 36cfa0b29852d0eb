#include "catalog_value.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "slicewise/lookup.hpp"

namespace slicewise::models {
namespace {

using Kind = CatalogValue::Kind;

using Json = nlohmann::json;

// A container that is open does not move: only the innermost one grows.
class JsonReader final : public nlohmann::json_sax<Json> {
 public:
  explicit JsonReader(CatalogDocument& out) : out_(out) {}

  bool null() override { return add(Kind::Null) != nullptr; }
  bool boolean(bool value) override {
    add(Kind::Flag)->flag = value;
    return true;
  }
  bool number_integer(Json::number_integer_t value) override {
    CatalogValue& added = *add(Kind::Integer);
    added.integer = value;
    added.number = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(Json::number_unsigned_t value) override {
    if (std::in_range<std::int64_t>(value)) return number_integer(static_cast<std::int64_t>(value));
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) override {
    add(Kind::Number)->number = value;
    return true;
  }
  bool string(std::string& value) override {
    add(Kind::Text)->text = out_.texts.emplace_back(std::move(value));
    return true;
  }
  bool binary(Json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Kind::Object); }
  bool start_array(std::size_t /*size*/) override { return open(Kind::List); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& value) override {
    key_ = out_.texts.emplace_back(std::move(value));
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const Json::exception& /*what*/) override {
    return false;
  }

 private:
  CatalogValue* add(Kind kind) {
    CatalogValue& added = open_.empty() ? out_.root : open_.back()->members.emplace_back();
    added.kind = kind;
    added.key = std::exchange(key_, {});
    return &added;
  }
  bool open(Kind kind) {
    open_.push_back(add(kind));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  CatalogDocument& out_;
  std::vector<CatalogValue*> open_;  // outermost first
  std::string_view key_;             // of the member to come
};

Kind kind_of(const nlohmann::json& json) {
  if (json.is_object()) return Kind::Object;
  if (json.is_array()) return Kind::List;
  if (json.is_string()) return Kind::Text;
  if (json.is_boolean()) return Kind::Flag;
  if (json.is_number_integer()) return Kind::Integer;
  return json.is_number() ? Kind::Number : Kind::Null;
}

}  // namespace

const CatalogValue* CatalogValue::find(std::string_view name) const {
  return kind == Kind::Object ? find_or_null(members, name, &CatalogValue::key) : nullptr;
}

CatalogDocument read_json(std::string_view text) {
  CatalogDocument out;
  JsonReader reader(out);
  if (!Json::sax_parse(text, &reader)) out.root = {};
  return out;
}

// NOLINTNEXTLINE(misc-no-recursion): located_json() takes nothing that is deep
CatalogValue value_of(const nlohmann::json& json) {
  CatalogValue out;
  out.kind = kind_of(json);
  if (out.kind == Kind::Flag) out.flag = json.get<bool>();
  if (out.kind == Kind::Text) out.text = json.get_ref<const std::string&>();
  if (json.is_number()) out.number = json.get<double>();
  if (out.kind == Kind::Integer) out.integer = json.get<std::int64_t>();
  if (out.kind == Kind::List)
    std::ranges::transform(json, std::back_inserter(out.members), value_of);
  if (out.kind == Kind::Object) {
    for (const auto& [key, member] : json.items()) {
      out.members.push_back(value_of(member));
      out.members.back().key = key;
    }
  }
  return out;
}

}  // namespace slicewise::models
