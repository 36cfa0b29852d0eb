#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_sets.hpp"

// What changes the number of pods while they run, in the words of a scenario's `autoscaling`.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::int64_t kMostReplicas = 1'000'000;
constexpr std::int64_t kKedaMost = 100;  // where a ScaledObject says nothing

// Source: kedacore/keda v2.18, apis/keda/v1alpha1/scaledobject_types.go.
constexpr std::array<std::string_view, 10> kScaledObject = {
    "scaleTargetRef",  "pollingInterval", "initialCooldownPeriod", "cooldownPeriod",
    "minReplicaCount", "maxReplicaCount", "idleReplicaCount",      "advanced",
    "triggers",        "fallback"};
constexpr std::array<std::string_view, 4> kScaleTarget = {"name", "kind", "apiVersion",
                                                          "envSourceContainerName"};
constexpr std::array<std::string_view, 6> kTrigger = {
    "type", "metadata", "metricType", "authenticationRef", "name", "useCachedMetrics"};

// Keys of a component of an InferenceService that people misspell; those of pods are beside them.
// Source: kserve/kserve, pkg/apis/serving/v1beta1, component.go and predictor.go.
constexpr std::array<std::string_view, 20> kComponent = {
    "minReplicas",          "maxReplicas",     "scaleTarget",          "scaleMetric", "timeout",
    "containerConcurrency", "scaleMetricType", "canaryTrafficPercent", "logger",      "batcher",
    "deploymentStrategy",   "labels",          "annotations",          "autoScaling", "model",
    "containers",           "volumes",         "nodeSelector",         "tolerations", "workerSpec"};

std::int64_t whole_at(const Node* node, std::string_view key, std::int64_t otherwise) {
  return std::clamp<std::int64_t>(whole_of(text_below(node, {key})).value_or(otherwise), 0,
                                  kMostReplicas);
}

std::string seconds_at(const Node* node, std::initializer_list<std::string_view> path) {
  const auto seconds = whole_of(text_below(node, path));
  return seconds && *seconds >= 0 && *seconds <= 86'400 ? fmt::format("{}s", *seconds) : "";
}

// What a metric counts, by its name or query: those of vLLM, Triton, dcgm-exporter and istio, and
// what people call theirs. "" what no simulated autoscaler looks at.
std::string_view metric_of(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  // "http_rps", not "rps2" nor "corps": nobody knows what these count.
  const auto has_word = [&](std::string_view word) {
    for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if (at > 0 && is_lower_or_digit(name[at - 1])) continue;
      if (end == name.size() || !is_lower_or_digit(name[end])) return true;
    }
    return false;
  };
  if (has("GPU_UTIL") || has("gpu_util")) return "GpuUtilization";
  // The time that requests spent there in a second (Little's law), not that of each.
  if (has("rate(nv_inference_request_duration_us") && !has("success") && !has("count")) {
    return "Concurrency";
  }
  if ((has("rate(") && has("request")) || has("per_second") || has_word("rps")) {
    return "RequestRate";
  }
  if (has("running") || has("concurren") || has("flight")) return "Concurrency";
  return has("waiting") || has("pending") || has("queue") ? "Queue" : "";
}

