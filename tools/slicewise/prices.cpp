#include "prices.hpp"

#include <utility>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/sha256.hpp"

#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {

ExitCode lay_prices_over(models::Catalogue& catalogue, const std::string& path,
                         const CommonFlags& flags, PriceFile* used) {
  if (path.empty()) {
    return ExitCode::Success;
  }
  const Expected<SourceText> source = read_source(path);
  if (!source) {
    return fail(source.error(), {}, flags);
  }
  if (source->text.size() > scenarios::kLargestScenario) {
    return fail({make_diagnostic(Code::FileUnreadable, {.file = path, .line = 0},
                                 "\"" + path + "\" is larger than 16 MiB")},
                {}, flags);
  }
  Expected<models::PriceBook> prices = models::with_overrides(catalogue, *source);
  if (!prices) {
    return fail(prices.error(), {*source}, flags);
  }
  catalogue.prices = std::move(*prices);
  if (used != nullptr) {
    *used = {.name = path, .sha256 = scenarios::sha256_hex(source->text)};
  }
  return ExitCode::Success;
}

}  // namespace slicewise::tools
