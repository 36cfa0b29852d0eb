#include "http_client.hpp"

#include <type_traits>
#include <utility>

#include <curl/curl.h>
#include <dlfcn.h>

// The checks of types are macros around functions that are linked; here they are pointers.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace slicewise::tools {
namespace {

constexpr long kConnectSeconds = 10;
constexpr long kAnswerSeconds = 120;

struct Body {
  std::string text;
  std::size_t most = 0;
};

// libcurl calls it with what has arrived; a smaller answer than `count` ends the transfer.
std::size_t append(char* data, std::size_t size, std::size_t count, void* target) {
  auto& body = *static_cast<Body*>(target);
  if (size * count > body.most - body.text.size()) return 0;
  body.text.append(data, size * count);
  return size * count;
}

}  // namespace

struct HttpClient::Curl {
  decltype(&::curl_easy_init) init = nullptr;
  decltype(&::curl_easy_setopt) setopt = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_getinfo) getinfo = nullptr;
  decltype(&::curl_easy_strerror) strerror = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  CURL* handle = nullptr;  // one for all requests: connections are kept

  Curl() = default;
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;
  ~Curl() {
    if (handle != nullptr) cleanup(handle);
  }

  bool load(void* library) {
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(init, "curl_easy_init") && find(setopt, "curl_easy_setopt") &&
           find(perform, "curl_easy_perform") && find(getinfo, "curl_easy_getinfo") &&
           find(strerror, "curl_easy_strerror") && find(cleanup, "curl_easy_cleanup") &&
           find(slist_append, "curl_slist_append") && find(slist_free_all, "curl_slist_free_all");
  }
};

HttpClient::HttpClient(std::unique_ptr<Curl> curl) : curl_(std::move(curl)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

tl::expected<HttpClient, std::string> HttpClient::open() {
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);  // stays until the program ends
    if (library == nullptr) continue;
    auto curl = std::make_unique<Curl>();
    if (!curl->load(library)) continue;
    curl->handle = curl->init();
    if (curl->handle != nullptr) return HttpClient(std::move(curl));
  }
  return tl::unexpected<std::string>(
      "libcurl is not installed: apt-get install libcurl4, or dnf install "
      "libcurl; or save the answers and give them with -f");
}

tl::expected<HttpAnswer, std::string> HttpClient::get(const std::string& url,
                                                      const std::string& token, std::size_t most) {
  Body body{{}, most};
  curl_slist* headers = curl_->slist_append(nullptr, "Accept: application/json");
  if (!token.empty()) {
    headers = curl_->slist_append(headers, ("Authorization: Bearer " + token).c_str());
  }
  CURL* handle = curl_->handle;
  curl_->setopt(handle, CURLOPT_URL, url.c_str());
  curl_->setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_->setopt(handle, CURLOPT_WRITEFUNCTION, append);
  curl_->setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&body));
  curl_->setopt(handle, CURLOPT_ACCEPT_ENCODING, "");  // whatever libcurl can unpack
  curl_->setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_->setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_->setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_->setopt(handle, CURLOPT_TIMEOUT, kAnswerSeconds);
  curl_->setopt(handle, CURLOPT_USERAGENT, "slicewise");
  const CURLcode code = curl_->perform(handle);
  curl_->slist_free_all(headers);
  if (code == CURLE_WRITE_ERROR) return tl::unexpected<std::string>("the answer is too large");
  if (code != CURLE_OK) return tl::unexpected<std::string>(curl_->strerror(code));
  HttpAnswer answer{0, std::move(body.text)};
  curl_->getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

}  // namespace slicewise::tools
