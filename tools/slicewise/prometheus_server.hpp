#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/import.hpp"

namespace slicewise::tools {

struct PrometheusAnswers {
  std::vector<SourceText> texts;
  std::vector<std::string> missing;  // what is optional and was refused, and why
};

// What a Prometheus server answers to all queries of an import. `url` may hold user and password;
// $SLICEWISE_PROMETHEUS_TOKEN is sent as a bearer token. `latency`: a histogram beside; "": none.
Expected<PrometheusAnswers> ask_prometheus(const std::string& url,
                                           const scenarios::PrometheusWindow& window,
                                           const std::string& latency = {});

// A URL without user and password: messages and logs are no place for them. Text without one as it
// is.
std::string without_credentials(const std::string& url);

}  // namespace slicewise::tools
