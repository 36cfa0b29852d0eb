// libFuzzer target: any bytes must end in a scenario or in diagnostics.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/scenario_loader_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/load.hpp"

#include "fuzz_target.hpp"

const fuzz::Target scenario_loader_fuzz("scenario_loader_fuzz", [](const std::uint8_t* data,
                                                                   std::size_t size) {
  const slicewise::SourceText source{"fuzz", {reinterpret_cast<const char*>(data), size}};
  const auto loaded = slicewise::scenarios::load_scenario(source);
  if (loaded) return 0;
  if (loaded.error().empty()) std::abort();
  const std::string text = slicewise::reports::diagnostics_text(loaded.error(), {source}, {});
  return text.empty() ? std::abort(), 0 : 0;
});
