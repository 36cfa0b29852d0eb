#include "token_lengths.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "../fields/check_scalar.hpp"
#include "../text/decimal.hpp"
#include "../traces/request_trace.hpp"

namespace slicewise::scenarios {
namespace {

using Json = nlohmann::json;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

// Refuses what is deeper than a file of lengths, so that nothing recurses far.
class ShallowParser {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& /*parsed*/) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    too_deep_ = too_deep_ || (opens && depth >= 2);
    return !(opens && depth >= 2);
  }
  bool too_deep_ = false;
};

std::int64_t quantile(const TokenWeights& weights, double total, double q) {
  double seen = 0;
  for (const auto& [tokens, weight] : weights) {
    seen += weight;
    if (seen >= q * total) return tokens;
  }
  return weights.rbegin()->first;
}

}  // namespace

bool add_token_weights(std::string_view literal, double weight, TokenWeights& weights) {
  literal = trimmed(literal);
  if (literal.size() < 2 || literal.front() != '{' || literal.back() != '}') return false;
  literal = trimmed(literal.substr(1, literal.size() - 2));
  while (!literal.empty()) {
    const std::size_t end = std::min(literal.find(','), literal.size());
    const std::string_view pair = literal.substr(0, end);
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) return false;
    const auto tokens = whole_of(trimmed(pair.substr(0, colon)));
    const auto probability = to_number(trimmed(pair.substr(colon + 1)));
    if (!tokens || *tokens < 0 || *tokens > kMostTokens) return false;
    if (!probability || !(*probability >= 0 && *probability <= 1)) return false;
    if (*probability > 0) weights[*tokens] += weight * *probability;
    literal = trimmed(literal.substr(std::min(end + 1, literal.size())));
  }
  return true;
}

std::optional<TokenLengths> lengths_of(const TokenWeights& weights) {
  double total = 0;
  double sum = 0;
  for (const auto& [tokens, weight] : weights) {
    total += weight;
    sum += weight * static_cast<double>(tokens);
  }
  if (!(total > 0)) return std::nullopt;
  return TokenLengths{quantile(weights, total, 0.5), quantile(weights, total, 0.99),
                      weights.rbegin()->first, sum / total};
}

std::optional<std::vector<LengthWindow>> read_length_windows(std::string_view json) {
  ShallowParser shallow;
  const Json document = Json::parse(json.begin(), json.end(), std::ref(shallow), false);
  if (document.is_discarded() || shallow.too_deep_ || !document.is_object()) return std::nullopt;
  std::vector<LengthWindow> windows;
  for (const auto& [start, fields] : document.items()) {
    const auto at = whole_of(start);
    if (!at || *at < 0 || *at > kMostSeconds || !fields.is_object()) return std::nullopt;
    LengthWindow window{seconds(*at), {}, {}};
    for (const auto& [name, text] :
         {std::pair("input_tokens", &window.input), {"output_tokens", &window.output}}) {
      const auto field = fields.find(name);
      if (field != fields.end() && field->is_string()) *text = field->get<std::string>();
    }
    windows.push_back(std::move(window));
  }
  std::ranges::sort(windows, {}, &LengthWindow::at);
  return windows;
}

}  // namespace slicewise::scenarios
