#include "slicewise/sim/ranks.hpp"

#include <thread>

namespace slicewise::sim {
namespace {

// Studies call each other deep below; who makes one is alone, or one of several, with all of it.
// Ranks are processes, and one thread of each keeps in step. Set while that is the only one; kept
// with its name and not by thread_local, which could not be linked into Python's module.
struct Current {
  const Ranks* ranks = nullptr;
  std::thread::id thread;
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
Current current;

}  // namespace

const Ranks* current_ranks() {
  return current.ranks != nullptr && current.thread == std::this_thread::get_id() ? current.ranks
                                                                                  : nullptr;
}

RanksScope::RanksScope(const Ranks& ranks) : outer_(current.ranks) {
  current = {&ranks, std::this_thread::get_id()};
}
RanksScope::~RanksScope() { current.ranks = outer_; }

}  // namespace slicewise::sim
