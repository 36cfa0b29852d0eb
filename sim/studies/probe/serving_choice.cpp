#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/pool_choice.hpp"

namespace slicewise::sim {
namespace {

// ", batches of 8 that wait 5ms": what is chosen but the number of GPUs.
std::string batching_text(const ServingChoice& choice) {
  std::string text;
  if (choice.max_batch == 1) {
    text += ", no batches";
  } else if (choice.max_batch) {
    text += fmt::format(", batches of {}", *choice.max_batch);
  }
  if (choice.max_delay && choice.max_batch != 1) {
    const double ms = to_seconds(*choice.max_delay) * 1e3;
    text += fmt::format("{}{} ms", choice.max_batch ? " that wait " : ", batches wait ",
                        short_text(ms));
  }
  if (choice.concurrency) {
    text += fmt::format(", {} at a time", counted(*choice.concurrency, "request"));
  }
  return text;
}

}  // namespace

void serve_as(const ServingChoice& choice, scenarios::Workload& workload) {
  if (choice.gpus && workload.llm) workload.llm->tensor_parallel_size = *choice.gpus;
  scenarios::Serving& serving = workload.serving;
  serving.max_batch = choice.max_batch.value_or(serving.max_batch);
  serving.max_delay = choice.max_delay.value_or(serving.max_delay);
  serving.concurrency = choice.concurrency.value_or(serving.concurrency);
}

std::string serving_text(const PoolChoice& choice) {
  std::string text;
  std::vector<std::string> batching;
  for (std::size_t w = 0; w < choice.serving.size(); ++w) {
    if (const auto gpus = choice.serving[w].gpus) {
      text += fmt::format(", {} for a pod of {}", counted(*gpus, "GPU"), choice.workloads[w]);
    }
    batching.push_back(batching_text(choice.serving[w]));
  }
  const bool alike = batching.size() > 1 && std::ranges::count(batching, batching.front()) ==
                                                static_cast<std::ptrdiff_t>(batching.size());
  if (alike) return text + batching.front();
  for (std::size_t w = 0; w < batching.size(); ++w) {
    if (!batching[w].empty()) text += fmt::format("{} in {}", batching[w], choice.workloads[w]);
  }
  return text;
}

}  // namespace slicewise::sim
