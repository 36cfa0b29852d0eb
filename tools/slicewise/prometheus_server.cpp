#include "prometheus_server.hpp"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/decompress.hpp"

#include "http_client.hpp"

namespace slicewise::tools {
namespace {

tl::unexpected<Diagnostics> unreachable(const std::string& server, const std::string& why,
                                        std::string help = {}) {
  return tl::unexpected(Diagnostics{make_diagnostic(
      Code::FileUnreadable, {}, fmt::format("{}: {}", server, why), std::move(help))});
}

// Without user and password: messages and logs are no place for them.
std::string shown(const std::string& url) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find('/', host)).rfind('@');
  return at == std::string::npos || at < host ? url : url.substr(0, host) + url.substr(at + 1);
}

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

Expected<std::vector<SourceText>> ask_prometheus(const std::string& url,
                                                 const scenarios::PrometheusWindow& window) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return unreachable("--url", "not a URL of a server", "write http://host:9090");
  }
  auto client = HttpClient::open();
  if (!client) return unreachable("--url", client.error());
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  const char* const token = std::getenv("SLICEWISE_PROMETHEUS_TOKEN");
  std::vector<SourceText> answers;
  std::size_t left = scenarios::kLargestUnpacked;
  for (const scenarios::PrometheusQuery& query : prometheus_queries(window)) {
    auto answer = client->get(base + query.path, token == nullptr ? "" : token, left);
    if (!answer) return unreachable(shown(base), answer.error());
    if (is_refused(*answer)) {
      return unreachable(shown(base), fmt::format("HTTP status {}", answer->status),
                         help_for(answer->status));
    }
    left -= answer->body.size();
    answers.push_back({fmt::format("{}: {}", shown(base), query.metric), std::move(answer->body)});
  }
  return answers;
}

}  // namespace slicewise::tools
