#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/serving/amounts.hpp"

#include "admission.hpp"
#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Llm;

// Of a step, when nobody says: 0.3 to 1 ms are usual (models/MODELS.md, "Language models").
// Assumed.
constexpr Duration kUsualOverhead = microseconds(600);

// From host memory over PCIe 3 x16. Assumed.
constexpr double kAdapterLoadBytesPerSecond = 12e9;

// Beside weights and cache a server keeps what a step of the most tokens takes, found by a step of
// its own at start. Source: vLLM's logs of models of 8B, 1.04 GiB (Qwen3-8B on L4, FP16: 22.03 GiB
// x 0.9 - 15.27 of weights - 3.14 of cache - context), 1.26 GiB (Llama-3-8B on H100, vLLM PR
// 10511). Assumed elsewhere.
constexpr Bytes kActivations = mebibytes(1'126);

// Decoding reads the weights and little else happens.
constexpr double kDecodingBandwidthShare = 1;

// The named model, or nullptr with the reason in `found`.
const models::LlmModel* find_model(const Catalogue& catalogue, const Llm& llm, Diagnostics& found) {
  const models::LlmModel* model = catalogue.find_llm_model(llm.model.value);
  if (model == nullptr) {
    found.push_back(
        unknown_name(Code::ProfileUnknown, llm.model,
                     fmt::format("the catalogue has no language model \"{}\"", llm.model.value),
                     catalogue.llm_models, "slicewise get profiles --kind llm"));
    return nullptr;
  }
  if (model->unusable.empty()) return model;
  add_diagnostic(
      found, Code::InputMissing, llm.model.where,
      fmt::format("\"{}\" cannot be run: {}", model->name, model->unusable),
      "`slicewise get profiles --kind llm` lists the models and the GPUs they were measured on");
  return nullptr;
}

// The model as the scenario has it quantised; nullopt, with the reason in `found`, where nobody
// knows what its layers weigh.
std::optional<models::LlmModel> as_quantised(const models::LlmModel& model, const Llm& llm,
                                             Diagnostics& found) {
  models::LlmModel as_served = model;
  if (!llm.quantization.empty()) {
    const bool is_half = model.precision == "FP16" || model.precision == "BF16";
    if (!is_half || !model.layer_parameters) {
      add_diagnostic(
          found, Code::InputMissing, llm.model.where,
          fmt::format("what \"{}\" is in {} is not known: {}", model.name, llm.quantization,
                      is_half ? "it has no layerParameters" : "it is not FP16 or BF16"),
          "leave quantization out, or give the figures in place of the model");
      return std::nullopt;
    }
    as_served = models::quantised(model, llm.quantization);
  }
  if (!llm.kv_cache_dtype.empty()) {
    as_served.kv_bytes_per_token.count = (as_served.kv_bytes_per_token.count + 1) / 2;
    as_served.step.kv_read_s /= 2;
  }
  return as_served;
}

void fill_from(const models::LlmModel& model, Llm& llm) {
  if (!llm.weights_time) llm.weights_time = from_seconds(model.step.weights_s);
  if (!llm.token_seconds) llm.token_seconds = model.step.token_s;
  if (!llm.kv_read_seconds) llm.kv_read_seconds = model.step.kv_read_s;
  if (!llm.overhead) llm.overhead = from_seconds(model.step.overhead_s);
  if (!llm.weights) llm.weights = model.weights;
  if (!llm.kv_bytes_per_token) llm.kv_bytes_per_token = model.kv_bytes_per_token;
  if (!llm.max_model_len && !llm.kv_cache) llm.max_model_len = model.context_length;
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
      add_diagnostic(found, Code::SettingConflict, m.device.where,
                     fmt::format("\"{}\" was measured on {}", model->name, model->gpu_model),
                     "leave measured.device out, or give all figures of `llm` instead of a model");
    }
    m.device = {model->gpu_model, spec.llm->model.where};
  }
  if (!m.bandwidth_share) m.bandwidth_share = kDecodingBandwidthShare;
  const Duration one_step = spec.llm->weights_time.value_or(Duration{}) + *spec.llm->overhead;
  m.request_gpu_time =
      scenarios::ServiceTime{scenarios::ServiceTime::Law::Deterministic, one_step, 0};
}

