#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::scenarios {

// Bytes of the largest text that a compressed file may hold.
inline constexpr std::size_t kLargestUnpacked = 2ULL << 30U;

// What a file holds: itself, or the text inside gzip (.gz) or zstd (.zst), recognised by its first
// bytes. FILE_UNREADABLE when the stream is damaged, cut short, or holds more than `most` bytes.
Expected<SourceText> decompressed(SourceText file, std::size_t most = kLargestUnpacked);

// Whether this is a tar archive: its first header has the right checksum.
bool is_tar(std::string_view text);

// The regular files of a tar archive (ustar, GNU and pax names), named "ARCHIVE:PATH", or the file
// itself when it is none; each is decompressed, and the archive as well. Apple's ._* companions are
// left out. FILE_UNREADABLE when the archive is damaged, cut short or larger than `most` unpacked.
Expected<std::vector<SourceText>> unpacked(SourceText file, std::size_t most = kLargestUnpacked);

}  // namespace slicewise::scenarios
