#pragma once

#include <string>

#include "slicewise/models/catalogue.hpp"

#include "commands.hpp"

namespace slicewise::tools {

// The --prices file that a result was computed with.
struct PriceFile {
  std::string name;
  std::string sha256;  // of its bytes, in hexadecimal
};

// Lays the --prices file over the catalogue's prices and says in `used` which file that was; "" as
// path changes nothing. Mistakes are printed.
ExitCode lay_prices_over(models::Catalogue& catalogue, const std::string& path,
                         const CommonFlags& flags, PriceFile* used = nullptr);

}  // namespace slicewise::tools