void require_step(const Workload& spec, Diagnostics& found) {
  const Llm& llm = *spec.llm;
  const auto require = [&](bool given, std::string_view figure) {
    if (given) return;
    add_diagnostic(found, Code::InputMissing, llm.where,
                   fmt::format("the language model of \"{}\" needs {}", spec.name.value, figure),
                   "name a `model` of `slicewise get profiles --kind llm`, or give the figure");
  };
  require(llm.weights_time.has_value(), "the time that reading its weights takes");
  require(llm.token_seconds.has_value(), "the time that computing one token takes");
  require(llm.weights.has_value(), "the GPU memory of its weights");
  require(llm.kv_bytes_per_token.has_value(), "the bytes that its cache holds of a token");
}

void require_tokens(const Workload& spec, Diagnostics& found) {
  const Llm& llm = *spec.llm;
  // Of a pipeline's requests the loader has seen to it.
  if ((llm.input && llm.output) || !spec.traffic) return;
  const auto* trace = std::get_if<scenarios::RequestTrace>(&spec.traffic->shape);
  if (trace != nullptr && trace->has_tokens) return;
  add_diagnostic(
      found, Code::InputMissing, llm.where,
      fmt::format("nobody says how many tokens the requests of \"{}\" have", spec.name.value),
      "give input and output of `llm`, or a trace with columns for them");
}

