#include "http_client.hpp"

#include <utility>

#include "curl_functions.hpp"

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

struct Curl {
  CurlFunctions functions;
  CURL* handle = nullptr;  // one for all requests: connections are kept

  explicit Curl(const CurlFunctions& linked) : functions(linked), handle(linked.init()) {}
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;
  ~Curl() {
    if (handle != nullptr) functions.cleanup(handle);
  }
};

tl::expected<HttpAnswer, std::string> get(const Curl& opened, const std::string& url,
                                          const std::string& token, std::size_t most) {
  const CurlFunctions& curl = opened.functions;
  Body body{{}, most};
  curl_slist* headers = curl.slist_append(nullptr, "Accept: application/json");
  if (!token.empty()) {
    headers = curl.slist_append(headers, ("Authorization: Bearer " + token).c_str());
  }
  CURL* handle = opened.handle;
  curl.setopt(handle, CURLOPT_URL, url.c_str());
  curl.setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl.setopt(handle, CURLOPT_WRITEFUNCTION, append);
  curl.setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&body));
  curl.setopt(handle, CURLOPT_ACCEPT_ENCODING, "");  // whatever libcurl can unpack
  curl.setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl.setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl.setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl.setopt(handle, CURLOPT_TIMEOUT, kAnswerSeconds);
  curl.setopt(handle, CURLOPT_USERAGENT, "slicewise");
  const CURLcode code = curl.perform(handle);
  curl.slist_free_all(headers);
  if (code == CURLE_WRITE_ERROR) return tl::unexpected<std::string>("the answer is too large");
  if (code != CURLE_OK) return tl::unexpected<std::string>(curl.strerror(code));
  HttpAnswer answer{0, std::move(body.text)};
  curl.getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

}  // namespace

tl::expected<HttpGet, std::string> open_http() {
  if (const auto functions = curl_functions()) {
    const auto curl = std::make_shared<const Curl>(*functions);
    if (curl->handle != nullptr) {
      return [curl](const std::string& url, const std::string& token, std::size_t most) {
        return get(*curl, url, token, most);
      };
    }
  }
  return tl::unexpected<std::string>(
      "libcurl is not installed: apt-get install libcurl4, or dnf install "
      "libcurl; or save the answers and give them with -f");
}

}  // namespace slicewise::tools
