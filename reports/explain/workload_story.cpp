#include "workload_story.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../document/stored_fields.hpp"
#include "../export/guide.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"
#include "stored_words.hpp"

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
      const sim::ObjectiveStanding standing =
          sim::standing_of(stored_value<sim::ObjectiveResult>(document_, at));
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

}  // namespace

std::string workload_story(StoredDocument& document, const TextStyle& style, const std::string& at,
                           const std::string& w) {
  return WorkloadStory(document, style).told(at, w);
}

}  // namespace slicewise::reports
