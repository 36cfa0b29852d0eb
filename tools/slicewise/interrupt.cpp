#include "interrupt.hpp"

#include <csignal>

namespace slicewise::tools {
namespace {

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag = false;
  static_assert(std::atomic<bool>::is_always_lock_free,
                "a signal handler may only set such a flag");
  return flag;
}

extern "C" void on_interrupt(int /*signal*/) { interrupted() = true; }

}  // namespace

const std::atomic<bool>& catch_interrupt() {
  const std::atomic<bool>& flag = interrupted();  // constructed before a signal can arrive
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  return flag;
}

}  // namespace slicewise::tools
