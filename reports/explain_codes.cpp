#include <array>
#include <cstddef>

#include "explain_cluster_codes.hpp"
#include "explain_input_codes.hpp"
#include "explain_topics.hpp"
#include "explain_trace_codes.hpp"

namespace slicewise::reports {
namespace {

constexpr auto kExplanations = [] {
  std::array<CodeExplanation, kInputCodes.size() + kClusterCodes.size() + kTraceCodes.size()> all{};
  std::size_t next = 0;
  for (const CodeExplanation& entry : kInputCodes) all[next++] = entry;
  for (const CodeExplanation& entry : kClusterCodes) all[next++] = entry;
  for (const CodeExplanation& entry : kTraceCodes) all[next++] = entry;
  return all;
}();

constexpr bool in_the_order_of_codes() {
  if (kExplanations.size() != kCodes.size()) return false;
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (kExplanations[i].code != kCodes[i].code) return false;
  }
  return true;
}

static_assert(in_the_order_of_codes(),
              "every code of codes.hpp has one explanation, in the same order");

}  // namespace

const CodeExplanation& explanation_of(Code code) {
  return kExplanations[static_cast<std::size_t>(code)];
}

}  // namespace slicewise::reports
