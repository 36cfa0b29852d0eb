#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace slicewise::reports {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Compares with tests/reports/golden/<name>, byte for byte. SLICEWISE_UPDATE_GOLDEN=1 writes the
// file instead: look at the difference before you commit it.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const auto path =
      std::filesystem::path(SLICEWISE_SOURCE_DIR) / "tests" / "reports" / "golden" / name;
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
  }
  EXPECT_EQ(file_text(path), actual) << "SLICEWISE_UPDATE_GOLDEN=1 rewrites " << path;
}

}  // namespace slicewise::reports
