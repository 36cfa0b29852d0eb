#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_sets.hpp"

// Objects that make pods: each by the rows of its kind.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::int64_t kMostCopies = 1'000'000;

// The mapping that a path of the table starts from, and what its pods are called after.
struct Origin {
  const Node* node = nullptr;
  std::string suffix;
};

std::vector<Origin> origins_of(const Node& object, const PodSet& set) {
  const bool is_list_path = set.at.ends_with("[]");
  const bool is_map_path = set.at.ends_with("{}");
  KeyPath path = set.at;
  if (is_list_path || is_map_path) path.remove_suffix(2);
  const Node* at = node_at(&object, path);
  std::vector<Origin> origins;
  const auto add = [&](const Node* node, std::string suffix) {
    if (is_map(node) && !is_false(node->find("enabled"))) {
      origins.push_back({node, std::move(suffix)});
    }
  };
  if (is_list_path && is_list(at)) {
    for (const NodePtr& item : at->items) {
      add(item.get(), text_below(item.get(), {set.named_by}));
    }
  } else if (is_map_path && is_map(at)) {
    for (const Entry& entry : at->entries) add(entry.value.get(), entry.key);
  } else if (!is_list_path && !is_map_path) {
    add(at, std::string(set.suffix));
  }
  return origins;
}

std::optional<std::int64_t> count_at(const Node& from, KeyPath path) {
  const Node* node = path.empty() ? nullptr : node_at(&from, path);
  if (node == nullptr) return std::nullopt;
  const auto count = whole_of(node->text);
  return count ? std::optional(std::clamp<std::int64_t>(*count, 0, kMostCopies)) : std::nullopt;
}

std::int64_t times(std::int64_t a, std::int64_t b) { return std::min(a * b, kMostCopies); }

// Replicas as they are given, else as few as an autoscaler leaves.
std::int64_t replicas_of(const Node& from, const PodSet& set) {
  const auto fewest = count_at(from, set.fewest);
  const std::int64_t given =
      count_at(from, set.counts.front()).value_or(fewest.value_or(set.by_default));
  return std::max(given, fewest.value_or(0));
}

void count(const Node& from, const PodSet& set, PodFile& pod) {
  const std::int64_t replicas = replicas_of(from, set);
  const std::int64_t each = count_at(from, set.counts.back()).value_or(1);
  pod.copies = times(replicas, each);
  const bool has_two = !set.counts.back().empty();
  const auto completions = count_at(from, set.completions);
  pod.completions = times(has_two ? replicas : 1, completions.value_or(has_two ? each : 1));
  pod.succeeded = count_at(from, set.succeeded).value_or(0);
  std::int64_t& left = completions ? pod.completions : pod.copies;
  left = std::max<std::int64_t>(0, left - pod.succeeded);
  if (completions) pod.copies = std::min(pod.copies, pod.completions);  // no more are started
  pod.backoff_limit = count_at(from, set.backoff_limit);
  const std::string per_index = fmt::format("{}PerIndex", set.backoff_limit);
  if (const auto limit = count_at(from, per_index)) {
    pod.backoff_limit = limit;
    pod.fails_by_index = true;
  }
  if (const Node* cron = set.cron.empty() ? nullptr : node_at(&from, set.cron)) {
    const auto text = [&](const char* key) { return text_below(cron, {key}); };
    pod.cron = {text("schedule"), text("timeZone"), text("concurrencyPolicy"),
                text("startingDeadlineSeconds"), is_true(cron->find("suspend"))};
  }
  pod.works_together =
      set.works_together || (has_two && each > 1 && set.purpose != PodPurpose::Ends);
  if (set.group_size.empty()) return;
  const std::int64_t ranks = count_at(from, set.group_size).value_or(1);
  const std::int64_t each_has =
      std::max<std::int64_t>(1, count_at(from, set.ranks_each).value_or(1));
  const std::int64_t size =
      times((ranks + each_has - 1) / each_has, count_at(from, set.stages).value_or(1));
  pod.works_together = size > 1;
  pod.copies = times(
      replicas, std::max<std::int64_t>(0, size - (node_at(&from, set.leader) != nullptr ? 1 : 0)));
}

KeyPath job_of(const PodSet& set) {
  return set.pods.substr(0, std::min(set.pods.rfind('.'), set.pods.size()));
}

