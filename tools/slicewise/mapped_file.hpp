#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"

namespace slicewise::tools {

// A file in memory without a copy of it, read-only and for as long as `backing` lives. Changing the
// file meanwhile is the user's fault.
struct MappedFile {
  std::string_view bytes;
  std::shared_ptr<const void> backing;
};

// FILE_UNREADABLE when the file cannot be opened or is no regular file: pipes cannot be mapped.
Expected<MappedFile> map_file(const std::string& path);

}  // namespace slicewise::tools
