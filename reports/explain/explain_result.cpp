#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../document/stored_fields.hpp"
#include "../export/guide.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;
using sim::WorkloadResult;

// Wrapped and indented; "" of nothing.
std::string said(const TextStyle& style, const std::string& sentence, int indent = 2) {
  if (sentence.empty()) return "";
  return wrapped_text(sentence, style.width, std::string(static_cast<std::size_t>(indent), ' '),
                      indent + 2);
}

// Whether it says who was on a GPU of the variant; older ones do not.
bool knows_places(const VariantResult& variant) {
  return std::ranges::any_of(variant.gpus,
                             [](const sim::GpuResult& gpu) { return !gpu.pods.empty(); });
}

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

// What a stored result says of a workload of the variant, in sentences.
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

// "before: exclusive on 1 x p3.8xlarge (4 x V100-SXM2-16GB)".
std::string heading(const VariantResult& variant) {
  std::vector<std::string> pools;
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    pools.push_back(fmt::format("{} x {} ({} x {})", count_text(pool.nodes), pool.instance_type,
                                count_text(pool.gpus_per_node), pool.gpu_model));
  }
  return fmt::format("{}: {} on {}\n", variant.name, variant.strategy, fmt::join(pools, " + "));
}

Bytes most_memory(const VariantResult& variant, Bytes sim::GpuResult::*memory) {
  Bytes most;
  for (const sim::GpuResult& gpu : variant.gpus) most = std::max(most, gpu.*memory);
  return most;
}

std::string pods_sentence(const VariantResult& variant) {
  return fmt::format("{} pods were submitted, up to {} ran at once, {} succeeded",
                     count_text(variant.pods.submitted),
                     count_text(static_cast<double>(variant.pods.running_max)),
                     count_text(variant.pods.succeeded));
}

std::string oom_sentence(const VariantResult& variant) {
  if (variant.pods.oom_kills == 0) return "";
  return fmt::format(
      "{} containers were killed for want of GPU memory, {} pods failed for good: the devices "
      "hold {} at the most, of {}",
      count_text(variant.pods.oom_kills), count_text(variant.pods.failed),
      memory_text(most_memory(variant, &sim::GpuResult::memory_peak)),
      memory_text(most_memory(variant, &sim::GpuResult::memory_total)));
}

// What kube-scheduler would have said, and what there was to be had.
std::string pending_sentence(const VariantResult& variant) {
  if (variant.pods.pending_max == 0) return "";
  std::string out =
      fmt::format("up to {} Pending: {}", count_text(static_cast<double>(variant.pods.pending_max)),
                  fmt::join(variant.pods.pending_reasons, " / "));
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    for (const auto& [name, count] : pool.advertised) {
      out += fmt::format(" Pool {} advertises {} {}.", pool.name,
                         count_text(static_cast<double>(count)), name);
    }
  }
  return out;
}

std::string gpus_sentence(const VariantResult& variant) {
  if (std::ranges::all_of(variant.gpus, [](const auto& gpu) { return gpu.up_ratio == 0; })) {
    return "";
  }
  const double switching = mean_over_gpus(variant, &sim::GpuResult::context_switch_ratio);
  std::string out =
      fmt::format("the GPUs were busy {} of the time",
                  percent_text(mean_over_gpus(variant, &sim::GpuResult::time_busy_ratio)));
  if (switching > 0) {
    out += fmt::format(", and switching between processes took {}", percent_text(switching));
  }
  return out;
}

// "" where the pod is not on that GPU.
std::string seat_sentence(const sim::GpuResult& gpu, const std::string& pod) {
  std::vector<std::string> others = gpu.pods;
  if (std::erase(others, pod) == 0) return "";
  return fmt::format(
      "on {} #{}{} in the first run; beside it when most were there: {}", gpu.node,
      count_text(gpu.index),
      gpu.partition.empty() ? "" : fmt::format(" {}.{}", gpu.partition, count_text(gpu.instance)),
      others.empty() ? "nobody" : fmt::format("{}", fmt::join(others, ", ")));
}

// Results count the pods of a variant and list those on its GPUs: a pod beyond the count was not.
bool may_have_been(const VariantResult& variant, const std::string& pod) {
  const std::string number = pod.substr(std::min(pod.size(), workload_of(pod).size() + 1));
  const char* const end = number.data() + number.size();
  int nth = 0;
  const auto read = std::from_chars(number.data(), end, nth);
  return knows_places(variant) && read.ec == std::errc() && read.ptr == end && nth >= 1 &&
         nth <= variant.pods.submitted;
}

