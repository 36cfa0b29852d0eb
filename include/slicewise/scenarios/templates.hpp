#pragma once

#include <span>
#include <string_view>

// Scenario files to start from, with comments: what `slicewise init` writes.
namespace slicewise::scenarios {

struct Template {
  std::string_view name;  // "online-services"
  std::string_view situation;
  std::string_view text;  // lives as long as the program
};

// In the order in which people are likely to want them.
std::span<const Template> templates();

}  // namespace slicewise::scenarios
