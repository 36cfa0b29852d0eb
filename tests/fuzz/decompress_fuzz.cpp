// libFuzzer target: any bytes must end in files or in diagnostics.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/decompress_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "slicewise/scenarios/decompress.hpp"

#include "fuzz_target.hpp"

const fuzz::Target decompress_fuzz("decompress_fuzz", [](const std::uint8_t* data,
                                                         std::size_t size) {
  constexpr std::size_t kMost = 1U << 20U;
  const auto files =
      slicewise::scenarios::unpacked({"fuzz", {reinterpret_cast<const char*>(data), size}}, kMost);
  if (!files) return files.error().empty() ? std::abort(), 0 : 0;
  std::size_t bytes = 0;
  for (const slicewise::SourceText& file : *files) bytes += file.text.size();
  // What is not packed is handed through, whatever its size.
  if (bytes > kMost && bytes > size) std::abort();
  return 0;
});
