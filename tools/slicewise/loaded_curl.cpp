#include <type_traits>

#include <dlfcn.h>

#include "curl_functions.hpp"

namespace slicewise::tools {

std::optional<CurlFunctions> curl_functions() {
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto find = [library](auto& function, const char* symbol) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      return function != nullptr;
    };
    CurlFunctions curl;
    if (find(curl.init, "curl_easy_init") && find(curl.setopt, "curl_easy_setopt") &&
        find(curl.perform, "curl_easy_perform") && find(curl.getinfo, "curl_easy_getinfo") &&
        find(curl.strerror, "curl_easy_strerror") && find(curl.cleanup, "curl_easy_cleanup") &&
        find(curl.slist_append, "curl_slist_append") &&
        find(curl.slist_free_all, "curl_slist_free_all")) {
      return curl;
    }
  }
  return std::nullopt;
}

}  // namespace slicewise::tools
