#include "workload_story.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/result_record.hpp"

#include "../export/guide.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;
using sim::WorkloadResult;

// Of the pod template. kube-scheduler holds pods of either side to a required anti-affinity.
std::string anti_affinity(const std::string& workload, const std::vector<std::string>& beside) {
  return fmt::format(
      "# {}: spec.template.spec, if nodes are left without them; by the label that they carry\n"
      "affinity:\n"
      "  podAntiAffinity:\n"
      "    requiredDuringSchedulingIgnoredDuringExecution:\n"
      "      - topologyKey: kubernetes.io/hostname\n"
      "        labelSelector:\n"
      "          matchExpressions:\n"
      "            - {{key: app, operator: In, values: [{}]}}\n",
      workload, fmt::join(beside, ", "));
}

std::string spread(const std::string& workload) {
  return fmt::format(
      "# {0}: spec.template.spec; its pods evenly over the nodes, by the label that they carry\n"
      "topologySpreadConstraints:\n"
      "  - maxSkew: 1\n"
      "    topologyKey: kubernetes.io/hostname\n"
      "    whenUnsatisfiable: DoNotSchedule\n"
      "    labelSelector: {{matchLabels: {{app: {0}}}}}\n",
      workload);
}

std::string pool_of_its_own(const std::string& workload) {
  return fmt::format(
      "# {0}: spec.template.spec, with a node pool of its own; on its nodes:\n"
      "#   label gpu-class={0}, taint gpu-class={0}:NoSchedule\n"
      "nodeSelector: {{gpu-class: {0}}}\n"
      "tolerations:\n"
      "  - {{key: gpu-class, operator: Equal, value: {0}, effect: NoSchedule}}\n",
      workload);
}

std::string share_sentence(const VariantResult& variant, const WorkloadResult& workload) {
  std::vector<std::string> others;
  for (const WorkloadResult& other : variant.workloads) {
    if (&other != &workload) others.push_back(other.name);
  }
  std::string out = fmt::format("its kernels had {} of the time of all GPUs",
                                percent_text(workload.gpu_busy_share));
  if (others.empty()) return out + "; no other workload runs in this variant";
  if (knows_places(variant)) return out;
  return out + fmt::format("; beside it: {}", fmt::join(others, ", "));
}

std::string neighbours_sentence(const VariantResult& variant, const WorkloadResult& workload) {
  if (!knows_places(variant)) return "";
  std::vector<std::string> met;
  for (const sim::GpuNeighbour& other : workload.neighbours) {
    met.push_back(fmt::format("{} in {} of {} runs",
                              other.workload == workload.name ? "pods of its own" : other.workload,
                              count_text(other.replications), count_text(variant.replications)));
  }
  if (met.empty()) return "no other pod was on a GPU with one of its own";
  return fmt::format("on a GPU with one of its pods at a time: {}", fmt::join(met, ", "));
}

// What keeps the workload from those that its figures suffer from, as it is applied.
std::string placement_fix(const VariantResult& variant, const WorkloadResult& workload,
                          const TextStyle& style) {
  if (!workload.placement) return "";
  const std::string& name = workload.name;
  std::vector<std::string> others = workload.placement->beside;
  const bool itself = std::erase(others, name) > 0;
  const bool several_nodes = variant.nodes.size() > 1;
  std::string rules;
  if (several_nodes && !others.empty()) rules += indented(anti_affinity(name, others), 6);
  if (several_nodes && itself) rules += indented(spread(name), 6);
  if (!others.empty()) rules += indented(pool_of_its_own(name), 6);
  if (rules.empty()) return "";
  return said(style,
              "why there: kube-scheduler scores nodes by CPU and memory, the device plugin counts "
              "the replicas of a GPU that it gave out, and ties fall by chance; neither knows who "
              "disturbs whom. What lasts is a rule:",
              4) +
         rules;
}

std::string turn_sentence(const VariantResult& variant) {
  const auto pool = std::ranges::find_if(
      variant.node_pools, [](const sim::NodePoolResult& each) { return each.turn.has_value(); });
  if (pool == variant.node_pools.end()) return "";
  return fmt::format(
      "processes of one GPU take turns of {}; each change costs {} (slicewise explain "
      "time-slicing)",
      duration_text(*pool->turn), duration_text(pool->switch_cost.value_or(Duration{})));
}

std::string wait_sentence(const WorkloadResult& workload) {
  std::string out;
  if (workload.wait && workload.wait->mean > Duration{}) {
    out = fmt::format("its pods waited {} for a GPU and to start, one in twenty {} or more",
                      duration_text(workload.wait->mean), duration_text(workload.wait->p95));
  }
  if (workload.quota && workload.quota->wait && workload.quota->wait->mean > Duration{}) {
    out +=
        fmt::format("{}until their queue had quota for them{} it was {}", out.empty() ? "" : "; ",
                    workload.quota->stopped > 0 ? " (again, where they were stopped)" : "",
                    duration_text(workload.quota->wait->mean));
  }
  return out;
}

std::string latency_sentence(const WorkloadResult& workload) {
  if (!workload.latency) return "";
  const sim::TimeSummary& latency = *workload.latency;
  std::string out =
      fmt::format("a request takes {} on average, p95 {}, p99 {}", duration_text(latency.mean),
                  duration_text(latency.p95), duration_text(latency.p99));
  if (workload.queueing) {
    out += fmt::format("; of the mean {} are spent in the queue",
                       duration_text(workload.queueing->mean));
  }
  return out;
}

std::string objectives(const WorkloadResult& workload, const TextStyle& style) {
  std::string out;
  for (const sim::ObjectiveResult& o : workload.objectives) {
    if (o.is_unasked) {
      out += said(style, fmt::format("{}: nothing was asked that could miss it", o.name), 4);
      continue;
    }
    const sim::AmountUnit unit = unit_of_word(sim::unit_word(o.limit));
    const auto ci95 = o.ci95 ? std::optional(sim::in_its_unit(*o.ci95)) : std::nullopt;
    out += said(style,
                fmt::format("{} {}: {}, the limit is {}", standing_sign(sim::standing_of(o), style),
                            o.name, amount_text({sim::in_its_unit(o.value), unit}, ci95, style),
                            amount_text({sim::in_its_unit(o.limit), unit})),
                4);
  }
  return out;
}

}  // namespace

std::string said(const TextStyle& style, const std::string& sentence, int indent) {
  if (sentence.empty()) return "";
  return wrapped_text(sentence, style.width, std::string(static_cast<std::size_t>(indent), ' '),
                      indent + 2);
}

bool knows_places(const VariantResult& variant) {
  return std::ranges::any_of(variant.gpus,
                             [](const sim::GpuResult& gpu) { return !gpu.pods.empty(); });
}

std::string workload_story(const VariantResult& variant, const WorkloadResult& workload,
                           const TextStyle& style) {
  std::string out = fmt::format("  {} ({})\n", workload.name, workload.kind);
  const std::string placement =
      workload.placement
          ? placement_sentence(workload.name, *workload.placement, variant.replications)
          : "";
  for (const std::string& sentence :
       {share_sentence(variant, workload), neighbours_sentence(variant, workload), placement,
        turn_sentence(variant), wait_sentence(workload), latency_sentence(workload),
        workload.bound_by.empty() ? "" : "what holds it up: " + workload.bound_by}) {
    out += said(style, sentence, 4);
  }
  return out + placement_fix(variant, workload, style) + objectives(workload, style);
}

}  // namespace slicewise::reports
