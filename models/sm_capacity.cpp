#include "sm_capacity.hpp"

#include <algorithm>
#include <cstdint>

namespace slicewise::models {
namespace {

constexpr std::int64_t kKib = 1024;
// 64 Ki registers of 32 bits, of all of them.
constexpr Bytes kRegisterFile{256 * kKib};

struct Row {
  std::string_view compute_capability;
  std::int64_t shared_kib;
};
constexpr Row kRows[] = {{"6.0", 64},   {"6.1", 96},   {"7.0", 96},   {"7.5", 64},
                         {"8.0", 164},  {"8.6", 100},  {"8.9", 100},  {"9.0", 228},
                         {"10.0", 228}, {"10.3", 228}, {"12.0", 100}, {"12.1", 100}};

}  // namespace

std::optional<SmCapacity> sm_capacity(std::string_view compute_capability) {
  const auto* const row = std::ranges::find(kRows, compute_capability, &Row::compute_capability);
  if (row == std::end(kRows)) return std::nullopt;
  return SmCapacity{kRegisterFile, Bytes{row->shared_kib * kKib}};
}

}  // namespace slicewise::models
