#pragma once

#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"
#include "slicewise/exit_code.hpp"
#include "slicewise/scenarios/load.hpp"

namespace slicewise::tools {

// A file, or standard input for "-": all of it, or `most` bytes and one more when it is longer than
// that. FILE_UNREADABLE when that fails.
Expected<SourceText> read_source(const std::string& path,
                                 std::size_t most = scenarios::kLargestScenario);

// The file that a stored document calls `path`, which was named from where the document was made:
// from the document's folder, else from the working directory, else beside the document.
std::string path_from(const std::string& document, const std::string& path);

// Writes all of `text` to a file, or to standard output for "". A file is written under a temporary
// name and renamed, so that a reader never sees half of it. Says why on standard error when that
// fails and returns ExitCode::FileAccess.
ExitCode write_text(const std::string& path, std::string_view text);

// The same for a file besides the report: "" means that it is not wanted.
inline ExitCode write_besides(const std::string& path, std::string_view text) {
  return path.empty() ? ExitCode::Success : write_text(path, text);
}

}  // namespace slicewise::tools
