#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "admission.hpp"
#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Llm;
using scenarios::RandomAmount;
using scenarios::Workload;

// Of a step, when nobody says: 0.3 to 1 ms are usual (models/MODELS.md, "Language models").
// Assumed.
constexpr Duration kUsualOverhead = microseconds(600);

// Decoding reads the weights and little else happens.
constexpr double kDecodingBandwidthShare = 1;

// The named model, or nullptr with the reason in `found`.
const models::LlmModel* find_model(const models::Catalogue& catalogue, const Llm& llm,
                                   Diagnostics& found) {
  const models::LlmModel* model = catalogue.find_llm_model(llm.model.value);
  if (model == nullptr) {
    found.push_back(
        unknown_name(Code::ProfileUnknown, llm.model,
                     fmt::format("the catalogue has no language model \"{}\"", llm.model.value),
                     catalogue.llm_models, "slicewise get profiles --kind llm"));
    return nullptr;
  }
  if (model->unusable.empty()) return model;
  found.push_back(make_diagnostic(
      Code::InputMissing, llm.model.where,
      fmt::format("\"{}\" cannot be run: {}", model->name, model->unusable),
      "`slicewise get profiles --kind llm` lists the models and the GPUs they were measured on"));
  return nullptr;
}

void fill_from(const models::LlmModel& model, Llm& llm) {
  if (!llm.weights_time) llm.weights_time = from_seconds(model.step.weights_s);
  if (!llm.token_seconds) llm.token_seconds = model.step.token_s;
  if (!llm.kv_read_seconds) llm.kv_read_seconds = model.step.kv_read_s;
  if (!llm.overhead) llm.overhead = from_seconds(model.step.overhead_s);
  if (!llm.weights) llm.weights = model.weights;
  if (!llm.kv_bytes_per_token) llm.kv_bytes_per_token = model.kv_bytes_per_token;
}

// Where the figures of the step were taken, and what beside them the laws of sharing want.
void fill_measured(const models::LlmModel* model, Workload& spec, Diagnostics& found) {
  const bool by_user = spec.measured.has_value();
  scenarios::Measured& m = by_user ? *spec.measured : spec.measured.emplace();
  if (model != nullptr) {
    if (!by_user) {
      const auto basis = model->provenance.find("weightsMs");
      const bool estimate =
          basis != model->provenance.end() && basis->second.starts_with("estimate");
      m.provenance = estimate ? scenarios::Provenance::Assumed : scenarios::Provenance::Catalog;
    }
    if (!m.device.value.empty() && m.device.value != model->gpu_model) {
      found.push_back(make_diagnostic(
          Code::SettingConflict, m.device.where,
          fmt::format("\"{}\" was measured on {}", model->name, model->gpu_model),
          "leave measured.device out, or give all figures of `llm` instead of a model"));
    }
    m.device = {model->gpu_model, spec.llm->model.where};
  }
  if (!m.bandwidth_share) m.bandwidth_share = kDecodingBandwidthShare;
  if (!m.norm_p) m.norm_p = models::kTrainingNorm;
  const Duration one_step = spec.llm->weights_time.value_or(Duration{}) + *spec.llm->overhead;
  m.request_gpu_time =
      scenarios::ServiceTime{scenarios::ServiceTime::Law::Deterministic, one_step, 0};
}

void require_step(const Workload& spec, Diagnostics& found) {
  const Llm& llm = *spec.llm;
  const auto require = [&](bool given, std::string_view figure) {
    if (given) return;
    found.push_back(make_diagnostic(
        Code::InputMissing, llm.where,
        fmt::format("the language model of \"{}\" needs {}", spec.name.value, figure),
        "name a `model` of `slicewise get profiles --kind llm`, or give the figure"));
  };
  require(llm.weights_time.has_value(), "the time that reading its weights takes");
  require(llm.token_seconds.has_value(), "the time that computing one token takes");
  require(llm.weights.has_value(), "the GPU memory of its weights");
  require(llm.kv_bytes_per_token.has_value(), "the bytes that its cache holds of a token");
}

void require_tokens(const Workload& spec, Diagnostics& found) {
  const Llm& llm = *spec.llm;
  if (llm.input && llm.output) return;
  const scenarios::RequestTrace* trace =
      spec.traffic ? std::get_if<scenarios::RequestTrace>(&spec.traffic->shape) : nullptr;
  if (trace != nullptr && trace->has_tokens) return;
  found.push_back(make_diagnostic(
      Code::InputMissing, llm.where,
      fmt::format("nobody says how many tokens the requests of \"{}\" have", spec.name.value),
      "give input and output of `llm`, or a trace with columns for them"));
}

std::int64_t most_of(const RandomAmount& amount) {
  return amount.most.value_or(std::llround(amount.mean));
}