// A quantity in the unit of the metric; "" when it is none.
std::string target_of(std::string_view metric, std::string_view amount, std::int64_t permille) {
  const auto thousandths = quantity_in_thousandths(amount);
  if (!thousandths || *thousandths <= 0 || *thousandths >= 1'000'000'000) return {};
  const double number = static_cast<double>(*thousandths) * static_cast<double>(permille) / 1e6;
  return fmt::format("{:g}{}", number,
                     metric == "RequestRate"      ? "/s"
                     : metric == "GpuUtilization" ? "%"
                                                  : "");
}

void take_metric(ScalingFile& scaling, const std::string& seen, std::string_view amount,
                 std::int64_t permille = 1'000) {
  if (!scaling.metric.empty()) return;  // of several the first that is simulated
  scaling.target = target_of(metric_of(seen), amount, permille);
  if (!scaling.target.empty()) scaling.metric = metric_of(seen);
  scaling.seen = seen.substr(0, seen.find('\n'));
}

void take_behaviour(ScalingFile& scaling, const Node* behaviour) {
  scaling.down_window = seconds_at(behaviour, {"scaleDown", "stabilizationWindowSeconds"});
  scaling.up_window = seconds_at(behaviour, {"scaleUp", "stabilizationWindowSeconds"});
}

// The spec of a HorizontalPodAutoscaler, but for its target.
ScalingFile hpa_scaling(const Node& spec) {
  ScalingFile scaling;
  scaling.where = spec.where;
  scaling.fewest = whole_at(&spec, "minReplicas", 1);
  scaling.most = whole_at(&spec, "maxReplicas", scaling.fewest);
  const Node* metrics = spec.find("metrics");
  for (const Node* one : items_of(metrics)) {
    for (const std::string_view source : {"pods", "object", "external"}) {
      const Node* metric = node_below(one, {source});
      if (metric == nullptr) continue;
      // A `value` is for all pods together, whatever their number.
      take_metric(scaling, text_below(metric, {"metric", "name"}),
                  text_below(metric, {"target", "averageValue"}));
    }
    for (const std::string_view source : {"resource", "containerResource"}) {
      const std::string name = text_below(one, {source, "name"});
      if (!name.empty()) take_metric(scaling, name, "");
    }
  }
  if (scaling.seen.empty()) scaling.seen = "cpu";
  take_behaviour(scaling, spec.find("behavior"));
  return scaling;
}

// Without metrics it is CPU. Source: kubernetes pkg/apis/autoscaling/v2/defaults.go.
std::vector<KeyValue> shares_of_requests(const Node& spec) {
  const Node* metrics = spec.find("metrics");
  if (!is_list(metrics) || metrics->items.empty()) {
    return {{"", "cpu", spec.where, place_below(spec, {"targetCPUUtilizationPercentage"})}};
  }
  std::vector<KeyValue> shares;
  for (const NodePtr& metric : metrics->items) {
    for (const std::string_view source : {"resource", "containerResource"}) {
      const Node* one = node_below(metric.get(), {source});
      const Located<std::string> share = located_below(one, {"target", "averageUtilization"});
      if (share.value.empty()) continue;
      shares.push_back(
          {text_below(one, {"container"}), text_below(one, {"name"}), one->where, share.where});
    }
  }
  return shares;
}

bool is_cron(const Node* trigger) { return text_below(trigger, {"type"}) == "cron"; }

// What KEDA would refuse is told by judge_cron().
std::optional<ReplicaWindow> window_of(const Node& trigger) {
  const auto said = [&](std::string_view key) { return text_below(&trigger, {"metadata", key}); };
  const auto start = parse_keda_cron(said("start"));
  const auto end = parse_keda_cron(said("end"));
  const auto replicas = whole_of(said("desiredReplicas"));
  if (!start || !end || start->text == end->text || !replicas || *replicas < 1) return {};
  const std::string zone = said("timezone");
  if (!time_zone(zone)) return {};
  return ReplicaWindow{*start, *end, zone, static_cast<int>(std::min(*replicas, kMostReplicas)),
                       trigger.where};
}

ScalingFile keda_scaling(const Node& spec) {
  ScalingFile scaling;
  scaling.where = spec.where;
  scaling.fewest = whole_at(&spec, "minReplicaCount", 0);
  scaling.most = whole_at(&spec, "maxReplicaCount", kKedaMost);
  // KEDA polls to wake what has no pods; from 1 to N the HPA that it makes asks, every 15 s.
  // Source: keda.sh docs, "ScaledObject specification", pollingInterval.
  if (scaling.fewest == 0) scaling.every = seconds_at(&spec, {"pollingInterval"});
  if (scaling.every == "0s") scaling.every.clear();
  scaling.cooldown = seconds_at(&spec, {"cooldownPeriod"});
  const Node* triggers = spec.find("triggers");
  for (const Node* one : items_of(triggers)) {
    if (is_cron(one)) {
      if (auto window = window_of(*one)) scaling.windows.push_back(std::move(*window));
      continue;
    }
    const std::string query = text_below(one, {"metadata", "query"});
    const bool is_total = text_below(one, {"metricType"}) == "Value";
    take_metric(scaling, query.empty() ? text_below(one, {"type"}) : query,
                query.empty() || is_total ? "" : text_below(one, {"metadata", "threshold"}));
  }
  take_behaviour(scaling,
                 node_below(&spec, {"advanced", "horizontalPodAutoscalerConfig", "behavior"}));
  return scaling;
}

// KServe has Knative's autoscaler, which keeps to 70 % of a target and decides every 2 s on the
// mean of a minute (config-autoscaler of Knative Serving), or without Knative an HPA on CPU.
// Source: kserve/kserve, pkg/constants/constants.go (DeploymentModeType, of which Standard is the
// newer name of RawDeployment), pkg/controller/v1beta1/inferenceservice/reconcilers/hpa.
std::optional<ScalingFile> kserve_scaling(Context& context, const Node& object, const PodSet& set,
                                          const Node& from) {
  constexpr std::int64_t kKnativePermille = 700;
  check_keys(context, &from, kComponent, "KServe", true);
  if (set.most.empty()) return std::nullopt;
  const std::string mode =
      text_below(&object, {"metadata", "annotations", "serving.kserve.io/deploymentMode"});
  const bool has_knative = mode != "RawDeployment" && mode != "Standard";
  if (mode.empty() && from.find("maxReplicas") != nullptr) {
    context.files.not_simulated.push_back(
        {"InferenceServices without the annotation serving.kserve.io/deploymentMode where KServe's "
         "default is Standard (an HPA on CPU): taken to have Knative's autoscaler",
         object.where});
  }
  ScalingFile scaling;
  scaling.where = from.where;
  scaling.fewest = whole_at(&from, "minReplicas", 1);
  scaling.most = whole_at(&from, "maxReplicas", scaling.fewest);
  if (has_knative && from.find("maxReplicas") == nullptr) {
    context.files.not_simulated.push_back(
        {"InferenceServices without maxReplicas, which Knative scales without limit: as few pods "
         "as are written, one at least",
         from.where});
    return std::nullopt;
  }
  if (scaling.most <= scaling.fewest) return std::nullopt;
  if (!has_knative) {
    const std::string metric = text_below(&from, {"scaleMetric"});
    take_metric(scaling, metric == "memory" ? metric : "cpu", "");
    return scaling;
  }
  std::string metric = text_below(&from, {"scaleMetric"});
  std::string target = text_below(&from, {"scaleTarget"});
  if (metric.empty()) metric = "concurrency";
  if (target.empty()) target = text_below(&from, {"containerConcurrency"});
  if (target.empty() || target == "0") target = metric == "rps" ? "200" : "100";
  take_metric(scaling, metric, metric == "cpu" || metric == "memory" ? "" : target,
              kKnativePermille);
  scaling.every = "2s";
  scaling.down_window = "0s";
  scaling.up_window = "0s";
  scaling.cooldown = "60s";
  return scaling;
}

}  // namespace

