#include "slicewise/sim/ranks.hpp"

namespace slicewise::sim {
namespace {

// Studies call each other deep below; who makes one is alone, or one of several, with all of it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local const Ranks* current = nullptr;

}  // namespace

const Ranks* current_ranks() { return current; }

RanksScope::RanksScope(const Ranks& ranks) : outer_(current) { current = &ranks; }
RanksScope::~RanksScope() { current = outer_; }

}  // namespace slicewise::sim
