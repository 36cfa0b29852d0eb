#include "../text/decimal.hpp"
#include "../traces/client_rates.hpp"
#include "../traces/request_binary.hpp"
#include "importers.hpp"

namespace slicewise::scenarios {
namespace {

constexpr int kNanoDigits = 9;

std::string log_csv(const RequestLog& log) {
  std::string text = log.has_tokens ? "arrival_s,input_tokens,output_tokens\n" : "arrival_s\n";
  for (const RequestTrace::Row& row : log.rows) {
    append_scaled(text, row.at.ns, kNanoDigits);
    if (log.has_tokens) {
      text += ',';
      append_scaled(text, row.input_tokens, 0);
      text += ',';
      append_scaled(text, row.output_tokens, 0);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string request_csv(const Imported& imported) {
  if (const auto* log = std::get_if<RequestLog>(&imported.content)) return log_csv(*log);
  if (const auto* rates = std::get_if<ClientRates>(&imported.content)) {
    return client_rates_csv(*rates);
  }
  return "";
}

std::string binary_requests(const Imported& imported) {
  const auto* log = std::get_if<RequestLog>(&imported.content);
  return log != nullptr ? request_binary(*log) : std::string();
}

}  // namespace slicewise::scenarios
