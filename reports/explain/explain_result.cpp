#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/reports/result_report.hpp"

#include "../difference/stored_document.hpp"
#include "../export/guide.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {
namespace {

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

std::string said(const TextStyle& style, const std::string& sentence, int indent = 2) {
  if (sentence.empty()) return "";
  return wrapped_text(sentence, style.width, std::string(static_cast<std::size_t>(indent), ' '),
                      indent + 2);
}

// The pointers of the members of a list; none where it is absent.
std::vector<std::string> items(StoredDocument& document, const std::string& list) {
  std::vector<std::string> pointers;
  const auto* values = document.list(list);
  for (std::size_t i = 0; values != nullptr && i < values->size(); ++i) {
    pointers.push_back(fmt::format("{}/{}", list, i));
  }
  return pointers;
}

double figure(StoredDocument& document, const std::string& pointer, double absent = 0) {
  return document.number(pointer).value_or(absent);
}

std::string text_of(StoredDocument& document, const std::string& pointer) {
  return document.text(pointer).value_or("");
}

std::string time(StoredDocument& document, const std::string& pointer) {
  return duration_text(from_seconds(figure(document, pointer)));
}

// "before: exclusive on 1 x p3.8xlarge (4 x V100-SXM2-16GB)".
std::string heading(StoredDocument& document, const std::string& at) {
  std::vector<std::string> pools;
  for (const std::string& pool : items(document, at + "/nodePools")) {
    pools.push_back(fmt::format("{} x {} ({} x {})", count_text(figure(document, pool + "/nodes")),
                                text_of(document, pool + "/instanceType"),
                                count_text(figure(document, pool + "/gpusPerNode")),
                                text_of(document, pool + "/gpuModel")));
  }
  return fmt::format("{}: {} on {}\n", document.required_text(at + "/name"),
                     text_of(document, at + "/strategy"), fmt::join(pools, " + "));
}

Bytes peak_memory(StoredDocument& document, const std::string& at, const std::string& member) {
  double most = 0;
  for (const std::string& gpu : items(document, at + "/gpus"))
    most = std::max(most, figure(document, gpu + member));
  return Bytes{static_cast<std::int64_t>(std::clamp(most, 0.0, 1e18))};
}

nlohmann::json::json_pointer pointer(const std::string& text) {
  return nlohmann::json::json_pointer(text);
}

// Older results do not say who was on a GPU.
bool knows_places(StoredDocument& document, const std::string& at) {
  return std::ranges::any_of(items(document, at + "/gpus"), [&](const std::string& gpu) {
    return !items(document, gpu + "/pods").empty();
  });
}

// Those that name the workload, or with "" all that are more than a note.
std::string findings(StoredDocument& document, const TextStyle& style, const std::string& variant,
                     const std::string& workload) {
  std::string out;
  for (const std::string& at : items(document, variant + "/findings")) {
    const std::string message = text_of(document, at + "/message");
    const bool meant = workload.empty() ? text_of(document, at + "/severity") != "note"
                                        : message.find('"' + workload + '"') != std::string::npos;
    if (!meant) continue;
    const std::string help = text_of(document, at + "/help");
    out += said(style,
                fmt::format("{} {}: {}{}", signs(style).warn, text_of(document, at + "/code"),
                            message, help.empty() ? "" : "; " + help),
                workload.empty() ? 2 : 4);
  }
  return out;
}

// What a stored result says of one of its workloads, in sentences.
class WorkloadStory {
 public:
  WorkloadStory(StoredDocument& document, const TextStyle& style)
      : document_(document), style_(style) {}

  // Of the workload at the pointer `w` in the variant at `at`.
  std::string told(const std::string& at, const std::string& w) {
    const std::string name = document_.required_text(w + "/name");
    std::string out = fmt::format("  {} ({})\n", name, text_of(document_, w + "/kind"));
    for (const std::string& sentence :
         {share_sentence(at, w), neighbours_sentence(at, w), placement_of(at, w), turn_sentence(at),
          wait_sentence(w), latency_sentence(w), bound_sentence(w)}) {
      out += said(style_, sentence, 4);
    }
    return out + placement_fix(at, w) + objectives(w) + findings(document_, style_, at, name);
  }

 private:
  std::string share_sentence(const std::string& at, const std::string& w) {
    std::vector<std::string> others;
    for (const std::string& other : items(document_, at + "/workloads")) {
      if (other != w) others.push_back(document_.required_text(other + "/name"));
    }
    std::string out = fmt::format("its kernels had {} of the time of all GPUs",
                                  percent_text(figure(document_, w + "/gpuBusyShare")));
    if (others.empty()) return out + "; no other workload runs in this variant";
    if (knows_places(document_, at)) return out;
    return out + fmt::format("; beside it: {}", fmt::join(others, ", "));
  }

