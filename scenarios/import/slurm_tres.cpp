#include "slurm_tres.hpp"

#include <algorithm>

#include "../text/decimal.hpp"
#include "cells.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostCount = 1'000'000;

// "1g.5gb", "3g.20gb+me"
bool names_mig_profile(std::string_view type) {
  return type.size() > 4 && type[0] >= '1' && type[0] <= '7' && type[1] == 'g' && type[2] == '.' &&
         type.find("gb") != std::string_view::npos;
}

std::optional<std::int64_t> count_of(std::string_view text) {
  const auto value = whole_of(text);
  return value && *value >= 0 && *value <= kMostCount ? value : std::nullopt;
}

}  // namespace

std::optional<SlurmTres> parse_tres(std::string_view text) {
  SlurmTres tres;
  std::int64_t typed = 0;
  std::optional<std::int64_t> untyped;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view entry = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view key = entry.substr(0, equals);
    const std::string_view value = entry.substr(equals + 1);
    if (key == "mem") {
      tres.memory = memory_of(value);
      if (!tres.memory) return std::nullopt;
      continue;
    }
    const bool counts = key == "cpu" || key == "gres/gpu" || key == "gres/shard" ||
                        key == "gres/gpuutil" || key.starts_with("gres/gpu:");
    if (!counts) continue;
    const auto count = count_of(value);
    if (!count) return std::nullopt;
    if (key == "cpu") tres.cpus = count;
    if (key == "gres/gpu") untyped = count;
    if (key == "gres/shard") tres.shards = *count;
    if (key == "gres/gpuutil") tres.gpu_permille = std::min<std::int64_t>(*count * 10, 1'000);
    if (!key.starts_with("gres/gpu:")) continue;
    key.remove_prefix(std::string_view("gres/gpu:").size());
    typed = std::min(typed + *count, kMostCount);
    if (names_mig_profile(key)) {
      tres.mig_profile = key;
    } else {
      tres.gpu_models += (tres.gpu_models.empty() ? "" : "|") + std::string(key);
    }
  }
  tres.gpus = untyped.value_or(typed);
  return tres;
}

}  // namespace slicewise::scenarios
