#include "prometheus_server.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/scenarios/decompress.hpp"

#include "http_client.hpp"

namespace slicewise::tools {

std::string without_credentials(const std::string& url) {
  if (url.find("://") == std::string::npos) return url;
  const std::size_t host = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find('/', host)).rfind('@');
  return at == std::string::npos || at < host ? url : url.substr(0, host) + url.substr(at + 1);
}

namespace {

tl::unexpected<Diagnostics> unreachable(const std::string& server, const std::string& why,
                                        std::string help = {}) {
  return failure(Code::FileUnreadable, {}, fmt::format("{}: {}", server, why), std::move(help));
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
    return unreachable(
        fmt::format("\"{}\"", without_credentials(url)), "not a URL of a server",
        fmt::format("write http://{}", url.empty() ? "host:9090" : without_credentials(url)));
  }
  const auto get = open_http();
  if (!get) return unreachable(without_credentials(url), get.error());
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  const char* const token = std::getenv("SLICEWISE_PROMETHEUS_TOKEN");
  PrometheusAnswers answers;
  std::size_t left = scenarios::kLargestUnpacked;
  std::string given_up;  // metric: the rest of its time is not asked for
  for (const scenarios::PrometheusQuery& query : prometheus_queries(window, latency)) {
    if (query.metric == given_up) continue;
    auto answer = (*get)(base + query.path, token == nullptr ? "" : token, left);
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
