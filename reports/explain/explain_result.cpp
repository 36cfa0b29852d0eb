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
#include "slicewise/sim/result_record.hpp"

#include "../document/stored_fields.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../screens/result_verdict.hpp"
#include "workload_story.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;
using sim::WorkloadResult;

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
