#include "result_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/pool_choice.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

// One way of sharing, as people write it: "MIG + MPS" for "mig+mps".
std::string_view word_for(std::string_view name) {
  const scenarios::SharingStrategy* way = scenarios::sharing_strategy(name);
  return way == nullptr ? name : way->title;
}

std::int64_t devices_of(const sim::NodePoolResult& pool) {
  if (pool.instances.empty()) {
    return std::int64_t{pool.nodes} * (pool.gpus_per_node - pool.unhealthy_gpus);
  }
  std::int64_t instances = 0;
  for (const auto& [profile, count] : pool.instances) instances += count;
  return instances;
}

// Pods that may hold one device; nullopt where devices differ, and for whole ones.
std::optional<std::int64_t> replicas_of(const sim::NodePoolResult& pool) {
  const std::int64_t devices = devices_of(pool);
  if (pool.advertised.size() != 1 || devices == 0) return std::nullopt;
  const std::int64_t offered = pool.advertised.begin()->second;
  if (offered % devices != 0 || offered == devices) return std::nullopt;
  return offered / devices;
}

// "fixed share": the scheduling policies of vGPUs as NVIDIA writes them.
std::string_view policy_text(std::string_view policy) {
  if (policy == "bestEffort") return "best effort";
  return policy == "equalShare" ? "equal share" : "fixed share";
}

// A node with a fraction of a GPU advertises one of the vGPUs on it, not all.
bool has_fraction(const sim::NodePoolResult& pool) {
  return pool.vgpus_per_gpu > 1 && !replicas_of(pool);
}

// "1 x A10G", "1/8 of an L4"
std::string gpus_text(const sim::NodePoolResult& pool) {
  if (!has_fraction(pool)) {
    const int healthy = pool.gpus_per_node - pool.unhealthy_gpus;
    return fmt::format("{}{} x {}",
                       pool.unhealthy_gpus > 0 ? fmt::format("{} healthy of ", healthy) : "",
                       pool.gpus_per_node, pool.gpu_model);
  }
  const bool vowel = std::string_view("AEFHILMNORSX").find(pool.gpu_model.front()) !=
                     std::string_view::npos;  // read letter by letter: an L4, a T4
  return fmt::format("1/{} of {} {}", pool.vgpus_per_gpu, vowel ? "an" : "a", pool.gpu_model);
}

// "MIG all-1g.5gb + time-slicing x2", "vGPU (fixed share)"
std::string sharing_text(const sim::NodePoolResult& pool) {
  std::string text(word_for(pool.strategy));
  const auto strategy = sim::strategy_of(pool.strategy);
  if (!pool.mig_config.empty() && strategy && sim::is_mig(*strategy)) {
    text.insert(sim::described(sim::Strategy::Mig).title.size(), " " + pool.mig_config);
  }
  if (const auto replicas = replicas_of(pool)) text += fmt::format(" x{}", *replicas);
  if (!pool.vgpu_policy.empty()) text += fmt::format(" ({})", policy_text(pool.vgpu_policy));
  return text;
}

// "2", "1 to 8"
std::string nodes_text(const sim::NodePoolResult& pool) {
  if (!pool.dynamics || !pool.dynamics->most) return std::to_string(pool.nodes);
  return fmt::format("{} to {}", pool.dynamics->least.value_or(0), *pool.dynamics->most);
}

std::string instances_text(const sim::NodePoolResult& pool) {
  std::string text;
  for (const auto& [profile, count] : pool.instances) {
    add_name(text, fmt::format("{} x {}", count, profile));
  }
  if (!text.empty() && pool.sms_unused_ratio.value_or(0) > 0) {
    text += fmt::format("; {} of the SMs in no instance", percent_text(*pool.sms_unused_ratio));
  }
  return text;
}

// What one CUDA process may take under MPS.
std::string client_text(const sim::NodePoolResult& pool) {
  if (!pool.active_threads) return "";
  // The limits differ from profile to profile.
  if (pool.instances.size() > 1) return "each client up to a share of its instance";
  const std::string sms = *pool.active_threads < 1
                              ? fmt::format("{} of the SMs", percent_text(*pool.active_threads))
                              : "all SMs";
  std::string memory = ", memory without a limit";
  if (sim::strategy_of(pool.strategy) == sim::Strategy::Nos)
    memory = " and the memory of its slice";
  if (pool.memory_limit) memory = " and " + memory_text(*pool.memory_limit);
  return fmt::format("each client up to {}{}", sms, memory);
}

