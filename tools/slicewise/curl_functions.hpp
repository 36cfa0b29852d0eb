#pragma once

#include <optional>

#include <curl/curl.h>

// The checks of types are macros around functions that are linked; here they are pointers.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace slicewise::tools {

// What is called of libcurl.
struct CurlFunctions {
  decltype(&::curl_easy_init) init = nullptr;
  decltype(&::curl_easy_setopt) setopt = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_getinfo) getinfo = nullptr;
  decltype(&::curl_easy_strerror) strerror = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

// Of the machine's libcurl, which is loaded and stays until the program ends; nullopt: it has none.
// The static program has one linked in, and its own definition of this (tools/image).
std::optional<CurlFunctions> curl_functions();

}  // namespace slicewise::tools
