#include "slicewise/scenarios/decompress.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::size_t kChunk = 1U << 18U;

tl::unexpected<Diagnostics> cannot_unpack(const std::string& name, std::string what) {
  return tl::unexpected(Diagnostics{
      make_diagnostic(Code::FileUnreadable, {.file = name, .line = 0}, std::move(what))});
}

tl::unexpected<Diagnostics> too_large_unpacked(const std::string& name, std::size_t most) {
  return cannot_unpack(name, fmt::format("\"{}\" holds more than {} bytes unpacked", name, most));
}

struct InflateEnd {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

Expected<std::string> gunzipped(const SourceText& file, std::size_t most) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
    return cannot_unpack(file.name, "not enough memory to unpack \"" + file.name + "\"");
  }
  const std::unique_ptr<z_stream, InflateEnd> end(&stream);
  std::string_view left = file.text;
  std::string text;
  std::string chunk(kChunk, '\0');
  while (!left.empty()) {
    const std::size_t fed = std::min<std::size_t>(left.size(), 1U << 30U);
    // zlib never writes to what it reads, it only lacks the const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
    stream.avail_in = static_cast<uInt>(fed);
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    left.remove_prefix(fed - stream.avail_in);
    text.append(chunk, 0, chunk.size() - stream.avail_out);
    if (text.size() > most) return too_large_unpacked(file.name, most);
    if (status == Z_STREAM_END) {
      // Tapes and some uploads pad with zeros; other members may follow.
      if (left.find_first_not_of('\0') == std::string_view::npos) return text;
      if (!left.starts_with(kGzipMagic)) {
        return cannot_unpack(file.name,
                             fmt::format("\"{}\" has {} bytes that are no gzip data after "
                                         "the end of its gzip stream",
                                         file.name, left.size()));
      }
      inflateReset(&stream);
    } else if (status != Z_OK) {
      return cannot_unpack(
          file.name,
          fmt::format("the gzip data of \"{}\" are damaged at byte {}{}", file.name,
                      file.text.size() - left.size(),
                      stream.msg != nullptr ? std::string(": ") + stream.msg : std::string()));
    }
  }
  return cannot_unpack(file.name, "the gzip data of \"" + file.name + "\" are cut short");
}

struct ZstdEnd {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

Expected<std::string> unzstd(const SourceText& file, std::size_t most) {
  const std::unique_ptr<ZSTD_DStream, ZstdEnd> stream(ZSTD_createDStream());
  if (stream == nullptr) {
    return cannot_unpack(file.name, "not enough memory to unpack \"" + file.name + "\"");
  }
  ZSTD_inBuffer in{file.text.data(), file.text.size(), 0};
  std::string text;
  std::string chunk(kChunk, '\0');
  std::size_t wanted = 1;  // 0: at the end of a frame
  bool more = false;       // zstd holds text back that did not fit the chunk
  while (in.pos < in.size || more) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    wanted = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(wanted) != 0) {
      return cannot_unpack(
          file.name, fmt::format("the zstd data of \"{}\" are damaged at byte {}: {}", file.name,
                                 in.pos, ZSTD_getErrorName(wanted)));
    }
    text.append(chunk, 0, out.pos);
    if (text.size() > most) return too_large_unpacked(file.name, most);
    more = out.pos == out.size && wanted != 0;
  }
  if (wanted != 0) {
    return cannot_unpack(file.name, "the zstd data of \"" + file.name + "\" are cut short");
  }
  return text;
}

}  // namespace

Expected<SourceText> decompressed(SourceText file, std::size_t most) {
  const bool gzip = file.text.starts_with(kGzipMagic);
  if (!gzip && !file.text.starts_with(kZstdMagic)) return file;
  Expected<std::string> text = gzip ? gunzipped(file, most) : unzstd(file, most);
  if (!text) return tl::unexpected(std::move(text.error()));
  file.text = std::move(*text);
  return file;
}

}  // namespace slicewise::scenarios
