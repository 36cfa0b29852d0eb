#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using Blocks = std::shared_ptr<const scenarios::PromptBlocks>;

// Those of a trace that is replayed.
Blocks blocks_of(const scenarios::Traffic& traffic) {
  const auto* trace = std::get_if<scenarios::RequestTrace>(&traffic.shape);
  return trace == nullptr ? nullptr : trace->blocks;
}

// Of the traffic whose prompts the Service gets; its own llm.tokens take their place.
std::vector<Blocks> traced_blocks(const World& world, std::size_t workload) {
  const scenarios::Workload& spec = world.workloads[workload].spec;
  std::vector<Blocks> all;
  const auto add = [&](const scenarios::Traffic& traffic) {
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

}  // namespace

void model_prompts(World& world, Diagnostics& found) {
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    WorkloadModel& model = world.workloads[w];
    if (!model.spec.llm || model.spec.llm->role == scenarios::LlmRole::Decode) continue;
    const scenarios::Llm& llm = *model.spec.llm;
    std::vector<Blocks> traced = traced_blocks(world, w);
    const auto conflict = [&](std::string_view what, std::string help) {
      found.push_back(make_diagnostic(Code::SettingConflict, llm.where,
                                      fmt::format("\"{}\" {}", model.name, what), std::move(help)));
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
    } else if (llm.prefix_caching && llm.shared_prefix) {
      model.prompts = prefixes_of(*llm.shared_prefix);
    } else if (llm.prefix_caching && !traced.empty()) {
      model.prompts = std::move(traced.front());
    }
  }
}

}  // namespace slicewise::sim