std::int64_t most_of(const scenarios::RandomAmount& amount) {
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

models::LlmStep step_on(const Llm& llm, const models::LlmModel* named, const GpuModel* from,
                        const PoolModel& pool) {
  const GpuModel& to = *pool.gpu;
  const GpuModel& gpu = from == nullptr ? to : *from;
  const double kv_read_s =
      llm.kv_read_seconds.value_or(models::cache_read_seconds(*llm.kv_bytes_per_token, gpu));
  models::LlmStep step{to_seconds(*llm.weights_time), *llm.token_seconds, kv_read_s,
                       to_seconds(*llm.overhead)};
  if (named != nullptr) {
    step.experts_s = named->step.experts_s;
    step.expert_part = named->step.expert_part;
    // Attention stays in FP16.
    const double gain = models::arithmetic_gain(named->precision, gpu);
    step.pair_s = models::pair_seconds(*named, step.token_s * gain);
  }
  if (!models::can_carry_over(gpu, to)) return step;
  models::LlmStep there = models::carried_over(step, gpu, to);
  there.token_s /= models::arithmetic_gain(llm.quantization, to);
  return there;
}

// What one GPU has of a model.
struct PartOfModel {
  Bytes weights;  // and the places of adapters
  Bytes kv_bytes_per_token;
};

// REQUIRES: several GPUs can share it.
PartOfModel part_of(const Llm& llm, const std::optional<models::LlmLayers>& shape, int gpus) {
  Bytes weights = *llm.weights;
  if (llm.adapters) weights += Bytes{llm.adapters->memory.count * llm.adapters->at_once};
  if (gpus == 1) return {weights, *llm.kv_bytes_per_token};
  const double kv =
      models::cache_part(*shape, gpus) * static_cast<double>(llm.kv_bytes_per_token->count);
  return {Bytes{weights.count / gpus}, Bytes{std::max<std::int64_t>(1, std::llround(kv))}};
}

// How long one of `gpus` GPUs takes for its part of an adapter.
void time_adapters(const Llm& llm, const GpuModel& gpu, double bandwidth, int gpus,
                   LlmDemand& demand) {
  if (!llm.adapters) return;
  const Bytes part{llm.adapters->memory.count / gpus};
  demand.adapter_read_s = models::cache_read_seconds(part, gpu) / bandwidth;
  demand.adapter_load_s = llm.adapters->load_time
                              ? to_seconds(*llm.adapters->load_time)
                              : static_cast<double>(part.count) / kAdapterLoadBytesPerSecond;
}

// What one client of the domain may use: all of its memory, unless its tickets limit it.
Bytes client_memory(const PoolDemand& demand, const DomainKind& kind) {
  for (const Tickets& tickets : kind.tickets) {
    if (tickets.offer == demand.offer && tickets.memory_limit) return *tickets.memory_limit;
  }
  return kind.memory;
}

// As vLLM does at start: it takes its share of the memory, and what weights, CUDA context and the
// activations of a step leave of that is the pool. The share must be free when the context is there
// (request_memory of vllm/v1/worker/utils.py), so that the shares on a GPU add up to 1 -
// context/memory at the most. A server whose pool does not hold one request of max_model_len does
// not start (check_enough_kv_cache_memory in vllm/v1/core/kv_cache_utils.py): it asks for its
// weights and that request, or all memory, which its context does not leave.
void size_cache(const Llm& llm, Bytes memory, Bytes context, const PartOfModel& part,
                LlmDemand& demand) {
  const auto taken =
      static_cast<std::int64_t>(llm.memory_utilization * static_cast<double>(memory.count));
  const Bytes loaded = part.weights + kActivations;
  const Bytes pool = llm.kv_cache.value_or(Bytes{taken} - loaded - context);
  demand.cache_tokens = std::max<std::int64_t>(0, pool.count) / part.kv_bytes_per_token.count;
  const std::int64_t longest = demand.cache_tokens > 0 ? llm.max_model_len.value_or(1) : 1;
  const Bytes least = loaded + cache_of(longest, part.kv_bytes_per_token);
  demand.least = least + context;
  demand.share = llm.kv_cache ? memory : Bytes{taken};
  const bool starts = demand.cache_tokens >= longest;
  const bool is_compared = !llm.kv_cache && !llm.sleep && starts;
  demand.spare = is_compared ? context : Bytes{};
  demand.gpu_memory = starts ? loaded + pool : std::max(memory, least);
}

// What a step holds at the most, where nobody says it as vLLM has it for its server by what NVML
// says of the GPU: HAMi makes that the limit of the pod. Source: vllm/engine/arg_utils.py,
// EngineArgs.get_batch_defaults, 0.9 to 0.30; A100s are left out since PR 17885.
void limit_steps(const Llm& llm, const PoolModel& pool, const DomainKind& kind, Bytes of_client,
                 LlmDemand& demand) {
  const bool by_hami = pool.books && pool.books->keeper == GpuBooks::Keeper::Hami;
  const Bytes seen = by_hami ? of_client : kind.memory;
  const bool large = seen >= gibibytes(70) && !pool.gpu->name.starts_with("A100");
  demand.max_sequences = llm.max_sequences.value_or(large ? 1024 : 256);
  demand.max_batched_tokens = llm.max_batched_tokens.value_or(large ? 8192 : 2048);
}

std::string gib_text(Bytes bytes) { return fmt::format("{:.1f} GiB", in_gibibytes(bytes)); }

// Whether a request of max_model_len fits into the pool.
bool can_start(const Llm& llm, const LlmDemand& demand) {
  return demand.cache_tokens >= llm.max_model_len.value_or(1);
}

// What helps a server whose memory is too small for its cache, or to start.
std::string more_room(const Llm& llm, const DomainKind& kind, Bytes memory,
                      const LlmDemand& demand) {
  constexpr double kMostShare = 0.95;  // the rest is for what is not modelled
  const double needed = static_cast<double>(demand.least.count) / static_cast<double>(memory.count);
  const bool none = !can_start(llm, demand);
  std::vector<std::string> ways;
  if (none && demand.cache_tokens > 0) {
    ways.push_back(fmt::format("a maxModelLen of at most {}", demand.cache_tokens));
  }
  if (!llm.kv_cache && llm.memory_utilization < kMostShare && needed < kMostShare) {
    ways.push_back(none ? fmt::format("a memoryUtilization above {:.0f} %", std::ceil(100 * needed))
                        : "a higher memoryUtilization");
  }
  const bool is_limited = std::ranges::any_of(kind.tickets, [](const Tickets& tickets) {
    return tickets.count > 1 && tickets.memory_limit;
  });
  if (is_limited) ways.emplace_back("fewer pods per GPU");
  if (llm.quantization.empty()) ways.emplace_back("quantization");
  ways.emplace_back("several GPUs for each pod");
  ways.emplace_back("a larger GPU");
  if (!none) ways.emplace_back("shorter requests");
  const std::string last = std::move(ways.back());
  ways.pop_back();
  return fmt::format("{} or {}", fmt::join(ways, ", "), last);
}

void note_small_pool(const WorkloadModel& model, const PoolModel& pool, const DomainKind& kind,
                     Bytes memory, const LlmDemand& demand, Diagnostics& found) {
  const std::int64_t longest = longest_sequence(model.spec);
  const bool starts = can_start(*model.spec.llm, demand);
  if (starts && demand.cache_tokens >= longest) return;
  const std::string place = kind.partition.empty() ? pool.gpu->name : kind.partition;
  const Llm& llm = *model.spec.llm;
  std::string what = fmt::format(
      "the KV cache of \"{}\" on {} holds {} tokens: requests of up to {} are refused there when "
      "they do not fit",
      model.name, place, demand.cache_tokens, longest);
  if (demand.cache_tokens == 0 && llm.kv_cache) {
    what = fmt::format("the kvCache of \"{}\" does not hold one token: the server does not start",
                       model.name);
  } else if (demand.cache_tokens == 0) {
    const std::string has =
        demand.least > memory
            ? fmt::format("{} has {}", place, gib_text(memory))
            : fmt::format("it takes {:.3g} % of the {} of {} (memoryUtilization), {}",
                          100 * llm.memory_utilization, gib_text(memory), place,
                          gib_text(demand.share));
    what = fmt::format(
        "weights, activations and CUDA context of \"{}\" need {}, and {}: the server does not "
        "start there",
        model.name, gib_text(demand.least), has);
  } else if (!starts) {
    what = fmt::format(
        "the KV cache of \"{}\" on {} holds {} tokens, fewer than one request of maxModelLen {}: "
        "the server does not start there",
        model.name, place, demand.cache_tokens, *llm.max_model_len);
  }
  add_diagnostic(found, Code::GpuOom, llm.where, std::move(what),
                 more_room(llm, kind, memory, demand));
}

// "2, 4 or 8": numbers of GPUs that can share the model.
std::string possible_gpus(const models::LlmLayers& shape) {
  std::vector<int> fewer{1};
  for (int gpus = 2; gpus <= GpuSets::kMostGpus; ++gpus) {
    if (models::can_share(shape, gpus)) fewer.push_back(gpus);
  }
  const int most = fewer.back();
  fewer.pop_back();
  return fewer.empty() ? "1" : fmt::format("{} or {}", fmt::join(fewer, ", "), most);
}

// Whether as many GPUs of a node reach each other, whichever a pod gets.
bool has_links(const PoolModel& pool, int gpus) {
  const GpuMask all = (GpuMask{1} << pool.healthy_gpus()) - 1;
  for (GpuMask set = 1; set <= all; ++set) {
    const bool is_of_pod = std::popcount(set) == gpus;
    if (is_of_pod && pool.gpu_sets.all_reduce_bytes_per_second(set) <= 0) return false;
  }
  return true;
}

// Why the GPUs that pods have in a pool cannot share the model; nullopt: they can, or it is one.
std::optional<Diagnostic> unfit_gpus(const models::LlmModel* named, const WorkloadModel& model,
                                     const PoolModel& pool, int gpus) {
  const auto& requests = model.spec.pod.extended;
  const SourceLocation& where =
      requests.empty() ? model.spec.llm->where : requests.front().count_where;
  const int size = model.spec.llm->tensor_parallel_size.value_or(gpus);
  if (size != gpus && size != model.tickets) {
    return make_diagnostic(
        Code::SettingConflict, where,
        fmt::format("tensorParallelSize of \"{}\" is {}, its pods ask for {}", model.name, size,
                    model.tickets),
        fmt::format("ask for {}, or leave tensorParallelSize out: it is as many as the pod has",
                    size));
  }
  if (gpus == 1 && size != 1) {
    return make_diagnostic(Code::SettingConflict, where,
                           fmt::format("tensorParallelSize of \"{}\" is {}: what its pods get in "
                                       "pool \"{}\" are parts of GPUs, of which a process uses one",
                                       model.name, size, pool.name),
                           "share no GPU of the pool, and cut none");
  }
  if (gpus == 1) return std::nullopt;
  if (model.spec.llm->sleep) {
    return make_diagnostic(Code::StrategyNotModelled, where,
                           fmt::format("\"{}\" sleeps and its pods have {} GPUs: that several wake "
                                       "up together is not simulated",
                                       model.name, gpus),
                           "one GPU for each pod, or leave sleep out");
  }
  if (named == nullptr || !named->shape) {
    return make_diagnostic(
        Code::InputMissing, where,
        fmt::format("nobody says how many layers and heads the language model of \"{}\" has: how "
                    "{} GPUs share it is not known",
                    model.name, gpus),
        "name a `model` that has a shape: slicewise calibrate config.json writes one");
  }
  if (!has_links(pool, gpus)) {
    return make_diagnostic(
        Code::InputMissing, where,
        fmt::format("nobody says how fast the GPUs of {} reach each other: its interconnect \"{}\" "
                    "has neither NVLinks between all of them nor pcieGBps",
                    pool.instance_type, pool.interconnect->name),
        "give pcieGBps in the catalogue: what a ring of copies gets in each direction");
  }
  if (models::can_share(*named->shape, gpus)) return std::nullopt;
  return make_diagnostic(
      Code::ValueRange, where,
      fmt::format("{} GPUs cannot share \"{}\", which has {} heads and {} of keys and values", gpus,
                  named->name, named->shape->heads, named->shape->kv_heads),
      fmt::format("ask for {}", possible_gpus(*named->shape)));
}

void check_sharing(const models::LlmModel* named, const World& world, const WorkloadModel& model,
                   Diagnostics& found) {
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolDemand& demand = model.on_pool[p];
    if (!demand.schedulable) continue;
    auto problem = unfit_gpus(named, model, world.pools[p], demand.gpus);
    if (problem && !holds(found, *problem)) found.push_back(std::move(*problem));
  }
}

