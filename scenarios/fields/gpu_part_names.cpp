#include "gpu_part_names.hpp"

#include <algorithm>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Takes a number of at least 1 and then `unit` off the front of `text`.
bool take(std::string_view& text, std::string_view unit) {
  if (text.empty() || text[0] == '0') return false;
  const auto digits =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  if (digits == 0 || !text.substr(digits).starts_with(unit)) return false;
  text.remove_prefix(digits + unit.size());
  return true;
}

// "me", "me.all", "me,gfx".
bool are_attributes(std::string_view text) {
  char before = '.';
  for (const char c : text) {
    if (!is_letter(c) && (!is_letter(before) || (c != '.' && c != ','))) return false;
    before = c;
  }
  return is_letter(before);
}

}  // namespace

bool is_mig_profile(std::string_view text) {
  take(text, "c.");
  if (!take(text, "g.") || !take(text, "gb")) return false;
  if (text.empty()) return true;
  return (text[0] == '+' || text[0] == '-') && are_attributes(text.substr(1));
}

bool is_memory_slice(std::string_view text) {
  constexpr std::size_t kLongest = 8;  // the sizes of all GPUs to come fit six digits
  return text.size() <= kLongest && take(text, "gb") && text.empty();
}

}  // namespace slicewise::scenarios