  std::string neighbours_sentence(const std::string& at, const std::string& w) {
    if (!knows_places(document_, at)) return "";
    const std::string name = document_.required_text(w + "/name");
    std::vector<std::string> met;
    for (const std::string& other : items(document_, w + "/neighbours")) {
      const std::string who = text_of(document_, other + "/workload");
      met.push_back(fmt::format("{} in {} of {} runs", who == name ? "pods of its own" : who,
                                count_text(figure(document_, other + "/replications")),
                                count_text(figure(document_, at + "/replications"))));
    }
    if (met.empty()) return "no other pod was on a GPU with one of its own";
    return fmt::format("on a GPU with one of its pods at a time: {}", fmt::join(met, ", "));
  }

  std::string placement_of(const std::string& at, const std::string& w) {
    const std::string placement = w + "/placement";
    if (text_of(document_, placement + "/figure").empty()) return "";
    std::vector<std::string> beside;
    for (const std::string& other : items(document_, placement + "/beside"))
      beside.push_back(text_of(document_, other));
    const std::optional<double> worst = document_.number(placement + "/worstSeconds");
    return placement_sentence(
        document_.required_text(w + "/name"),
        {text_of(document_, placement + "/figure"),
         from_seconds(figure(document_, placement + "/usualSeconds")),
         static_cast<int>(figure(document_, placement + "/usualReplications")),
         worst ? std::optional(from_seconds(*worst)) : std::nullopt,
         static_cast<int>(figure(document_, placement + "/worstReplications")), std::move(beside)},
        static_cast<int>(figure(document_, at + "/replications")));
  }

  // What keeps the workload from those that its figures suffer from, as it is applied.
  std::string placement_fix(const std::string& at, const std::string& w) {
    std::vector<std::string> others;
    for (const std::string& other : items(document_, w + "/placement/beside")) {
      others.push_back(text_of(document_, other));
    }
    const std::string name = document_.required_text(w + "/name");
    const bool itself = std::erase(others, name) > 0;
    const bool several_nodes = items(document_, at + "/nodes").size() > 1;
    std::string rules;
    if (several_nodes && !others.empty()) rules += indented(anti_affinity(name, others), 6);
    if (several_nodes && itself) rules += indented(spread(name), 6);
    if (!others.empty()) rules += indented(pool_of_its_own(name), 6);
    if (rules.empty()) return "";
    return said(
               style_,
               "why there: kube-scheduler scores nodes by CPU and memory, the device plugin counts "
               "the replicas of a GPU that it gave out, and ties fall by chance; neither knows who "
               "disturbs whom. What lasts is a rule:",
               4) +
           rules;
  }

  std::string turn_sentence(const std::string& at) {
    for (const std::string& pool : items(document_, at + "/nodePools")) {
      if (!document_.number(pool + "/turnSeconds")) continue;
      return fmt::format(
          "processes of one GPU take turns of {}; each change costs {} (slicewise explain "
          "time-slicing)",
          time(document_, pool + "/turnSeconds"), time(document_, pool + "/switchCostSeconds"));
    }
    return "";
  }

  std::string wait_sentence(const std::string& w) {
    if (figure(document_, w + "/waitSeconds/mean") == 0) return "";
    return fmt::format("its pods waited {} for a GPU and to start, one in twenty {} or more",
                       time(document_, w + "/waitSeconds/mean"),
                       time(document_, w + "/waitSeconds/p95"));
  }

  std::string latency_sentence(const std::string& w) {
    if (!document_.number(w + "/latencySeconds/p95")) return "";
    std::string out = fmt::format("a request takes {} on average, p95 {}, p99 {}",
                                  time(document_, w + "/latencySeconds/mean"),
                                  time(document_, w + "/latencySeconds/p95"),
                                  time(document_, w + "/latencySeconds/p99"));
    if (document_.number(w + "/queueingSeconds/mean")) {
      out += fmt::format("; of the mean {} are spent in the queue",
                         time(document_, w + "/queueingSeconds/mean"));
    }
    return out;
  }

  std::string bound_sentence(const std::string& w) {
    const std::string bound = text_of(document_, w + "/boundBy");
    return bound.empty() ? "" : "what holds it up: " + bound;
  }