// vLLM runs FP8 on these as it is or, without such cores, made FP16 in time. Source: its table of
// hardware that quantisation is supported on.
bool takes_fp8(const GpuModel& gpu) {
  return gpu.compute_capability.size() > 3 || gpu.compute_capability >= "8.0";
}

void check_fp8(const World& world, const WorkloadModel& model, Diagnostics& found) {
  if (model.spec.llm->quantization != "FP8") return;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const GpuModel& gpu = *world.pools[p].gpu;
    if (!model.on_pool[p].schedulable || takes_fp8(gpu)) continue;
    add_diagnostic(found, Code::StrategyNotModelled, model.spec.llm->where,
                   fmt::format("\"{}\" is quantised to FP8, which vLLM does not run on {}",
                               model.name, gpu.name),
                   "quantization: INT4, or GPUs from Ampere on");
  }
}

}  // namespace

void apply_llm(const Catalogue& catalogue, Workload& spec, Diagnostics& found) {
  if (!spec.llm) return;
  const models::LlmModel* model = nullptr;
  if (!spec.llm->model.value.empty()) {
    model = find_model(catalogue, *spec.llm, found);
    if (model == nullptr) return;
    const auto as_served = as_quantised(*model, *spec.llm, found);
    if (!as_served) return;
    fill_from(*as_served, *spec.llm);
  }
  if (!spec.llm->overhead) spec.llm->overhead = kUsualOverhead;
  require_step(spec, found);
  require_tokens(spec, found);
  fill_measured(model, spec, found);
}

