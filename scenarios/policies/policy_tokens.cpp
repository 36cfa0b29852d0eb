#include "policy_tokens.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kDecimalDigits = "0123456789";
constexpr std::string_view kAsciiLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kInWords =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
constexpr std::string_view kInQuantities =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-%/";
// Longer signs first.
constexpr std::array<std::string_view, 11> kSigns = {"<=", ">=", "==", "!=", "<", ">",
                                                     "(",  ")",  "[",  "]",  ","};

// Signs of other languages.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kForeign = {{
    {"&&", "write and"},
    {"||", "write or"},
    {"=", "write == to compare"},
    {"!", "write not"},
    {"$", "write plain dollars: 1500"},
    {"\"", "words need no quotes: strategy == mig"},
    {"'", "words need no quotes: strategy == mig"},
}};

// The bytes of one character of UTF-8.
std::size_t character_bytes(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) ++bytes;
  return bytes;
}

PolicyMistake foreign_sign(std::string_view rest, std::size_t offset) {
  for (const auto& [sign, help] : kForeign) {
    if (!rest.starts_with(sign)) continue;
    return {offset, sign.size(), fmt::format("an assertion has no {}", sign), std::string(help)};
  }
  const std::string_view character = rest.substr(0, character_bytes(rest));
  return {offset, character.size(), fmt::format("an assertion has no {}", character),
          "it is made of figures, values, and, or, not and parentheses"};
}

}  // namespace

tl::expected<std::vector<PolicyToken>, PolicyMistake> policy_tokens(std::string_view text) {
  std::vector<PolicyToken> tokens;
  std::size_t at = 0;
  const auto take = [&](PolicyToken::Kind kind, std::size_t bytes) {
    tokens.push_back({kind, text.substr(at, bytes), at});
    at += bytes;
  };
  const auto length_of = [&](std::string_view allowed) {
    return std::min(text.find_first_not_of(allowed, at), text.size()) - at;
  };
  while (true) {
    at += length_of(" \t\r\n");
    if (at == text.size()) break;
    const std::string_view rest = text.substr(at);
    if (kAsciiLetters.find(rest[0]) != std::string_view::npos) {
      take(PolicyToken::Kind::Word, length_of(kInWords));
      continue;
    }
    if (kDecimalDigits.find(rest[0]) != std::string_view::npos) {
      take(PolicyToken::Kind::Quantity, length_of(kInQuantities));
      continue;
    }
    const auto* sign = std::find_if(kSigns.begin(), kSigns.end(),
                                    [&](std::string_view s) { return rest.starts_with(s); });
    if (sign == kSigns.end()) return tl::unexpected(foreign_sign(rest, at));
    take(PolicyToken::Kind::Sign, sign->size());
  }
  take(PolicyToken::Kind::End, 0);
  return tokens;
}

}  // namespace slicewise::scenarios
