#include "read_json.hpp"

#include <nlohmann/json.hpp>

namespace slicewise::models {

nlohmann::json read_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace slicewise::models