// What a stored result says of its variants and workloads, in sentences.
class ResultExplainer {
 public:
  ResultExplainer(StoredDocument document, const TextStyle& style)
      : document_(std::move(document)),
        style_(style),
        variants_(stored_value<sim::Result>(document_, "", Absent::Older).variants) {
    // Older results lack figures, but no names.
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      for (std::size_t w = 0; w < variants_[v].workloads.size(); ++w) {
        document_.required_text(fmt::format("/variants/{}/workloads/{}/name", v, w));
      }
    }
  }

  std::string whole() {
    std::string out;
    for (const VariantResult& variant : variants_) out += told(variant);
    return out + said(style_, fmt::format("slicewise explain RESULT#NAME says more of one: {}",
                                          fmt::join(names(), ", ")));
  }

  // Of a variant, or of a workload or a pod in every variant; nullopt: none has that name.
  std::optional<std::string> of(const std::string& name) {
    std::string out;
    for (const VariantResult& variant : variants_) {
      if (variant.name == name) {
        out += told(variant);
        for (const WorkloadResult& workload : variant.workloads) out += story(variant, workload);
        continue;
      }
      for (const WorkloadResult& workload : variant.workloads) {
        if (workload.name == name) out += heading(variant) + story(variant, workload);
      }
    }
    return out.empty() ? of_pod(name) : std::optional(std::move(out));
  }

  // Variants, then workloads, each once.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const VariantResult& variant : variants_) all.push_back(variant.name);
    for (const VariantResult& variant : variants_) {
      for (const WorkloadResult& workload : variant.workloads) {
        if (std::ranges::find(all, workload.name) == all.end()) all.push_back(workload.name);
      }
    }
    return all;
  }

  const Diagnostics& problems() const { return document_.problems(); }

 private:
  // Where a pod was, and what is to be said of its workload.
  std::optional<std::string> of_pod(const std::string& pod) {
    std::string out;
    for (const VariantResult& variant : variants_) {
      std::string places;
      for (const sim::GpuResult& gpu : variant.gpus) {
        places += said(style_, seat_sentence(gpu, pod), 4);
      }
      std::string its_story;
      for (const WorkloadResult& workload : variant.workloads) {
        if (workload.name == workload_of(pod)) its_story += story(variant, workload);
      }
      if (places.empty() && !its_story.empty() && may_have_been(variant, pod)) {
        places = said(style_,
                      fmt::format("a pod of {}: on no GPU when that was fullest in the first run",
                                  workload_of(pod)),
                      4);
      }
      if (places.empty()) continue;
      out += fmt::format("{}  {}\n{}{}", heading(variant), pod, places, its_story);
    }
    return out.empty() ? std::nullopt : std::optional(std::move(out));
  }

  std::string told(const VariantResult& variant) {
    std::string out = heading(variant);
    // Why it does not stand; nothing of one that does.
    for (const sim::Verdict::Reason& reason : variant.verdict.reasons) {
      out += said(style_, fmt::format("{} {}", signs(style_).fail, reason.text));
    }
    for (const std::string& sentence : {pods_sentence(variant), oom_sentence(variant),
                                        pending_sentence(variant), gpus_sentence(variant)}) {
      out += said(style_, sentence);
    }
    for (const WorkloadResult& workload : variant.workloads) {
      if (workload.bound_by.empty()) continue;
      out += said(style_, fmt::format("{} is held up by: {}", workload.name, workload.bound_by));
    }
    return out + findings(variant,
                          [](const Diagnostic& found) { return found.severity != Severity::Note; });
  }

  std::string story(const VariantResult& variant, const WorkloadResult& workload) {
    return workload_story(variant, workload, style_) +
           findings(
               variant,
               [&](const Diagnostic& found) {
                 return std::ranges::find(found.workloads, workload.name) != found.workloads.end();
               },
               4);
  }

  template <class Meant>
  std::string findings(const VariantResult& variant, Meant meant, int indent = 2) {
    std::string out;
    for (std::size_t f = 0; f < variant.findings.size(); ++f) {
      const Diagnostic& found = variant.findings[f];
      if (!meant(found)) continue;
      // As it is written: a newer slicewise has other codes.
      const std::string code = document_.required_text(
          fmt::format("/variants/{}/findings/{}/code", &variant - variants_.data(), f));
      out += said(style_,
                  fmt::format("{} {}: {}{}", signs(style_).warn, code, found.message,
                              found.help.empty() ? "" : "; " + found.help),
                  indent);
    }
    return out;
  }

  StoredDocument document_;
  TextStyle style_;
  std::vector<VariantResult> variants_;
};

}  // namespace

Expected<std::string> explain_result(const SourceText& source, const std::string& name,
                                     const TextStyle& style) {
  Expected<StoredDocument> document = StoredDocument::read(source);
  if (!document) return tl::unexpected(std::move(document.error()));
  if (const auto stored = read_result(*document); !stored) return tl::unexpected(stored.error());
  ResultExplainer explainer(std::move(*document), style);
  const std::optional<std::string> text = name.empty() ? explainer.whole() : explainer.of(name);
  if (!explainer.problems().empty()) return tl::unexpected(explainer.problems());
  if (text) return printable(*text, "\n");
  const std::vector<std::string> known = explainer.names();
  const auto nearest = nearest_name(name, known);
  return failure(Code::PathUnknown, {source.name, 1, 1, 1},
                 fmt::format("the result has no variant, workload or pod \"{}\"", name),
                 (nearest ? fmt::format("did you mean {}? ", *nearest) : std::string()) +
                     fmt::format("It has {}", fmt::join(known, ", ")));
}

}  // namespace slicewise::reports
