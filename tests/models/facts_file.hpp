#pragma once

#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

// One file of the facts that the catalogue was written from. They lie outside the repository, so
// nullopt where only the repository was checked out.
inline std::optional<nlohmann::json> facts_file(const std::string& name) {
  std::ifstream in(std::string(SLICEWISE_SHARED_DIR) + "/facts/" + name);
  if (!in) return std::nullopt;
  return nlohmann::json::parse(in);
}

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of what is declared.
#define SLICEWISE_FACTS_OR_SKIP(variable, name)                                       \
  const auto variable##_text = facts_file(name);                                      \
  if (!variable##_text) GTEST_SKIP() << "SKIPPED: no facts/" name " to compare with"; \
  const nlohmann::json& variable = *variable##_text
// NOLINTEND(bugprone-macro-parentheses)