std::optional<ScalingFile> own_scaling(Context& context, const Node& object, const PodSet& set,
                                       const Node& from, const Node& pods) {
  if (set.kind == "InferenceService") return kserve_scaling(context, object, set, from);
  const Node* scaling = from.find("scaling");
  const Node* annotations = node_below(&pods, {"metadata", "annotations"});
  for (const Entry& entry : entries_of(annotations)) {
    const bool is_scale = entry.key.starts_with("autoscaling.knative.dev/") &&
                          entry.key.ends_with("scale") && entry.value != nullptr;
    if (is_scale) scaling = entry.value.get();
  }
  if (set.group == "ray.io" && from.find("maxReplicas") != nullptr) {
    scaling = from.find("maxReplicas");
  }
  if (scaling != nullptr) {
    context.files.not_simulated.push_back(
        {fmt::format("how objects of kind {} scale: replicas as they are written", set.kind),
         scaling->where});
  }
  const Node* hpa = node_below(&pods, {"scale", "hpa"});
  if (!is_map(hpa) || !is_true(node_below(&pods, {"scale", "enabled"}))) return std::nullopt;
  return hpa_scaling(*hpa);
}

namespace {

// What of an autoscaler is not in ScalingFile.
void tell_left_out(Context& context, const Node& spec, bool is_hpa) {
  const auto tell = [&](const char* what, const Node& at) {
    context.files.not_simulated.push_back({what, at.where});
  };
  const Node* seen = spec.find(is_hpa ? "metrics" : "triggers");
  int metrics = 0;
  for (const Node* one : items_of(seen)) {
    if (is_cron(one)) {
      if (window_of(*one)) continue;
      tell(
          "windows of cron triggers without replicas, with a time zone in start or end, or that "
          "KEDA refuses",
          *one);
      continue;
    }
    if (++metrics != 2) continue;
    tell("autoscalers by several metrics: the first that is simulated decides", *one);
  }
  const Node* behaviour =
      is_hpa ? spec.find("behavior")
             : node_below(&spec, {"advanced", "horizontalPodAutoscalerConfig", "behavior"});
  for (const std::string_view direction : {"scaleUp", "scaleDown"}) {
    const Node* rules = node_below(behaviour, {direction});
    for (const std::string_view key : {"policies", "selectPolicy", "tolerance"}) {
      const Node* rule = node_below(rules, {key});
      if (rule == nullptr) continue;
      if (key == "selectPolicy" && rule->text == "Disabled") {
        tell("autoscalers that only add pods, or only take them away: the run does both", *rule);
      } else {
        tell("how fast autoscalers may change the number of pods (policies, tolerance)", *rule);
      }
    }
  }
  for (const std::string_view key : {"idleReplicaCount", "initialCooldownPeriod", "fallback"}) {
    if (const Node* one = is_hpa ? nullptr : spec.find(key)) {
      tell("idleReplicaCount, initialCooldownPeriod and fallback of ScaledObjects", *one);
    }
  }
}

// robfig/cron takes "TZ=Asia/Tokyo " before the parts.
std::string_view without_zone(std::string_view cron) {
  const bool has_zone = cron.starts_with("TZ=") || cron.starts_with("CRON_TZ=");
  return has_zone ? cron.substr(std::min(cron.find(' '), cron.size())) : cron;
}

void judge_given(Context& context, const Node& trigger,
                 std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (!text_below(&trigger, {"metadata", key}).empty()) continue;
    report(context, Code::FieldMissing, place_below(trigger, {"metadata", key}),
           fmt::format("the {} trigger has no {}", text_below(&trigger, {"type"}), key),
           "KEDA refuses the trigger");
  }
}

