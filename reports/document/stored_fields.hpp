#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/sim/stamp.hpp"
#include "slicewise/units.hpp"

namespace slicewise::reports {

// Reads members of a stored document and remembers the first that is not what it should be.
class StoredFields {
 public:
  using json = nlohmann::json;

  std::string text(const json& object, const char* key, bool required = true);
  int whole(const json& object, const char* key);  // 0 to a million
  std::int64_t count(const json& object, const char* key, bool required = true);
  std::optional<double> number(const json& object, const char* key, bool required = false);
  std::optional<Usd> dollars(const json& object, const char* key, bool required = false);
  std::optional<Duration> time(const json& object, const char* key);
  bool truth(const json& object, const char* key);  // absent: false
  // Empty where there is none.
  const json& list(const json& object, const char* key, bool required = true);
  const json& object(const json& parent, const char* key);
  std::vector<std::string> texts(const json& object, const char* key);

  // What metadata_of() wrote; scenarioFile and settings too, where they are there.
  sim::Stamp stamp(const json& metadata);

  void set_odd(const char* key);
  const std::string& odd() const { return odd_; }

 private:
  json no_list_ = json::array();
  json no_object_ = json::object();
  std::string odd_;
};

}  // namespace slicewise::reports
