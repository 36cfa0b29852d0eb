// What the program asks of its surroundings and a page does not have.
#include <sys/xattr.h>

#include "http_client.hpp"
#include "process.hpp"

// Emscripten has it in a header alone: files of its have no such rights.
extern "C" ssize_t getxattr(const char* /*path*/, const char* /*name*/, void* /*value*/,
                            size_t /*size*/) {
  return -1;
}

namespace slicewise::tools {

tl::expected<ProgramOutput, std::string> output_of(std::vector<std::string> /*words*/,
                                                   std::size_t /*most*/) {
  return tl::unexpected<std::string>("a page cannot start programs");
}

tl::expected<HttpGet, std::string> open_http() {
  return tl::unexpected<std::string>(
      "a page without network; save the answers and give them with -f");
}

}  // namespace slicewise::tools