// Source: kedacore/keda v2.18, pkg/scalers/cron_scaler.go.
void judge_cron(Context& context, const Node& trigger) {
  const Node* metadata = trigger.find("metadata");
  if (!is_map(metadata)) return;
  const auto refuse = [&](Code code, std::string_view key, const std::string& what) {
    report(context, code, place_below(*metadata, {key}), what, "KEDA refuses the trigger");
  };
  judge_given(context, trigger, {"timezone", "start", "end", "desiredReplicas"});
  for (const std::string_view key : {"start", "end"}) {
    const std::string text = text_below(metadata, {key});
    const auto cron = parse_keda_cron(without_zone(text));
    if (!text.empty() && !cron) refuse(cron.error().code, key, cron.error().message);
  }
  const std::string replicas = text_below(metadata, {"desiredReplicas"});
  if (!replicas.empty() && !whole_of(replicas)) {
    refuse(Code::FieldType, "desiredReplicas",
           fmt::format("desiredReplicas is \"{}\", not a whole number", replicas));
  }
  const std::string zone = text_below(metadata, {"timezone"});
  if (!time_zone(zone)) {
    refuse(Code::ValueRange, "timezone", fmt::format("unknown time zone \"{}\"", zone));
  }
  const std::string start = text_below(metadata, {"start"});
  if (!start.empty() && start == text_below(metadata, {"end"})) {
    refuse(Code::SettingConflict, "end", "start and end of the cron trigger are the same");
  }
}

