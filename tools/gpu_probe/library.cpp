#include "library.hpp"

#include <dlfcn.h>

namespace slicewise::gpu_probe {

Library::Library(const std::string& file)
    : file_(file), handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw NoGpu("the library " + file + " cannot be loaded");
}

void* Library::symbol(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) throw NoGpu(file_ + " has no function " + name);
  return found;
}

}  // namespace slicewise::gpu_probe
