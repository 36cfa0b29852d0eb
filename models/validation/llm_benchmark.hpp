#pragma once

#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"

// What benchmarks of language model servers write: the JSON of `vllm bench
// serve --save-result` and genai-perf's profile_export_genai_perf.json.
namespace slicewise::models {

bool is_llm_benchmark(const SourceText& file);

// The server alone: a step makes one token for each of the requests that are
// served at a time, and takes the mean time between tokens of one request.
// Both files have the most requests at a time, vLLM's the model as well; the rest is of `context`.
// Of requests at a --request-rate there is none, unless the context says how many at a time.
Expected<std::vector<Measurement>> read_llm_benchmark(const SourceText& file,
                                                      const Catalogue& catalogue,
                                                      const MeasuredContext& context);

}  // namespace slicewise::models
