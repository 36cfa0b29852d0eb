#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Foreign text, as people may see it without harm to their terminal or their eyes.
namespace slicewise {

// Length in bytes of the character of UTF-8 at the front; 0: there is none, or it is broken.
constexpr std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xC2 && lead <= 0xDF ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return 0;
  }
  // Overlong forms, surrogates and characters above U+10FFFF show in the second byte.
  const bool allowed = (lead != 0xE0 || byte(1) >= 0xA0) && (lead != 0xED || byte(1) <= 0x9F) &&
                       (lead != 0xF0 || byte(1) >= 0x90) && (lead != 0xF4 || byte(1) <= 0x8F);
  return allowed ? length : 0;
}

// The number of a whole character of UTF-8.
constexpr std::uint32_t code_point(std::string_view character) {
  std::uint32_t code = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return code;
  code &= 0xFFU >> (character.size() + 1);
  for (const char c : character.substr(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return code;
}

// Whether a character changes how others are shown: control characters, marks of the direction of
// writing (Unicode's Bidi_Control), separators of lines and paragraphs, the byte order mark and
// what is no character at all, which XML forbids.
constexpr bool is_hidden(std::string_view character) {
  const std::uint32_t code = code_point(character);
  if (character.size() == 1) return code < 0x20 || code == 0x7F;
  return code < 0xA0 || code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
         code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

// The text with what is hidden or no UTF-8 as the escapes of its bytes, "\x1b"; `kept` stays as it
// is, such as line breaks.
inline std::string printable(std::string_view text, std::string_view kept = {}) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view part = text.substr(0, std::max<std::size_t>(1, length));
    if (length > 0 && (!is_hidden(part) || kept.find(part) != std::string_view::npos)) {
      shown += part;
    } else {
      for (const char c : part) {
        const auto byte = static_cast<unsigned char>(c);
        shown += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
      }
    }
    text.remove_prefix(part.size());
  }
  return shown;
}

}  // namespace slicewise
