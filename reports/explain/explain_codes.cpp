#include <array>
#include <cstddef>

#include "explain_check_cluster_codes.hpp"
#include "explain_check_codes.hpp"
#include "explain_cluster_codes.hpp"
#include "explain_input_codes.hpp"
#include "explain_plan_codes.hpp"
#include "explain_topics.hpp"
#include "explain_trace_codes.hpp"

namespace slicewise::reports {
namespace {

template <std::size_t... Sizes>
constexpr auto all_codes(const std::array<CodeExplanation, Sizes>&... parts) {
  std::array<CodeExplanation, (Sizes + ...)> all{};
  std::size_t next = 0;
  const auto append = [&](const auto& part) {
    for (const CodeExplanation& entry : part) all[next++] = entry;
  };
  (append(parts), ...);
  return all;
}

constexpr auto kExplanations =
    all_codes(kInputCodes, kClusterCodes, kTraceCodes, kPlanCodes, kCheckCodes, kCheckClusterCodes);

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
