#include "curl_functions.hpp"

namespace slicewise::tools {

std::optional<CurlFunctions> curl_functions() {
  return CurlFunctions{.init = curl_easy_init,
                       .setopt = curl_easy_setopt,
                       .perform = curl_easy_perform,
                       .getinfo = curl_easy_getinfo,
                       .strerror = curl_easy_strerror,
                       .cleanup = curl_easy_cleanup,
                       .slist_append = curl_slist_append,
                       .slist_free_all = curl_slist_free_all};
}

}  // namespace slicewise::tools
