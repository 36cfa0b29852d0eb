// libFuzzer target: any bytes must end in a price book or in diagnostics.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/price_file_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

#include "fuzz_target.hpp"

const fuzz::Target price_file_fuzz("price_file_fuzz", [](const std::uint8_t* data,
                                                         std::size_t size) {
  static const slicewise::models::Catalogue catalogue = slicewise::models::load_catalogue();
  const slicewise::SourceText source{"fuzz", {reinterpret_cast<const char*>(data), size}};
  const auto book = slicewise::models::with_overrides(catalogue, source);
  if (book) return 0;
  if (book.error().empty()) std::abort();
  const std::string text = slicewise::reports::diagnostics_text(book.error(), {source}, {});
  return text.empty() ? std::abort(), 0 : 0;
});