// By the first rule of its podFailurePolicy that is about them.
bool ignores_disruptions(const Node* job) {
  for (const Node* rule : items_of(node_below(job, {"podFailurePolicy", "rules"}))) {
    for (const Node* condition : items_of(rule->find("onPodConditions"))) {
      if (text_below(condition, {"type"}) != "DisruptionTarget") continue;
      return text_below(rule, {"action"}) == "Ignore";
    }
  }
  return false;
}

void judge_zone(Context& context, const Node& from, const PodSet& set) {
  const Node* cron = set.cron.empty() ? nullptr : node_at(&from, set.cron);
  const Located<std::string> zone = located_below(cron, {"timeZone"});
  if (time_zone(zone.value)) return;
  report(context, Code::ValueRange, zone.where,
         fmt::format("Invalid value: \"{0}\": unknown time zone {0}", zone.value.substr(0, 60)),
         unknown_zone_help(zone.value));
}

// What a Job is told beside its pods and no scenario can say. ttlSecondsAfterFinished changes
// nothing: pods that have ended hold nothing.
void tell_of_jobs(Context& context, const Node& object, const Node& from, const PodSet& set,
                  const PodFile& pod) {
  if (!asks_for_gpu(pod)) return;
  const Node* job = node_at(&from, job_of(set));
  const auto tell = [&](const Node* node, std::string_view key, std::string_view what) {
    const Node* given = node_below(node, {key});
    if (given != nullptr) context.files.not_simulated.push_back({std::string(what), given->where});
  };
  for (const std::string_view key :
       {"activeDeadlineSeconds", "maxFailedIndexes", "podFailurePolicy", "successPolicy"}) {
    const bool is_read = key == "podFailurePolicy" && pod.ignores_disruptions;
    if (!is_read) tell(job, key, key);
  }
  tell(node_at(&object, "spec.runPolicy"), "activeDeadlineSeconds", "activeDeadlineSeconds");
  tell(object.find("spec"), "elasticPolicy", "elasticPolicy: as many pods as are written");
  const bool in_turn = set.kind == "StatefulSet" && pod.copies > 1 &&
                       text_below(&object, {"spec", "podManagementPolicy"}) != "Parallel";
  if (in_turn) {
    context.files.not_simulated.push_back(
        {"StatefulSets that start their pods one after the other (podManagementPolicy "
         "OrderedReady): all start at once",
         pod.where});
  }
  if (set.kind == "JobSet") {
    tell(object.find("spec"), "failurePolicy",
         "failurePolicy of JobSets: they fail with the first of their Jobs");
  }
  constexpr std::string_view kAlone = "alpha.jobset.sigs.k8s.io/exclusive-topology";
  for (const Node* meta : {object.find("metadata"), node_below(&from, {"template", "metadata"})}) {
    tell(node_below(meta, {"annotations"}), kAlone,
         "exclusive-topology of JobSets: their Jobs may be in one domain with others");
  }
}

// A JobSet's Jobs depend on those that stand before them. Source: kubernetes-sigs/jobset
// pkg/webhooks/jobset_webhook.go.
void judge_order(Context& context, const std::vector<Origin>& origins) {
  std::vector<std::string> before;
  for (const Origin& origin : origins) {
    const std::string name = text_below(origin.node, {"name"});
    for (const Node* item : items_of(origin.node->find("dependsOn"))) {
      const Located<std::string> other = located_below(item, {"name"});
      if (std::ranges::find(before, other.value) != before.end()) continue;
      const auto near = nearest_name(other.value, before);
      report(context,
             make_diagnostic(Code::SettingConflict, other.where,
                             fmt::format("replicatedJob: {} cannot depend on replicatedJob: {}",
                                         name.substr(0, 60), other.value.substr(0, 60)),
                             near ? fmt::format("did you mean {}?", *near)
                                  : "dependsOn names one that stands before it"));
    }
    before.push_back(name);
  }
}

