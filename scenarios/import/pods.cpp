#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/pod_file.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../kubernetes/manifest_reader.hpp"
#include "../kubernetes/pod_sets.hpp"
#include "../kubernetes/pod_spec.hpp"
#include "../text/json_value.hpp"
#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "importers.hpp"
#include "pod_events.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {
namespace {

using manifests::is_list, manifests::is_map, manifests::items_of, manifests::node_below,
    manifests::place_below, manifests::text_below;

// Why an object could not be read.
struct BadObject {
  SourceLocation where;
  std::string message;
  std::string help;
};

using MaybeBad = std::optional<BadObject>;

// The earlier and the later of two times of which either may be unknown.
PodRecord::Time earlier(PodRecord::Time a, PodRecord::Time b) {
  return a && b ? std::min(a, b) : (a ? a : b);
}
PodRecord::Time later(PodRecord::Time a, PodRecord::Time b) {
  return a && b ? std::max(a, b) : (a ? a : b);
}

// What the manifest of a pod says is read as all manifests are; what became of it, here.
class PodReader {
 public:
  PodReader(const Node& object, ImportReport& report)
      : object_(object),
        metadata_(object.find("metadata")),
        spec_(object.find("spec")),
        report_(report) {
    pod_.where = object.where;
  }

  tl::expected<PodRecord, BadObject> read() {
    pod_.name = text_below(metadata_, {"name"});
    if (pod_.name.empty()) return bad({"metadata"}, "a pod without metadata.name");
    if (!is_map(spec_)) return bad({"spec"}, "a pod without spec");
    pod_.arrival = time_of(node_below(metadata_, {"creationTimestamp"}));
    if (!pod_.arrival) return bad_creation();
    PodFile pod;
    pod.kind = "Pod";
    file_ = manifests::pod_file_of(object_, {.kind = "Pod"}, object_, std::move(pod));
    pod_.space = namespace_of(file_.space);
    pod_.work = file_.owner;
    read_failure_rule();
    pod_.node = file_.node;
    pod_.priority = static_cast<std::int32_t>(file_.priority);
    constexpr std::int64_t kMostSeconds = kLongestInTrace / 1'000'000'000;
    const auto limit = whole_of(text_below(spec_, {"activeDeadlineSeconds"}));
    if (limit && *limit >= 0 && *limit <= kMostSeconds) pod_.time_limit = seconds(*limit);
    read_wanted_nodes();
    if (auto problem = read_resources()) return tl::unexpected(std::move(*problem));
    if (auto problem = read_annotations()) return tl::unexpected(std::move(*problem));
    read_status();
    return std::move(pod_);
  }

 private:
  tl::unexpected<BadObject> bad(std::initializer_list<std::string_view> path, std::string message,
                                std::string help = {}) const {
    return tl::unexpected(
        BadObject{place_below(object_, path), std::move(message), std::move(help)});
  }

  tl::unexpected<BadObject> bad_creation() const {
    const Node* created = node_below(metadata_, {"creationTimestamp"});
    if (created != nullptr && created->kind != Node::Kind::Null) {
      return bad({"metadata", "creationTimestamp"},
                 fmt::format("creationTimestamp of pod {} is no time", pod_.name),
                 "write 2024-06-10T06:13:20Z");
    }
    return bad({"metadata"},
               fmt::format("pod {} has no creationTimestamp: this is a manifest", pod_.name),
               "manifests are read by `slicewise import k8s`");
  }

  // A pod that nobody made and that is not restarted is gone when it fails; of a Job the Job says.
  void read_failure_rule() {
    const Node* owner = manifests::owner_of(metadata_);
    if (text_below(owner, {"kind"}) == "Job") {
      pod_.job = fmt::format("{}/{}", pod_.space, text_below(owner, {"name"}));
    } else if (!is_map(owner) && file_.restart_policy == "Never") {
      pod_.backoff_limit = 0;
    }
  }

  // Node labels that name an instance type or a GPU, from nodeSelector and required affinity.
  void read_wanted_nodes() {
    for (const KeyValue& label : file_.node_selector) want(label.key, label.value);
    for (const auto& term : file_.affinity) {
      for (const NodeRequirement& one : term) {
        if (one.op == "In") want(one.key, fmt::format("{}", fmt::join(one.values, "|")));
      }
    }
  }

  void want(std::string_view label, const std::string& value) {
    if (value.empty()) return;
    if (label == kInstanceTypeLabel || label == "beta.kubernetes.io/instance-type") {
      if (pod_.instance_type.empty()) pod_.instance_type = value.substr(0, value.find('|'));
    } else if (label == kProductLabel || label == kAcceleratorLabel || label == kGpuNameLabel) {
      if (pod_.gpu_models.empty()) pod_.gpu_models = value;
    }
  }