void model_llm(const Catalogue& catalogue, const GpuModel* from, const World& world,
               WorkloadModel& model, Diagnostics& found) {
  if (!model.spec.llm) return;
  const Llm& llm = *model.spec.llm;
  const models::LlmModel* named = catalogue.find_llm_model(llm.model.value);
  check_fp8(world, model, found);
  check_sharing(named, world, model, found);
  if (has_errors(found)) return;
  const std::optional<models::LlmLayers> shape = named == nullptr ? std::nullopt : named->shape;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    PoolDemand& demand = model.on_pool[p];
    const bool is_shared = demand.gpus > 1 && demand.schedulable;
    const int gpus = is_shared ? demand.gpus : 1;
    models::LlmStep step = step_on(llm, named, from, pool);
    if (is_shared) step = models::shared_step(step, *shape, gpus, *pool.gpu);
    const PartOfModel part = part_of(llm, shape, gpus);
    for (std::size_t k = 0; k < pool.kinds.size(); ++k) {
      const DomainKind& kind = pool.kinds[k];
      const models::DomainShare share =
          models::of_threads(kind.share, demand.in_kind[k].client.active_threads);
      LlmDemand& there = demand.llm.emplace_back();
      there.step = models::in_domain(step, share);
      if (is_shared) there.shared = shape;
      time_adapters(llm, *pool.gpu, share.bandwidth, gpus, there);
      const Bytes memory = client_memory(demand, kind);
      size_cache(llm, memory, pool.context_memory, part, there);
      limit_steps(llm, pool, kind, memory, there);
      if (llm.sleep) there.sleep = sleep_of(*llm.sleep, part.weights, pool);
      const bool comes_here =
          admits(pool, model.spec.pod) && std::ranges::any_of(kind.tickets, [&](const auto& of) {
            return of.offer == demand.offer;
          });
      if (comes_here) note_small_pool(model, pool, kind, memory, there, found);
    }
  }
  // The least that a process has anywhere.
  const int most = most_gpus(model);
  const PartOfModel least =
      part_of(llm, shape, shape && models::can_share(*shape, most) ? most : 1);
  const Bytes one_sequence = cache_of(longest_sequence(model.spec), least.kv_bytes_per_token);
  model.gpu_memory = least.weights + llm.kv_cache.value_or(one_sequence);
  if (llm.sleep) model.gpu_memory = std::min(model.gpu_memory, llm.sleep->memory);
}

Bytes process_memory(const WorkloadModel& model, const PoolDemand& demand, std::size_t kind) {
  return demand.llm.empty() ? model.gpu_memory : demand.llm[kind].gpu_memory;
}

Bytes spare_memory(const PoolDemand& demand, std::size_t kind) {
  return demand.llm.empty() ? Bytes{} : demand.llm[kind].spare;
}

Bytes memory_by_turns(const WorkloadModel& model, const PoolDemand& demand, std::size_t kind) {
  const bool sleeps = !demand.llm.empty() && demand.llm[kind].sleep.has_value();
  const Bytes whole = process_memory(model, demand, kind);
  return sleeps ? whole - std::min(whole, demand.llm[kind].sleep->gpu_memory) : Bytes{};
}

Bytes largest_process_memory(const WorkloadModel& model, const PoolDemand& demand,
                             std::size_t kind) {
  const bool drawn = model.spec.notebooks && model.spec.notebooks->memory;
  return drawn ? Bytes{largest_amount(*model.spec.notebooks->memory)}
               : process_memory(model, demand, kind);
}

}  // namespace slicewise::sim
