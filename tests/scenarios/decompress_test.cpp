#include "slicewise/scenarios/decompress.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace slicewise::scenarios {
namespace {

// printf 'hello\n' | gzip -n
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00"
    "\x20\x30\x3a\x36\x06\x00\x00\x00",
    26);
// A zstd frame of one raw block: "hello\n", its size in the header, no checksum.
const std::string kZstd("\x28\xb5\x2f\xfd\x20\x06\x31\x00\x00hello\n", 15);

std::string text_of(const std::string& bytes, std::size_t most = kLargestUnpacked) {
  const auto file = decompressed({"f", bytes}, most);
  if (file) return file->text;
  EXPECT_EQ(file.error()[0].code, Code::FileUnreadable);
  return "error: " + file.error()[0].message;
}

TEST(Decompress, GzipAndZstdAreKnownByTheirFirstBytes) {
  EXPECT_EQ(text_of("plain"), "plain");
  EXPECT_EQ(text_of(kGzip), "hello\n");
  EXPECT_EQ(text_of(kZstd), "hello\n");
}

TEST(Decompress, ConcatenatedMembersAndFramesAreOneText) {
  EXPECT_EQ(text_of(kGzip + kGzip), "hello\nhello\n");
  EXPECT_EQ(text_of(kZstd + kZstd), "hello\nhello\n");
  EXPECT_EQ(text_of(kGzip + std::string(512, '\0')), "hello\n");
}

TEST(Decompress, EveryTruncationIsAnError) {
  for (std::size_t size = 2; size < kGzip.size(); ++size) {
    EXPECT_THAT(text_of(kGzip.substr(0, size)), testing::HasSubstr("cut short")) << size;
  }
  for (std::size_t size = 4; size < kZstd.size(); ++size) {
    EXPECT_THAT(text_of(kZstd.substr(0, size)), testing::HasSubstr("cut short")) << size;
  }
}

TEST(Decompress, DamageAndTooMuchAreErrors) {
  std::string damaged = kGzip;
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  EXPECT_THAT(text_of(damaged), testing::HasSubstr("damaged"));
  EXPECT_THAT(text_of(kGzip + "rubbish"), testing::HasSubstr("no gzip data"));
  EXPECT_THAT(text_of(kZstd + "rubbish"), testing::HasSubstr("damaged"));
  EXPECT_THAT(text_of(kGzip, 5), testing::HasSubstr("more than 5 bytes"));
  EXPECT_THAT(text_of(kZstd, 5), testing::HasSubstr("more than 5 bytes"));
}

std::string gzip_of(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  constexpr int kGzipHeader = 16 + MAX_WBITS;
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, kGzipHeader, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Decompress, TakesNoMoreMemoryThanItMay) {
  constexpr std::size_t kSize = 5U << 20U;
  const auto file = decompressed({"f", gzip_of(std::string(kSize, 'x'))}, kSize);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->text.size(), kSize);
  EXPECT_EQ(file->text.capacity(), kSize);
}

// What follows a bomb is not waited for: it would excuse the bomb, or be read after it.
TEST(Decompress, ABombEndsWhereItShowsWhateverFollows) {
  std::string noise(1U << 20U, '\0');
  unsigned state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1'664'525 + 1'013'904'223) >> 24U);
  const std::string bomb = gzip_of(std::string(200U << 20U, '\0'));
  ASSERT_LT(bomb.size(), 256U << 10U);
  EXPECT_THAT(text_of(bomb + gzip_of(noise)), testing::HasSubstr("more than 67108864 bytes"));
  EXPECT_EQ(text_of(gzip_of(noise) + kGzip), noise + "hello\n");
}

// A gzip of a gzip of zeros: a file of some hundred bytes for gigabytes.
TEST(Decompress, WhatIsCompressedTwiceIsRefused) {
  EXPECT_THAT(text_of(gzip_of(kGzip)), testing::HasSubstr("\"f\" is compressed twice"));
  EXPECT_THAT(text_of(gzip_of(kZstd)), testing::HasSubstr("\"f\" is compressed twice"));
}

