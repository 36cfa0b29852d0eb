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

#include "../kubernetes/pod_spec.hpp"
#include "../text/json_value.hpp"
#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "importers.hpp"
#include "pod_events.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {
namespace {

// Why an object could not be read.
struct BadObject {
  JsonValue at;
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

class PodReader {
 public:
  PodReader(JsonValue pod, const SourceLocation& place, ImportReport& report)
      : metadata_(pod["metadata"]), spec_(pod["spec"]), status_(pod["status"]), report_(report) {
    pod_.where = place;
  }

  tl::expected<PodRecord, BadObject> read() {
    pod_.name = metadata_["name"].scalar();
    pod_.space = metadata_["namespace"].scalar();
    if (pod_.space.empty()) pod_.space = "default";
    if (pod_.name.empty()) return bad(metadata_, "a pod without metadata.name");
    if (!spec_.is_object()) return bad(metadata_, "a pod without spec");
    pod_.arrival = time_of(metadata_["creationTimestamp"]);
    if (!pod_.arrival) return bad_creation();
    pod_.work = manifests::maker_of(metadata_);
    read_failure_rule();
    pod_.node = spec_["nodeName"].scalar();
    pod_.priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        whole_of(spec_["priority"].scalar()).value_or(0), -2'147'483'647, 2'147'483'647));
    constexpr std::int64_t kMostSeconds = kLongestInTrace / 1'000'000'000;
    const auto limit = whole_of(spec_["activeDeadlineSeconds"].scalar());
    if (limit && *limit >= 0 && *limit <= kMostSeconds) pod_.time_limit = seconds(*limit);
    read_wanted_nodes();
    if (auto problem = read_resources()) return tl::unexpected(std::move(*problem));
    if (auto problem = read_annotations()) return tl::unexpected(std::move(*problem));
    read_status();
    return std::move(pod_);
  }

 private:
  static tl::unexpected<BadObject> bad(JsonValue at, std::string message, std::string help = {}) {
    return tl::unexpected(BadObject{at, std::move(message), std::move(help)});
  }

  tl::unexpected<BadObject> bad_creation() const {
    const JsonValue created = metadata_["creationTimestamp"];
    if (created.has_value()) {
      return bad(created, fmt::format("creationTimestamp of pod {} is no time", pod_.name),
                 "write 2024-06-10T06:13:20Z");
    }
    return bad(metadata_,
               fmt::format("pod {} has no creationTimestamp: this is a manifest", pod_.name),
               "manifests are read by `slicewise import k8s`");
  }

  // A pod that nobody made and that is not restarted is gone when it fails; of a Job the Job says.
  void read_failure_rule() {
    const JsonValue owner = manifests::owner_of(metadata_);
    if (owner["kind"].raw_scalar() == "Job") {
      pod_.job = fmt::format("{}/{}", pod_.space, owner["name"].scalar());
    } else if (!owner.is_object() && spec_["restartPolicy"].raw_scalar() == "Never") {
      pod_.backoff_limit = 0;
    }
  }

