#include "host.hpp"

namespace slicewise::tools {
namespace {

// Verbs print and read by free functions; each thread runs one verb at a time.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local Host* current = nullptr;

}  // namespace

Host* current_host() { return current; }

HostScope::HostScope(Host& host) : outer_(current) { current = &host; }
HostScope::~HostScope() { current = outer_; }

}  // namespace slicewise::tools
