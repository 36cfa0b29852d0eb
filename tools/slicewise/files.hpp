#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/exit_code.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/load.hpp"

// Files that are read, mapped and written: those of the disk, or of the Host of the verb.
namespace slicewise::tools {

// A file, or standard input for "-": all of it, or `most` bytes and one more when it is longer than
// that. FILE_UNREADABLE when that fails.
Expected<SourceText> read_source(const std::string& path,
                                 std::size_t most = scenarios::kLargestScenario);

// "plan.json#2": a stored document and a part of it. `part` is absent without a #, and for what is
// no JSON: other names may have one.
struct FilePart {
  std::string file;
  std::optional<std::string> part;
};
FilePart file_part(const std::string& argument);

// The file that a stored document calls `path`, which was named from where the document was made:
// from the document's folder, else from the working directory, else beside the document.
std::string path_from(const std::string& document, const std::string& path);

// Writes all of `text` to a file, or to standard output for "". A file is written under a temporary
// name and renamed, so that a reader never sees half of it; what killed runs left of it is removed.
// Says why on standard error when that fails and returns ExitCode::FileAccess.
ExitCode write_text(const std::string& path, std::string_view text);

// A file in memory without a copy of it, read-only and for as long as `backing` lives. Changing the
// file meanwhile is the user's fault.
struct MappedFile {
  std::string_view bytes;
  std::shared_ptr<const void> backing;
};

// FILE_UNREADABLE when the file cannot be opened or is no regular file: pipes cannot be mapped.
Expected<MappedFile> map_file(const std::string& path);

// What is done where a directory has files already.
enum class Existing : std::uint8_t { Refused, Replaced };

// Writes the files into a directory. They are written beside it and take its place as a whole, so
// that nobody sees, or applies, half of them; of a directory that is Replaced other files stay, but
// for those called `outdated`, with what is in them. Says why on standard error when that fails,
// leaves nothing behind and returns ExitCode::FileAccess.
ExitCode write_directory(const std::string& path, const reports::ExportFiles& files,
                         Existing existing = Existing::Refused,
                         std::span<const std::string_view> outdated = {});

// The files, and in place of folders the manifests in them, each once.
std::vector<std::string> file_names(const std::vector<std::string>& given, Diagnostics& problems);

}  // namespace slicewise::tools
