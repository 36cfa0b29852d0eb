#include "slicewise/scenarios/decompress.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "slicewise/printable.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::size_t kChunk = 1U << 18U;

tl::unexpected<Diagnostics> cannot_unpack(const std::string& name, std::string what) {
  return failure(Code::FileUnreadable, {.file = name, .line = 0}, std::move(what));
}

tl::unexpected<Diagnostics> too_large_unpacked(const std::string& name, std::size_t most) {
  return cannot_unpack(name, fmt::format("\"{}\" holds more than {} bytes unpacked", name, most));
}

// Logs shrink to a tenth or a fiftieth; what shrinks more was made to fill the memory. `packed`:
// the bytes read so far, so that it ends where it shows, whatever follows.
std::size_t most_unpacked(std::size_t packed, std::size_t most) {
  constexpr std::size_t kMostTimes = 500;
  constexpr std::size_t kAnyway = 64U << 20U;
  return std::min(most, std::max(kAnyway, packed * kMostTimes));
}

// False when `text` would be larger than `most`. Grown by doubling, but never beyond that: a string
// that grows by itself takes twice what it has.
bool append(std::string& text, std::string_view more, std::size_t most) {
  if (text.size() + more.size() > most) return false;
  const std::size_t size = text.size() + more.size();
  if (size > text.capacity()) {
    std::string larger;
    larger.reserve(std::min(most, std::max(size, 2 * text.size())));
    larger += text;
    text = std::move(larger);
  }
  text += more;
  return true;
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
    const std::string_view more(chunk.data(), chunk.size() - stream.avail_out);
    const std::size_t room = most_unpacked(file.text.size() - left.size(), most);
    if (!append(text, more, room)) return too_large_unpacked(file.name, room);
    if (status == Z_STREAM_END) {
      // Tapes and some uploads pad with zeros; other members may follow.
      if (left.find_first_not_of('\0') == std::string_view::npos) return text;
      if (!left.starts_with(kGzipMagic)) {
        return cannot_unpack(
            file.name,
            fmt::format(
                "\"{}\" has {} bytes that are no gzip data after the end of its gzip stream",
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
    const std::size_t room = most_unpacked(in.pos, most);
    if (!append(text, {chunk.data(), out.pos}, room)) return too_large_unpacked(file.name, room);
    more = out.pos == out.size && wanted != 0;
  }
  if (wanted != 0) {
    return cannot_unpack(file.name, "the zstd data of \"" + file.name + "\" are cut short");
  }
  return text;
}

bool is_compressed(std::string_view text) {
  return text.starts_with(kGzipMagic) || text.starts_with(kZstdMagic);
}

}  // namespace

Expected<SourceText> decompressed(SourceText file, std::size_t most) {
  if (!is_compressed(file.text)) return file;
  Expected<std::string> text =
      file.text.starts_with(kGzipMagic) ? gunzipped(file, most) : unzstd(file, most);
  if (!text) return tl::unexpected(std::move(text.error()));
  // Each layer would multiply what a file may unpack to.
  if (is_compressed(*text)) {
    return cannot_unpack(file.name, "\"" + file.name + "\" is compressed twice");
  }
  file.text = std::move(*text);
  return file;
}

// Tar archives: ustar of POSIX.1-1988, the pax headers of POSIX.1-2001 and GNU's long names.

namespace {

constexpr std::size_t kBlock = 512;

// "0000644\0" or, for large sizes, GNU's base 256 with the highest bit set.
std::optional<std::uint64_t> number_of(std::string_view field) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(field[i]); };
  std::uint64_t value = 0;
  if ((byte(0) & 0x80U) != 0) {
    value = byte(0) & 0x7FU;
    for (std::size_t i = 1; i < field.size(); ++i) {
      if (value >> 55U != 0) return std::nullopt;
      value = value << 8U | byte(i);
    }
    return value;
  }
  const std::size_t first = std::min(field.find_first_not_of(' '), field.size());
  std::size_t at = first;
  for (; at < field.size() && field[at] >= '0' && field[at] <= '7'; ++at) {
    if (value >> 60U != 0) return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(field[at] - '0');
  }
  const bool ended = at == field.size() || field[at] == '\0' || field[at] == ' ';
  return at > first && ended ? std::optional(value) : std::nullopt;
}

std::string_view text_of(std::string_view field) { return field.substr(0, field.find('\0')); }

// The sum of the header's bytes, its own field counted as blanks; some old tars added signed bytes.
bool has_checksum(std::string_view header) {
  constexpr std::size_t kField = 148;
  constexpr std::size_t kLength = 8;
  const auto expected = number_of(header.substr(kField, kLength));
  if (!expected) return false;
  std::int64_t unsigned_sum = 0;
  std::int64_t signed_sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const char c = i >= kField && i < kField + kLength ? ' ' : header[i];
    unsigned_sum += static_cast<unsigned char>(c);
    signed_sum += static_cast<signed char>(c);
  }
  return std::cmp_equal(*expected, unsigned_sum) || std::cmp_equal(*expected, signed_sum);
}

struct PaxFields {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
};

