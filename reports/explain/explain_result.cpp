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

#include "../document/stored_document.hpp"
#include "../export/guide.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_placement.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"
#include "stored_words.hpp"
#include "workload_story.hpp"

namespace slicewise::reports {
namespace {

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
          out += workload_story(document_, style_, at, w);
        continue;
      }
      for (const std::string& w : items(document_, at + "/workloads")) {
        if (document_.required_text(w + "/name") == name)
          out += heading(document_, at) + workload_story(document_, style_, at, w);
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
          story += workload_story(document_, style_, at, w);
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
