// What unwinds the stack (libgcc, which is linked in) asks the C library where the tables of a
// function are by _dl_find_object, which glibc has had since 2.35. With an answer of its own a
// program that is built on Debian 12 starts where glibc is 2.34 as well: Amazon Linux 2023, RHEL 9.
#include <dlfcn.h>

#ifdef DLFO_EH_SEGMENT_TYPE  // else libgcc does not ask
#include <cstddef>
#include <cstdint>

#include <link.h>

namespace {

struct Asked {
  std::uintptr_t address;
  void* tables = nullptr;
};

int look_into(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& asked = *static_cast<Asked*>(data);
  bool is_there = false;
  void* tables = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && asked.address - start < segment.p_memsz) is_there = true;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what the header has
    if (segment.p_type == DLFO_EH_SEGMENT_TYPE) tables = reinterpret_cast<void*>(start);
  }
  if (is_there) asked.tables = tables;
  return is_there ? 1 : 0;
}

}  // namespace

// Of all that glibc would say libgcc reads the tables alone.
// NOLINTNEXTLINE(bugprone-reserved-identifier): glibc's name
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, dl_find_object* found) noexcept {
  Asked asked{.address = reinterpret_cast<std::uintptr_t>(address)};
  dl_iterate_phdr(look_into, &asked);
  found->dlfo_eh_frame = asked.tables;
  return asked.tables == nullptr ? -1 : 0;
}

#endif