  MaybeBad read_resources() {
    if (const KeyValue& asked = file_.not_quantified; !asked.key.empty()) {
      const bool extended = asked.key.find('/') != std::string::npos;
      return BadObject{
          asked.where,
          fmt::format("pod {} asks for {} {}", pod_.name, asked.value.substr(0, 40), asked.key),
          extended ? "extended resources are whole numbers" : "a quantity such as 500m or 4Gi"};
    }
    pod_.amounts = reserved_amounts(file_);
    pod_.is_greedy = std::ranges::any_of(
        file_.containers, [](const ContainerFile& c) { return !c.is_init && maps_all_memory(c); });
    if (!file_.claims.empty()) {
      report_.skipped("resource claims of pods (DRA): the GPUs behind them are not in the list",
                      pod_.where);
    }
    return std::nullopt;
  }

  // Alibaba's milli-GPUs, fractions of Run:ai and KAI.
  MaybeBad read_annotations() {
    constexpr const char* kMilli = "alibabacloud.com/gpu-milli";
    if (const KeyValue* given = annotation_of(file_, kMilli)) {
      constexpr std::int64_t kWhole = 1'000'000;  // thousandths of a thousandth
      const auto amount = quantity_in_thousandths(given->value);
      if (!amount || *amount <= 0 || *amount > kWhole) {
        return BadObject{given->where,
                         fmt::format("{} of pod {} is no part of a GPU", kMilli, pod_.name),
                         "a number from 1 to 1000"};
      }
      pod_.fraction = static_cast<std::int32_t>(std::max<std::int64_t>(1, *amount / 1'000));
    }
    if (const KeyValue* given = annotation_of(file_, kKaiFraction)) {
      const auto part = kai_part(kKaiFraction, given->value);
      if (part->mistake) {
        return BadObject{given->where, fmt::format("pod {}: {}", pod_.name, part->mistake->message),
                         part->mistake->help};
      }
      pod_.fraction = static_cast<std::int32_t>(part->permille);
    }
    for (const std::string_view key : {"alibabacloud.com/gpu-count", kKaiDevices}) {
      const KeyValue* given = annotation_of(file_, key);
      const auto count = given == nullptr ? std::nullopt : whole_of(given->value);
      if (count && *count > 0) {
        pod_.fraction_gpus = static_cast<std::int32_t>(std::min<std::int64_t>(*count, 1'000'000));
      }
    }
    if (const KeyValue* given = annotation_of(file_, kKaiMemory)) take_memory(given->value);
    return std::nullopt;
  }

  void take_memory(const std::string& given) {
    const auto part = kai_part(kKaiMemory, given);
    if (part->mistake) return;
    pod_.gpu_memory = mebibytes(part->mebibytes);
    if (pod_.fraction) return;
    pod_.fraction = 1'000;
    report_.guessed(
        "pods that ask for GPU memory alone (annotation gpu-memory), taken as a whole GPU",
        pod_.where);
  }

  void read_status() {
    const Node* status = object_.find("status");
    for (const Node* condition : items_of(node_below(status, {"conditions"}))) {
      if (text_below(condition, {"type"}) == "PodScheduled" &&
          text_below(condition, {"status"}) == "True") {
        pod_.scheduled = time_of(node_below(condition, {"lastTransitionTime"}));
      }
    }
    bool restarted = false;
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
      for (const Node* container : items_of(node_below(status, {list}))) {
        read_container(container, list == "containerStatuses");
        restarted = restarted || whole_of(text_below(container, {"restartCount"})).value_or(0) > 0;
      }
    }
    if (restarted) {
      report_.noted("pods whose containers were restarted: they are listed with their last state",
                    pod_.where);
    }
    if (running_) pod_.ended.reset();
    pod_.state = state_of(text_below(status, {"phase"}), text_below(status, {"reason"}));
  }

  void read_container(const Node* status, bool is_main) {
    for (const std::string_view state : {"state", "lastState"}) {
      const Node* terminated = node_below(status, {state, "terminated"});
      const Node* running = node_below(status, {state, "running"});
      pod_.started = earlier(pod_.started, time_of(node_below(terminated, {"startedAt"})));
      pod_.started = earlier(pod_.started, time_of(node_below(running, {"startedAt"})));
      if (!is_main || state != "state") continue;
      pod_.ended = later(pod_.ended, time_of(node_below(terminated, {"finishedAt"})));
      running_ = running_ || is_map(running) || is_map(node_below(status, {state, "waiting"}));
    }
  }

  JobState state_of(std::string_view phase, std::string_view reason) const {
    if (phase == "Succeeded") return JobState::Completed;
    if (phase == "Failed") {
      if (reason == "DeadlineExceeded") return JobState::TimedOut;
      return reason == "Evicted" || reason == "Preempting" ? JobState::Cancelled : JobState::Failed;
    }
    if (phase == "Running") return JobState::Running;
    if (phase == "Pending") return pod_.scheduled ? JobState::Running : JobState::Pending;
    return JobState::Unknown;
  }

  const Node& object_;
  const Node* metadata_;
  const Node* spec_;
  ImportReport& report_;
  PodFile file_;
  PodRecord pod_;
  bool running_ = false;
};

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
    std::set<std::string> greedy = greedy_pods(records);
    JobTrace trace = trace_of_pods(std::move(records), options_, report_);
    remark_on_the_list(trace);
    const auto jobs = static_cast<std::int64_t>(trace.size());
    return Imported{std::move(trace), report_.take_log(jobs), {}, std::move(greedy)};
  }