// The HPA that KEDA makes stops there.
void judge_wish(Context& context, const Node& trigger, std::int64_t most) {
  const Located<std::string> wish = located_below(&trigger, {"metadata", "desiredReplicas"});
  const auto replicas = whole_of(wish.value);
  if (!replicas || *replicas <= most) return;
  Diagnostic problem = make_diagnostic(
      Code::ValueRange, wish.where,
      fmt::format("desiredReplicas {} is above maxReplicaCount {}: no more are made", *replicas,
                  most),
      "raise maxReplicaCount, or lower desiredReplicas");
  problem.severity = Severity::Warning;
  report(context, std::move(problem));
}

void judge_scaled_object(Context& context, const Node& object, const Node& spec) {
  check_keys(context, &spec, kScaledObject, "KEDA");
  check_keys(context, spec.find("scaleTargetRef"), kScaleTarget, "KEDA");
  const auto most = whole_of(text_below(&spec, {"maxReplicaCount"}));
  const Node* triggers = spec.find("triggers");
  for (const Node* trigger : items_of(triggers)) {
    check_keys(context, trigger, kTrigger, "KEDA");
    if (is_cron(trigger)) {
      judge_cron(context, *trigger);
      judge_wish(context, *trigger, most.value_or(kKedaMost));
    }
    const Node* metadata = node_below(trigger, {"metadata"});
    // Source: kedacore/keda v2.18, pkg/scalers/prometheus_scaler.go, prometheusMetadata.
    if (is_map(metadata) && text_below(trigger, {"type"}) == "prometheus") {
      judge_given(context, *trigger, {"serverAddress", "query", "threshold"});
    }
    for (const Entry& entry : entries_of(metadata)) {
      const Node* value = entry.value.get();
      if (value == nullptr || value->kind == Node::Kind::Text) continue;
      report(context, Code::FieldType, value->where,
             fmt::format("metadata.{} has to be text, and is {}", entry.key.substr(0, 60),
                         kind_name(value->kind)),
             "put it in quotes: KEDA's API refuses all else");
    }
  }
  const auto fewest = whole_of(text_below(&spec, {"minReplicaCount"}));
  if (fewest && *fewest > most.value_or(kKedaMost)) {
    report(context, Code::ValueRange, place_below(spec, {"minReplicaCount"}),
           fmt::format("MinReplicaCount={} must be less than MaxReplicaCount={}", *fewest,
                       most.value_or(kKedaMost)),
           "KEDA refuses the ScaledObject");
  }
  for (const std::string_view key : {"scaleTargetRef", "triggers"}) {
    if (spec.find(key) != nullptr) continue;
    report(context, Code::FieldMissing, object.where,
           fmt::format("the ScaledObject has no {}", key), "KEDA's API refuses it");
  }
}

// The resource metrics API has no others. Source: kubernetes staging/src/k8s.io/metrics,
// metrics-server.
void judge_measured(Context& context, const Node& spec) {
  const Node* metrics = spec.find("metrics");
  for (const Node* metric : items_of(metrics)) {
    for (const std::string_view source : {"resource", "containerResource"}) {
      const Located<std::string> name = located_below(metric, {source, "name"});
      if (name.value.empty() || name.value == "cpu" || name.value == "memory") continue;
      warn(context, Code::MetricNotExported, name.where,
           fmt::format("nobody measures {} of pods: the autoscaler sees cpu and memory alone",
                       name.value.substr(0, 60)),
           "a metric of type Pods or External, as the GPU's of dcgm-exporter");
    }
  }
}

