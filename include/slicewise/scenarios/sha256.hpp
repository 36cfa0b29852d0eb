#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slicewise::scenarios {

// Hex SHA-256 of `text`, then a line feed and each further part in turn.
std::string sha256_hex(std::string_view text, const std::vector<std::string>& parts = {});

}  // namespace slicewise::scenarios
