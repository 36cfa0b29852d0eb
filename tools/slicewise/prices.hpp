#pragma once

#include <string>

#include "slicewise/models/catalogue.hpp"

#include "commands.hpp"

namespace slicewise::tools {

// Lays the --prices file over the catalogue's prices; "" changes nothing. Mistakes are printed.
ExitCode lay_prices_over(models::Catalogue& catalogue, const std::string& path,
                         const CommonFlags& flags);

}  // namespace slicewise::tools
