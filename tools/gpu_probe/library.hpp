#pragma once

#include <stdexcept>
#include <string>

// Functions out of a library that may be missing.
namespace slicewise::gpu_probe {

// There is nothing to measure on this machine, and why.
struct NoGpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Library {
 public:
  explicit Library(const std::string& file);  // throws NoGpu

  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;  // throws NoGpu

  std::string file_;
  void* handle_;
};

}  // namespace slicewise::gpu_probe
