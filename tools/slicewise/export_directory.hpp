#pragma once

#include <string>

#include "slicewise/exit_code.hpp"
#include "slicewise/reports/export/kinds.hpp"

namespace slicewise::tools {

// Writes the files into a directory that does not exist yet, or is empty. They are written beside
// it and renamed as a whole, so that nobody sees, or applies, half of them. Says why on standard
// error when that fails, leaves nothing behind and returns ExitCode::FileAccess.
ExitCode write_directory(const std::string& path, const reports::ExportFiles& files);

}  // namespace slicewise::tools