// "num-gpus" of a pod of Ray, and fractions of actors: what Ray reckons with.
void judge_ray(Context& context, const Node& from, const PodFile& pod) {
  const Located<std::string> told = located_below(&from, {"rayStartParams", "num-gpus"});
  const auto gpus = whole_of(told.value);
  if (!gpus || *gpus < 1) return;
  if (asks_for_gpu(pod)) {
    const std::int64_t has = amount_of(reserved_amounts(pod), kGpuResource);
    if (has == 0 || *gpus <= has) return;
    warn(context, Code::SettingConflict, told.where,
         fmt::format(
             "Ray counts {} on pods that have {}: what it places there beyond them finds none",
             counted(*gpus, "GPU"), has),
         "leave num-gpus out: Ray counts those of the container by itself");
    return;
  }
  report(context, Code::GpuNotRequested, told.where,
         fmt::format("num-gpus: {} is bookkeeping of Ray: the pod asks for no GPU", *gpus),
         "ask for nvidia.com/gpu in the container: Ray then counts it by itself");
}

// mpirun has so many places on each worker.
void judge_slots(Context& context, const Node& object, const PodFile& pod) {
  const Located<std::string> slots = located_below(&object, {"spec", "slotsPerWorker"});
  const auto processes = whole_of(slots.value);
  const std::int64_t has = amount_of(reserved_amounts(pod), kGpuResource);
  if (!processes || has == 0 || *processes <= has) return;
  warn(context, Code::SettingConflict, slots.where,
       fmt::format("mpirun starts up to {} processes on a worker, which has {}", *processes,
                   counted(has, "GPU")),
       fmt::format("slotsPerWorker: {}", has));
}

using Tell = void (*)(Context&, Code, const SourceLocation&, std::string, std::string);

// Sources: kserve/kserve pkg/apis/serving/v1beta1/component.go, validateReplicas; KubeRay takes the
// most for both, ray-project/kuberay controllers/ray/utils/util.go.
void judge_bounds(Context& context, const Node& from, const PodSet& set) {
  const auto fewest = count_at(from, set.fewest);
  const auto most = count_at(from, set.most);
  if (!fewest || !most || *most == 0 || *fewest <= *most) return;
  const Node* at = node_at(&from, set.fewest);
  const bool is_refused = set.group == "serving.kserve.io";
  const auto tell = is_refused ? static_cast<Tell>(report) : warn;
  tell(context, Code::ValueRange, at->where,
       fmt::format("{} {} is above {} {}", set.fewest, *fewest, set.most, *most),
       is_refused ? "KServe refuses the object" : "KubeRay takes the most for both");
}

// num_gpus: 0.25 in the configuration of Ray Serve.
void judge_ray_fractions(Context& context, const Node& node) {
  if (node.kind == Node::Kind::List) {
    for (const NodePtr& item : node.items) judge_ray_fractions(context, *item);
  }
  for (const Entry& entry : node.entries) {
    if (entry.value == nullptr) continue;
    const auto part =
        entry.key == "num_gpus" ? quantity_in_thousandths(entry.value->text) : std::nullopt;
    if (!part || *part <= 0 || *part >= 1'000) {
      judge_ray_fractions(context, *entry.value);
      continue;
    }
    report(context, Code::GpuMemUnlimited, entry.value->where,
           fmt::format("num_gpus: {} is bookkeeping of Ray, which limits nothing: all actors of a "
                       "GPU must fit its memory together",
                       entry.value->text.substr(0, 20)));
    context.files.not_simulated.push_back(
        {"fractions of num_gpus: bookkeeping of Ray, which limits nothing", entry.value->where});
  }
}

void read_ray(Context& context, const Node& object) {
  const Node* config = node_below(&object, {"spec", "serveConfigV2"});
  if (config != nullptr) {
    const NodePtr inner = embedded_document(context, *config);
    if (inner != nullptr) judge_ray_fractions(context, *inner);
  }
  for (const KeyPath cluster : {"spec", "spec.rayClusterConfig", "spec.rayClusterSpec"}) {
    const Node* scales = node_below(node_at(&object, cluster), {"enableInTreeAutoscaling"});
    if (!is_true(scales)) continue;
    context.files.not_simulated.push_back(
        {"Ray's autoscaler, which counts logical resources: replicas as they are written",
         scales->where});
  }
}

// Whether each Job of a JobSet waits for the one before it to be ready.
bool starts_in_order(const Node& object) {
  return text_below(&object, {"spec", "startupPolicy", "startupPolicyOrder"}) == "InOrder";
}