std::string member(const std::string& name, char type, const std::string& content) {
  std::string header(512, '\0');
  name.copy(header.data(), 100);
  std::array<char, 13> size{};
  std::snprintf(size.data(), size.size(), "%011zo", content.size());
  std::string(size.data(), 12).copy(header.data() + 124, 12);
  header[156] = type;
  std::string(
      "ustar\0"
      "00",
      8)
      .copy(header.data() + 257, 8);
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::array<char, 8> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%06o", sum);
  header.replace(148, 7, std::string(checksum.data(), 7));
  std::string padded = content;
  padded.resize((content.size() + 511) / 512 * 512, '\0');
  return header + padded;
}

const std::string kEnd(1'024, '\0');

std::string names_of(const std::string& archive, std::size_t most = kLargestUnpacked) {
  const auto files = unpacked({"a.tar", archive}, most);
  if (!files) return "error: " + files.error()[0].message;
  std::string names;
  for (const SourceText& file : *files) names += file.name + "=" + file.text + ";";
  return names;
}

TEST(Tar, MembersCarryTheArchivesName) {
  const std::string archive =
      member("d/", '5', "") + member("d/a.csv", '0', "A") + member("b.gz", '0', kGzip) + kEnd;
  EXPECT_EQ(names_of(archive), "a.tar:d/a.csv=A;a.tar:b.gz=hello\n;");
  EXPECT_EQ(names_of("just text"), "a.tar=just text;");
}

TEST(Tar, LongNamesOfGnuAndPaxAreRead) {
  const std::string name(150, 'n');
  EXPECT_EQ(names_of(member("x", 'L', name + '\0') + member("short", '0', "A") + kEnd),
            "a.tar:" + name + "=A;");
  const std::string record = "160 path=" + name + "\n";
  EXPECT_EQ(names_of(member("x", 'x', record) + member("short", '0', "A") + kEnd),
            "a.tar:" + name + "=A;");
}

TEST(Tar, AppleDoublesAreLeftOut) {
  EXPECT_EQ(names_of(member("d/._a.csv", '0', "X") + member("d/a.csv", '0', "A") + kEnd),
            "a.tar:d/a.csv=A;");
}

TEST(Tar, AMemberMayNotMultiplyWhatIsUnpacked) {
  const std::string zeros = gzip_of(std::string(80U << 20U, '\0'));
  ASSERT_LT(zeros.size(), 128U << 10U);
  EXPECT_THAT(names_of(member("a.gz", '0', zeros) + kEnd),
              testing::HasSubstr("more than 67108864 bytes"));
  EXPECT_THAT(names_of(gzip_of(member("a.gz", '0', zeros) + kEnd)),
              testing::HasSubstr("more than 67108864 bytes"));
  EXPECT_THAT(names_of(member("b.tar", '0', member("a", '0', "A") + kEnd) + kEnd),
              testing::HasSubstr("\"a.tar:b.tar\" is an archive in an archive"));
}

TEST(Tar, DamagedArchivesAreErrors) {
  const std::string two = member("a", '0', "A") + member("b", '0', "B");
  std::string damaged = two;
  damaged[1'024] = static_cast<char>(damaged[1'024] ^ 1);
  EXPECT_THAT(names_of(damaged), testing::HasSubstr("checksum"));
  EXPECT_THAT(names_of(two.substr(0, 1'536)), testing::HasSubstr("cut short"));
  EXPECT_THAT(names_of(member("x", 'x', "999 path=x\n") + two), testing::HasSubstr("pax"));
  EXPECT_THAT(names_of(two, 1), testing::HasSubstr("more than 1 bytes"));
}

}  // namespace
}  // namespace slicewise::scenarios
