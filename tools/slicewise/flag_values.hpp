#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

// What the values of flags must look like, whatever they mean.
namespace slicewise::tools {

// Decimal digits only, from `low` to `high`: "1.5", "+3", " 7" and "1e3" are refused with a
// message.
tl::expected<std::int64_t, std::string> whole_number(const std::string& text, std::int64_t low,
                                                     std::int64_t high);

// "2%" or "0.5 %" as a share of one, from 0.1 % to 100 %.
tl::expected<double, std::string> percentage(const std::string& text);

// A decimal number above zero and up to a million: "0.25".
tl::expected<double, std::string> positive_factor(const std::string& text);

// "" for "path=value" with neither of them empty, else what is wrong.
std::string check_setting(const std::string& text);

}  // namespace slicewise::tools
