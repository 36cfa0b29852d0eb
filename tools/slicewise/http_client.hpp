#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <tl/expected.hpp>

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
