#include "prometheus_server.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "slicewise/scenarios/decompress.hpp"

namespace slicewise::tools {

struct HttpAnswer {
  long status = 0;
  std::string body;
};

// HTTP by libcurl, which is loaded when it is needed: the program stays one file to copy, and runs
// where there is none. Not thread-safe.
class HttpClient {
 public:
  // The message says what to install when there is no libcurl.
  static tl::expected<HttpClient, std::string> open();

  // Fetches a page of at most `most` bytes. Redirections are not followed. `token`: sent as a
  // bearer token unless empty; user and password may stand in the URL. The message says why there
  // is no answer.
  tl::expected<HttpAnswer, std::string> get(const std::string& url, const std::string& token,
                                            std::size_t most);

  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

 private:
  struct Curl;
  explicit HttpClient(std::unique_ptr<Curl> curl);
  std::unique_ptr<Curl> curl_;
};

}  // namespace slicewise::tools

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

namespace {

tl::unexpected<Diagnostics> unreachable(const std::string& server, const std::string& why,
                                        std::string help = {}) {
  return tl::unexpected(Diagnostics{make_diagnostic(
      Code::FileUnreadable, {}, fmt::format("{}: {}", server, why), std::move(help))});
}

}  // namespace

std::string without_credentials(const std::string& url) {
  if (url.find("://") == std::string::npos) return url;
  const std::size_t host = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find('/', host)).rfind('@');
  return at == std::string::npos || at < host ? url : url.substr(0, host) + url.substr(at + 1);
}

namespace {

// Failures of Prometheus itself come as JSON, which the importer reads; others from something in
// front of it.
bool is_refused(const HttpAnswer& answer) {
  return answer.status != 200 && answer.body.find("\"status\"") == std::string::npos;
}

std::string help_for(long status) {
  if (status == 401 || status == 403) {
    return "set SLICEWISE_PROMETHEUS_TOKEN to a bearer token, or write http://user:password@host";
  }
  if (status == 404) return "the URL is that of the server, without /api/v1: http://host:9090";
  return status >= 300 && status < 400 ? "redirections are not followed: name where it leads" : "";
}

}  // namespace

namespace {

// Why an answer is none, as the server words it; "" where it is one.
std::string refusal_of(const tl::expected<HttpAnswer, std::string>& answer) {
  if (!answer) return answer.error();
  if (is_refused(*answer)) return fmt::format("HTTP status {}", answer->status);
  if (answer->status == 200) return "";
  constexpr std::size_t kLongest = 400;
  const auto document = nlohmann::json::parse(answer->body, nullptr, false);
  const auto error = document.is_object() ? document.find("error") : document.end();
  const bool is_text = document.is_object() && error != document.end() && error->is_string();
  return fmt::format("HTTP status {}{}", answer->status,
                     is_text ? ": " + error->get<std::string>().substr(0, kLongest) : "");
}

}  // namespace

Expected<PrometheusAnswers> ask_prometheus(const std::string& url,
                                           const scenarios::PrometheusWindow& window,
                                           const std::string& latency) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return unreachable("--url", "not a URL of a server", "write http://host:9090");
  }
  auto client = HttpClient::open();
  if (!client) return unreachable("--url", client.error());
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  const char* const token = std::getenv("SLICEWISE_PROMETHEUS_TOKEN");
  PrometheusAnswers answers;
  std::size_t left = scenarios::kLargestUnpacked;
  std::string given_up;  // metric: the rest of its time is not asked for
  for (const scenarios::PrometheusQuery& query : prometheus_queries(window, latency)) {
    if (query.metric == given_up) continue;
    auto answer = client->get(base + query.path, token == nullptr ? "" : token, left);
    if (const std::string why = refusal_of(answer); query.is_optional && !why.empty()) {
      given_up = query.metric;
      answers.missing.push_back(fmt::format("{}: {}", query.metric, why));
      continue;
    }
    if (!answer) return unreachable(without_credentials(base), answer.error());
    if (is_refused(*answer)) {
      return unreachable(without_credentials(base), fmt::format("HTTP status {}", answer->status),
                         help_for(answer->status));
    }
    left -= answer->body.size();
    answers.texts.push_back(
        {fmt::format("{}: {}", without_credentials(base), query.metric), std::move(answer->body)});
  }
  return answers;
}

}  // namespace slicewise::tools
