#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "../text/decimal.hpp"
#include "importers.hpp"
#include "pod_event.hpp"
#include "pod_object.hpp"

namespace slicewise::scenarios {
namespace {

// What a node says about the pods that ran on it.
struct NodeFacts {
  std::string instance_type;
  std::optional<int> replicas;  // of its GPUs
};

class PodsImporter {
 public:
  explicit PodsImporter(const ImportOptions& options)
      : options_(options), report_(options.skip_bad) {}

  Expected<Imported> import(std::span<const SourceText> files) {
    Diagnostics problems;
    for (const SourceText& file : files) read_file(file, problems);
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    if (report_.has_failed()) return tl::unexpected(report_.errors());
    if (listed_ == 0) {
      return not_the_format({files.front().name, 1, 1}, "there is no pod in it",
                            "make the file with `kubectl get pods -A -o json`");
    }
    std::vector<PodRecord> records;
    for (auto& [uid, pod] : pods_) {
      complete(pod, uid);
      records.push_back(std::move(pod));
    }
    events_.report_unknown_pods(report_);
    // By their place in the files, which is what a reader expects of those that arrive together.
    std::ranges::stable_sort(records, {}, [](const PodRecord& pod) { return pod.order; });
    JobTrace trace = trace_of_pods(std::move(records), options_, report_);
    remark_on_the_list(trace);
    const auto jobs = static_cast<std::int64_t>(trace.size());
    return Imported{std::move(trace), report_.take_log(jobs)};
  }

 private:
  void read_file(const SourceText& file, Diagnostics& problems) {
    const auto documents = read_json(file);
    if (!documents) {
      problems.insert(problems.end(), documents.error().begin(), documents.error().end());
      return;
    }
    JsonPlaces places(file);
    for (const JsonValue document : *documents) read_object(document, "", places);
  }

  // A list, or one object. Items of a PodList do not repeat their kind.
  void read_object(JsonValue object, std::string kind, JsonPlaces& places) {
    const std::string own_kind = object["kind"].scalar();
    if (!own_kind.empty()) kind = own_kind;
    const JsonValue items = object.is_array() ? object : object["items"];
    if (items.is_array() && (kind.empty() || kind.ends_with("List"))) {
      const std::string of_items =
          kind == "List" || kind.empty() ? "" : kind.substr(0, kind.size() - 4);
      JsonCursor cursor(items);
      while (cursor.next()) read_item(cursor.value(), of_items, places);
      return;
    }
    read_item(object, kind, places);
  }

  void read_item(JsonValue item, std::string kind, JsonPlaces& places) {
    report_.read();
    SourceLocation where = places.of(item);
    const std::string own_kind = item["kind"].scalar();
    if (!own_kind.empty()) kind = own_kind;
    if (kind.empty() && item["spec"]["containers"].is_array()) kind = "Pod";
    if (kind == "Pod") {
      add_pod(item, where, places);
    } else if (kind == "Event") {
      events_.add(item, where, report_);
    } else if (kind == "Node") {
      add_node(item);
    } else if (!item.is_object()) {
      report_.bad_row(where, "an object of Kubernetes is expected here");
    } else {
      report_.skipped(kind.empty() ? "objects without a kind"
                                   : fmt::format("objects of kind {}", kind.substr(0, 60)),
                      [&] { return where; });
    }
  }

  void add_pod(JsonValue item, const SourceLocation& where, JsonPlaces& places) {
    ++listed_;
    auto pod = read_pod(item, where, report_);
    if (!pod) {
      BadObject& bad = pod.error();
      report_.bad_row(places.of(bad.at), std::move(bad.message), std::move(bad.help));
      return;
    }
    std::string uid = item["metadata"]["uid"].scalar();
    if (uid.empty()) uid = fmt::format("{}/{}@{}", pod->space, pod->name, *pod->arrival);
    pod->order = listed_;
    if (pods_.contains(uid)) {
      report_.repaired("pods that are listed more than once: the last one counts",
                       [&] { return where; });
    }
    pods_[uid] = std::move(*pod);
  }

  void add_node(JsonValue item) {
    const JsonValue labels = item["metadata"]["labels"];
    NodeFacts& facts = nodes_[item["metadata"]["name"].scalar()];
    facts.instance_type = labels["node.kubernetes.io/instance-type"].scalar();
    const auto replicas = whole_of(labels["nvidia.com/gpu.replicas"].scalar());
    constexpr std::int64_t kMostReplicas = 10'000;
    // 0 on GPUs that are cut by MIG.
    if (replicas && *replicas >= 1 && *replicas <= kMostReplicas) {
      facts.replicas = static_cast<int>(*replicas);
    }
  }

  void complete(PodRecord& pod, const std::string& uid) {
    events_.complete(pod, uid, report_);
    const auto node = nodes_.find(pod.node);
    if (node == nodes_.end()) return;
    if (!node->second.instance_type.empty()) pod.instance_type = node->second.instance_type;
    pod.node_replicas = node->second.replicas;
  }

  void remark_on_the_list(const JobTrace& trace) {
    if (trace.size() == 0) return;
    report_.note("a list of pods has those that exist: deleted ones are missing, mostly short ones",
                 {});
    report_.note("run times count from the scheduling, start-up of the containers included", {});
  }

  const ImportOptions& options_;
  ImportReport report_;
  std::map<std::string, PodRecord> pods_;  // by uid: StatefulSets use names again
  std::map<std::string, NodeFacts> nodes_;
  PodEvents events_;
  std::int64_t listed_ = 0;
};

}  // namespace

Expected<Imported> import_pods(std::span<const SourceText> files, const ImportOptions& options) {
  return PodsImporter(options).import(files);
}

}  // namespace slicewise::scenarios
