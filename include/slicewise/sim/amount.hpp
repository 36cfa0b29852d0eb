#pragma once

#include <cstdint>

// Figures of any kind, where inputs and results of all kinds stand side by side.
namespace slicewise::sim {

enum class AmountUnit : std::uint8_t {
  Dollars,
  DollarsPerHour,
  Seconds,
  Bytes,
  PerSecond,
  Ratio,
  Cores,
  Count,
};

// A figure of any kind.
struct Amount {
  double value = 0;
  AmountUnit unit = AmountUnit::Count;
};

}  // namespace slicewise::sim