 private:
  void read_file(const SourceText& file, Diagnostics& problems) {
    const auto documents = read_json(file);
    if (!documents) {
      problems.insert(problems.end(), documents.error().begin(), documents.error().end());
      return;
    }
    JsonPlaces places(file);
    for (const JsonValue document : *documents) read_object(document, places);
  }

  // A list, or one object. Items of a PodList do not repeat their kind. Of the many megabytes of a
  // list one item at a time is made a document.
  void read_object(JsonValue object, JsonPlaces& places) {
    const std::string kind = object["kind"].scalar();
    const JsonValue items = object.is_array() ? object : object["items"];
    if (!items.is_array() || !(kind.empty() || kind.ends_with("List"))) {
      return read_item(*tree_of(object, places), kind);
    }
    const std::string of_items =
        kind == "List" || kind.empty() ? "" : kind.substr(0, kind.size() - 4);
    for (JsonCursor cursor(items); cursor.next();) {
      read_item(*tree_of(cursor.value(), places), of_items);
    }
  }

  void read_item(const Node& item, std::string kind) {
    report_.read();
    const std::string own_kind = text_below(&item, {"kind"});
    if (!own_kind.empty()) kind = own_kind;
    if (kind.empty() && is_list(node_below(&item, {"spec", "containers"}))) kind = "Pod";
    if (kind == "Pod") {
      add_pod(item);
    } else if (kind == "Event") {
      events_.add(item, report_);
    } else if (kind == "Node") {
      add_node(item);
    } else if (kind == "Job") {
      add_job(item);
    } else if (!is_map(&item)) {
      report_.bad_row(item.where, "an object of Kubernetes is expected here");
    } else {
      report_.skipped(kind.empty() ? "objects without a kind"
                                   : fmt::format("objects of kind {}", kind.substr(0, 60)),
                      item.where);
    }
  }

  void add_pod(const Node& item) {
    ++listed_;
    auto pod = PodReader(item, report_).read();
    if (!pod) {
      BadObject& bad = pod.error();
      report_.bad_row(bad.where, std::move(bad.message), std::move(bad.help));
      return;
    }
    std::string uid = text_below(&item, {"metadata", "uid"});
    if (uid.empty()) uid = fmt::format("{}/{}@{}", pod->space, pod->name, *pod->arrival);
    pod->order = listed_;
    if (pods_.contains(uid)) {
      report_.repaired("pods that are listed more than once: the last one counts", item.where);
    }
    pods_[uid] = std::move(*pod);
  }

  void add_node(const Node& item) {
    const Node* labels = node_below(&item, {"metadata", "labels"});
    NodeFacts& facts = nodes_[text_below(&item, {"metadata", "name"})];
    facts.instance_type = text_below(labels, {kInstanceTypeLabel});
    const auto replicas = replicas_of_gpu(text_below(labels, {kReplicasLabel}));
    if (replicas) facts.replicas = replicas;
  }

  void add_job(const Node& item) {
    const auto limit = whole_of(text_below(&item, {"spec", "backoffLimit"}));
    if (!limit || *limit < 0 || *limit > std::numeric_limits<std::int32_t>::max()) return;
    backoff_limits_[fmt::format("{}/{}", namespace_of(text_below(&item, {"metadata", "namespace"})),
                                text_below(&item, {"metadata", "name"}))] =
        static_cast<std::int32_t>(*limit);
  }

  void complete(PodRecord& pod, const std::string& uid) {
    events_.complete(pod, uid, report_);
    const auto limit = backoff_limits_.find(pod.job);
    if (limit != backoff_limits_.end()) pod.backoff_limit = limit->second;
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
  std::map<std::string, std::int32_t> backoff_limits_;  // of Jobs, by PodRecord::job
  PodEvents events_;
  std::int64_t listed_ = 0;
};

}  // namespace

Expected<Imported> import_pods(std::span<const SourceText> files, const ImportOptions& options) {
  return PodsImporter(options).import(files);
}

}  // namespace slicewise::scenarios
