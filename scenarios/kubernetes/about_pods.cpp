#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// Objects that say something of the pods of others.
namespace slicewise::scenarios::manifests {
namespace {

// False where it gives pods no address in common.
bool read_service(Context& context, const Node& object) {
  std::vector<KeyValue> selector = pairs_of(node_below(&object, {"spec", "selector"}));
  if (selector.empty() || text_below(&object, {"spec", "clusterIP"}) == "None") return false;
  std::tuple of(std::string(namespace_of(text_below(&object, {"metadata", "namespace"}))),
                selector.front().key, selector.front().value);
  context.services.emplace(std::move(of), std::move(selector));
  return true;
}

// Whether file systems of many nodes are behind it its class says, if anybody does.
void read_volume(Context& context, const Node& object) {
  const std::string of_class = text_below(&object, {"spec", "storageClassName"});
  // What that is the volume says.
  if (node_below(&object, {"spec", "volumeName"}) != nullptr) return;
  for (const std::string_view many :
       {"efs", "fsx", "nfs", "lustre", "ceph", "juice", "s3", "weka", "beegfs"}) {
    if (of_class.find(many) != of_class.npos) return;
  }
  const std::vector<const Node*> modes = items_of(node_below(&object, {"spec", "accessModes"}));
  const bool is_of_one = std::ranges::all_of(
      modes, [](const Node* mode) { return mode->text.starts_with("ReadWriteOnce"); });
  if (modes.empty() || !is_of_one) return;
  context.files.volumes_of_one_node.emplace(
      namespace_of(text_below(&object, {"metadata", "namespace"})),
      text_below(&object, {"metadata", "name"}));
}

void read_priority(Context& context, const Node& object) {
  const auto value = whole_of(text_below(&object, {"value"}));
  if (!value) return;
  const std::int64_t priority = std::clamp<std::int64_t>(*value, -2'147'483'648, 1'000'000'000);
  context.priorities.emplace(text_below(&object, {"metadata", "name"}), priority);
  const bool is_default = is_true(object.find("globalDefault"));
  if (is_default) context.priorities.emplace("", priority);
  if (text_below(&object, {"preemptionPolicy"}) != "Never") return;
  context.waiting_priorities.insert(text_below(&object, {"metadata", "name"}));
  if (is_default) context.waiting_priorities.insert("");
}

// A limit, and the least or most of one, is a request where no other is said.
// Source: kubernetes pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem.
void read_limit_range(Context& context, const Node& object) {
  const std::string space(namespace_of(text_below(&object, {"metadata", "namespace"})));
  const Node* limits = node_below(&object, {"spec", "limits"});
  for (const Node* one : items_of(limits)) {
    if (text_below(one, {"type"}) != "Container") continue;
    for (const std::string_view key : {"defaultRequest", "default", "min", "max"}) {
      for (const KeyValue& given : pairs_of(node_below(one, {key}))) {
        context.given_requests.emplace(space, given.key);
      }
    }
  }
}

bool has_labels(const PodFile& pod, const std::vector<KeyValue>& selector) {
  return std::ranges::all_of(selector, [&](const KeyValue& wanted) {
    return std::ranges::any_of(pod.labels, [&](const KeyValue& label) {
      return label.key == wanted.key && label.value == wanted.value;
    });
  });
}

bool is_served(const Context& context, const PodFile& pod) {
  return std::ranges::any_of(pod.labels, [&](const KeyValue& label) {
    const auto [first, last] = context.services.equal_range(
        std::tuple(std::string(namespace_of(pod.space)), label.key, label.value));
    return std::any_of(first, last, [&](const auto& one) { return has_labels(pod, one.second); });
  });
}

// Where some of the kind are here: of a file with the autoscaler alone nobody knows.
void tell_of_target(Context& context, const std::tuple<std::string, std::string, std::string>& of,
                    const ScalingFile& scaling) {
  const std::string& space = std::get<0>(of);
  const std::string& kind = std::get<1>(of);
  const std::string& name = std::get<2>(of);
  std::vector<std::string> names;
  const PodFile* elsewhere = nullptr;  // one of that name, in a namespace that its file says
  for (const PodFile& pod : context.files.pods) {
    if (pod.kind != kind) continue;
    if (namespace_of(pod.space) == space) names.push_back(pod.object);
    const bool is_said = !pod.space.empty() && scaling.says_namespace;
    if (pod.object == name && is_said) elsewhere = &pod;
  }
  if (elsewhere != nullptr) {
    return report(context, Code::ScalerTargetUnknown, scaling.where,
                  fmt::format("the {} {} is of namespace {}, the autoscaler of {}: it changes "
                              "nothing",
                              kind.substr(0, 60), name.substr(0, 60),
                              elsewhere->space.substr(0, 60), space.substr(0, 60)),
                  fmt::format("metadata.namespace: {}", elsewhere->space.substr(0, 60)));
  }
  if (names.empty()) return;
  const auto near = nearest_name(name, names);
  const auto other = std::ranges::find_if(context.files.pods, [&](const PodFile& pod) {
    return pod.object == name && namespace_of(pod.space) == space && pod.kind != "Pod";
  });
  report(context, Code::ScalerTargetUnknown, scaling.where,
         fmt::format("no {} here is called \"{}\": the autoscaler changes nothing",
                     kind.substr(0, 60), name.substr(0, 60)),
         other != context.files.pods.end()
             ? fmt::format("there is a {} of that name: scaleTargetRef.kind", other->kind)
         : near ? fmt::format("did you mean {}?", *near)
                : "name one of the same namespace in scaleTargetRef");
}

// The autoscaler fails where one of the containers has none.
// Source: kubernetes pkg/controller/podautoscaler/replica_calculator.go.
void judge_shares(Context& context, const PodFile& pod) {
  for (const KeyValue& share : pod.scaling->shares) {
    const bool of_all = share.key.empty();
    if (of_all && pod.asks_as_one) continue;
    if (context.given_requests.contains({std::string(namespace_of(pod.space)), share.value})) {
      continue;
    }
    for (const ContainerFile& container : pod.containers) {
      const bool counts =
          of_all ? !container.is_init || container.restarts_always : container.name == share.key;
      const bool is_of_patch = container.image.empty();
      const bool asks = std::ranges::find(container.amounts, share.value,
                                          &ResourceAmount::resource) != container.amounts.end();
      if (!counts || is_of_patch || asks) continue;
      warn(context, Code::MetricNotExported, container.where,
           fmt::format("missing request for {} in container {}: the autoscaler sees no share of it",
                       share.value.substr(0, 60), container.name.substr(0, 60)),
           fmt::format("resources.requests.{}, or a LimitRange with a default",
                       share.value.substr(0, 60)));
      break;
    }
  }
}

// Pods that are made anew get it, but for "Off", which only tells people.
void read_vertical_autoscaler(Context& context, const Node& object) {
  const bool is_off = text_below(&object, {"spec", "updatePolicy", "updateMode"}) == "Off";
  std::map<std::string, Amounts> recommended;
  for (const Node* one :
       items_of(node_below(&object, {"status", "recommendation", "containerRecommendations"}))) {
    for (const std::string_view resource : {"cpu", "memory"}) {
      const auto thousandths = quantity_in_thousandths(text_below(one, {"target", resource}));
      const std::int64_t least = resource == "cpu" ? 1 : 1'000;
      if (is_off || !thousandths || *thousandths < least) continue;
      recommended[text_below(one, {"containerName"})][std::string(resource)] =
          resource == "cpu" ? *thousandths : *thousandths / 1'000;
    }
  }
  context.files.not_simulated.push_back(
      {recommended.empty()
           ? "VerticalPodAutoscalers: requests of CPU and memory as they are written"
           : "VerticalPodAutoscalers: requests as they recommend them now, for all of the run",
       object.where});
  const Node* target = node_below(&object, {"spec", "targetRef"});
  context.recommended[{std::string(namespace_of(text_below(&object, {"metadata", "namespace"}))),
                       text_below(target, {"kind"}), text_below(target, {"name"})}] =
      std::move(recommended);
}

// Limits keep their ratio to the requests.
// Source: kubernetes/autoscaler,
// vertical-pod-autoscaler/pkg/utils/vpa/limit_and_request_scaling.go.
void take_recommended(const std::map<std::string, Amounts>& recommended, PodFile& pod) {
  for (ContainerFile& container : pod.containers) {
    const auto own = recommended.find(container.name);
    if (own == recommended.end()) continue;
    for (const auto& [resource, amount] : own->second) {
      const auto asked = std::ranges::find(container.amounts, resource, &ResourceAmount::resource);
      if (asked == container.amounts.end()) {
        container.amounts.push_back({resource, amount, container.where});
        continue;
      }
      if (resource == "cpu" && container.cpu_limit && asked->amount > 0) {
        const double ratio = static_cast<double>(amount) / static_cast<double>(asked->amount);
        container.cpu_limit =
            std::llround(static_cast<double>(*container.cpu_limit) * std::min(ratio, 1e3));
      }
      asked->amount = amount;
    }
  }
}

}  // namespace

bool read_about_pods(Context& context, const Node& object, std::string_view kind) {
  if (kind == "VerticalPodAutoscaler") {
    read_vertical_autoscaler(context, object);
    return true;
  }
  if (kind == "LimitRange") {
    read_limit_range(context, object);
    return false;  // what it bounds, nobody holds the pods to
  }
  if (kind == "Service") return read_service(context, object);
  if (kind == "PersistentVolumeClaim") {
    read_volume(context, object);
    return false;  // its schema and its access modes are all that is looked at
  }
  if (kind == "PriorityClass") {
    read_priority(context, object);
  } else if (kind == "PodDisruptionBudget") {
    read_disruption_budget(context, object);
  } else {
    return read_scaler(context, object, kind) || read_kueue(context, object, kind) ||
           read_kai_queue(context, object, kind);
  }
  return true;
}

void apply_to_pods(Context& context) {
  std::set<const ScalingFile*> used;
  for (PodFile& pod : context.files.pods) {
    const std::tuple object(std::string(namespace_of(pod.space)), pod.kind, pod.object);
    const auto recommended = context.recommended.find(object);
    if (recommended != context.recommended.end()) take_recommended(recommended->second, pod);
    const auto scaler = context.scalers.find(object);
    if (scaler != context.scalers.end()) {
      pod.scaling = scaler->second;
      used.insert(&scaler->second);
      judge_shares(context, pod);
    }
    pod.is_served = is_served(context, pod);
    if (context.waiting_priorities.contains(pod.priority_class)) pod.never_preempts = true;
    const auto priority = context.priorities.find(pod.priority_class);
    if (pod.priority == 0 && priority != context.priorities.end()) pod.priority = priority->second;
    const bool is_builtin = pod.priority_class.starts_with("system-");
    if (pod.priority == 0 && priority == context.priorities.end() && !is_builtin &&
        !pod.priority_class.empty()) {
      context.files.not_simulated.push_back(
          {"priorityClassName of which no file has the PriorityClass: priority 0",
           pod.object_where});
    }
  }
  apply_disruption_budgets(context);
  judge_kai_queues(context);
  for (const auto& [of, scaling] : context.scalers) {
    if (used.count(&scaling) > 0) continue;
    context.files.left_alone.push_back(
        {fmt::format("autoscalers of objects of kind {} that are not here",
                     std::get<1>(of).substr(0, 60)),
         scaling.where});
    tell_of_target(context, of, scaling);
  }
}

}  // namespace slicewise::scenarios::manifests
