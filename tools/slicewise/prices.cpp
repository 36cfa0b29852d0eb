#include "prices.hpp"

#include <utility>

#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {

ExitCode lay_prices_over(models::Catalogue& catalogue, const std::string& path,
                         const CommonFlags& flags) {
  if (path.empty()) {
    return ExitCode::Success;
  }
  const Expected<SourceText> source = read_source(path);
  if (!source) {
    return fail(source.error(), {}, flags);
  }
  Expected<models::PriceBook> prices = models::with_overrides(catalogue, *source);
  if (!prices) {
    return fail(prices.error(), {*source}, flags);
  }
  catalogue.prices = std::move(*prices);
  return ExitCode::Success;
}

}  // namespace slicewise::tools