  // Node labels that name an instance type or a GPU, from nodeSelector and required affinity.
  void read_wanted_nodes() {
    const manifests::WantedNodes wanted = manifests::wanted_nodes(spec_);
    for (const KeyValue& label : wanted.selector) want(label.key, label.value);
    for (const auto& term : wanted.affinity) {
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

  MaybeBad amounts_of(JsonValue container, Amounts& amounts) {
    for (const auto& asked : manifests::asked_amounts(container["resources"])) {
      const std::string& resource = asked.resource;
      const bool extended = asked.is_extended();
      if (!extended && resource != "cpu" && resource != "memory") continue;
      const auto* const counting = &asked.counting();
      for (const auto* part : {&asked.request, &asked.limit}) {
        if (!*part || (!extended && &**part != counting)) continue;
        const JsonValue value = (*part)->value;
        const auto amount = quantity_in_thousandths(value.scalar());
        if (!amount || (extended && gpu_resource(resource) && *amount % 1'000 != 0)) {
          return BadObject{
              value,
              fmt::format("pod {} asks for {} {}", pod_.name, value.scalar().substr(0, 40),
                          resource),
              extended ? "extended resources are whole numbers" : "a quantity such as 500m or 4Gi"};
        }
        if (&**part == counting) amounts[resource] = *amount;
      }
    }
    return std::nullopt;
  }

  MaybeBad read_resources() {
    std::vector<ContainerAmounts> all;
    for (const std::string_view list : {"containers", "initContainers"}) {
      JsonCursor containers(spec_[list]);
      while (containers.next()) {
        const bool is_init = list == "initContainers";
        const ContainerFile file = manifests::container_of(containers.value(), is_init);
        ContainerAmounts& one = all.emplace_back();
        one.is_init = is_init;
        one.restarts_always = file.restarts_always;
        if (auto problem = amounts_of(containers.value(), one.amounts)) return problem;
        pod_.is_greedy = pod_.is_greedy || (!is_init && maps_all_memory(file));
      }
    }
    pod_.amounts = reserved_amounts(all);
    JsonCursor claims(spec_["resourceClaims"]);
    if (claims.next()) {
      report_.skipped("resource claims of pods (DRA): the GPUs behind them are not in the list",
                      pod_.where);
    }
    return std::nullopt;
  }

  // Alibaba's milli-GPUs, fractions of Run:ai and KAI.
  MaybeBad read_annotations() {
    const JsonValue annotations = metadata_["annotations"];
    constexpr const char* kMilli = "alibabacloud.com/gpu-milli";
    if (const JsonValue value = annotations[kMilli]; value.has_value()) {
      constexpr std::int64_t kWhole = 1'000'000;  // thousandths of a thousandth
      const auto amount = quantity_in_thousandths(value.scalar());
      if (!amount || *amount <= 0 || *amount > kWhole) {
        return BadObject{value, fmt::format("{} of pod {} is no part of a GPU", kMilli, pod_.name),
                         "a number from 1 to 1000"};
      }
      pod_.fraction = static_cast<std::int32_t>(std::max<std::int64_t>(1, *amount / 1'000));
    }
    if (const JsonValue value = annotations[kKaiFraction]; value.has_value()) {
      const auto part = kai_part(kKaiFraction, value.scalar());
      if (part->mistake) {
        return BadObject{value, fmt::format("pod {}: {}", pod_.name, part->mistake->message),
                         part->mistake->help};
      }
      pod_.fraction = static_cast<std::int32_t>(part->permille);
    }
    for (const std::string_view key : {"alibabacloud.com/gpu-count", kKaiDevices}) {
      const auto count = whole_of(annotations[key].scalar());
      if (count && *count > 0) {
        pod_.fraction_gpus = static_cast<std::int32_t>(std::min<std::int64_t>(*count, 1'000'000));
      }
    }
    read_memory_annotation(annotations[kKaiMemory].scalar());
    return std::nullopt;
  }

  void read_memory_annotation(const std::string& given) {
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
    JsonCursor conditions(status_["conditions"]);
    while (conditions.next()) {
      const JsonValue condition = conditions.value();
      if (condition["type"].raw_scalar() == "PodScheduled" &&
          condition["status"].raw_scalar() == "True") {
        pod_.scheduled = time_of(condition["lastTransitionTime"]);
      }
    }
    bool restarted = false;
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
      JsonCursor statuses(status_[list]);
      while (statuses.next()) {
        read_container(statuses.value(), list == "containerStatuses");
        restarted =
            restarted || whole_of(statuses.value()["restartCount"].scalar()).value_or(0) > 0;
      }
    }
    if (restarted) {
      report_.noted("pods whose containers were restarted: they are listed with their last state",
                    pod_.where);
    }
    if (running_) pod_.ended.reset();
    pod_.state = state_of(status_["phase"].raw_scalar());
  }

  void read_container(JsonValue status, bool is_main) {
    for (const std::string_view state : {"state", "lastState"}) {
      const JsonValue terminated = status[state]["terminated"];
      const JsonValue running = status[state]["running"];
      pod_.started = earlier(pod_.started, time_of(terminated["startedAt"]));
      pod_.started = earlier(pod_.started, time_of(running["startedAt"]));
      if (!is_main || state != "state") continue;
      pod_.ended = later(pod_.ended, time_of(terminated["finishedAt"]));
      running_ = running_ || running.is_object() || status[state]["waiting"].is_object();
    }
  }

  JobState state_of(std::string_view phase) const {
    if (phase == "Succeeded") return JobState::Completed;
    if (phase == "Failed") {
      const std::string_view reason = status_["reason"].raw_scalar();
      if (reason == "DeadlineExceeded") return JobState::TimedOut;
      return reason == "Evicted" || reason == "Preempting" ? JobState::Cancelled : JobState::Failed;
    }
    if (phase == "Running") return JobState::Running;
    if (phase == "Pending") return pod_.scheduled ? JobState::Running : JobState::Pending;
    return JobState::Unknown;
  }

  JsonValue metadata_;
  JsonValue spec_;
  JsonValue status_;
  ImportReport& report_;
  PodRecord pod_;
  bool running_ = false;
};

// A pod of the API server. Remarks on it go to `report`; `where` of the result is `place`.
tl::expected<PodRecord, BadObject> read_pod(JsonValue pod, const SourceLocation& place,
                                            ImportReport& report) {
  return PodReader(pod, place, report).read();
}

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
    } else if (kind == "Job") {
      add_job(item);
    } else if (!item.is_object()) {
      report_.bad_row(where, "an object of Kubernetes is expected here");
    } else {
      report_.skipped(kind.empty() ? "objects without a kind"
                                   : fmt::format("objects of kind {}", kind.substr(0, 60)),
                      where);
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
      report_.repaired("pods that are listed more than once: the last one counts", where);
    }
    pods_[uid] = std::move(*pod);
  }

  void add_node(JsonValue item) {
    const JsonValue labels = item["metadata"]["labels"];
    NodeFacts& facts = nodes_[item["metadata"]["name"].scalar()];
    facts.instance_type = labels[kInstanceTypeLabel].scalar();
    const auto replicas = replicas_of_gpu(labels[kReplicasLabel].scalar());
    if (replicas) facts.replicas = replicas;
  }

  void add_job(JsonValue item) {
    const JsonValue metadata = item["metadata"];
    const std::string space = metadata["namespace"].scalar();
    const auto limit = whole_of(item["spec"]["backoffLimit"].scalar());
    if (!limit || *limit < 0 || *limit > std::numeric_limits<std::int32_t>::max()) return;
    backoff_limits_[fmt::format("{}/{}", space.empty() ? "default" : space,
                                metadata["name"].scalar())] = static_cast<std::int32_t>(*limit);
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
