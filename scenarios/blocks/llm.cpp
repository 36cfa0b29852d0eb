#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Field kTokensFields[] = {
    field<&Llm::input>("input", "{p50: 1020, p99: 4142}", "Tokens of a prompt.")
        .needed()
        .of(kTokenAmount),
    field<&Llm::output>("output", "{mean: 211, distribution: Exponential}", "Tokens of an answer.")
        .needed()
        .of(kTokenAmount),
};
constexpr FieldList kTokens = block<Llm>(kTokensFields);

constexpr Field kLlmStepFields[] = {
    field<&Llm::weights_time>(
        "weightsTime", "14.2ms",
        "Time to read the weights once: a decode step of one sequence without cache.")
        .positive(),
    field<&Llm::token_seconds>("tokenTime", "63.7us",
                               "Compute of one token, as a long prefill shows it.")
        .as(T::FineDuration)
        .positive(),
    field<&Llm::kv_read_seconds>("cacheReadTime", "0.3673us",
                                 "Time to read the cache of one token.")
        .as(T::FineDuration),
    field<&Llm::overhead>("overhead", "1ms", "Time of the framework, per step.")
        .otherwise("the model's, else 0.6ms"),
};
constexpr FieldList kLlmStep = block<Llm>(kLlmStepFields);

constexpr Field kLlmFields[] = {
    field<&Llm::model>("model", "llama-3-8b-fp16/a10g",
                       "Language model of the catalogue; what is given beside it counts instead.")
        .positive(),
    inner("step", "{weightsTime: 14.2ms, tokenTime: 63.7us, cacheReadTime: 0.3673us}",
          "Time of one step over N tokens: the norm of weightsTime and N x tokenTime, plus "
          "cacheReadTime for every cached token of the running sequences, plus overhead.")
        .of(kLlmStep),
    inner("tokens", "{input: {p50: 1020, p99: 4142}, output: {p50: 129, p99: 601}}",
          "Lengths of prompts and answers: a number, {mean, distribution} or percentiles.")
        .of(kTokens)
        .otherwise("those of the trace"),
    field<&Llm::weights>("weights", "16Gi", "GPU memory of the weights."),
    field<&Llm::kv_bytes_per_token>("kvBytesPerToken", "128Ki",
                                    "GPU memory of the cache of one token."),
    field<&Llm::kv_cache>("kvCache", "4Gi", "Size of the cache, reserved at start.")
        .otherwise("what memoryUtilization leaves beside the weights"),
    field<&Llm::memory_utilization>("memoryUtilization", "90%",
                                    "Share of the GPU's memory, or of the limit, that the server "
                                    "takes (vLLM's gpu_memory_utilization).")
        .as(T::Percent)
        .positive(),
    field<&Llm::max_sequences>("maxSequences", "64",
                               "Sequences that run at once (vLLM's max_num_seqs).")
        .between(1, 1'000'000),
    field<&Llm::max_batched_tokens>(
        "maxBatchedTokens", "2048",
        "Tokens of a step, decoded and prefilled (vLLM's max_num_batched_tokens).")
        .between(1, 100'000'000),
    field<&Llm::prefix_reuse>("prefixReuse", "30%",
                              "Share of the prompt's tokens that are found in the cache.")
        .as(T::Percent),
};

}  // namespace

constinit const FieldList kLlm = block<Llm>(kLlmFields);

}  // namespace slicewise::scenarios
