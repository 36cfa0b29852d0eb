#include "mapped_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slicewise::tools {
namespace {

tl::unexpected<Diagnostics> unreadable(const std::string& path, const std::string& reason) {
  return tl::unexpected(Diagnostics{make_diagnostic(Code::FileUnreadable, {.file = path, .line = 0},
                                                    "cannot read \"" + path + "\": " + reason)});
}

// Closes a file at the end of its scope; a mapping outlives it.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

Expected<MappedFile> map_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return unreadable(path, std::strerror(errno));
  struct stat info {};
  if (fstat(file.number(), &info) != 0) return unreadable(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return unreadable(path, "it is no regular file");
  if (info.st_size == 0) return MappedFile{};
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) return unreadable(path, std::strerror(errno));
  return MappedFile{
      {static_cast<const char*>(start), size},
      std::shared_ptr<const void>(start, [size](void* mapped) { munmap(mapped, size); })};
}

}  // namespace slicewise::tools
