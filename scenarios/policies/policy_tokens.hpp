#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

// The words and signs of an assertion.
namespace slicewise::scenarios {

struct PolicyToken {
  enum class Kind : std::uint8_t {
    Word,      // cost.monthly, workloads.chat.latencyP99, mig+mps
    Quantity,  // 1500, 20%, 500ms, 12/s
    Sign,      // < <= > >= == != ( ) [ ] ,
    End,
  };
  Kind kind = Kind::End;
  std::string_view text;
  std::size_t offset = 0;  // of its first byte
};

// What is wrong with an assertion, and which bytes of it are meant.
struct PolicyMistake {
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string help;
};

// The last token is End. The tokens point into `text`.
tl::expected<std::vector<PolicyToken>, PolicyMistake> policy_tokens(std::string_view text);

}  // namespace slicewise::scenarios