// Two that change one number. Source: kedacore/keda apis/keda/v1alpha1/scaledobject_webhook.go,
// kubernetes pkg/controller/podautoscaler/horizontal.go.
void judge_second(Context& context, const ScalingFile& first, const ScalingFile& second) {
  if (first.lets_others || second.lets_others) return;
  if (first.by.empty() || second.by.empty() || first.by == second.by) return;
  const bool both_hpas = first.by.starts_with("Horizontal") && second.by.starts_with("Horizontal");
  warn(context, Code::SettingConflict, second.where,
       fmt::format("{} scales it as well: {}", first.by.substr(0, 100),
                   both_hpas ? "neither then does (AmbiguousSelector)"
                             : "KEDA refuses the ScaledObject, or both change the number"),
       "keep one of the two");
}

// The HPA controller looks for the kind in this group, of whatever version; KEDA takes apps where
// none is said. Source: kubernetes pkg/controller/podautoscaler/horizontal.go.
void judge_target_group(Context& context, const Node& target, bool is_hpa) {
  const std::string kind = text_below(&target, {"kind"});
  const std::string version = text_below(&target, {"apiVersion"});
  const bool is_of_apps = kind == "Deployment" || kind == "StatefulSet" || kind == "ReplicaSet";
  if (!is_of_apps || version.starts_with("apps/") || (!is_hpa && version.empty())) return;
  report(context, Code::ScalerTargetUnknown, place_below(target, {"apiVersion"}),
         fmt::format("no {} is of apiVersion \"{}\": the autoscaler changes nothing", kind,
                     version.substr(0, 60)),
         "apiVersion: apps/v1");
}

// Whether its annotations let another scale the same pods.
bool lets_others(const Node& object) {
  const Node* annotations = node_below(&object, {"metadata", "annotations"});
  return text_below(annotations, {"scaledobject.keda.sh/transfer-hpa-ownership"}) == "true" ||
         text_below(annotations, {"validations.keda.sh/hpa-ownership"}) == "false";
}

}  // namespace

bool read_scaler(Context& context, const Node& object, std::string_view kind) {
  const bool is_hpa = kind == "HorizontalPodAutoscaler";
  if (!is_hpa && kind != "ScaledObject") return false;
  const Node* spec = object.find("spec");
  if (!is_map(spec)) return true;
  const Node* target = spec->find("scaleTargetRef");
  std::string target_kind = text_below(target, {"kind"});
  if (target_kind.empty()) target_kind = "Deployment";
  if (!is_hpa) judge_scaled_object(context, object, *spec);
  if (is_map(target)) judge_target_group(context, *target, is_hpa);
  tell_left_out(context, *spec, is_hpa);
  ScalingFile scaling = is_hpa ? hpa_scaling(*spec) : keda_scaling(*spec);
  scaling.where = place_below(object, {"spec", "scaleTargetRef", "name"});
  const std::string space = text_below(&object, {"metadata", "namespace"});
  scaling.says_namespace = !space.empty();
  if (is_hpa) {
    judge_measured(context, *spec);
    scaling.shares = shares_of_requests(*spec);
  }
  std::tuple of(std::string(namespace_of(space)), std::move(target_kind),
                text_below(target, {"name"}));
  // The HPA that KEDA makes says less than the ScaledObject that it made it of.
  const bool is_made = is_hpa && node_below(&object, {"metadata", "ownerReferences"}) != nullptr;
  if (is_made) {
    context.scalers.try_emplace(std::move(of), std::move(scaling));
  } else {
    scaling.by = fmt::format("{}/{}", kind, text_below(&object, {"metadata", "name"}));
    scaling.lets_others = lets_others(object);
    const auto first = context.scalers.find(of);
    if (first != context.scalers.end()) judge_second(context, first->second, scaling);
    context.scalers.insert_or_assign(std::move(of), std::move(scaling));
  }
  return true;
}

}  // namespace slicewise::scenarios::manifests
