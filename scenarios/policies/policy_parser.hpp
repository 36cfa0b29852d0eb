#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/scenarios/policy.hpp"

namespace slicewise::scenarios {

// What is wrong with an assertion, and which bytes of it are meant.
struct PolicyMistake {
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string help;
};

// The nodes of an assertion, as Policy::nodes holds them, or the first mistake in it. `workloads`:
// names of the workloads and pipelines that it may ask for.
//
//   any      = all-of {"or" all-of}
//   all-of   = one {"and" one}
//   one      = "not" one | "(" any ")" | "all(" any ["," "workload in [" names "]"] ")"
//            | figure [comparison value]
tl::expected<std::vector<PolicyNode>, PolicyMistake> parse_policy(
    std::string_view text, std::span<const std::string> workloads);

}  // namespace slicewise::scenarios
