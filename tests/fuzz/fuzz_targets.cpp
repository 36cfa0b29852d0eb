// What libFuzzer looks for: the target that SLICEWISE_FUZZ_TARGET names.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fuzz_target.hpp"

// From libFuzzer.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

const fuzz::Target& chosen() {
  static const fuzz::Target* const target = [] {
    const char* const name = std::getenv("SLICEWISE_FUZZ_TARGET");
    const auto& all = fuzz::Target::all();
    const auto found = std::find_if(all.begin(), all.end(), [&](const fuzz::Target* t) {
      return name != nullptr && t->name == name;
    });
    if (found != all.end()) return *found;
    std::fputs("SLICEWISE_FUZZ_TARGET is to name one of", stderr);
    for (const fuzz::Target* t : all) std::fprintf(stderr, " %s", t->name.data());
    std::fputs("\n", stderr);
    std::exit(2);
  }();
  return *target;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names that libFuzzer looks for
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return chosen().take(data, size);
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  if (chosen().mutate == nullptr) return LLVMFuzzerMutate(data, size, max_size);
  return chosen().mutate(data, size, max_size, seed);
}
// NOLINTEND(readability-identifier-naming)
