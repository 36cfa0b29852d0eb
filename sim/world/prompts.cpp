#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using Blocks = std::shared_ptr<const scenarios::PromptBlocks>;

// Those of a trace that is replayed.
Blocks blocks_of(const Traffic& traffic) {
  const auto* trace = std::get_if<scenarios::RequestTrace>(&traffic.shape);
  return trace == nullptr ? nullptr : trace->blocks;
}

// Of the traffic whose prompts the Service gets; its own llm.tokens take their place.
std::vector<Blocks> traced_blocks(const World& world, std::size_t workload) {
  const Workload& spec = world.workloads[workload].spec;
  std::vector<Blocks> all;
  const auto add = [&](const Traffic& traffic) {
    if (auto blocks = blocks_of(traffic)) all.push_back(std::move(blocks));
  };
  if (spec.llm->input) return all;
  if (spec.traffic) add(*spec.traffic);
  for (const PipelineModel& pipeline : world.pipelines) {
    for (const PipelineModel::Stage& stage : pipeline.stages) {
      if (index(stage.workload) == workload) add(pipeline.spec.traffic);
    }
  }
  return all;
}

Blocks prefixes_of(const scenarios::SharedPrefix& prefix) {
  scenarios::PromptBlocks blocks;
  blocks.tokens = prefix.tokens;
  blocks.before.resize(static_cast<std::size_t>(prefix.count) + 1);
  return std::make_shared<const scenarios::PromptBlocks>(std::move(blocks));
}

// Tokens of the longest prompt; nullopt: there is no such number, or a pipeline's trace knows it.
std::optional<std::int64_t> longest_prompt(const Workload& spec) {
  using Law = scenarios::RandomAmount::Law;
  if (const auto& input = spec.llm->input) {
    if (input->law != Law::Constant) return input->most;
    const std::int64_t all = std::llround(input->mean);
    return std::clamp(all, input->least.value_or(all), input->most.value_or(all));
  }
  const auto* trace =
      spec.traffic ? std::get_if<scenarios::RequestTrace>(&spec.traffic->shape) : nullptr;
  if (trace == nullptr || !trace->has_tokens || trace->rows.empty()) return std::nullopt;
  return std::ranges::max(trace->rows, {}, &scenarios::RequestTrace::Row::input_tokens)
      .input_tokens;
}

}  // namespace

void model_prompts(World& world, Diagnostics& found) {
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    WorkloadModel& model = world.workloads[w];
    if (!model.spec.llm || model.spec.llm->role == scenarios::LlmRole::Decode) continue;
    const scenarios::Llm& llm = *model.spec.llm;
    std::vector<Blocks> traced = traced_blocks(world, w);
    const auto conflict = [&](std::string_view what, std::string help) {
      add_diagnostic(found, Code::SettingConflict, llm.where,
                     fmt::format("\"{}\" {}", model.name, what), std::move(help));
    };
    if (traced.size() > 1) {
      conflict("gets prompts of several traces that know their blocks",
               "one Service for each of the traces");
    } else if (!traced.empty() && llm.shared_prefix) {
      conflict("has sharedPrefix, and a trace that knows the blocks of its prompts",
               "leave sharedPrefix out: the trace says which prompts begin alike");
    } else if (!traced.empty() && llm.prefix_caching && llm.adapters) {
      conflict("has adapters, and a trace that knows the blocks of its prompts",
               "prefixCaching: false: what prompts of one adapter have alike is not simulated");
    } else if (!traced.empty() && llm.prefix_reuse > 0) {
      conflict("has prefixReuse, and a trace that knows the blocks of its prompts",
               "leave prefixReuse out: what is found is simulated");
    } else if (const auto longest = longest_prompt(model.spec);
               llm.shared_prefix && longest && *longest < llm.shared_prefix->tokens) {
      conflict(fmt::format("has a sharedPrefix of {} tokens, and no prompt with more than {}: none "
                           "begins with it",
                           llm.shared_prefix->tokens, *longest),
               "sharedPrefix.tokens are a part of the prompt's (llm.tokens.input)");
    } else if (llm.prefix_caching && llm.shared_prefix) {
      model.prompts = prefixes_of(*llm.shared_prefix);
    } else if (llm.prefix_caching && !traced.empty()) {
      model.prompts = std::move(traced.front());
    }
  }
}

}  // namespace slicewise::sim