// Tokens of the longest request that is known of; of unlimited amounts, the mean.
std::int64_t longest_sequence(const Workload& spec) {
  const Llm& llm = *spec.llm;
  if (llm.input && llm.output) return most_of(*llm.input) + most_of(*llm.output);
  std::int64_t longest = 1;
  if (!spec.traffic) return longest;
  if (const auto* trace = std::get_if<scenarios::RequestTrace>(&spec.traffic->shape)) {
    for (const auto& row : trace->rows) {
      longest = std::max(longest, std::int64_t{row.input_tokens} + row.output_tokens);
    }
  }
  return longest;
}

// No more than fits a count of bytes: no GPU has as much.
Bytes cache_of(std::int64_t tokens, Bytes each) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  return {tokens > kMost / each.count ? kMost : tokens * each.count};
}

models::LlmStep step_on(const Llm& llm, const models::GpuModel* from, const PoolModel& pool) {
  const models::GpuModel& gpu = from == nullptr ? *pool.gpu : *from;
  const double kv_read_s =
      llm.kv_read_seconds.value_or(models::cache_read_seconds(*llm.kv_bytes_per_token, gpu));
  const models::LlmStep step{to_seconds(*llm.weights_time), *llm.token_seconds, kv_read_s,
                             to_seconds(*llm.overhead)};
  return models::carried_over(step, gpu, *pool.gpu);
}

// What one client of the domain may use: all of its memory, unless its tickets limit it.
Bytes client_memory(const PoolDemand& demand, const DomainKind& kind) {
  for (const Tickets& tickets : kind.tickets) {
    if (tickets.offer == demand.offer && tickets.memory_limit) return *tickets.memory_limit;
  }
  return kind.memory;
}

// As vLLM does at start: it takes its share of the memory, and what weights and CUDA context leave
// of that is the pool. Activations are not modelled. A server without a pool does not start: it
// asks for all memory, which its context does not leave.
void size_cache(const Llm& llm, Bytes memory, Bytes context, LlmDemand& demand) {
  const auto taken =
      static_cast<std::int64_t>(llm.memory_utilization * static_cast<double>(memory.count));
  const Bytes pool = llm.kv_cache.value_or(Bytes{taken} - *llm.weights - context);
  demand.cache_tokens = std::max<std::int64_t>(0, pool.count) / llm.kv_bytes_per_token->count;
  demand.gpu_memory = demand.cache_tokens > 0 ? *llm.weights + pool : memory;
}

void note_small_pool(const WorkloadModel& model, const PoolModel& pool, const DomainKind& kind,
                     const LlmDemand& demand, Diagnostics& found) {
  const std::int64_t longest = longest_sequence(model.spec);
  if (demand.cache_tokens >= longest) return;
  const bool none = demand.cache_tokens == 0;
  const std::string place = kind.partition.empty() ? pool.gpu->name : kind.partition;
  found.push_back(make_diagnostic(
      Code::GpuOom, model.spec.llm->where,
      none ? fmt::format("weights and CUDA context of \"{}\" leave no memory of {} for its KV "
                         "cache: the server does not start there",
                         model.name, place)
           : fmt::format("the KV cache of \"{}\" on {} holds {} tokens: requests of up to {} are "
                         "refused there when they do not fit",
                         model.name, place, demand.cache_tokens, longest),
      "a larger GPU, fewer pods per GPU, a higher memory utilization, or shorter requests"));
}

}  // namespace

void apply_llm(const models::Catalogue& catalogue, Workload& spec, Diagnostics& found) {
  if (!spec.llm) return;
  const models::LlmModel* model = nullptr;
  if (!spec.llm->model.value.empty()) {
    model = find_model(catalogue, *spec.llm, found);
    if (model == nullptr) return;
    fill_from(*model, *spec.llm);
  }
  if (!spec.llm->overhead) spec.llm->overhead = kUsualOverhead;
  require_step(spec, found);
  require_tokens(spec, found);
  fill_measured(model, spec, found);
}

void model_llm(const models::GpuModel* from, const World& world, WorkloadModel& model,
               Diagnostics& found) {
  if (!model.spec.llm) return;
  const Llm& llm = *model.spec.llm;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    PoolDemand& demand = model.on_pool[p];
    const models::LlmStep step = step_on(llm, from, pool);
    for (const DomainKind& kind : pool.kinds) {
      const models::LlmStep here = models::in_domain(step, kind.share);
      LlmDemand& there = demand.llm.emplace_back(
          LlmDemand{here.weights_s, here.token_s, here.kv_read_s, here.overhead_s, 0, {}});
      size_cache(llm, client_memory(demand, kind), pool.context_memory, there);
      const bool comes_here =
          admits(pool, model.spec.pod) && std::ranges::any_of(kind.tickets, [&](const auto& of) {
            return of.offer == demand.offer;
          });
      if (comes_here) note_small_pool(model, pool, kind, there, found);
    }
  }
  const Bytes one_sequence = cache_of(longest_sequence(model.spec), *llm.kv_bytes_per_token);
  model.gpu_memory = *llm.weights + llm.kv_cache.value_or(one_sequence);
}

Bytes process_memory(const WorkloadModel& model, const PoolDemand& demand, std::size_t kind) {
  return demand.llm.empty() ? model.gpu_memory : demand.llm[kind].gpu_memory;
}

}  // namespace slicewise::sim