  std::string objectives(const std::string& w) {
    std::string out;
    for (const std::string& at : items(document_, w + "/objectives")) {
      const sim::ObjectiveStanding standing = stored_standing(
          document_.truth(at + "/pass").value_or(false), figure(document_, at + "/value"),
          document_.number(at + "/ci95"), figure(document_, at + "/limit"),
          document_.truth(at + "/atLeast").value_or(false));
      const sim::AmountUnit unit = unit_of_word(text_of(document_, at + "/unit"));
      out += said(style_,
                  fmt::format("{} {}: {}, the limit is {}", standing_sign(standing, style_),
                              document_.required_text(at + "/name"),
                              amount_text({figure(document_, at + "/value"), unit},
                                          document_.number(at + "/ci95"), style_),
                              amount_text({figure(document_, at + "/limit"), unit})),
                  4);
    }
    return out;
  }

  StoredDocument& document_;
  const TextStyle& style_;
};

// What a stored result says of its variants and workloads, in sentences.
class ResultExplainer {
 public:
  ResultExplainer(StoredDocument document, const TextStyle& style)
      : document_(std::move(document)), style_(style) {
    for (const std::string& variant : items(document_, "/variants")) {
      variants_.push_back(document_.required_text(variant + "/name"));
      for (const std::string& workload : items(document_, variant + "/workloads")) {
        const std::string name = document_.required_text(workload + "/name");
        if (std::ranges::find(workloads_, name) == workloads_.end()) workloads_.push_back(name);
      }
    }
  }

  std::string whole() {
    std::string out;
    for (const std::string& at : items(document_, "/variants")) out += variant(at);
    return out + said(style_, fmt::format("slicewise explain RESULT#NAME says more of one: {}",
                                          fmt::join(names(), ", ")));
  }

  // Of a variant, or of a workload or a pod in every variant; nullopt: none has that name.
  std::optional<std::string> of(const std::string& name) {
    std::string out;
    for (const std::string& at : items(document_, "/variants")) {
      if (document_.required_text(at + "/name") == name) {
        out += variant(at);
        for (const std::string& w : items(document_, at + "/workloads"))
          out += WorkloadStory(document_, style_).told(at, w);
        continue;
      }
      for (const std::string& w : items(document_, at + "/workloads")) {
        if (document_.required_text(w + "/name") == name)
          out += heading(document_, at) + WorkloadStory(document_, style_).told(at, w);
      }
    }
    return out.empty() ? of_pod(name) : std::optional(std::move(out));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all = variants_;
    for (const std::string& name : workloads_) {
      if (std::ranges::find(all, name) == all.end()) all.push_back(name);
    }
    return all;
  }

  const Diagnostics& problems() const { return document_.problems(); }

 private:
  // Where a pod was, and what is to be said of its workload.
  std::optional<std::string> of_pod(const std::string& pod) {
    std::string out;
    for (const std::string& at : items(document_, "/variants")) {
      std::string places;
      for (const std::string& gpu : items(document_, at + "/gpus")) {
        places += said(style_, seat_sentence(gpu, pod), 4);
      }
      std::string story;
      for (const std::string& w : items(document_, at + "/workloads")) {
        if (document_.required_text(w + "/name") == workload_of(pod))
          story += WorkloadStory(document_, style_).told(at, w);
      }
      if (places.empty() && !story.empty() && may_have_been(at, pod)) {
        places = said(style_,
                      fmt::format("a pod of {}: on no GPU when that was fullest in the first run",
                                  workload_of(pod)),
                      4);
      }
      if (places.empty()) continue;
      out += fmt::format("{}  {}\n{}{}", heading(document_, at), pod, places, story);
    }
    return out.empty() ? std::nullopt : std::optional(std::move(out));
  }

  // Results count the pods of a variant and list those on its GPUs: a pod beyond the count was not.
  bool may_have_been(const std::string& at, const std::string& pod) {
    const std::string number = pod.substr(std::min(pod.size(), workload_of(pod).size() + 1));
    const char* const end = number.data() + number.size();
    int nth = 0;
    const auto read = std::from_chars(number.data(), end, nth);
    return knows_places(document_, at) && read.ec == std::errc() && read.ptr == end && nth >= 1 &&
           nth <= figure(document_, at + "/pods/submitted");
  }

  // "" where the pod is not on that GPU.
  std::string seat_sentence(const std::string& gpu, const std::string& pod) {
    std::vector<std::string> others;
    for (const std::string& other : items(document_, gpu + "/pods"))
      others.push_back(text_of(document_, other));
    if (std::erase(others, pod) == 0) return "";
    const std::string profile = text_of(document_, gpu + "/migProfile");
    return fmt::format(
        "on {} #{}{} in the first run; beside it when most were there: {}",
        text_of(document_, gpu + "/node"), count_text(figure(document_, gpu + "/index")),
        profile.empty()
            ? ""
            : fmt::format(" {}.{}", profile, count_text(figure(document_, gpu + "/migInstance"))),
        others.empty() ? "nobody" : fmt::format("{}", fmt::join(others, ", ")));
  }

