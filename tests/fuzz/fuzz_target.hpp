// One program has all fuzz targets: to read the libraries' headers and to link the libraries is
// most of what one costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fuzz {

/// What libFuzzer calls with bytes: must end in findings, never in a crash. Known by its name once
/// its file is linked.
struct Target {
  using Take = int (*)(const std::uint8_t* data, std::size_t size);
  /// As LLVMFuzzerCustomMutator.
  using Mutate = std::size_t (*)(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                 unsigned seed);

  Target(std::string_view called, Take takes, Mutate mutates = nullptr)
      : name(called), take(takes), mutate(mutates) {
    all().push_back(this);
  }
  static std::vector<const Target*>& all() {
    static std::vector<const Target*> targets;
    return targets;
  }

  std::string_view name;
  Take take;
  Mutate mutate;  ///< null: libFuzzer's own
};

}  // namespace fuzz
