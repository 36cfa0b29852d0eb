#include <algorithm>

#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

namespace slicewise::sim {

std::optional<TokenFigures> token_figures(const World& world, std::size_t workload,
                                          std::span<const Replication> replications) {
  const WorkloadModel& model = world.workloads[workload];
  if (!model.spec.llm) return std::nullopt;
  TokenFigures figures;
  const auto count = static_cast<double>(replications.size());
  std::vector<Histogram> first_token;
  std::vector<Histogram> per_token;
  for (const Replication& r : replications) {
    const TokenRecord& record = r.workloads[workload].tokens;
    figures.input_tokens += static_cast<double>(record.input) / count;
    figures.output_tokens += static_cast<double>(record.output) / count;
    figures.preemptions += static_cast<double>(record.preemptions) / count;
    const Duration observed = r.length - world.warmup;
    if (observed.ns > 0) {
      figures.output_per_second +=
          static_cast<double>(record.output) / to_seconds(observed) / count;
    }
    if (record.cache_size > 0) {
      const double peak =
          static_cast<double>(record.cache_peak) / static_cast<double>(record.cache_size);
      figures.kv_cache_peak = std::max(figures.kv_cache_peak, peak);
      figures.kv_cache = {record.cache_size * model.spec.llm->kv_bytes_per_token->count};
    }
    first_token.push_back(record.first_token);
    per_token.push_back(record.per_token);
  }
  figures.first_token = summarize(first_token);
  figures.per_token = summarize(per_token);
  return figures;
}

void price_tokens(Usd total, TokenFigures& figures) {
  constexpr double kMillion = 1e6;
  if (figures.output_tokens <= 0) return;
  figures.per_million_output = from_dollars(to_dollars(total) * kMillion / figures.output_tokens);
}

}  // namespace slicewise::sim