  std::string variant(const std::string& at) {
    std::string out = heading(document_, at) + verdict(at) + said(style_, pods_sentence(at)) +
                      said(style_, oom_sentence(at)) + said(style_, pending_sentence(at)) +
                      said(style_, gpus_sentence(at));
    for (const std::string& w : items(document_, at + "/workloads")) {
      const std::string bound = text_of(document_, w + "/boundBy");
      if (!bound.empty()) {
        out += said(style_, fmt::format("{} is held up by: {}",
                                        document_.required_text(w + "/name"), bound));
      }
    }
    return out + findings(document_, style_, at, "");
  }

  // Why it does not stand; nothing of one that does.
  std::string verdict(const std::string& at) {
    std::string out;
    for (const std::string& reason : items(document_, at + "/verdict/reasons")) {
      out += said(style_,
                  fmt::format("{} {}", signs(style_).fail, text_of(document_, reason + "/text")));
    }
    return out;
  }

  std::string pods_sentence(const std::string& at) {
    return fmt::format("{} pods were submitted, up to {} ran at once, {} succeeded",
                       count_text(figure(document_, at + "/pods/submitted")),
                       count_text(figure(document_, at + "/pods/runningMax")),
                       count_text(figure(document_, at + "/pods/succeeded")));
  }

  std::string oom_sentence(const std::string& at) {
    const double kills = figure(document_, at + "/pods/oomKilled");
    if (kills == 0) return "";
    return fmt::format(
        "{} containers were killed for want of GPU memory, {} pods failed for good: the devices "
        "hold {} at the most, of {}",
        count_text(kills), count_text(figure(document_, at + "/pods/failed")),
        memory_text(peak_memory(document_, at, "/memoryPeakBytes")),
        memory_text(peak_memory(document_, at, "/memoryTotalBytes")));
  }

  // What kube-scheduler would have said, and what there was to be had.
  std::string pending_sentence(const std::string& at) {
    const double most = figure(document_, at + "/pods/pendingMax");
    if (most == 0) return "";
    std::vector<std::string> reasons;
    for (const std::string& reason : items(document_, at + "/pods/pendingReasons")) {
      reasons.push_back(text_of(document_, reason));
    }
    std::string out =
        fmt::format("up to {} Pending: {}", count_text(most), fmt::join(reasons, " / "));
    for (const std::string& pool : items(document_, at + "/nodePools")) {
      const auto* offers = document_.root().contains(pointer(pool + "/advertised"))
                               ? &document_.root().at(pointer(pool + "/advertised"))
                               : nullptr;
      if (offers == nullptr || !offers->is_object()) continue;
      for (const auto& [name, count] : offers->items()) {
        if (!count.is_number()) continue;
        out += fmt::format(" Pool {} advertises {} {}.", text_of(document_, pool + "/name"),
                           count_text(count.get<double>()), name);
      }
    }
    return out;
  }

  std::string gpus_sentence(const std::string& at) {
    const std::vector<std::string> gpus = items(document_, at + "/gpus");
    if (gpus.empty()) return "";
    // As mean_over_gpus() has it: an instance is part of a GPU, a node may come and go.
    double busy = 0;
    double switching = 0;
    std::map<std::string, double> up;
    for (const std::string& gpu : gpus) {
      const double there = figure(document_, gpu + "/upRatio", 1);
      const double share = figure(document_, gpu + "/gpuShare", 1) * there;
      busy += share * figure(document_, gpu + "/timeBusyRatio");
      switching += share * figure(document_, gpu + "/contextSwitchRatio");
      up[fmt::format("{} {}", text_of(document_, gpu + "/node"),
                     figure(document_, gpu + "/index"))] = there;
    }
    double count = 0;
    for (const auto& [gpu, there] : up) count += there;
    if (count == 0) return "";
    std::string out = fmt::format("the GPUs were busy {} of the time", percent_text(busy / count));
    if (switching > 0) {
      out +=
          fmt::format(", and switching between processes took {}", percent_text(switching / count));
    }
    return out;
  }

  StoredDocument document_;
  TextStyle style_;
  std::vector<std::string> variants_;
  std::vector<std::string> workloads_;
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
  return tl::unexpected(Diagnostics{
      make_diagnostic(Code::PathUnknown, {source.name, 1, 1, 1},
                      fmt::format("the result has no variant, workload or pod \"{}\"", name),
                      (nearest ? fmt::format("did you mean {}? ", *nearest) : std::string()) +
                          fmt::format("It has {}", fmt::join(known, ", ")))});
}

}  // namespace slicewise::reports
