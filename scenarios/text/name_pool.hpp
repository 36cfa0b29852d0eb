#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slicewise::scenarios {

// Gives each different name a number, in order of first use; the empty name is 0.
class NamePool {
 public:
  explicit NamePool(std::vector<std::string>& names);

  // Control characters, which no line of a trace can hold, become question marks.
  std::uint32_t number_of(std::string_view name);

 private:
  void grow();

  std::vector<std::string>& names_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: free
};

}  // namespace slicewise::scenarios
