#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../text/flow_text.hpp"
#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"
#include "../traces/trace_files.hpp"
#include "importers.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

// What a first look takes: enough requests for quantiles, few enough for seconds.
constexpr double kFirstRequests = 50'000;
constexpr std::int64_t kMostNodes = 400;

// What is known of the demand.
struct Demand {
  Duration length;  // of the source
  double per_second = 0;
  double input = 0;  // tokens, mean
  double output = 0;
};

Demand demand_of(const RequestLog& log) {
  Demand demand;
  const auto count = static_cast<double>(log.rows.size());
  demand.length = log.rows.back().at - log.rows.front().at;
  if (demand.length.ns > 0) demand.per_second = count / to_seconds(demand.length);
  for (const RequestTrace::Row& row : log.rows) {
    demand.input += row.input_tokens / count;
    demand.output += row.output_tokens / count;
  }
  return demand;
}

Demand demand_of(const ClientRates& rates) {
  ClientTraffic traffic;
  traffic.windows = rates.windows;
  traffic.window = rates.window;
  Demand demand;
  Duration first = end_of(traffic);
  for (const ClientWindow& window : rates.windows) first = std::min(first, window.at);
  demand.length = end_of(traffic) - first;
  traffic.from = first;
  demand.per_second = mean_rate(traffic, std::nullopt).per_second;
  if (rates.input && rates.output) {
    demand.input = rates.input->mean;
    demand.output = rates.output->mean;
  }
  return demand;
}

// In whole minutes, one at least.
std::int64_t minutes_of(const Demand& demand) {
  const double all_s = std::max(60.0, to_seconds(demand.length));
  const double wanted_s = demand.per_second > 0 ? kFirstRequests / demand.per_second : all_s;
  return std::max<std::int64_t>(1, std::llround(std::ceil(std::min(all_s, wanted_s) / 60)));
}

// Of the catalogue, and its times of a step; a test holds them to it.
constexpr std::string_view kModel = "llama-3-8b-fp16/a10g";
constexpr double kSecondsOfToken = 300.9e-6;
constexpr double kSecondsOfWeights = 34.2e-3;

// Servers that keep up at 60 % load, where eight sequences share the reading of the weights;
// without tokens 50 ms of a request. Assumed, like the model.
std::int64_t servers_for(const Demand& demand, bool llm) {
  constexpr double kTogether = 8;
  const double each_s =
      llm ? demand.input * kSecondsOfToken + demand.output * kSecondsOfWeights / kTogether : 0.05;
  const double needed = std::min(demand.per_second * each_s / 0.6, 1e6);
  return std::clamp<std::int64_t>(std::llround(std::ceil(needed)), 1, kMostNodes);
}

std::string tokens_field(const TokenLengths& lengths) {
  if (lengths.p50 >= 1 && lengths.p50 < lengths.p99) {
    return fmt::format("{{p50: {}, p99: {}, most: {}}}", lengths.p50, lengths.p99, lengths.most);
  }
  return fmt::format("{}", std::max<std::int64_t>(1, std::llround(lengths.mean)));
}

std::string llm_fields(const ClientRates* rates) {
  std::string text = fmt::format(
      "    llm:\n      model: {}  # Assumed. TODO: yours; slicewise get profiles --kind llm\n",
      kModel);
  if (rates == nullptr) return text;  // the trace has tokens
  text += fmt::format(
      "      tokens:  # log-normal laws through the quantiles of the source\n        input: {}\n   "
      "     output: {}\n",
      tokens_field(*rates->input), tokens_field(*rates->output));
  return text;
}

constexpr std::string_view kMeasured =
    "    measured:\n      requestGpuTime: {mean: 50ms, distribution: Exponential}  # TODO: measure "
    "it\n      provenance: Assumed\n";

std::string traffic_fields(const ClientRates* rates, const std::string& file,
                           const ImportOptions& options) {
  if (rates == nullptr) {
    return fmt::format("    traffic: {{shape: Trace, trace: {{file: {}}}}}\n", file);
  }
  Duration first = rates->windows.front().at;
  for (const ClientWindow& window : rates->windows) first = std::min(first, window.at);
  first = std::max(first, options.from.value_or(Duration{}));
  return fmt::format("    traffic: {{shape: Clients, clientRates: {{file: {}, from: {}s}}}}\n",
                     file, first.ns / seconds(1).ns);
}

}  // namespace

std::string request_scenario(const Imported& imported, ImportKind kind,
                             const ImportOptions& options) {
  const auto* log = std::get_if<RequestLog>(&imported.content);
  const auto* rates = std::get_if<ClientRates>(&imported.content);
  const Demand demand = log != nullptr ? demand_of(*log) : demand_of(*rates);
  const bool llm = log != nullptr ? log->has_tokens : rates->input && rates->output;
  const std::string name = dns_name(options.name, "requests");
  const std::string path = options.trace_path.value_or(name + ".csv");
  const std::int64_t servers = servers_for(demand, llm);
  std::string text = fmt::format(
      "# {} {}, imported as {}: {:.4g} requests per second over {:.4g} h.\n# Run it with: "
      "slicewise run -f FILE\n",
      imported.log.imported, log != nullptr ? "requests" : "windows of clients", kind_name(kind),
      demand.per_second, to_seconds(demand.length) / 3600);
  if (!options.trace_path) {
    text += fmt::format("# TODO: write the trace with slicewise import {} ... -o trace --out {}\n",
                        kind_name(kind), path);
  }
  text += fmt::format(
      "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: {}}}\nspec:\n  "
      "duration: {}m  # TODO: longer, up to {} min of the source\n  nodePools:\n  - name: gpu\n    "
      "instanceType: g5.xlarge  # Assumed: 1 x A10G. TODO: yours\n    nodes: {}  # Assumed from a "
      "rough estimate of the load. TODO: yours\n  workloads:\n  - name: serve\n    kind: Service\n "
      "   replicas: {}\n    podTemplate:\n      resources:\n        requests: {{cpu: \"2\", "
      "memory: 8Gi}}  # Assumed\n        limits: {{nvidia.com/gpu: 1}}\n    serving: {{routing: "
      "LeastOutstanding}}  # Assumed\n",
      scalar_text(name), minutes_of(demand),
      std::llround(std::ceil(std::max(60.0, to_seconds(demand.length)) / 60)), servers, servers);
  text += llm ? llm_fields(rates) : std::string(kMeasured);
  text += traffic_fields(rates, in_quotes(path), options);
  return text;
}

namespace {

constexpr int kNanoDigits = 9;

// From the first to the last.
void append_blocks(std::string& text, PromptBlocks::Block last, const PromptBlocks& blocks) {
  std::vector<PromptBlocks::Block> path;
  for (auto block = last; block != 0; block = blocks.before[block]) path.push_back(block);
  for (auto block = path.rbegin(); block != path.rend(); ++block) {
    if (block != path.rbegin()) text += ' ';
    append_scaled(text, *block, 0);
  }
}

std::string log_csv(const RequestLog& log) {
  std::string text = log.has_tokens ? "arrival_s,input_tokens,output_tokens" : "arrival_s";
  text += log.blocks ? ",hash_ids\n" : "\n";
  for (const RequestTrace::Row& row : log.rows) {
    append_scaled(text, row.at.ns, kNanoDigits);
    if (log.has_tokens) {
      text += ',';
      append_scaled(text, row.input_tokens, 0);
      text += ',';
      append_scaled(text, row.output_tokens, 0);
    }
    if (log.blocks) {
      text += ',';
      append_blocks(text, row.prompt, *log.blocks);
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