std::string nodes_sentence(const sim::NodePoolResult& pool) {
  const sim::NodeDynamics& nodes = *pool.dynamics;
  std::string out = fmt::format("NODES {}: {} on average, {} at most, by {}; {} started", pool.name,
                                short_text(nodes.mean_nodes), nodes.max_nodes, nodes.provisioner,
                                short_text(nodes.launches));
  const auto add = [&out](double count, std::string_view what) {
    if (count > 0) out += fmt::format(", {} {}", short_text(count), what);
  };
  add(nodes.surplus, "of them without need");
  add(nodes.removed, "taken away");
  add(nodes.interruptions, "taken back by EC2");
  add(nodes.on_demand_nodes, "bought as on-demand instead");
  out += fmt::format("; {} node-hours", short_text(nodes.node_hours, 4));
  add(nodes.thrash_node_hours * 60, "node-minutes of thrash");
  return out;
}

std::string spot_sentence(const sim::NodePoolResult& pool) {
  return fmt::format("SPOT {}: EC2 takes a node back {} times in 1,000 hours ({}){}", pool.name,
                     short_text(pool.spot->per_1000_hours), pool.spot->source,
                     pool.spot->falls_back ? "; the one in its place is bought as on-demand" : "");
}

std::string start_up_sentence(const sim::NodeStartUpFigures& figures) {
  std::string out = fmt::format("START-UP {} {} waited {} for a node, from Pending to work",
                                short_text(figures.pods), figures.pods == 1 ? "pod" : "pods",
                                duration_text(figures.total.mean));
  std::string_view separator = ": ";
  const auto add = [&](Duration stage, std::string_view name) {
    if (stage.ns <= 0) return;
    out += fmt::format("{}{} {}", separator, name, duration_text(stage));
    separator = " + ";
  };
  add(figures.decision, "decision");
  add(figures.launch, "launch");
  add(figures.ready, "node Ready");
  add(figures.gpu_allocatable, "GPU allocatable");
  add(figures.scheduling, "scheduling");
  add(figures.image_pull, "image pull");
  add(figures.model_load, "model load");
  return out;
}

}  // namespace

std::string strategy_text(const sim::VariantResult& variant) {
  std::vector<std::string_view> words;
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    const std::string_view word = word_for(pool.strategy);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string pool_sentence(const sim::NodePoolResult& pool) {
  std::string out =
      fmt::format("{} on {} x {}", sharing_text(pool), nodes_text(pool), pool.instance_type);
  if (!pool.gpu_model.empty()) out += fmt::format(" ({})", gpus_text(pool));
  for (const std::string& part : {pool.region, pool.purchase_option}) {
    if (!part.empty()) out += ", " + part;
  }
  if (!pool.price_plan.empty()) out += fmt::format(" less the discount of {}", pool.price_plan);
  // As `get instances` rounds it, "$0.526".
  const double price = std::round(static_cast<double>(pool.price.per_hour.nano) / 1e5) / 1e4;
  out += fmt::format(", ${}/h each", price);
  std::string_view separator = ": ";
  for (const std::string& part : {instances_text(pool), client_text(pool)}) {
    if (part.empty()) continue;
    out += separator;
    out += part;
    separator = "; ";
  }
  return out;
}

std::string advertised_sentence(const sim::NodePoolResult& pool) {
  std::string text;
  for (const auto& [resource, count] : pool.advertised) {
    add_name(text, fmt::format("{}: {}", resource, count));
  }
  if (text.empty()) text = "no extended resource";
  if (pool.dynamics && pool.dynamics->most) text += " with all its nodes";
  if (pool.turn && pool.switch_cost) {
    text += fmt::format("; turn {}, switch {}", duration_text(*pool.turn),
                        duration_text(*pool.switch_cost));
  }
  return fmt::format("{} advertises {}", pool.name, text);
}

bool has_node_dynamics(const sim::VariantResult& variant) {
  return std::ranges::any_of(variant.node_pools, [](const sim::NodePoolResult& pool) {
    return pool.dynamics.has_value();
  });
}

std::string_view month_words(const sim::VariantResult& variant) {
  return has_node_dynamics(variant) ? "at this rate" : "if the nodes keep running";
}

std::vector<std::string> node_sentences(const sim::VariantResult& variant) {
  std::vector<std::string> out;
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    if (pool.dynamics) out.push_back(nodes_sentence(pool));
    if (pool.spot) out.push_back(spot_sentence(pool));
  }
  if (variant.node_start_up) out.push_back(start_up_sentence(*variant.node_start_up));
  return out;
}

}  // namespace slicewise::reports
