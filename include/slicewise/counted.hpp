#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace slicewise {

// "1 pod", "3 pods".
std::string counted(std::integral auto count, std::string_view what) {
  std::string text = std::to_string(count) + ' ';
  text += what;
  if (count != 1) text += 's';
  return text;
}

}  // namespace slicewise
