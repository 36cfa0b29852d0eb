#pragma once

#include <string>
#include <vector>

namespace slicewise::scenarios {

// Hex SHA-256 of `text`, then a line feed and each further part in turn.
std::string sha256_hex(const std::string& text, const std::vector<std::string>& parts = {});

}  // namespace slicewise::scenarios