// Records of the form "LENGTH KEY=VALUE\n"; false when one is damaged.
bool read_pax(std::string_view records, PaxFields& fields) {
  while (!records.empty()) {
    std::size_t length = 0;
    std::size_t at = 0;
    for (; at < records.size() && records[at] >= '0' && records[at] <= '9'; ++at) {
      length = length * 10 + static_cast<std::size_t>(records[at] - '0');
      if (length > records.size()) return false;
    }
    if (at == 0 || at + 2 > length || records[at] != ' ' || records[length - 1] != '\n') {
      return false;
    }
    const std::string_view record = records.substr(at + 1, length - at - 2);
    records.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") fields.path = std::string(value);
    if (key == "size") {
      std::uint64_t size = 0;
      for (const char c : value) {
        if (c < '0' || c > '9' || size >> 58U != 0) return false;
        size = size * 10 + static_cast<std::uint64_t>(c - '0');
      }
      fields.size = size;
    }
  }
  return true;
}

class Archive {
 public:
  Archive(const SourceText& file, std::size_t most)
      : file_(file), left_(file.text), room_(most), most_(most) {}

  Expected<std::vector<SourceText>> files() {
    while (left_.size() >= kBlock && left_.front() != '\0') {
      if (auto problem = next()) return tl::unexpected(Diagnostics{std::move(*problem)});
    }
    if (!left_.empty() && left_.front() != '\0') return tl::unexpected(Diagnostics{cut_short()});
    return std::move(files_);
  }

 private:
  std::optional<Diagnostic> next() {
    const std::string_view header = left_.substr(0, kBlock);
    const std::string at = fmt::format("at byte {}", file_.text.size() - left_.size());
    if (!has_checksum(header)) return damaged(at, "the checksum of a header is wrong");
    auto size = number_of(header.substr(124, 12));
    const char type = header[156];
    const bool is_regular = type == '0' || type == '\0' || type == '7';
    if (is_regular && pax_.size) size = pax_.size;
    if (!size) return damaged(at, "the size of a member is no number");
    left_.remove_prefix(kBlock);
    if (*size > left_.size()) return cut_short();
    const std::string_view content = left_.substr(0, static_cast<std::size_t>(*size));
    left_.remove_prefix(std::min((content.size() + kBlock - 1) / kBlock * kBlock, left_.size()));
    if (type == 'x') {
      return read_pax(content, pax_) ? std::nullopt
                                     : std::optional(damaged(at, "a pax record is damaged"));
    }
    if (type == 'L') {
      pax_.path = std::string(text_of(content));
      return std::nullopt;
    }
    if (type == 'K' || type == 'g') return std::nullopt;
    if (type == 'S') return damaged(at, "sparse members cannot be read");
    std::optional<Diagnostic> problem;
    if (is_regular) problem = keep(name_of(header), content);
    pax_ = {};
    return problem;
  }

  std::string name_of(std::string_view header) const {
    if (pax_.path) return *pax_.path;
    const std::string name(text_of(header.substr(0, 100)));
    const bool posix = header.substr(257, 6) == std::string_view("ustar\0", 6);
    const std::string prefix(posix ? text_of(header.substr(345, 155)) : std::string_view());
    return prefix.empty() ? name : prefix + "/" + name;
  }

  std::optional<Diagnostic> keep(const std::string& path, std::string_view content) {
    const std::size_t slash = path.rfind('/');
    const std::string_view base =
        std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
    // Folders of old tars end with a slash; macOS puts attributes beside every file.
    if (base.empty() || base.starts_with("._")) return std::nullopt;
    Expected<SourceText> member =
        decompressed({file_.name + ":" + printable(path), std::string(content)}, room_);
    if (!member) return member.error().front();
    if (is_tar(member->text)) {
      return make_diagnostic(Code::FileUnreadable, {.file = file_.name, .line = 0},
                             "\"" + member->name + "\" is an archive in an archive");
    }
    if (member->text.size() > room_) {
      return make_diagnostic(
          Code::FileUnreadable, {.file = file_.name, .line = 0},
          fmt::format("\"{}\" holds more than {} bytes unpacked", file_.name, most_));
    }
    room_ -= member->text.size();
    files_.push_back(std::move(*member));
    return std::nullopt;
  }

  Diagnostic damaged(const std::string& at, const std::string& what) const {
    return make_diagnostic(
        Code::FileUnreadable, {.file = file_.name, .line = 0},
        fmt::format("the tar archive \"{}\" is damaged {}: {}", file_.name, at, what));
  }

  Diagnostic cut_short() const {
    return make_diagnostic(Code::FileUnreadable, {.file = file_.name, .line = 0},
                           "the tar archive \"" + file_.name + "\" is cut short");
  }

  const SourceText& file_;
  std::string_view left_;
  std::size_t room_;
  std::size_t most_;
  PaxFields pax_;
  std::vector<SourceText> files_;
};

}  // namespace

bool is_tar(std::string_view text) {
  return text.size() >= kBlock && text.front() != '\0' && has_checksum(text.substr(0, kBlock));
}

Expected<std::vector<SourceText>> unpacked(SourceText file, std::size_t most) {
  most = most_unpacked(file.text.size(), most);  // a compressed member may not multiply it
  Expected<SourceText> text = decompressed(std::move(file), most);
  if (!text) return tl::unexpected(std::move(text.error()));
  if (is_tar(text->text)) return Archive(*text, most).files();
  std::vector<SourceText> files;
  files.push_back(std::move(*text));
  return files;
}

}  // namespace slicewise::scenarios
