#include "stored_fields.hpp"

#include <cmath>

namespace slicewise::reports {
namespace {

using nlohmann::json;

// Beyond these a document was not written by slicewise: 31 years, a billion dollars.
constexpr double kMostSeconds = 1e9;
constexpr double kMostDollars = 1e9;
constexpr double kMostCount = 9e15;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

}  // namespace

sim::Stamp StoredFields::stamp(const json& metadata) {
  sim::Stamp stamp;
  stamp.scenario = text(metadata, "scenario", false);
  stamp.scenario_file = text(metadata, "scenarioFile", false);
  stamp.settings = texts(metadata, "settings");
  stamp.scenario_sha256 = text(metadata, "scenarioSha256");
  stamp.variant = text(metadata, "variant", false);
  stamp.seed = static_cast<std::uint64_t>(count(metadata, "seed"));
  stamp.replications = whole(metadata, "replications");
  stamp.price_date = text(metadata, "priceDate", false);
  stamp.price_file = text(metadata, "priceFile", false);
  stamp.price_file_sha256 = text(metadata, "priceFileSha256", false);
  stamp.version = text(metadata, "version", false);
  return stamp;
}

void StoredFields::set_odd(const char* key) {
  if (odd_.empty()) odd_ = key;
}

std::string StoredFields::text(const json& object, const char* key, bool required) {
  const json* at = member(object, key);
  if (at != nullptr && at->is_string()) return at->get<std::string>();
  if (required || at != nullptr) set_odd(key);
  return {};
}

std::int64_t StoredFields::count(const json& object, const char* key, bool required) {
  const json* at = member(object, key);
  if (at != nullptr && at->is_number_integer() && at->get<double>() >= 0 &&
      at->get<double>() <= kMostCount) {
    return at->get<std::int64_t>();
  }
  if (required || at != nullptr) set_odd(key);
  return 0;
}

int StoredFields::whole(const json& object, const char* key) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::int64_t value = count(object, key);
  if (value <= kMost) return static_cast<int>(value);
  set_odd(key);
  return 0;
}

std::optional<double> StoredFields::number(const json& object, const char* key, bool required) {
  const json* at = member(object, key);
  if (at != nullptr && at->is_number() && std::isfinite(at->get<double>())) {
    return at->get<double>();
  }
  if (required || at != nullptr) set_odd(key);
  return std::nullopt;
}

std::optional<Usd> StoredFields::dollars(const json& object, const char* key, bool required) {
  const auto value = number(object, key, required);
  if (!value) return required ? std::optional<Usd>(Usd{}) : std::nullopt;
  if (std::abs(*value) <= kMostDollars) return from_dollars(*value);
  set_odd(key);
  return Usd{};
}

std::optional<Duration> StoredFields::time(const json& object, const char* key) {
  const auto value = number(object, key);
  if (!value) return std::nullopt;
  if (std::abs(*value) <= kMostSeconds) return from_seconds(*value);
  set_odd(key);
  return Duration{};
}

bool StoredFields::truth(const json& object, const char* key) {
  const json* at = member(object, key);
  if (at != nullptr && at->is_boolean()) return at->get<bool>();
  if (at != nullptr) set_odd(key);
  return false;
}

const json& StoredFields::list(const json& object, const char* key, bool required) {
  const json* at = member(object, key);
  if (at != nullptr && at->is_array()) return *at;
  if (required || at != nullptr) set_odd(key);
  return no_list_;
}

const json& StoredFields::object(const json& parent, const char* key) {
  const json* at = member(parent, key);
  if (at != nullptr && at->is_object()) return *at;
  if (at != nullptr) set_odd(key);
  return no_object_;
}

std::vector<std::string> StoredFields::texts(const json& object, const char* key) {
  std::vector<std::string> all;
  for (const json& item : list(object, key, false)) {
    if (item.is_string()) {
      all.push_back(item.get<std::string>());
    } else {
      set_odd(key);
    }
  }
  return all;
}

}  // namespace slicewise::reports
