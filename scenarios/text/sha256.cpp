#include <array>
#include <cstdint>

#include <nettle/sha2.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

void update(sha256_ctx& context, std::string_view text) {
  nettle_sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
}

}  // namespace

std::string sha256_hex(std::string_view text, const std::vector<std::string>& parts) {
  sha256_ctx context;
  nettle_sha256_init(&context);
  update(context, text);
  for (const std::string& part : parts) {
    update(context, "\n");
    update(context, part);
  }
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  nettle_sha256_digest(&context, digest.size(), digest.data());
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += kHex[byte >> 4U];
    hex += kHex[byte & 0xFU];
  }
  return hex;
}

}  // namespace slicewise::scenarios