// What the pods wait for. `before`: the set that stands before theirs; null for the first.
std::vector<StartDependency> starts_after(const Node& object, const Origin& origin,
                                          const Origin* before) {
  using Status = StartDependency::Status;
  const std::string whole = text_below(&object, {"metadata", "name"});
  std::vector<StartDependency> all;
  const auto add = [&](const std::string& name, Status status, const SourceLocation& where) {
    all.push_back({{fmt::format("{}-{}", whole, name), where}, status, where});
  };
  for (const Node* item : items_of(origin.node->find("dependsOn"))) {
    const bool is_complete = text_below(item, {"status"}) == "Complete";
    add(text_below(item, {"name"}), is_complete ? Status::Complete : Status::Ready, item->where);
  }
  if (starts_in_order(object) && before != nullptr) {
    add(before->suffix, Status::Ready, origin.node->where);
  }
  return all;
}

void read_set(Context& context, const Node& object, const PodSet& set) {
  const Node* meta = object.find("metadata");
  const Located<std::string> name = located_below(meta, {"name"});
  const std::vector<Origin> origins = origins_of(object, set);
  const bool has_steps = std::ranges::any_of(
      origins, [](const Origin& one) { return one.node->find("dependsOn") != nullptr; });
  if (has_steps) judge_order(context, origins);
  const Origin* before = nullptr;
  for (const Origin& origin : origins) {
    const Origin* last = std::exchange(before, &origin);
    const Node* pods = node_at(origin.node, set.pods);
    if (pods == nullptr) continue;
    PodFile pod;
    pod.kind = set.kind;
    pod.object = name.value.empty() ? text_below(meta, {"generateName"}) : name.value;
    pod.name = origin.suffix.empty() ? pod.object : fmt::format("{}-{}", pod.object, origin.suffix);
    pod.where = name.where.line > 0 ? name.where : object.where;
    pod.object_where = object.where;
    pod.purpose = set.purpose;
    pod.is_step = has_steps || (set.works_together && starts_in_order(object));
    if (pod.is_step) pod.starts_after = starts_after(object, origin, last);
    pod.restart_policy = text_below(origin.node, {"restartPolicy"});
    count(*origin.node, set, pod);
    pod.ignores_disruptions = ignores_disruptions(node_at(origin.node, job_of(set)));
    if (!pod.backoff_limit) pod.backoff_limit = count_at(object, "spec.runPolicy.backoffLimit");
    judge_zone(context, *origin.node, set);
    judge_bounds(context, *origin.node, set);
    if (!set.group_size.empty() && pod.copies == 0) continue;  // the leader is alone
    pod.scaling = own_scaling(context, object, set, *origin.node, *pods);
    const bool is_kept_up = set.counts.front().empty() && !set.most.empty();
    if (is_kept_up && !pod.scaling) pod.copies = std::max<std::int64_t>(1, pod.copies);
    const std::size_t known = context.files.pods.size();
    read_pod(context, object, set, *pods, std::move(pod));
    if (context.files.pods.size() > known) {
      judge_ray(context, *origin.node, context.files.pods.back());
      if (set.kind == "MPIJob" && origin.suffix == "Worker")
        judge_slots(context, object, context.files.pods.back());
      tell_of_jobs(context, object, *origin.node, set, context.files.pods.back());
    }
  }
}

}  // namespace

const Node* node_at(const Node* node, std::string_view path) {
  while (!path.empty() && node != nullptr) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    node = node_below(node, {path.substr(0, dot)});
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

bool read_pods(Context& context, const Node& object, std::string_view kind) {
  const std::string api = text_below(&object, {"apiVersion"});
  const std::string_view group =
      std::string_view(api).substr(0, std::min(api.find('/'), api.size()));
  const auto of_group = [&](const PodSet& set) { return set.kind == kind && set.group == group; };
  const bool has_own = std::ranges::any_of(pod_sets(), of_group);
  const std::size_t known = context.files.pods.size();
  bool is_known = false;
  for (const PodSet& set : pod_sets()) {
    if (has_own ? !of_group(set) : set.kind != kind || !set.group.empty()) continue;
    is_known = true;
    read_set(context, object, set);
  }
  if (!is_known) return false;
  if (context.files.pods.size() == known) {
    context.files.left_alone.push_back(
        {fmt::format("objects without containers ({})", kind), object.where});
  }
  if (group == "ray.io") read_ray(context, object);
  if (kind == "InferenceService") {
    constexpr std::array<std::string_view, 3> kComponents = {"predictor", "transformer",
                                                             "explainer"};
    check_keys(context, object.find("spec"), kComponents, "KServe", true);
  }
  return true;
}

}  // namespace slicewise::scenarios::manifests
