#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <tl/expected.hpp>

namespace slicewise::tools {

struct HttpAnswer {
  long status = 0;
  std::string body;
};

// Fetches a page of at most `most` bytes. Redirections are not followed. `token`: sent as a bearer
// token unless empty; user and password may stand in the URL. The message says why there is no
// answer. Not thread-safe.
using HttpGet = std::function<tl::expected<HttpAnswer, std::string>(
    const std::string& url, const std::string& token, std::size_t most)>;

// HTTP by libcurl, which is loaded when it is needed: the program stays one file to copy, and runs
// where there is none. The message says what to install then.
tl::expected<HttpGet, std::string> open_http();

}  // namespace slicewise::tools
